# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Places for credentials in tests: the option that means one, what stands in it, and runs that are cut off on the way to it."""

from __future__ import annotations

import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

import pytest

from ansible_collections.s3ops.garage.plugins.module_utils._models.store import StoreSpec
from ansible_collections.s3ops.garage.plugins.module_utils._stores import vault_text
from ansible_collections.s3ops.garage.plugins.module_utils._stores.hashi_vault import HashiVault
from ansible_collections.s3ops.garage.plugins.module_utils._stores.kubernetes_secret import KubernetesSecret
from ansible_collections.s3ops.garage.plugins.module_utils._stores.opener import open_store
from tests.unit.token_runs import Crash

PLACES = ["file", "vault file", "Secret", "KV engine"]


def hurry(patch):
    """Files cost no time: thousands are written, the power is cut in a model only, and nobody guesses at these passwords."""
    patch.setattr(os, "fsync", lambda handle: None)
    patch.setattr(vault_text, "_ROUNDS", 1)


class Place:
    """A store as the option says it, and what stands in it."""

    def __init__(self, kind, folder, secrets=None, kv=None):
        self.kind, self._folder, self._secrets, self._kv = kind, folder, secrets, kv
        self._apis = [api for api in (secrets, kv) if api]
        self.option = {"Secret": lambda: {"secret": "ci", "namespace": "garage", "kubeconfig": secrets.kubeconfig(folder)},
                       "file": lambda: {"path": str(folder / "ci")},
                       "vault file": lambda: {"path": str(folder / "ci"), "vault_password": "open sesame"},
                       "KV engine": lambda: {"hashi_vault": {"url": kv.url, "path": "ci", "mount_point": kv.mount, "token": kv.token}}}[kind]()

    @cached_property
    def store(self):
        return open_store(StoreSpec.from_params(self.option, []))

    @property
    def token(self):
        """The admin token in it."""
        return self.token_in(self.store.read())

    def token_in(self, held):
        if held is None:
            return None
        return held.content.strip() if self.kind == "file" else held.data["token"]

    @property
    def pair(self):
        """(id, secret) of the access key in it."""
        held = self.store.read()
        if held is None:
            return None
        data = json.loads(held.content) if self.kind == "file" else held.data
        return data["access-key-id"], data["secret-access-key"]

    @property
    def names(self):
        """The names of all entries there are."""
        if self.kind == "Secret":
            return sorted(name for _namespace, name in self._secrets.secrets)
        if self.kind == "KV engine":
            return sorted(self._kv.names())
        return sorted(path.name for path in self._folder.iterdir() if path.name not in ("kubeconfig", ".ci.garage"))

    def later(self):
        """After so long that nobody can be at work any more."""
        for api in self._apis:
            api.pass_time(90)

    def clear(self):
        for api in self._apis:
            api.clear()
        for path in self._folder.iterdir():
            if path.name != "kubeconfig":
                path.unlink()


def at_once(work):
    """The results of doing ``work`` in two threads that begin together. Raises what one of them raised."""
    barrier = threading.Barrier(2)

    def begin(dummy):
        barrier.wait()
        return work()

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(begin, range(2)))


def cut_off(work, power):
    """Do ``work`` until the power is cut at a point on the way to a store, or wherever else it counts; whether it came to its end.

    As when a process is killed, nothing is tidied up any more: each further point is the end as well.
    """
    with pytest.MonkeyPatch.context() as patch:
        for kind, name in ((os, "link"), (os, "replace"), (os, "unlink"), (KubernetesSecret, "_ask"), (HashiVault, "_ask")):
            patch.setattr(kind, name, _watched(getattr(kind, name), power))
        try:
            work()
        except Crash:
            assert power.until is not None
            return False
    return True


def _watched(real, power):
    def step(*arguments, **options):
        power.point()
        answer = real(*arguments, **options)
        power.point()
        return answer

    return step
