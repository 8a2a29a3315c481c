# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page: whole, safe, quiet about secrets; and the picture in it, in which nothing covers anything else."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from typing import Any

from ansible_collections.s3ops.garage.plugins.filter.status_page import FilterModule
from ansible_collections.s3ops.garage.plugins.module_utils._status.markup import escape, raw, tag
from ansible_collections.s3ops.garage.plugins.module_utils._status.page import page
from ansible_collections.s3ops.garage.plugins.module_utils._status.picture import Picture, Rect, arrange
from ansible_collections.s3ops.garage.plugins.module_utils._status.style import STYLE
from ansible_collections.s3ops.garage.plugins.module_utils._status.summary import summarize
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.status_html import Page
from tests.unit.status_worlds import NOW, PARIS_1, bucket, busy, calm, cluster, key, lost, node, refused, seen

SECTIONS = ["Federation", "Capacity and use by zone", "Layout", "Nodes as each site sees them", "Buckets against their quotas",
            "Keys and tokens that expire", "Site files against what is there", "Blocks that could not be resynced"]


def made(facts: list[dict], **options: Any) -> Page:
    return Page(page(summarize(facts, NOW), **options))


def test_every_part_of_a_page_is_there() -> None:
    found = made(busy())
    assert [head.text for head in found.root.all("h2")] == ["Sites", "Cluster of paris, lyon, nice"]
    assert [head.text for head in found.root.all("h3")] == SECTIONS
    assert found.cell("Sites", "nice", "State") == "unreachable GetClusterStatus at http://10.0.0.9:3903: Connection refused"
    assert found.cell("Buckets against their quotas", "media", "Used") == "95 %"
    assert found.cell("Buckets against their quotas", "media", "Size") == "95.0 GB of 100 GB"
    assert found.cell("Capacity and use by zone", "paris", "Disks in use") == "50 %, 3.00 TB of 6.00 TB"
    assert found.cell("Layout", "Draining", "Is") == "version 3; behind: 3c3c3c3c3c3c3c3c"
    assert found.cell("Nodes as each site sees them", "lyon-1", "Seen by paris") == "down, seen 2 hours ago"
    assert found.cell("Nodes as each site sees them", "lyon-1", "Seen by nice") == "unreachable"
    assert [row["Name"] for row in found.rows("Keys and tokens that expire")] == ["old", "ci", "app"]
    assert found.cell("Site files against what is there", "tenancy", "What a run would do") == "create bucket photosset quotas of bucket media"
    assert found.rows("Blocks that could not be resynced") == [{"Node": "paris-1 (1a1a1a1a1a1a1a1a)", "Blocks": "2", "Most tries": "7"}]
    assert "3 of 5 nodes up" not in found.text and "2 of 3 sites reachable, 2 of 5 nodes up" in found.text


def test_a_calm_page_says_so_and_an_empty_one_is_whole() -> None:
    assert "nothing needs a look" in made(calm()).text
    assert "No site was asked." in made([]).text
    assert made([lost("paris", "writer")]).text.count("No site has told.") == 3


def test_a_page_needs_nothing_else() -> None:
    """No script, no link, no address that a browser would fetch."""
    text = page(summarize(busy(), NOW))
    found = Page(text)
    assert not [tag for tag in ("script", "link", "img", "iframe", "a", "object", "form", "image", "use", "foreignobject") if found.root.all(tag)]
    assert not re.search(r"url\(|@import|javascript:", text)
    (policy,) = [meta.attributes["content"] for meta in found.root.all("meta") if meta.attributes.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None and policy.startswith("default-src 'none'; style-src 'unsafe-inline'")
    assert "width=device-width, initial-scale=1" in [meta.attributes.get("content") for meta in found.root.all("meta")]


def test_a_page_has_both_colour_schemes_a_phone_and_print() -> None:
    for needed in ("prefers-color-scheme: dark", "max-width: 760px", "@media print"):
        assert needed in STYLE
    assert STYLE.count("{") == STYLE.count("}")
    used = set(re.findall(r"var\((--[a-z-]+)\)", STYLE))
    for scheme in re.findall(r":root \{([^}]*--back:[^}]*--bad-back:[^}]*)\}", STYLE):
        assert used <= set(re.findall(r"(--[a-z-]+):", scheme))
    assert len(re.findall(r":root \{", STYLE)) == 3


def _contrast(one: str, other: str) -> float:
    def light(colour: str) -> float:
        parts = [int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    lighter, darker = sorted((light(one), light(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_text_can_be_read_on_what_lies_behind_it() -> None:
    """4.5 to 1, as WCAG 2 asks for."""
    schemes = [dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", scheme)) for scheme in re.findall(r":root \{([^}]*)\}", STYLE)[:2]]
    assert len(schemes) == 2 and schemes[0] != schemes[1]
    for colours in schemes:
        for front, back in [*itertools.product(("text", "muted"), ("back", "card")), ("ok", "ok-back"), ("warn", "warn-back"), ("bad", "bad-back"),
                            ("muted", "bad-back"), ("muted", "warn-back"), ("text", "bad-back")]:
            assert _contrast(colours[front], colours[back]) >= 4.5, (front, back)


def test_the_same_state_gives_the_same_page() -> None:
    assert page(summarize(busy(), NOW)) == page(summarize(busy(), "2026-06-01T13:00:00Z"))
    later = busy()
    for fact in later:
        for one in fact["answers"]["cluster"]["cluster"]["nodes"]:
            one["last_seen_seconds"] = one["last_seen_seconds"] and one["last_seen_seconds"] + 60
    assert page(summarize(busy(), NOW)) == page(summarize(later, NOW))
    assert ", as of" not in page(summarize(busy(), NOW))
    assert ", as of noon" in made(busy(), time="noon").text


def test_a_title_may_be_given() -> None:
    found = Page(FilterModule().filters()["status_page"](summarize(calm(), NOW), "Ours <1>", None))
    assert found.root.all("title")[0].text == found.root.all("h1")[0].text == "Ours <1>"


# text is text

NASTY = "<script>alert(1)</script>'\"&--><!-- ]]> {{ 7*7 }} \u202e\x00\x1b[31m"


def poisoned(text: str) -> list[dict]:
    """A world in which everything that somebody else can name is called that."""
    nodes = [node(PARIS_1, hostname=text, zone=text, garage_version=text), node("7a" * 32, hostname=text)]
    answers = {
        "cluster": cluster(nodes, garage_version=text),
        "buckets": {"buckets": [{**bucket("b", 1, 1, 10), "aliases": [text]}]},
        "keys": {"access_keys": [{**key("k", "2026-06-02T00:00:00Z"), "name": text, "id": text}]},
        "tokens": refused(text),
        "plan_tenancy": {"actions": [text]},
        "plan_layout": refused(text),
        "blocks": {"nodes": [{"id": text, "block_errors": [{"error_count": 1}]}]},
    }
    unreachable = lost("other", "follower", (text,))
    unreachable["answers"]["cluster"]["cluster"]["message"] = text
    return [{**seen(text, nodes, "writer", ("other",), **answers), "zone": text}, unreachable]


def shape(found: Page) -> Counter[tuple[str, ...]]:
    """How often there is an element with these attributes inside of these elements. Their order follows the names."""
    todo, shown = [("", child) for child in found.root.children], Counter[tuple[str, ...]]()
    while todo:
        above, element = todo.pop()
        path = f"{above}/{element.tag}"
        shown[(path, *element.attributes)] += 1
        todo += [(path, child) for child in element.children]
    return shown


PLAIN = shape(made(poisoned("plain")))


@given(st.text(min_size=1, max_size=40) | st.sampled_from([NASTY, "<b>", "</td>", "' onload='x", '" onload="x', "&lt;", "]]>", "\n", "</style>"]))
def test_whatever_a_name_is_the_page_has_the_same_elements(text: str) -> None:
    if text in ("other", "-"):
        return
    assert shape(made(poisoned(text))) == PLAIN


@given(st.text(max_size=60))
def test_a_text_comes_back_as_it_was_but_for_what_cannot_be_seen(text: str) -> None:
    found = Page(tag("p", {"title": text}, text)).root.children[0]
    assert found.text == found.attributes["title"]
    for character, shown in zip(text, found.text, strict=True):
        assert shown in (character, "\ufffd", " ")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", found.text)


def test_only_what_the_collection_wrote_is_markup() -> None:
    assert escape(raw("<br>")) == "<br>"
    assert escape(["<br>", raw("<br>"), None, 7]) == "&lt;br&gt;<br>7"
    assert tag("a", {"x": None, "y": "'\""}, "<") == '<a y="&#x27;&quot;">&lt;</a>'


def test_nothing_secret_is_taken_over() -> None:
    """Not even what should not be in an answer at all."""
    secret = "hush-hush-0123456789"
    facts = busy()
    for fact in facts:
        fact["connection"] = {"api_token": secret}
        for answer in fact["answers"].values():
            answer["invocation"] = {"module_args": {"api_token": secret}}
            answer["diff"] = {"before": secret}
    for row in facts[0]["answers"]["keys"]["access_keys"]:
        row["secret_access_key"] = secret
    for row in facts[0]["answers"]["tokens"]["admin_tokens"]:
        row["secret_token"] = secret
    found = summarize(facts, NOW)
    assert secret not in repr(found) and secret not in page(found)


# the picture

def cover(one: Rect, other: Rect) -> bool:
    return (one.x < other.x + other.width and other.x < one.x + one.width and one.y < other.y + other.height and other.y < one.y + one.height)


def inside(inner: Rect, outer: Rect) -> bool:
    return (outer.x <= inner.x and outer.y <= inner.y and inner.x + inner.width <= outer.x + outer.width
            and inner.y + inner.height <= outer.y + outer.height)


def faults(picture: Picture) -> list[str]:
    """What covers something else, or lies outside of what holds it."""
    whole = Rect(0, 0, picture.width, picture.height)
    found = [f"{one} covers {other}" for one, other in itertools.combinations([box.place for box in picture.boxes], 2) if cover(one, other)]
    for box in picture.boxes:
        found += [] if inside(box.place, whole) else [f"{box.place} is outside"]
        parts = [label.place for label in box.labels] + [mark.place for mark in box.nodes]
        found += [f"{one} covers {other}" for one, other in itertools.combinations(parts, 2) if cover(one, other)]
        found += [f"{part} is outside of {box.place}" for part in parts if not inside(part, box.place)]
        for mark in box.nodes:
            found += [f"{label.place} is outside of {mark.place}" for label in mark.labels if not inside(label.place, mark.place)]
            found += ["labels cover each other"] if cover(mark.labels[0].place, mark.labels[1].place) else []
    for points in picture.arrows:
        for start, end in itertools.pairwise(points):
            line = Rect(min(start[0], end[0]), min(start[1], end[1]), abs(start[0] - end[0]), abs(start[1] - end[1]))
            found += [f"{line} runs through {box.place}" for box in picture.boxes if cover(line, box.place)]
    return found


NAMES = st.text(alphabet="abcdeé漢 -", min_size=1, max_size=70)


@st.composite
def worlds(draw: st.DrawFn) -> list[dict]:
    names = draw(st.lists(NAMES, min_size=1, max_size=6, unique=True))
    zones = draw(st.lists(NAMES, min_size=1, max_size=7, unique=True))
    nodes = [node(f"{index:064x}", zone=draw(st.sampled_from([*zones, None])), hostname=draw(NAMES | st.none()), up=draw(st.booleans()),
                  capacity=draw(st.none() | st.integers(1024, 2**60)), gateway=draw(st.booleans()), has_role=True)
             for index in range(draw(st.integers(0, 12)))]
    roles = draw(st.lists(st.sampled_from([None, "writer", "follower"]), min_size=len(names), max_size=len(names)))
    remotes = tuple(names)
    return [{**(seen(name, nodes, role, remotes) if draw(st.booleans()) else lost(name, role, remotes)), "zone": draw(st.sampled_from(zones))}
            for name, role in zip(names, roles, strict=True)]


@given(worlds(), st.integers(1, 4))
def test_nothing_in_the_picture_covers_anything_else(facts: list[dict], columns: int) -> None:
    summary = summarize(facts, NOW)
    for group in summary["clusters"]:
        picture = arrange(group, columns)
        assert faults(picture) == []
        assert sum(len(box.nodes) for box in picture.boxes) == len(group["nodes"])
    Page(page(summary))


def test_the_picture_of_a_federation() -> None:
    (group,) = summarize(busy(), NOW)["clusters"]
    narrow, wide = arrange(group, 1), arrange(group, 3)
    assert [box.labels[0].text for box in narrow.boxes] == [box.labels[0].text for box in wide.boxes] == ["paris", "lyon", "nice", "no zone yet"]
    assert [(box.writes, box.dark) for box in wide.boxes] == [(True, False), (False, False), (False, True), (False, False)]
    assert len(wide.arrows) == 2 and wide.arrows[0][-1][1] == wide.boxes[1].place.y
    assert [mark.state for mark in wide.boxes[1].nodes] == ["down", "up"]
    assert wide.boxes[0].labels[1].text == "paris: writes the layout" and wide.boxes[2].labels[1].text == "nice: follows, unreachable"
    # As wide as a phone, so that nothing is shrunk there.
    assert narrow.width <= 358 < wide.width


def test_nodes_of_one_machine_are_told_apart() -> None:
    nodes = [node(PARIS_1, hostname="vm"), node("7a" * 32, hostname="vm", zone="paris"), node("8b" * 32, hostname="own", zone="paris"),
             node("9c" * 32, zone="paris")]
    (group,) = summarize([seen("paris", nodes)], NOW)["clusters"]
    assert [mark.labels[0].text for mark in arrange(group, 3).boxes[0].nodes] == ["9c9c9c9c9c9c9c9c", "own", "vm 1a1a1a1a", "vm 7a7a7a7a"]


def test_a_picture_of_nothing() -> None:
    assert arrange(summarize([], NOW) | {"zones": [], "nodes": [], "sites": [], "writers": []}, 3).boxes == ()


def test_what_covers_something_is_found() -> None:
    (group,) = summarize(calm(), NOW)["clusters"]
    good = arrange(group, 3)
    assert faults(Picture(good.width, good.height, (*good.boxes, good.boxes[0]), ()))
    assert faults(Picture(10, 10, good.boxes, ()))
    assert faults(Picture(good.width, good.height, good.boxes, (((0, 40), (300, 40)),)))
