# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The picture of a cluster: where each zone, node and arrow is, then as SVG. Pure. Private: not for use outside of the collection.

All places are worked out from the data. Each text stands in a frame that cuts it off, so nothing can reach into something else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .markup import Markup, tag
from .table import role_of
from .words import counted, short, size

BOX, GAP, BUS, PAD = 312, 28, 26, 10
LINE, NODE = 20, 26
Path = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Rect:
    """A place in the picture, in its own units."""

    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True)
class Label:
    """A text in a frame. ``end``: it stands at the right."""

    place: Rect
    text: str
    style: str = ""
    end: bool = False


@dataclass(frozen=True)
class NodeMark:
    """A node: its frame, its state (up, down, disputed) and its labels."""

    place: Rect
    state: str
    labels: tuple[Label, ...]


@dataclass(frozen=True)
class ZoneBox:
    """A zone with its sites and nodes. ``writes``: its site writes the layout; ``dark``: its site cannot be reached."""

    place: Rect
    writes: bool
    dark: bool
    labels: tuple[Label, ...]
    nodes: tuple[NodeMark, ...]


@dataclass(frozen=True)
class Picture:
    """``arrows`` are paths through points, from the writer to a follower; the last point is the tip."""

    width: int
    height: int
    boxes: tuple[ZoneBox, ...]
    arrows: tuple[Path, ...]


def arrange(cluster: Mapping, columns: int) -> Picture:
    """The zone of the writer above, the others below in rows of ``columns``."""
    top = [zone for zone in cluster["zones"] if any(name in cluster["writers"] for name in zone["sites"])]
    rest = [zone for zone in cluster["zones"] if zone not in top]
    rows = [[zone] for zone in top] + [rest[start:start + columns] for start in range(0, len(rest), columns)]
    followers = {site["name"] for site in cluster["sites"] if site["site_role"] == "follower"}
    boxes: list[ZoneBox] = []
    arrows: list[Path] = []
    y = 1
    for row in rows:
        made = [_box(zone, cluster, BUS + index * (BOX + GAP), y) for index, zone in enumerate(row)]
        if top and row[0] not in top:
            arrows += [_arrow(boxes[0].place, box.place) for zone, box in zip(row, made) if followers & set(zone["sites"])]
        boxes += made
        y = max(box.place.y + box.place.height for box in made) + GAP
    return Picture(BUS + max(map(len, rows), default=1) * (BOX + GAP) - GAP + 1, max(y - GAP + 1, 1), tuple(boxes), tuple(arrows))


def _arrow(writer: Rect, box: Rect) -> Path:
    """Out of the writer's side, down at the left of all boxes, and into the box from above."""
    bus, above, tip = BUS // 2, box.y - GAP // 2, box.x + 2 * PAD
    return (writer.x, writer.y + 2 * PAD), (bus, writer.y + 2 * PAD), (bus, above), (tip, above), (tip, box.y)


def _box(zone: Mapping, cluster: Mapping, x: int, y: int) -> ZoneBox:
    sites = [site for site in cluster["sites"] if site["name"] in zone["sites"]]
    nodes = sorted((node for node in cluster["nodes"] if node["zone"] == zone["zone"]), key=lambda node: (node["state"] == "up", node["name"]))
    texts = [(zone["zone"] or "no zone yet", "zone"), *((_site_text(site), "muted") for site in sites), (_nodes_text(zone), "muted")]
    labels = tuple(Label(Rect(x + PAD, y + PAD + index * LINE, BOX - 2 * PAD, LINE), text, style) for index, (text, style) in enumerate(texts))
    below = y + PAD + len(texts) * LINE + 6
    marks = tuple(_mark(node, _called(node, cluster), x + PAD, below + index * (NODE + 4)) for index, node in enumerate(nodes))
    height = below - y + len(marks) * (NODE + 4) + PAD - 4
    dark = bool(sites) and not any(site["reachable"] for site in sites)
    return ZoneBox(Rect(x, y, BOX, height), any(site["writes"] for site in sites), dark, labels, marks)


def _site_text(site: Mapping) -> str:
    role = role_of(site)
    words = "writes the layout" if site["writes"] else "follows" if role == "follower" else "writes no layout"
    return f"{site['name']}: {words}{'' if site['reachable'] else ', unreachable'}"


def _nodes_text(zone: Mapping) -> str:
    if not zone["nodes"]:
        return "no node known"
    capacity = f", {size(zone['capacity'])}" if zone["storage"] else ""
    return f"{zone['up']} of {counted(zone['nodes'], 'node')} up{capacity}"


def _called(node: Mapping, cluster: Mapping) -> str:
    """The host name, with the beginning of the id where several nodes have that name, as those of one machine do."""
    if not node["hostname"]:
        return short(node["id"])
    alone = sum(other["hostname"] == node["hostname"] for other in cluster["nodes"]) == 1
    return node["hostname"] if alone else f"{node['hostname']} {node['id'][:8]}"


def _mark(node: Mapping, name: str, x: int, y: int) -> NodeMark:
    kind = "gateway" if node["gateway"] else size(node["capacity"]) if node["has_role"] else "no role"
    state = "draining" if node["state"] == "up" and node["draining"] else node["state"]
    right, width = 116, BOX - 2 * PAD
    labels = (Label(Rect(x + 26, y, width - 30 - right, NODE), name, "name"),
              Label(Rect(x + width - right, y, right - 6, NODE), f"{kind}, {state}", "muted", end=True))
    return NodeMark(Rect(x, y, width, NODE), node["state"], labels)


def draw(picture: Picture, style: str, title: str) -> Markup:
    """The picture as an SVG element of the class ``style``."""
    arrows = [tag("path", {"class": "arrow", "d": _path(points)}) for points in picture.arrows]
    tips = [tag("path", {"class": "tip", "d": _tip(*points[-1])}) for points in picture.arrows]
    attributes = {"class": style, "viewBox": f"0 0 {picture.width} {picture.height}", "width": picture.width, "role": "img", "aria-label": title}
    return tag("svg", attributes, arrows, tips, [_draw_box(box) for box in picture.boxes])


def _path(points: Path) -> str:
    return "M" + " L".join(f"{x} {y}" for x, y in points)


def _tip(x: int, y: int) -> str:
    return f"M{x} {y} l-5 -9 h10 z"


def _draw_box(box: ZoneBox) -> Markup:
    style = "box" + (" writes" if box.writes else "") + (" dark" if box.dark else "")
    return tag("g", None, _rect(box.place, style, 8), map(_draw_label, box.labels), map(_draw_node, box.nodes))


def _draw_node(node: NodeMark) -> Markup:
    x, y = node.place.x + 14, node.place.y + NODE // 2
    # Told apart by shape as well as by colour.
    shape = {
        "up": tag("circle", {"class": "up", "cx": x, "cy": y, "r": 5}),
        "down": tag("path", {"class": "down", "d": f"M{x - 5} {y - 5} l10 10 m0 -10 l-10 10"}),
    }.get(node.state, tag("path", {"class": "disputed", "d": f"M{x} {y - 6} l6 11 h-12 z"}))
    return tag("g", None, _rect(node.place, f"node {node.state}", 5), shape, map(_draw_label, node.labels))


def _rect(place: Rect, style: str, radius: int) -> Markup:
    return tag("rect", {"class": style, "x": place.x, "y": place.y, "width": place.width, "height": place.height, "rx": radius})


def _draw_label(label: Label) -> Markup:
    """An inner SVG cuts off what is too long; the whole text is its tooltip."""
    place = label.place
    anchor = {"x": place.width, "text-anchor": "end"} if label.end else {"x": 0}
    text = tag("text", {"class": label.style or None, "y": place.height // 2 + 5, **anchor}, tag("title", None, label.text), label.text)
    return tag("svg", {"x": place.x, "y": place.y, "width": place.width, "height": place.height}, text)
