# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures of the benchmark are what they are called."""

from __future__ import annotations

from tools.bench import Figure, growth, page


def rows(module: float, bare: float) -> list[tuple[str, Figure, Figure]]:
    return [("from empty", Figure(module, 5, 50.0), Figure(bare, 5))]


def test_a_cost_that_does_not_depend_on_the_number_is_flat_whatever_is_fixed() -> None:
    *_head, line = growth({n: rows(7.0 + 0.08 * n, 0.07 * n) for n in (100, 1000, 10000)})
    assert line == "| from empty | 80.00 ms | 80.00 ms | 1.00 / 1.00 |"


def test_a_cost_that_grows_with_the_number_is_not_flat() -> None:
    *_head, line = growth({n: rows(0.001 * n * n, 0.07 * n) for n in (100, 1000, 10000)})
    assert line == "| from empty | 1100.00 ms | 11000.00 ms | 10.00 / 1.00 |"


def test_one_size_has_no_growth_and_two_have_no_flatness() -> None:
    assert growth({100: rows(1, 1)}) == []
    assert growth({100: rows(1, 1), 200: rows(2, 1)})[-1] == "| from empty | 10.00 ms | one span only / one span only |"
    assert growth({n: rows(1, 1) for n in (1, 2, 3)})[-1].endswith("| not measurable / not measurable |")


def test_the_page_leaves_out_the_start_of_ansible() -> None:
    assert "| 100 | from empty | 3.0 s | 1.0 s | 2.00 | 5 / 5 | 20.0 ms | 50 MB |" in page(1.0, {100: rows(3.0, 1.0)})
