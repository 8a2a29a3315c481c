# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Carry out what an access key needs, with its store: what the module ``key`` does. Private: not for use outside of the collection."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

from ._client import Client
from ._connection import together
from ._derivation_job import send_import, settled, with_rpc_secret
from ._errors import Conflict, PlanError, StoreChanged, VerifyMismatch, WaitTimeout
from ._executor import Doubts, Outcome, Task, converge, send
from ._models.key import Key, KeySpec
from ._models.store import DELETE_ENTRY, PUT_ENTRY
from ._note_job import ATTEMPTS, Note
from ._plan import Call, resolve
from ._planners._key_store import KeyStoreState, wanted_entry
from ._planners.key import KeyPlan, KeySnapshot, created_instead, plan_key
from ._readers.identity import ClusterIdentity
from ._readers.key import find_key, read_key
from ._s3 import try_key
from ._stores.interface import put
from ._stores.opener import open_store
from ._waiter import wait_until

# A new key reaches the copy of the node that was asked in milliseconds; behind a balancer another node may be asked.
_ACCEPTED_WITHIN_SECONDS = 10.0
_MAKING = ("CreateKey", "ImportKey")


def run_key(params: Mapping, context: Any) -> tuple[Outcome, dict]:
    """The outcome of converging an access key, and the keys a result has beside it."""
    spec, client = together(lambda: KeySpec.from_params(with_rpc_secret(params)), context.client)
    for attempt in range(ATTEMPTS):
        keeper = KeyKeeper(settled(spec), context, client)
        try:
            with keeper.lock():
                outcome = converge(Task(keeper.read, keeper.plan, keeper.show, send=keeper.send), client, context.check)
                if not context.check:
                    keeper.finish()
            break
        except StoreChanged:
            # Of two runs at once one makes the key, and the other finds it made.
            if attempt == ATTEMPTS - 1:
                raise
    return outcome, {"rotated": outcome.plan.rotated}


def subject_of(call: Call) -> str | None:
    """The place of the credentials that a call stores or deletes, or the label of the key that it makes; None for any other call."""
    if call.endpoint in (PUT_ENTRY, DELETE_ENTRY):
        return call.query.get("place")
    return call.binds if call.endpoint in _MAKING else None


class KeyKeeper:
    """What one run knows of a key: its store, and which key is to be replaced."""

    def __init__(self, spec: KeySpec, context: Any, client: Client, identity: ClusterIdentity | None = None) -> None:
        self.spec = spec
        self._context = context
        self._identity = identity or ClusterIdentity()
        self._store = open_store(spec.store)
        self._note = Note(self._store, patient=not context.check)
        self._state = KeyStoreState()
        self._rotates: str | None = None
        self._over: frozenset[str] = frozenset()
        self._looked = self._swaps = False
        if spec.secret is not None:
            client.secrets.append(spec.secret.value)

    def lock(self) -> AbstractContextManager[None]:
        """Keep other runs away from the store as long as this one is at work."""
        return nullcontext() if self._context.check else self._store.lock()

    def begin(self) -> None:
        """Before the server is asked: another run that may be at work is waited for, so that what it made is seen. What a dead one left is removed at
        the end, of an absent key as well (TD-03)."""
        if self.spec.store:
            self._note.read()

    def read(self, client: Client, doubts: Doubts) -> KeySnapshot:
        """What server and store say. Which key a rotation replaces is settled at the first look: the next one finds another under its name."""
        self.begin()
        live = read_key(client, self.spec)
        if not self._looked:
            self._rotates = live.key.id if self.spec.rotate and live.key and not live.rotating else None
            self._swaps = bool(self._rotates or live.rotating)
            self._over = frozenset(key.id for key in live.replaced if key.expired and not self._swaps)
            self._looked = True
        return replace(live, rotates=self._rotates, over=self._over, store=self.look(client, live.own))

    def look(self, client: Client, own: tuple[Key, ...]) -> KeyStoreState:
        """What the store holds, and of which key: one of ``own``, another one, or none that the server has."""
        if self.spec.store is None:
            return self._state
        if self.spec.absent and not self.spec.delete_store:
            return self._state
        state = KeyStoreState(self._store.read(), derivation=self.spec.derivation.note if self.spec.derivation else {})
        pair = state.pair(self.spec.store)
        if pair:
            client.secrets.append(pair[1].value)
            holder = next((key for key in own if key.id == pair[0]), None) or find_key(client, pair[0])
            state = replace(state, holder=holder)
        settled = own and state.entry and not self.spec.absent and any(
            key.secret and state.entry.satisfies(wanted_entry(self.spec.store, state, key)) for key in own)
        # Asked where it has to be told whose credentials these are, or is to be noted whose new ones are.
        nodes = None if settled and not self._swaps else self._identity.nodes(client)
        self._state = replace(state, nodes=nodes)
        return self._state

    def plan(self, live: KeySnapshot) -> KeyPlan:
        plan = plan_key(self.spec, live)
        self.refuse_unwritable(plan.calls)
        return plan

    def refuse_unwritable(self, calls: Sequence[Call]) -> None:
        """Before anything is made, where it can be told that it could not be stored."""
        if any(call.endpoint in (PUT_ENTRY, DELETE_ENTRY) for call in calls):
            self._store.refuse_unwritable(self._state.entry)

    @property
    def subjects(self) -> tuple[str, str]:
        """What the calls of a larger plan are about that go through here, see ``subject_of``."""
        return self.spec.store.place, self.spec.label

    def show(self, live: KeySnapshot) -> dict | None:
        return plan_key(self.spec, live).prediction

    def send(self, client: Client, call: Call, answers: dict[str, Any], done: list[str]) -> None:
        if call.endpoint == PUT_ENTRY:
            self._put(client, resolve(call.query, answers)["id"])
            done.append(call.why)
        elif call.endpoint == DELETE_ENTRY:
            self._store.delete(self._state.entry)
            done.append(call.why)
        elif call.endpoint in _MAKING and self.spec.store:
            self._note.write(f"{self.spec.name or self.spec.id} {secrets.token_hex(16)}", self._state.entry)
            self._make(client, call, answers, done)
        else:
            (send_import if call.endpoint == "ImportKey" else send)(client, call, answers, done)

    def finish(self) -> None:
        """After everything is as it should be: nothing is left beside the store."""
        self._note.clear()
        if self.spec.store and not self.spec.absent and self._store.exposed():
            self._context.warn(f"{self.spec.store.place} can be read by others than its owner; its mode should be 0600")

    def _make(self, client: Client, call: Call, answers: dict[str, Any], done: list[str]) -> None:
        try:
            (send_import if call.endpoint == "ImportKey" else send)(client, call, answers, done)
        except Conflict:
            if self.spec.derivation and not self.spec.derivation.given:
                self._choose_nonce(client)
            if self.spec.secret is not None or call.endpoint != "ImportKey":
                raise
            client.warnings.append(f"{self.spec.store.place} holds the credentials of a key that was deleted; Garage never takes its id again, so"
                                   " another key takes its place")
            send(client, created_instead(call), answers, done)
            self._put(client, answers[call.binds]["accessKeyId"])

    def _choose_nonce(self, client: Client) -> None:
        """Note another derivation in the store, with what follows from it, and begin anew: a run that breaks off here is gone on with by the next one."""
        store = self.spec.store
        other = self.spec.derived(replace(self.spec.derivation, nonce=secrets.token_hex(8)))
        state = replace(self._state, derivation=other.derivation.note)
        put(self._store, wanted_entry(store, state, Key(other.id, other.derived_name, secret=other.secret)), self._state.entry)
        self._note.clear()
        told = (f"{self.spec.label}: the key {self.spec.id} was deleted, and Garage never takes its id again; another one was derived in its place, whose"
                f" nonce is kept in {store.place}. Other sites have to be given it")
        client.warnings.append(told)
        raise StoreChanged(told, hint="run this again")

    def _put(self, client: Client, key_id: str) -> None:
        """The credentials as the server shows them now."""
        key = find_key(client, key_id, secret=True)
        if key is None:
            raise PlanError(f"{self.spec.label}: the key {key_id} went away while this ran", hint="find out who deletes keys here, then run this again")
        store = self.spec.store
        put(self._store, wanted_entry(store, self._state, key), self._state.entry)
        self._state = replace(self._state, entry=self._store.read(), holder=key)
        if self._swaps:
            self._try(client, key)

    def _try(self, client: Client, key: Key) -> None:
        """The old key gives up its name only when the new one works (TD-31)."""
        store = self.spec.store
        if store.endpoint is None:
            return
        verify = getattr(client.transport.connection, "verify", True)
        told: list[str | None] = []

        def look() -> str | None:
            accepted, reason = try_key(store.endpoint, store.region, key.id, key.secret.value, verify)
            told.append(None if accepted else reason)
            return reason if accepted is False else None

        try:
            wait_until(look, "accepting the new key", _ACCEPTED_WITHIN_SECONDS, 0.5)
        except WaitTimeout:
            raise VerifyMismatch(f"{self.spec.label}: the new key {key.id} is refused at {store.endpoint}: {told[-1]}", hint="see store.endpoint and"
                                 " store.region; a further run goes on from here, and the old key works all the time") from None
        if told[-1]:
            client.warnings.append(f"the new key could not be tried at {store.endpoint} ({told[-1]}); the Admin API shows it with the stored secret")
