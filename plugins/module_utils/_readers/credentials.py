# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Access keys with their secrets. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Iterable

from .._client import Client
from .._errors import Ambiguous, NotDeclaredHere
from .._models.key import KeyDirectory
from .._names import key_id_fault
from .key import find_key, read_directory


def read_credentials(client: Client, terms: Iterable[str]) -> list[dict]:
    """``access_key_id``, ``secret_access_key`` and ``name`` of the key that each term names or is the id of. One request for all, one for each.

    Raises NotDeclaredHere when there is none, Ambiguous when there are several, and PlanError when the server may not have listed it.
    """
    directory = read_directory(client)
    return [_credentials(client, directory, term) for term in terms]


def _credentials(client: Client, directory: KeyDirectory, term: str) -> dict:
    ids = sorted({key.id for key in (directory.by_id(term), *directory.listed(term)) if key})
    if len(ids) > 1:
        raise Ambiguous(f"{term!r} is the name or the id of {len(ids)} access keys: {', '.join(ids[:20])}", hint="give the id of the one you mean")
    if not ids and not directory.complete and not key_id_fault(term):
        # By its id a key is found even when the list was cut.
        ids = [term]
    key = find_key(client, ids[0], secret=True) if ids else None
    if key is None:
        directory.all_by_name(term)
        raise NotDeclaredHere(f"there is no access key with the name or the id {term!r}", hint="see s3ops.garage.key_info for those there are")
    return {"access_key_id": key.id, "secret_access_key": key.secret.value, "name": key.name}
