# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sizes, durations and timestamps: what is taken, what is refused with the rule, and what may never happen."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._units import (
    SIZE_RULE,
    format_timestamp,
    normal_timestamp,
    parse_duration,
    parse_server_time,
    parse_size,
    parse_timestamp,
    seconds_before,
)
from hypothesis import given
from hypothesis import strategies as st

ANY = st.one_of(st.text(), st.integers(), st.floats(), st.booleans(), st.none(), st.lists(st.integers()))
MOMENTS = st.datetimes(min_value=datetime(1970, 1, 1), timezones=st.just(timezone.utc)).map(
    lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000))


# sizes

@pytest.mark.parametrize(("text", "size"), [
    ("0", 0), (0, 0), (1024, 1024), ("1024", 1024), (" 12 ", 12), ("1B", 1), ("1 b", 1),
    ("1k", 1000), ("1kB", 1000), ("1KB", 1000), ("40GB", 40_000_000_000), ("40 GB", 40_000_000_000), ("1M", 10**6), ("1T", 10**12), ("1P", 10**15),
    ("1E", 10**18), ("1e", 10**18), ("1Ki", 1024), ("1KiB", 1024), ("1kib", 1024), ("1Mi", 2**20), ("100Gi", 100 * 2**30), ("1Ti", 2**40), ("1Pi", 2**50),
    ("1Ei", 2**60), ("1.5G", 1_500_000_000), ("0.5", 0), ("1.9", 1), ("1.0009k", 1000), ("1e3", 1000), ("1E3", 1000), ("1e+3", 1000), ("2e3k", 2_000_000),
    (1e3, 1000), ("007", 7), ("18446744073709551615", 2**64 - 1), ("15.9Ei", int(15.9 * 10 * 2**60) // 10),
])
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", " ", "B", "GB", "-1", "-1G", "+1", "1,5G", "1_000", "1 2", "one", "0x10", "1.G", ".5G", "1G\0", "١", None, True,
                                  False, [], "1GG", "1iB", "1Gib2", "1Q", "1e-3", "1e999999999", "1e1000", "9" * 41, float("inf"), float("nan"), 0.0000001])
def test_what_is_no_size_is_refused_with_the_rule(text):
    with pytest.raises(ValueError, match="is not a size|unknown unit") as caught:
        parse_size(text)
    assert SIZE_RULE in str(caught.value)


@pytest.mark.parametrize("text", ["18446744073709551616", "19E", "16Ei", "1e99", 1e300, "9" * 40])
def test_what_garage_cannot_hold_is_refused(text):
    with pytest.raises(ValueError, match=r"larger than Garage can hold|is not a size"):
        parse_size(text)


def test_a_lower_case_m_means_a_thousandth():
    with pytest.raises(ValueError, match="write M"):
        parse_size("500m")
    assert parse_size("500m", milli=True) == 1
    assert parse_size("2000m", milli=True) == 2
    assert parse_size("2001m", milli=True) == 3
    assert parse_size("0m", milli=True) == 0
    assert parse_size("1mb") == parse_size("1mB") == 10**6


@given(st.integers(0, 2**64 - 1))
def test_a_number_of_bytes_is_itself(size):
    assert parse_size(size) == parse_size(str(size)) == parse_size(f"{size}B") == size


@given(st.integers(0, 2**20), st.sampled_from(["k", "M", "G", "T"]))
def test_units_are_powers(number, unit):
    power = "kMGT".index(unit) + 1
    assert parse_size(f"{number}{unit}") == number * 1000**power
    assert parse_size(f"{number}{unit}i") == number * 1024**power
    assert parse_size(f"{number}.5{unit}") == number * 1000**power + 1000**power // 2


@given(ANY, st.booleans())
def test_a_size_is_a_number_or_a_value_error(value, milli):
    try:
        assert 0 <= parse_size(value, milli) <= 2**64 - 1
    except ValueError as error:
        assert len(str(error)) > 10


# durations

@pytest.mark.parametrize(("text", "seconds"), [
    (90, 90), ("90", 90), ("0", 0), ("1s", 1), ("30m", 1800), ("24h", 86400), ("7d", 604800), ("2w", 1209600), (" 5 m ", 300),
])
def test_durations(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "m", "-1", "1.5h", "1h30m", "1 year", "1M", "1H", None, True, "1h\0", "9" * 10, float("inf")])
def test_what_is_no_duration_is_refused_with_the_rule(text):
    with pytest.raises(ValueError, match="is not a duration; wanted: whole seconds"):
        parse_duration(text)


@given(ANY)
def test_a_duration_is_a_number_or_a_value_error(value):
    try:
        assert parse_duration(value) >= 0
    except ValueError as error:
        assert "duration" in str(error)


# timestamps

@pytest.mark.parametrize(("text", "normal"), [
    ("2030-01-01T00:00:00Z", "2030-01-01T00:00:00Z"),
    ("2030-01-01t00:00:00z", "2030-01-01T00:00:00Z"),
    ("2030-01-01 00:00:00+00:00", "2030-01-01T00:00:00Z"),  # what YAML makes of an unquoted timestamp
    ("2030-01-01T00:00Z", "2030-01-01T00:00:00Z"),
    ("2030-01-01T02:00:00+02:00", "2030-01-01T00:00:00Z"),
    ("2029-12-31T23:30:00-00:30", "2030-01-01T00:00:00Z"),
    ("2030-01-01T00:00:00.5Z", "2030-01-01T00:00:00.500Z"),
    ("2030-01-01T00:00:00.1234567891Z", "2030-01-01T00:00:00.123Z"),
    ("2030-01-01T00:00:00.000Z", "2030-01-01T00:00:00Z"),
    (" 2030-01-01T00:00:00Z\n", "2030-01-01T00:00:00Z"),
    ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
    ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"),
])
def test_timestamps(text, normal):
    assert format_timestamp(parse_timestamp(text)) == normal
    assert normal_timestamp(text) == normal


@pytest.mark.parametrize("text", ["", "never", "2030-01-01", "2030-01-01T00:00:00", "2030-01-01T00:00:00 Z", "2030-13-01T00:00:00Z", "2030-02-30T00:00:00Z",
                                  "2030-01-01T24:00:01Z", "2030-01-01T00:00:60Z", "20300101T000000Z", "2030-W01-1T00:00:00Z", "2030-001T00:00:00Z",
                                  "2030-01-01T00:00:00+0200", "2030-01-01T00:00:00+24:00", "2030-01-01T00Z", "2030-01-01T00:00:00,5Z", "1893456000",
                                  "9999-12-31T23:59:59-01:00", "0001-01-01T00:00:00+14:00", "+12030-01-01T00:00:00Z", None, 1893456000, True])
def test_what_is_no_timestamp_is_refused_with_the_rule(text):
    with pytest.raises(ValueError, match="wanted RFC 3339, as 2030-01-01T00:00:00Z"):
        parse_timestamp(text)


@pytest.mark.parametrize("text", ["1969-12-31T23:59:59Z", "1970-01-01T00:00:00+00:01", "0001-01-01T00:00:00Z"])
def test_dates_that_garage_would_never_let_come_are_refused(text):
    with pytest.raises(ValueError, match="before 1970"):
        parse_timestamp(text)


@given(MOMENTS)
def test_timestamps_go_there_and_back(moment):
    assert parse_timestamp(format_timestamp(moment)) == moment
    assert normal_timestamp(format_timestamp(moment)) == format_timestamp(moment)


@given(MOMENTS, st.integers(-14 * 60, 14 * 60))
def test_the_zone_does_not_matter(moment, minutes):
    zone = timezone(timedelta(minutes=minutes))
    try:
        text = moment.astimezone(zone).isoformat()
    except OverflowError:
        return
    assert normal_timestamp(text) == format_timestamp(moment)


@given(ANY)
def test_a_timestamp_is_a_moment_or_a_value_error(value):
    try:
        assert parse_timestamp(value).tzinfo is timezone.utc
    except ValueError as error:
        assert "RFC 3339" in str(error) or "1970" in str(error)


@pytest.mark.parametrize("text", [None, "", "soon", "2030-01-01T00:00:00", "+584942417-01-01T00:00:00Z", "9999-12-31T23:59:59-01:00",
                                  "0001-01-01T00:00:00+14:00"])
def test_what_the_server_says_is_never_refused(text):
    assert parse_server_time(text) is None
    assert normal_timestamp(text) == text


@given(st.one_of(st.none(), st.text()))
def test_no_word_of_the_server_is_an_error(text):
    parse_server_time(text)
    normal_timestamp(text)


def test_seconds_before():
    assert seconds_before(datetime(2030, 1, 1, tzinfo=timezone.utc), 90) == datetime(2029, 12, 31, 23, 58, 30, tzinfo=timezone.utc)
