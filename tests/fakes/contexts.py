# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a job may use of a module, over a client that a test has made already."""

from __future__ import annotations

from ansible_collections.s3ops.garage.plugins.module_utils._client import Client


class Context:
    """``warnings`` and ``hidden`` hold what a user would be told, and what would be struck from it."""

    def __init__(self, client: Client, check: bool = False) -> None:
        self.check = check
        self.warnings: list[str] = []
        self.hidden: list[str] = []
        self._client = client

    def client(self) -> Client:
        return self._client

    def bearing(self, client: Client, token: str, source: str) -> Client:
        return Client(client.transport.bearing(token), site_role=client.site_role, retries=client.retries, retry_delay=client.retry_delay)

    def hide(self, secret: str) -> None:
        self.hidden.append(secret)

    def warn(self, text: str) -> None:
        self.warnings.append(text)
