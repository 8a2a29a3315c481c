# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Credentials in the KV engine, version 2, of HashiCorp Vault or OpenBao. Private: not for use outside of the collection."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any

from .._errors import LibraryMissing, StoreChanged, StoreFault
from .._models.store import CLUSTER_NOTE, DERIVATION_NOTE, Entry

_TIMEOUT_SECONDS = 30


class HashiVault:
    """A secret at a path. It is ours when it holds the note of its cluster, which stands among its data; one without it is never written to.

    A write names the version that was read (check-and-set), so the server refuses it when somebody else was faster.
    """

    def __init__(self, client: Any, mount_point: str, path: str) -> None:
        self.place = f"{mount_point}/{path} of {client.url}"
        self._client, self._mount, self._path = client, mount_point, path
        # A secret whose last version was deleted goes on counting from it.
        self._absent_version = 0

    def read(self) -> Entry | None:
        kv = self._client.secrets.kv.v2
        answer = self._ask(lambda: kv.read_secret_version(self._path, mount_point=self._mount, raise_on_deleted_version=True), True)
        if isinstance(answer, Mapping):
            # Of a version that was deleted or destroyed the metadata are told.
            self._absent_version = answer.get("data", {}).get("metadata", {}).get("version", 0)
            return None
        found = answer.json()["data"]
        if "metadata" not in found:
            raise self._no_engine()
        meta = found["metadata"]
        data = {name: value if isinstance(value, str) else "(not text)" for name, value in found["data"].items()}
        note, derivation = data.pop(CLUSTER_NOTE, None), data.pop(DERIVATION_NOTE, "{}")
        return Entry(data, tuple((note or "").split()), ours=note is not None, age=_age(meta.get("created_time"), answer.headers.get("Date")),
                     version=f"{meta['version']} {meta['created_time']}", derivation=json.loads(derivation))

    def create(self, entry: Entry) -> None:
        self._write(entry, self._absent_version)

    def replace(self, entry: Entry, held: Entry) -> None:
        self._refuse_theirs(held)
        self._write(entry, int(held.version.split()[0]))

    def delete(self, held: Entry) -> None:
        self._refuse_theirs(held)
        found = self.read()
        if found and found.version != held.version:
            raise self._changed()
        self._ask(lambda: self._client.secrets.kv.v2.delete_metadata_and_all_versions(self._path, mount_point=self._mount), True)

    def refuse_unwritable(self, held: Entry | None) -> None:
        if held:
            self._refuse_theirs(held)
        elif not self._has_versions():
            raise self._no_engine()

    def beside(self, name: str) -> HashiVault:
        return HashiVault(self._client, self._mount, f"{self._path}-{name}")

    def lock(self) -> AbstractContextManager[None]:
        return nullcontext()

    def exposed(self) -> bool:
        return False

    def _write(self, entry: Entry, version: int) -> None:
        derivation = {DERIVATION_NOTE: json.dumps(dict(entry.derivation))} if entry.derivation else {}
        data = {**entry.data, CLUSTER_NOTE: " ".join(entry.cluster), **derivation}
        self._ask(lambda: self._client.secrets.kv.v2.create_or_update_secret(self._path, data, cas=version, mount_point=self._mount))

    def _has_versions(self) -> bool:
        """Whether the engine is one of version 2; one of version 1 takes what is written as well, without comparing anything."""
        try:
            answer = self._ask(lambda: self._client.read(f"sys/internal/ui/mounts/{self._mount}"))
        except StoreFault:
            # Whoever may not know has to try.
            return True
        engine = answer.json()["data"]
        return engine["type"] == "kv" and (engine["options"] or {}).get("version") == "2"

    def _no_engine(self) -> StoreFault:
        return StoreFault(f"{self.place}: there is no KV engine of version 2 at {self._mount}", hint="see store.hashi_vault.mount_point")

    def _refuse_theirs(self, held: Entry) -> None:
        if not held.ours:
            raise StoreFault(f"{self.place} does not hold {CLUSTER_NOTE}, so it is somebody else's; it is left as it is", hint="choose another path")

    def _changed(self) -> StoreChanged:
        return StoreChanged(f"{self.place} was written by somebody else while this ran; it is left as it is", hint="run this again")

    def _ask(self, request: Callable[[], Any], absent_is_fine: bool = False) -> Any:
        """The answer; of what is not there what the server tells all the same. Errors say what it said, without what was sent to it."""
        from hvac.exceptions import Forbidden, InvalidPath, InvalidRequest, VaultError
        from requests.exceptions import RequestException
        try:
            return request()
        except InvalidPath as error:
            if absent_is_fine:
                return error.json or {}
            raise self._no_engine() from None
        except VaultError as error:
            told = "; ".join(error.errors or ()) if isinstance(error.errors, list) else str(error.errors or "")
            if isinstance(error, InvalidRequest) and "check-and-set" in told:
                raise self._changed() from None
            hint = "see the token and its policy: create, read and update on the data, delete on the metadata"
            raise StoreFault(f"{self.place}: {type(error).__name__}: {told[:300]}", hint=hint if isinstance(error, Forbidden) else "see the server") from None
        except RequestException as error:
            raise StoreFault(f"{self.place}: no answer ({type(error).__name__})", hint="see store.hashi_vault.url") from None


def hashi_vault_client(url: str, token: str | None, namespace: str | None, ca_path: str | None) -> Any:
    """A client of the KV engine; the token comes from the environment (VAULT_TOKEN) where none is given."""
    try:
        from hvac import Client as VaultClient
        from hvac.adapters import RawAdapter
    except ImportError:
        raise LibraryMissing("hvac", "HashiCorp Vault as store") from None
    # The adapter that hands on the header with the server's clock.
    return VaultClient(url=url, token=token, namespace=namespace, verify=ca_path or True, timeout=_TIMEOUT_SECONDS, allow_redirects=False,
                       adapter=RawAdapter)


def _age(created: str | None, now: str | None) -> float | None:
    """By the clock of the server alone, since ours may be wrong."""
    if not created or not now:
        return None
    made = datetime.fromisoformat(created[:19]).replace(tzinfo=timezone.utc)
    return (parsedate_to_datetime(now) - made).total_seconds()
