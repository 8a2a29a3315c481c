# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""From the option ``store`` to the place that it means. Private: not for use outside of the collection."""

from __future__ import annotations

from .._errors import StoreFault
from .._models.store import StoreSpec
from .entry_file import EntryFile
from .hashi_vault import HashiVault, hashi_vault_client
from .interface import Store
from .kubernetes_secret import KubernetesSecret, kubernetes_api
from .memory import MemoryStore
from .vault_file import VaultFile


def open_store(spec: StoreSpec | None) -> Store:
    """The store; one in memory where none is wanted. Raises StoreFault and LibraryMissing; nothing in the place is looked at yet."""
    if spec is None:
        return MemoryStore()
    if spec.secret is not None:
        return KubernetesSecret(kubernetes_api(spec.kubeconfig, spec.context), spec.namespace, spec.secret)
    if spec.hashi_vault is not None:
        options = spec.hashi_vault
        client = hashi_vault_client(options["url"], options.get("token"), options.get("namespace"), options.get("ca_path"))
        return HashiVault(client, options["mount_point"], options["path"])
    if spec.encrypted:
        return VaultFile(spec.path, _password(spec))
    return EntryFile(spec.path)


def _password(spec: StoreSpec) -> bytes:
    if spec.vault_password is not None:
        return spec.vault_password.value.encode("utf-8")
    try:
        with open(spec.vault_password_file, "rb") as handle:
            password = handle.read().strip()
    except OSError as error:
        raise StoreFault(f"the vault password file {spec.vault_password_file}: {error.strerror}", hint="see store.vault_password_file") from None
    if not password:
        raise StoreFault(f"the vault password file {spec.vault_password_file} is empty", hint="see store.vault_password_file")
    return password
