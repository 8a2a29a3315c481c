# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reading everything of a kind in a few requests, where the server can. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .._client import Client
from .._errors import Denied, NotAdminApi, NotFound

# Rows a page: some 10 MB of JSON for buckets with a few grants each.
_PAGE = 5000
# ListBucketsInfo fails as a whole when somebody deletes a bucket while it runs (seen on 2.5.0).
_TRIES = 3
# More reads at a time gain nothing on a server with two cores (measured on 2.5.0).
_READS_IN_FLIGHT = 4


def list_bucket_infos(client: Client) -> list[dict] | None:
    """All buckets, each as GetBucketInfo gives it; None when they must be read one by one (see ``_pages``)."""
    return _pages(lambda query: client.call("ListBucketsInfo", query), "id")


def list_key_infos(client: Client) -> list[dict] | None:
    """All access keys, each as GetKeyInfo gives it without the secret; None when they must be read one by one (see ``_pages``)."""
    return _pages(lambda query: client.call("ListKeysInfo", query), "accessKeyId")


def _pages(ask: Callable[[dict], list[dict]], id_field: str) -> list[dict] | None:
    """All rows, since pages are asked for until one is the last.

    None where the server has no such call (before 2.5.0), the token may not make it, or it failed again and again because buckets vanish
    meanwhile.
    """
    rows: list[dict] = []
    query: dict = {"limit": _PAGE + 1}
    failures = 0
    while True:
        try:
            page = ask(query)
        except NotFound:
            failures += 1
            if failures == _TRIES:
                return None
            continue
        except (Denied, NotAdminApi):
            return None
        rows += page[:_PAGE]
        if len(page) <= _PAGE:
            return rows
        # The offset is the id of the first row that is wanted.
        query = {"limit": _PAGE + 1, "offset": page[_PAGE][id_field]}


def at_once(read: Callable[[Any], Any], items: Iterable) -> list:
    """``read`` of each item in their order, a few at a time over the one connection pool: what is left where there is no bulk read."""
    items = list(items)
    if len(items) < 2:
        return [read(item) for item in items]
    with ThreadPoolExecutor(max_workers=_READS_IN_FLIGHT) as pool:
        return list(pool.map(read, items))
