# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Access keys."""

from __future__ import annotations

import re

import pytest

from tests.contract.server import Server

SECRET = "0123456789abcdef" * 4
BOTH = (400, "InvalidRequest", "Bad request: cannot specify `expiration` and `never_expires`")


def fresh_id(server: Server) -> str:
    return f"GK{int(server.name('x').rpartition('-')[2]):024x}"


def import_key(server: Server, key_id: str, secret: str = SECRET, **more: str) -> dict:
    return server.ok("ImportKey", body={"accessKeyId": key_id, "secretAccessKey": secret, **more})


def test_a_new_key_shows_its_secret_once(server: Server) -> None:
    name = server.name("new")
    made = server.ok("CreateKey", body={"name": name})
    key_id, secret, created = made.pop("accessKeyId"), made.pop("secretAccessKey"), made.pop("created")
    assert re.fullmatch("GK[0-9a-f]{24}", key_id)
    assert re.fullmatch("[0-9a-f]{64}", secret)
    shown = {"name": name, "expiration": None, "expired": False, "permissions": {"createBucket": False}, "buckets": []}
    assert made == shown
    assert server.key(key_id) == {"accessKeyId": key_id, "created": created, **shown}
    assert server.ok("GetKeyInfo", {"id": key_id, "showSecretKey": "true"})["secretAccessKey"] == secret
    assert "secretAccessKey" not in server.ok("GetKeyInfo", {"id": key_id, "showSecretKey": "false"})
    assert {"id": key_id, "name": name, "created": created, "expiration": None, "expired": False} in server.ok("ListKeys")


def test_names_default_and_need_not_be_unique(server: Server) -> None:
    assert server.ok("CreateKey", body={})["name"] == "Unnamed key"
    assert import_key(server, fresh_id(server))["name"] == "Imported key"
    name = server.name("twice")
    assert server.make_key(name)["accessKeyId"] != server.make_key(name)["accessKeyId"]
    assert server.ok("CreateKey", body={"name": ""})["name"] == ""


@pytest.mark.parametrize("name", ["R&D backup", "naïve", "a/b", "a+b=c", "%41"])
def test_any_name_is_found_again(server: Server, name: str) -> None:
    unique = server.name(name)
    key = server.make_key(unique)
    assert server.ok("GetKeyInfo", {"search": unique})["accessKeyId"] == key["accessKeyId"]
    assert server.ok("GetKeyInfo", {"search": unique.upper()})["accessKeyId"] == key["accessKeyId"]


def test_search_takes_a_whole_name_or_the_beginning_of_an_id(server: Server) -> None:
    name = server.name("search")
    keys = [server.make_key(name) for dummy in range(2)]
    assert server.ok("GetKeyInfo", {"search": keys[0]["accessKeyId"][:20].lower()})["accessKeyId"] == keys[0]["accessKeyId"]
    assert server.refusal("GetKeyInfo", {"search": name}) == (400, "InvalidRequest", "Bad request: 2 matching keys")
    nothing = server.refusal("GetKeyInfo", {"search": name[:-1] + "none"})
    assert nothing == ((404, "NoSuchAccessKey", f"Access key not found: {name[:-1]}none") if server.since(2, 3)
                       else (400, "InvalidRequest", "Bad request: 0 matching keys"))


def test_many_matches_are_counted_up_to_ten(server: Server) -> None:
    name = server.name("many")
    for dummy in range(11):
        server.make_key(name)
    assert server.refusal("GetKeyInfo", {"search": name}) == (400, "InvalidRequest", "Bad request: 10 matching keys")


@pytest.mark.parametrize("query", [{}, {"id": "x", "search": "y"}, {"id": ""}])
def test_a_key_is_asked_for_in_one_way(server: Server, query: dict) -> None:
    assert server.refusal("GetKeyInfo", query) == (400, "InvalidRequest", "Bad request: Either id or search must be provided (but not both)")


def test_a_key_that_is_not_there(server: Server) -> None:
    gone = (404, "NoSuchAccessKey", "Access key not found: GKnone")
    assert server.refusal("GetKeyInfo", {"id": "GKnone"}) == gone
    assert server.refusal("UpdateKey", {"id": "GKnone"}, {}) == gone
    assert server.refusal("DeleteKey", {"id": "GKnone"}) == gone


@pytest.mark.requirement("GS-06")
def test_a_deleted_key_is_gone_for_ever(server: Server) -> None:
    key_id = fresh_id(server)
    import_key(server, key_id)
    spent = (409, "KeyAlreadyExists", f"Key {key_id} already exists in data store. Even if it is deleted, we can't let you create a new key with the"
                                      " same ID. Sorry.")
    assert server.refusal("ImportKey", body={"accessKeyId": key_id, "secretAccessKey": "x"}) == spent
    assert server.ok("DeleteKey", {"id": key_id}) is None
    assert server.refusal("ImportKey", body={"accessKeyId": key_id, "secretAccessKey": SECRET}) == spent
    assert server.refusal("GetKeyInfo", {"id": key_id}) == (404, "NoSuchAccessKey", f"Access key not found: {key_id}")
    assert server.refusal("DeleteKey", {"id": key_id}) == (404, "NoSuchAccessKey", f"Access key not found: {key_id}")
    assert key_id not in {row["id"] for row in server.ok("ListKeys")}


def test_an_imported_key_keeps_its_secret_and_does_not_show_it(server: Server) -> None:
    key_id, name = fresh_id(server), server.name("imported")
    made = import_key(server, key_id, name=name)
    assert "secretAccessKey" not in made
    assert (made["name"], made["expiration"], made["permissions"]) == (name, None, {"createBucket": False})
    assert server.ok("GetKeyInfo", {"id": key_id, "showSecretKey": "true"})["secretAccessKey"] == SECRET


@pytest.mark.parametrize(("key_id", "secret", "reason"), [
    ("short", SECRET, "Key identifiers should be at least 8 characters long"),
    ("with space", SECRET,
     "Key identifiers should be composed only of ASCII alphanumeric characters and characters '-', '_' and '.'"),
    ("ümlauts1", SECRET,
     "Key identifiers should be composed only of ASCII alphanumeric characters and characters '-', '_' and '.'"),
    ("long-enough", "short", "Secret keys should be at least 16 characters long"),
    ("long-enough", "with space and long", "Secret keys should be composed only of graphic ASCII characters (U+0021 to U+007E)"),
    ("long-enough", "ümlaut-and-longer", "Secret keys should be composed only of graphic ASCII characters (U+0021 to U+007E)"),
])
def test_a_key_of_bad_form_is_not_imported(server: Server, key_id: str, secret: str, reason: str) -> None:
    status, code, text = server.refusal("ImportKey", body={"accessKeyId": key_id, "secretAccessKey": secret})
    assert (status, code) == (400, "InvalidRequest")
    assert text == f"Bad request: Invalid key format: {reason}" if server.since(2, 3) else text.startswith("Bad request: Invalid key format: ")


def test_since_2_3_keys_of_another_form_are_imported(server: Server) -> None:
    key_id = server.name("Another.form_of-id")
    status = server.call("ImportKey", body={"accessKeyId": key_id, "secretAccessKey": "16-chars-exactly"}).status
    assert status == (200 if server.since(2, 3) else 400)


@pytest.mark.parametrize("body", [{}, {"accessKeyId": "long-enough"}, {"secretAccessKey": SECRET}, {"accessKeyId": 1, "secretAccessKey": SECRET}])
def test_importing_needs_both_halves(server: Server, body: dict) -> None:
    assert server.refusal("ImportKey", body=body) == (400, "InvalidRequest", "Bad request: Invalid JSON")


@pytest.mark.parametrize(("given", "shown"), [
    ("2030-01-01T00:00:00Z", "2030-01-01T00:00:00Z"),
    ("2030-01-01T02:00:00+02:00", "2030-01-01T00:00:00Z"),
    ("2030-01-01T00:00:00.1239Z", "2030-01-01T00:00:00.123Z"),
    ("2030-01-01t00:00:00z", "2030-01-01T00:00:00Z"),
    ("2030-01-01 00:00:00Z", "2030-01-01T00:00:00Z"),
    ("2030-01-01T00:00:00+0000", "2030-01-01T00:00:00Z"),
    ("2030-01-01T00:00:00 UTC", "2030-01-01T00:00:00Z"),
    ("2030-01-01T00:00:00.5-01:30", "2030-01-01T01:30:00.500Z"),
])
def test_an_expiration_is_kept_in_utc_to_the_millisecond(server: Server, given: str, shown: str) -> None:
    made = server.ok("CreateKey", body={"expiration": given})
    assert (made["expiration"], made["expired"]) == (shown, False)


@pytest.mark.parametrize("given", ["2030-01-01", "2030-01-01T00:00:00", "2030-13-01T00:00:00Z", "tomorrow", "", 1893456000, "2030-01-01T25:00:00Z"])
def test_an_expiration_needs_a_time_and_a_zone(server: Server, given: object) -> None:
    assert server.refusal("CreateKey", body={"expiration": given}) == (400, "InvalidRequest", "Bad request: Invalid JSON")


def test_a_past_expiration_is_taken_and_one_before_1970_never_comes(server: Server) -> None:
    assert server.ok("CreateKey", body={"expiration": "2001-01-01T00:00:00Z"})["expired"] is True
    old = server.ok("CreateKey", body={"expiration": "1969-12-31T00:00:00Z"})
    assert (old["expiration"], old["expired"]) == ("1969-12-31T00:00:00Z", False)


@pytest.mark.requirement("FC-064")
def test_an_expiration_is_set_kept_and_cleared(server: Server) -> None:
    query = {"id": server.make_key()["accessKeyId"]}
    date = "2031-01-01T00:00:00Z"
    assert server.ok("UpdateKey", query, {"expiration": date})["expiration"] == date
    assert server.ok("UpdateKey", query, {"name": "n"})["expiration"] == date
    assert server.ok("UpdateKey", query, {"expiration": None})["expiration"] == date
    assert server.refusal("UpdateKey", query, {"expiration": date, "neverExpires": True}) == BOTH
    assert server.ok("UpdateKey", query, {"neverExpires": False})["expiration"] == date
    assert server.ok("UpdateKey", query, {"neverExpires": True})["expiration"] is None
    assert server.refusal("CreateKey", body={"expiration": date, "neverExpires": True}) == BOTH


def test_an_update_does_not_show_the_secret(server: Server) -> None:
    key = server.make_key()
    changed = server.ok("UpdateKey", {"id": key["accessKeyId"]}, {"name": "renamed"})
    assert (changed["name"], "secretAccessKey" in changed) == ("renamed", False)


def test_only_true_acts_and_denying_comes_last(server: Server) -> None:
    query = {"id": server.make_key()["accessKeyId"]}

    def after(body: dict) -> bool:
        return server.ok("UpdateKey", query, body)["permissions"]["createBucket"]

    assert after({"allow": {"createBucket": True}}) is True
    assert after({"allow": {"createBucket": False}, "deny": {"createBucket": False}}) is True
    assert after({"allow": {}, "deny": None}) is True
    assert after({"allow": {"createBucket": True}, "deny": {"createBucket": True}}) is False
    assert server.ok("CreateKey", body={"allow": {"createBucket": True}})["permissions"] == {"createBucket": True}
    for wrong in ({"allow": {"createBucket": None}}, {"allow": True}, {"neverExpires": None}):
        assert server.refusal("UpdateKey", query, wrong) == (400, "InvalidRequest", "Bad request: Invalid JSON")


def test_keys_are_listed_by_id_and_in_pages(server: Server) -> None:
    for dummy in range(3):
        server.make_key()
    ids = [row["id"] for row in server.ok("ListKeys", {"limit": 1000000})]
    assert ids == sorted(ids)
    if server.since(2, 5):
        for endpoint, field in (("ListKeys", "id"), ("ListKeysInfo", "accessKeyId")):
            assert [row[field] for row in server.ok(endpoint, {"limit": 2})] == ids[:2]
            assert [row[field] for row in server.ok(endpoint, {"limit": 1, "offset": ids[1]})] == ids[1:2]
            assert [row[field] for row in server.ok(endpoint, {"limit": 1, "offset": ids[1] + "a"})] == ids[2:3]
            assert server.ok(endpoint, {"limit": 0}) == []
            assert server.ok(endpoint, {"offset": "~"}) == []


def test_the_bulk_list_never_shows_a_secret(server: Server) -> None:
    key = server.make_key()
    if server.since(2, 5):
        rows = server.ok("ListKeysInfo", {"offset": key["accessKeyId"], "limit": 1, "showSecretKey": "true"})
        assert rows == [server.key(key["accessKeyId"])]
