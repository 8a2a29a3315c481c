# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide what the store of an access key needs. Pure. Private: not for use outside of the collection.

The server shows the secret of a key at any time, so it is the record of it and the store is a copy that is kept right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .._errors import PlanError
from .._models.key import Key, KeySpec
from .._models.store import DELETE_ENTRY, PUT_ENTRY, Entry, StoreSpec, noted, refuse_foreign
from .._models.store_layout import key_data, stored_pair
from .._plan import Call, Ref, Secret


@dataclass(frozen=True)
class KeyStoreState:
    """What a store holds: its entry, the key on the server of which that is the credential (None for one that it does not have), and the nodes of
    the cluster (None where they need not be known or could not be read). ``derivation`` is what is to be noted of a derived key."""

    entry: Entry | None = None
    holder: Key | None = None
    nodes: tuple[str, ...] | None = None
    derivation: Mapping[str, str] = field(default_factory=dict)

    def pair(self, store: StoreSpec) -> tuple[str, Secret] | None:
        """Id and secret of the key that the entry was made for."""
        found = stored_pair(store, self.entry.data) if self.entry else None
        return (found[0], Secret(found[1])) if found else None


def wanted_entry(store: StoreSpec, state: KeyStoreState, key: Key) -> Entry:
    """What the store shall hold for this key, whose secret has been read."""
    cluster = noted(state.nodes) or (state.entry.cluster if state.entry else ())
    return Entry(key_data(store, key.id, key.secret.value), cluster, store.labels, store.annotations, derivation=state.derivation)


def put_call(spec: KeySpec, state: KeyStoreState, key_id: str | Ref, own: tuple[Key, ...]) -> Call:
    """The step that puts a key's credentials there; ``own`` are the keys whose credentials may be there now. Raises PlanError."""
    _refuse_others(spec, state, own)
    return Call(PUT_ENTRY, f"put the credentials of {spec.label} into {spec.store.place}", query={"id": key_id, "place": spec.store.place})


def settle_calls(spec: KeySpec, state: KeyStoreState, key: Key, own: tuple[Key, ...]) -> tuple[Call, ...]:
    """What the store needs for a key that is there: nothing where it holds just that (FC-108). Raises PlanError."""
    if spec.store is None or (state.entry and state.entry.satisfies(wanted_entry(spec.store, state, key))):
        return ()
    return (put_call(spec, state, key.id, own),)


def importable(spec: KeySpec, state: KeyStoreState) -> tuple[str, Secret] | None:
    """The credentials of a key that the server does not have, which the store kept for it: those of a server that was reset or put back to an older
    state (TD-01). Raises PlanError when they are of another cluster."""
    if spec.store is None or state.entry is None or not state.entry.ours or state.holder or spec.secret is not None:
        return None
    pair = state.pair(spec.store)
    if pair is None or spec.id not in (None, pair[0]):
        return None
    refuse_foreign(spec.store, state.entry, state.nodes)
    return pair


def delete_calls(spec: KeySpec, state: KeyStoreState, own: tuple[Key, ...]) -> tuple[tuple[Call, ...], tuple[str, ...]]:
    """What an absent key's store needs, and what to tell of it. Raises PlanError when it is another cluster's."""
    if not spec.delete_store or state.entry is None:
        return (), ()
    if state.holder and state.holder not in own:
        return (), (f"{spec.store.place} was left: it holds the credentials of access key {state.holder.name} ({state.holder.id})",)
    if not state.holder:
        refuse_foreign(spec.store, state.entry, state.nodes)
    return (Call(DELETE_ENTRY, f"delete {spec.store.place}", query={"place": spec.store.place}),), ()


def _refuse_others(spec: KeySpec, state: KeyStoreState, own: tuple[Key, ...]) -> None:
    """What is somebody else's is never written to."""
    entry, place = state.entry, spec.store.place
    if entry is None or (entry.empty and not entry.cluster):
        return
    if not entry.ours:
        raise PlanError(f"{spec.label}: {place} holds something that this collection did not put there; it is left as it is",
                        hint="give another place, or move it away")
    if state.holder and state.holder.id not in {key.id for key in own}:
        raise PlanError(f"{spec.label}: {place} holds the credentials of another key, {state.holder.name} ({state.holder.id})",
                        hint="give each key a place of its own; to rename that key give its id and the name")
    if not state.holder:
        refuse_foreign(spec.store, entry, state.nodes)
