# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Sites that belong together: references from one to another, and who writes the layout. Pure. Private: not for use outside of the collection.

``hosts`` is Ansible's hostvars or a plain dictionary: variables by host. Of other hosts only the few values named here are looked at,
so that a site whose token cannot be fetched here is in nobody's way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .._errors import InputError
from .shape import entries, section

WRITER, FOLLOWER = "writer", "follower"


@dataclass(frozen=True)
class Member:
    """A site as the others need to know it; ``writes`` tells whether it would write the layout."""

    host: str
    name: str
    role: str | None
    writes: bool
    remotes: tuple[str, ...]


def declared_role(site: Mapping, writer: str | None = None) -> str | None:
    """writer, follower, or None when nothing says (LW-03). ``writer`` names the one writer of all sites (LW-47)."""
    if writer:
        return WRITER if site.get("name") == writer else FOLLOWER
    return section(site, "layout").get("site_role")


def members(hosts: Mapping[str, Mapping]) -> list[Member]:
    """All sites among ``hosts``."""
    return [_member(host, site, hosts[host].get("garage_layout_writer_site")) for host, site in _sites(hosts)]


def federation(name: str, known: list[Member]) -> list[Member]:
    """The site ``name`` and all that are joined with it by remotes, whichever side names the other."""
    names = {name}
    while True:
        near = {member.name for member in known if names & set(member.remotes)}
        near |= {remote for member in known if member.name in names for remote in member.remotes}
        if near <= names:
            return [member for member in known if member.name in names]
        names |= near


def writer_faults(site: Mapping, hosts: Mapping[str, Mapping], writer: str | None) -> list[str]:
    """Why it is not clear that one site alone writes the layout (LW-45, LW-47)."""
    name, known = site.get("name"), members(hosts)
    faults = []
    if writer:
        bearers = [member.host for member in known if member.name == writer]
        if len(bearers) != 1:
            faults.append(f"garage_layout_writer_site: {writer!r} must be the name of exactly one site; "
                          + (f"the hosts {', '.join(bearers)} bear it" if bearers else f"known are {', '.join(sorted(row.name for row in known))}"))
        stated = section(site, "layout").get("site_role")
        if stated and stated != declared_role(site, writer):
            faults.append(f"garage_site.layout.site_role: {stated!r} contradicts garage_layout_writer_site, which names {writer!r};"
                          " leave site_role out")
    own = Member("", str(name), declared_role(site, writer), _writes(site, declared_role(site, writer)), _remotes(site))
    joined = federation(own.name, [own, *(member for member in known if member.name != name)])
    rivals = [member for member in joined if member.writes and member is not own]
    if own.writes and rivals:
        others = ", ".join(f"{rival.name} (host {rival.host})" for rival in rivals)
        faults.append(f"garage_site.layout.site_role: this site and {others} would all write the layout of one cluster; set"
                      " site_role: follower at all sites but one (a site without it behaves as writer)")
    return faults


def writer_host(site: Mapping, hosts: Mapping[str, Mapping]) -> str | None:
    """The inventory host whose site writes the layout for ``site``; None when no host of the inventory does."""
    known = members(hosts)
    return next((member.host for member in federation(str(site.get("name")), known) if member.writes), None)


def chain(site: Mapping, hosts: Mapping[str, Mapping]) -> list[Mapping]:
    """``site`` and the sites that its ``connect_to.site`` leads to, the one with the connection last. Raises InputError."""
    found = [site]
    while name := section(found[-1], "connect_to").get("site"):
        named = [other for _host, other in _sites(hosts) if other.get("name") == name]
        if len(named) != 1:
            raise InputError(f"garage_site.connect_to.site: {name!r} must be the name of exactly one other site of the inventory, not of"
                             f" {len(named)}")
        if name in [known.get("name") for known in found]:
            raise InputError(f"garage_site.connect_to.site: {name!r} leads back to itself; one of these sites needs api_url and a token")
        found.append(named[0])
    return found


def role_in_chain(sites: list[Mapping], writer: str | None) -> str | None:
    """The role of the first, unless one of those it leads to is a follower: nobody writes through the back door (LW-15).

    Where the inventory names the writer, a site that leads to another acts on the layout of that one and has its role.
    """
    roles = [declared_role(site, writer) for site in sites]
    if writer and len(roles) > 1:
        del roles[0]
    return FOLLOWER if FOLLOWER in roles else roles[0]


def _sites(hosts: Mapping[str, Mapping]) -> Iterator[tuple[str, Mapping]]:
    for host in hosts:
        site = hosts[host]["garage_site"] if "garage_site" in hosts[host] else None
        if isinstance(site, Mapping) and site.get("name"):
            yield str(host), site


def _member(host: str, site: Mapping, writer: Any) -> Member:
    role = declared_role(site, writer)
    return Member(host, str(site["name"]), role, _writes(site, role), _remotes(site))


def _writes(site: Mapping, role: str | None) -> bool:
    # A site that declares nothing of the layout writes none of it, whatever its role.
    return role != FOLLOWER and (role == WRITER or any(site.get(name) is not None for name in ("layout", "replication")))


def _remotes(site: Mapping) -> tuple[str, ...]:
    return tuple(str(remote.get("name")) for _index, remote in entries(site, "remotes"))
