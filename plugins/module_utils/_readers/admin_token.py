# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Snapshots of admin tokens. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .._client import Client
from .._errors import Denied, NotAdminApi, NotFound
from .._models.admin_token import LIST_CAP, AdminToken, TokenDirectory


def read_directory(client: Client, ids: Iterable[str | None] = ()) -> TokenDirectory:
    """All tokens. Those of ``ids`` are looked up one by one where the list may have been cut."""
    rows = client.call("ListAdminTokens")
    listed = TokenDirectory(tuple(AdminToken.from_api(row) for row in rows), complete=len(rows) < LIST_CAP)
    if listed.complete:
        return listed
    missing = {id for id in ids if id is not None and not listed.by_id(id)}
    found = [find_token(client, id) for id in sorted(missing)]
    return replace(listed, tokens=listed.tokens + tuple(token for token in found if token))


def own_token_id(client: Client) -> str | None:
    """The id of the token that the client itself works with; None for one of the configuration, which has none."""
    token_id, dot, _rest = client.transport.connection.token.partition(".")
    return token_id if dot else None


def find_token(client: Client, token_id: str) -> AdminToken | None:
    """The token with this id, or None."""
    try:
        return AdminToken.from_api(client.call("GetAdminTokenInfo", {"id": token_id}))
    except NotFound:
        return None


def is_accepted(bearer: Client, token_id: str) -> bool | None:
    """Whether the server takes the token of ``bearer``, asked with nothing but that token, which needs no scope for it (GS-02). None where it cannot
    be asked (before Garage 2.1.0). Any other failure is raised: it says nothing about the token (TD-07).

    Servers before 2.5.0 may crash over this question when it is asked with a token without a dot; those of the database have one.
    """
    try:
        return bearer.call("GetCurrentAdminTokenInfo").get("id") == token_id
    except Denied:
        return False
    except NotAdminApi as error:
        if error.status != 400:
            raise
        return None


def read_tokens(client: Client, name: str | None = None, token_id: str | None = None) -> list[AdminToken]:
    """The tokens that are called ``name``, the one that has ``token_id``, or all; ordered by id, those of the configuration first."""
    if token_id is not None:
        found = find_token(client, token_id)
        return [found] if found else []
    directory = read_directory(client)
    if not directory.complete:
        client.warnings.append(f"this server lists {LIST_CAP} admin tokens at most; there may be more than the ones returned")
    return sorted((token for token in directory.tokens if name in (None, token.name)), key=lambda token: (token.id or "", token.name))
