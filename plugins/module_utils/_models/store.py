# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is kept in a store, and where, as it is wanted. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from .._errors import PlanError
from .._plan import Secret
from .store_layout import CONTENT, layout_faults

# A store step of a plan: the job puts the entry there, or deletes it, in the place of a request.
PUT_ENTRY = "put into the store"
DELETE_ENTRY = "delete from the store"
LABEL, OWNER = "app.kubernetes.io/managed-by", "s3ops.garage"
CLUSTER_NOTE = "s3ops.garage/cluster"
DERIVATION_NOTE = "s3ops.garage/derivation"
# What Kubernetes takes as a name of a Secret or a namespace, as a key of its data, and as a key of a label or an annotation.
_OBJECT = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_DATA_KEY = re.compile(r"[-._a-zA-Z0-9]{1,253}")
_PLACES = ("path", "secret", "hashi_vault")
_ONLY_WITH = {"vault_password": "path", "vault_password_file": "path", "namespace": "secret", "kubeconfig": "secret", "context": "secret",
              "labels": "secret", "annotations": "secret"}


@dataclass(frozen=True)
class Entry:
    """What a store holds under one name: ``data`` are texts by key (a plain file has the one key CONTENT).

    ``cluster`` are ids of nodes of the cluster that it belongs to, empty where that was not recorded. ``ours`` tells whether this collection made
    it. ``derivation`` is what is noted of a derived key (MH-22), no secret. ``age`` is in seconds by the clock of the store, None where it has
    none. ``version`` is for the store itself, which compares it before it writes.
    """

    data: Mapping[str, str] = field(repr=False)
    cluster: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    ours: bool = True
    age: float | None = None
    version: str | None = field(default=None, repr=False)
    derivation: Mapping[str, str] = field(default_factory=dict)

    @property
    def content(self) -> str | None:
        """The text of an entry that has but one."""
        return self.data.get(CONTENT)

    @property
    def empty(self) -> bool:
        return not any(text.strip() for text in self.data.values())

    def holds(self, texts: Iterable[str | None]) -> bool:
        """Whether one of ``texts``, as the id of a key, stands in it."""
        return any(text and text in held for text in texts for held in self.data.values())

    def satisfies(self, wanted: Entry) -> bool:
        """Whether it is as ``wanted``. Labels and annotations of others are theirs."""
        return (dict(self.data) == dict(wanted.data) and wanted.labels.items() <= self.labels.items()
                and wanted.annotations.items() <= self.annotations.items() and wanted.derivation.items() <= self.derivation.items())


@dataclass(frozen=True)
class StoreSpec:
    """A place for a credential, and the form it has there. One of ``path``, ``secret`` and ``hashi_vault`` is set.

    ``data_keys`` are the names that fields have in the entry where they are not the usual ones, "" for none. ``take_over``: what is there may belong
    to another cluster.
    """

    path: str | None = None
    vault_password: Secret | None = None
    vault_password_file: str | None = None
    secret: str | None = None
    namespace: str | None = None
    kubeconfig: str | None = None
    context: str | None = None
    hashi_vault: Mapping | None = field(default=None, hash=False)
    format: str = "keys"
    data_keys: Mapping[str, str] = field(default_factory=dict, hash=False)
    endpoint: str | None = None
    region: str | None = None
    bucket: str | None = None
    website_url: str | None = None
    profile: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    annotations: Mapping[str, str] = field(default_factory=dict, hash=False)
    extra_data: Mapping[str, str] = field(default_factory=dict, hash=False, repr=False)
    take_over: bool = False

    @property
    def encrypted(self) -> bool:
        return self.vault_password is not None or self.vault_password_file is not None

    @property
    def is_text(self) -> bool:
        """Whether the entry is one text, and not several by name."""
        return self.path is not None and not self.encrypted

    @property
    def place(self) -> str:
        """Where it is, in words."""
        if self.secret:
            return f"Secret {self.namespace}/{self.secret}"
        return f"{self.hashi_vault['mount_point']}/{self.hashi_vault['path']} of {self.hashi_vault['url']}" if self.hashi_vault else self.path

    def beside(self, name: str) -> str:
        """The place of what belongs to it, in words."""
        if self.hashi_vault:
            return replace(self, hashi_vault={**self.hashi_vault, "path": f"{self.hashi_vault['path']}-{name}"}).place
        return f"{self.place}{'-' if self.secret else '.'}{name}"

    @property
    def where(self) -> dict:
        """The place as a result shows it, with the keys by which the values are found there."""
        if self.secret:
            return {"secret": self.secret, "namespace": self.namespace}
        if self.hashi_vault:
            return {name: self.hashi_vault[name] for name in ("url", "mount_point", "path")}
        return {"path": self.path}

    @classmethod
    def from_params(cls, params: Mapping | None, faults: list[str], token: bool = False) -> StoreSpec | None:
        """From the option ``store``; what is wrong with it is added to ``faults``. ``token``: for an admin token, else for an access key."""
        if params is None:
            return None
        given = {name: value for name, value in params.items() if value is not None}
        texts = {name: {str(key): str(value) for key, value in given.pop(name, {}).items()} for name in _MAPPINGS}
        if "vault_password" in given:
            given["vault_password"] = Secret(given["vault_password"])
        spec = cls(**given, **texts)
        found = [*_place_faults(spec, params), *layout_faults(spec, token)]
        faults += [f"store.{fault}" for fault in found]
        return spec


_MAPPINGS = ("data_keys", "labels", "annotations", "extra_data")


def _place_faults(spec: StoreSpec, params: Mapping) -> list[str]:
    places = [name for name in _PLACES if params.get(name) is not None]
    if len(places) != 1:
        return [f"{' and '.join(places) or 'path'}: give one of {', '.join(_PLACES)}, the place of the credential"]
    faults = [f"{name}: is for {place}" for name, place in _ONLY_WITH.items() if params.get(name) is not None and place != places[0]]
    if spec.path is not None and not spec.path.startswith("/"):
        faults.append(f"path: {spec.path!r} must be an absolute path")
    if spec.vault_password is not None and spec.vault_password_file is not None:
        faults.append("vault_password: give either this or vault_password_file")
    if spec.vault_password is not None and not spec.vault_password.value:
        faults.append("vault_password: must not be empty")
    if spec.secret is not None:
        faults += [f"{name}: {value!r} is no name that Kubernetes takes" for name, value in (("secret", spec.secret), ("namespace", spec.namespace))
                   if value is not None and not _OBJECT.fullmatch(value)]
        if spec.namespace is None:
            faults.append("namespace: must be set with secret")
        if spec.labels.get(LABEL, OWNER) != OWNER:
            faults.append(f"labels: {LABEL} must be {OWNER}; it marks what this collection may replace")
        faults += [f"annotations: {note} is set by this collection" for note in (CLUSTER_NOTE, DERIVATION_NOTE) if note in spec.annotations]
    names = [*spec.data_keys.values(), *spec.extra_data]
    faults += [f"data_keys: {name!r} is no name that Kubernetes takes for a key of data" for name in names
               if name and spec.secret is not None and not _DATA_KEY.fullmatch(name)]
    return faults


def refuse_foreign(spec: StoreSpec, entry: Entry, nodes: tuple[str, ...] | None) -> None:
    """Raise PlanError when the entry was stored for another cluster: none of the nodes that were noted then is in this one, whose ``nodes`` are
    None where they could not be read (TD-32)."""
    if spec.take_over or not entry.cluster or set(entry.cluster) & {node[:NOTED] for node in nodes or ()}:
        return
    why = "and which nodes this one has could not be read" if nodes is None else "none of which is in this one"
    raise PlanError(f"{spec.place} holds a credential of a cluster with the nodes {', '.join(entry.cluster[:3])}, {why}; it is left as it is",
                    hint="see that api_url is the right cluster; where this one was built anew and shall have the place, set store.take_over: true")


# So many digits of the id of a node are noted, and so many nodes: enough to tell two clusters apart, small enough for a label's neighbour.
NOTED, NOTED_NODES = 16, 64


def noted(nodes: Iterable[str] | None) -> tuple[str, ...]:
    """What is recorded of a cluster in an entry."""
    return tuple(sorted(node[:NOTED] for node in nodes or ())[:NOTED_NODES])
