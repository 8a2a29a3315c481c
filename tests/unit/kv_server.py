# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real Vault or OpenBao in place of the loopback server, where GARAGE_TEST_VAULT_ADDR and GARAGE_TEST_VAULT_TOKEN lead to one."""

from __future__ import annotations

import os
import secrets
import time
from datetime import datetime, timezone

from hvac import Client
from hvac.exceptions import InvalidPath, InvalidRequest

from ansible_collections.s3ops.garage.plugins.module_utils._stores import hashi_vault

ADDRESS, TOKEN = "GARAGE_TEST_VAULT_ADDR", "GARAGE_TEST_VAULT_TOKEN"
POLICY = """
path "{mount}/data/*" {{ capabilities = [{data}] }}
path "{mount}/metadata/*" {{ capabilities = [{metadata}] }}
path "{mount_1}/*" {{ capabilities = ["create", "read", "update"] }}
"""


class KvServer:
    """What KvApi is to the tests. They have an engine of their own there, and a token with the rights that the store asks for and no other."""

    def __init__(self):
        self.url = os.environ[ADDRESS]
        self.mount = f"s3ops-garage-tests-{secrets.token_hex(4)}"
        self.mount_1 = f"{self.mount}-1"
        self._admin = Client(url=self.url, token=os.environ[TOKEN])
        self._kv = self._admin.secrets.kv.v2
        self._passed = []

    def __enter__(self):
        for mount, version in ((self.mount, "2"), (self.mount_1, "1")):
            self._admin.sys.enable_secrets_engine("kv", path=mount, options={"version": version})
        self.read_only = False
        self.token = self._admin.auth.token.create(policies=[self.mount], no_parent=True)["auth"]["client_token"]
        self._wait()
        self._real_age, hashi_vault._age = hashi_vault._age, self._age
        return self

    def __exit__(self, *dummy):
        hashi_vault._age = self._real_age
        self._admin.auth.token.revoke(self.token)
        self._admin.sys.delete_policy(self.mount)
        for mount in (self.mount, self.mount_1):
            self._admin.sys.disable_secrets_engine(mount)

    def _wait(self):
        """An engine that was just made refuses to work until it has begun."""
        for dummy in range(100):
            try:
                return self.names()
            except InvalidRequest:
                time.sleep(0.1)
        raise TimeoutError(self.mount)

    @property
    def read_only(self):
        return self._read_only

    @read_only.setter
    def read_only(self, value):
        self._read_only = value
        rights = {"data": '"read"', "metadata": '"deny"'} if value else {"data": '"create", "read", "update"', "metadata": '"delete"'}
        self._admin.sys.create_or_update_policy(self.mount, POLICY.format(mount=self.mount, mount_1=self.mount_1, **rights))

    def names(self, folder=""):
        try:
            keys = self._kv.list_secrets(folder, mount_point=self.mount)["data"]["keys"]
        except InvalidPath:
            return []
        return [name for key in keys for name in (self.names(folder + key) if key.endswith("/") else [folder + key])]

    def clear(self):
        for name in self.names():
            self._kv.delete_metadata_and_all_versions(name, mount_point=self.mount)

    def data(self, path):
        return self._kv.read_secret_version(path, mount_point=self.mount, raise_on_deleted_version=True)["data"]["data"]

    def put(self, path, data):
        if data is None:
            self._kv.delete_latest_version_of_secret(path, mount_point=self.mount)
        else:
            self._kv.create_or_update_secret(path, data, mount_point=self.mount)

    def destroy(self, path):
        version = self._kv.read_secret_metadata(path, mount_point=self.mount)["data"]["current_version"]
        self._kv.destroy_secret_versions(path, [version], mount_point=self.mount)

    def pass_time(self, seconds):
        """What is there now looks so much older."""
        self._passed.append((time.time(), seconds))

    def _age(self, created, now):
        seconds, _dot, fraction = created.rstrip("Z").partition(".")
        made = datetime.fromisoformat(seconds).replace(tzinfo=timezone.utc).timestamp() + float(f"0.{fraction or 0}")
        return self._real_age(created, now) + sum(more for moment, more in self._passed if made < moment)
