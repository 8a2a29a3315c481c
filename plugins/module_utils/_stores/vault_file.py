# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Credentials in files that ansible-vault encrypts. Private: not for use outside of the collection."""

from __future__ import annotations

import json
from collections.abc import Mapping

from .._errors import StoreFault
from .entry_file import EntryFile
from .vault_text import decrypt, encrypt


class VaultFile(EntryFile):
    """A file of variables as ``ansible-vault`` makes it. Inside is JSON, which is YAML as well, so ``vars_files`` and ``include_vars`` read it."""

    def __init__(self, path: str, password: bytes, noted: bool = True) -> None:
        super().__init__(path, noted)
        self._password = password

    def beside(self, name: str) -> VaultFile:
        return VaultFile(f"{self.place}.{name}", self._password, noted=False)

    def _decode(self, text: str) -> Mapping[str, str]:
        if not text.strip():
            return {}
        try:
            data = json.loads(decrypt(text, self._password))
        except ValueError:
            data = None
        if not isinstance(data, dict) or not all(isinstance(value, str) for value in data.values()):
            raise StoreFault(f"{self.place} cannot be opened with the vault password that is given, or holds something else than credentials",
                             hint="give the password that it was encrypted with, or another path")
        return data

    def _encode(self, data: Mapping[str, str]) -> str:
        return encrypt(json.dumps(dict(data), indent=2) + "\n", self._password)
