# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Credentials in Secrets of Kubernetes. Private: not for use outside of the collection."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

from .._errors import LibraryMissing, StoreChanged, StoreFault
from .._models.store import CLUSTER_NOTE, DERIVATION_NOTE, LABEL, OWNER, Entry

_TIMEOUT_SECONDS = 30
_DRY = "All"
# Sent in a trial: a Secret that is never stored.
_TRIAL = Entry({"content": ""})


class KubernetesSecret:
    """A Secret with the label that says that it is ours; one without it is read, and never written to.

    A write names the ``resourceVersion`` that was read, so the API server refuses it when somebody else was faster.
    """

    def __init__(self, api: Any, namespace: str, name: str) -> None:
        self.place = f"Secret {namespace}/{name}"
        self._api, self._namespace, self._name = api, namespace, name

    def read(self) -> Entry | None:
        answer = self._ask(lambda: self._api.read_namespaced_secret_with_http_info(self._name, self._namespace, _request_timeout=_TIMEOUT_SECONDS), True)
        if answer is None:
            return None
        secret, dummy, headers = answer
        meta = secret.metadata
        labels, notes = meta.labels or {}, meta.annotations or {}
        return Entry(self._opened(secret.data or {}), tuple(json.loads(notes.get(CLUSTER_NOTE, "[]"))), labels, notes,
                     ours=labels.get(LABEL) == OWNER, age=_age(meta.creation_timestamp, headers.get("Date")), version=meta.resource_version,
                     derivation=json.loads(notes.get(DERIVATION_NOTE, "{}")))

    def create(self, entry: Entry, dry_run: str | None = None) -> None:
        self._ask(lambda: self._api.create_namespaced_secret(self._namespace, self._body(entry, None), dry_run=dry_run,
                                                             _request_timeout=_TIMEOUT_SECONDS))

    def replace(self, entry: Entry, held: Entry, dry_run: str | None = None) -> None:
        self._refuse_theirs(held)
        self._ask(lambda: self._api.replace_namespaced_secret(self._name, self._namespace, self._body(entry, held), dry_run=dry_run,
                                                              _request_timeout=_TIMEOUT_SECONDS))

    def delete(self, held: Entry) -> None:
        self._refuse_theirs(held)
        body = {"preconditions": {"resourceVersion": held.version}}
        self._ask(lambda: self._api.delete_namespaced_secret(self._name, self._namespace, body=body, _request_timeout=_TIMEOUT_SECONDS), True)

    def refuse_unwritable(self, held: Entry | None) -> None:
        if held is None:
            self.create(_TRIAL, dry_run=_DRY)
        else:
            self.replace(held, held, dry_run=_DRY)

    def beside(self, name: str) -> KubernetesSecret:
        return KubernetesSecret(self._api, self._namespace, f"{self._name}-{name}")

    def lock(self) -> AbstractContextManager[None]:
        return nullcontext()

    def exposed(self) -> bool:
        return False

    def _body(self, entry: Entry, held: Entry | None) -> dict:
        notes = {**(held.annotations if held else {}), **entry.annotations}
        if entry.cluster:
            notes[CLUSTER_NOTE] = json.dumps(list(entry.cluster))
        if entry.derivation:
            notes[DERIVATION_NOTE] = json.dumps(dict(entry.derivation))
        meta = {"name": self._name, "namespace": self._namespace, "annotations": notes,
                "labels": {**(held.labels if held else {}), **entry.labels, LABEL: OWNER}}
        if held:
            meta["resourceVersion"] = held.version
        data = {name: base64.b64encode(text.encode("utf-8")).decode("ascii") for name, text in entry.data.items()}
        return {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "type": "Opaque", "data": data}

    def _opened(self, data: Mapping[str, str]) -> dict[str, str]:
        return {name: _text(value) for name, value in data.items()}

    def _refuse_theirs(self, held: Entry) -> None:
        if not held.ours:
            raise StoreFault(f"{self.place} does not have the label {LABEL}: {OWNER}, so it is somebody else's; it is left as it is",
                             hint="choose another name, or set the label on it to hand it over")

    def _ask(self, request: Callable[[], Any], absent_is_fine: bool = False) -> Any:
        """The answer, or None for what is not there. Errors say what the API server said, without what was sent to it."""
        from kubernetes.client.exceptions import ApiException
        from urllib3.exceptions import HTTPError
        try:
            return request()
        except ApiException as error:
            if error.status == 404 and absent_is_fine:
                return None
            raise self._fault(error.status, error.reason, error.body) from None
        except HTTPError as error:
            raise StoreFault(f"{self.place}: the Kubernetes API did not answer ({type(error).__name__})", hint="see the address in the kubeconfig and"
                             " that the API server runs") from None

    def _fault(self, status: int, reason: str, body: str | None) -> StoreFault:
        if status == 409:
            return StoreChanged(f"{self.place} was written by somebody else while this ran; it is left as it is", hint="run this again")
        told = _message(body) or reason
        return StoreFault(f"{self.place}: the Kubernetes API answered {status}: {told}", hint="the account needs get, create, update and delete on"
                          " secrets in this namespace" if status in (401, 403) else None)


def kubernetes_api(kubeconfig: str | None, context: str | None) -> Any:
    """A client for Secrets: by the given kubeconfig, else by the environment, else by the usual file, else as a pod does."""
    # Only who asks for a Secret pays for the library, which takes a second to load.
    from .._kubernetes import KUBERNETES_ERROR, kubernetes_client, kubernetes_config, kubernetes_configuration
    if KUBERNETES_ERROR:
        raise LibraryMissing("kubernetes", "a Secret as store")
    try:
        configuration = kubernetes_configuration(kubeconfig, context)
    except kubernetes_config.ConfigException as error:
        raise StoreFault(f"there is no way to a Kubernetes API: {error}", hint="set store.kubeconfig, or KUBECONFIG in the environment") from None
    # A repeated write would be refused because of the first one.
    configuration.retries = 0
    return kubernetes_client.CoreV1Api(kubernetes_client.ApiClient(configuration))


def _age(created: datetime | None, now: str | None) -> float | None:
    """By the clock of the API server alone, since ours may be wrong."""
    return (parsedate_to_datetime(now) - created).total_seconds() if created and now else None


def _text(value: str) -> str:
    try:
        return base64.b64decode(value, validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return "(not text)"


def _message(body: str | None) -> str | None:
    try:
        return str(json.loads(body or "")["message"])[:300]
    except (ValueError, KeyError, TypeError):
        return None
