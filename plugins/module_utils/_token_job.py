# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Carry out what an admin token needs, with its store: what the module ``admin_token`` does. Private: not for use outside.

The plan's calls are sent in order. Around the one that creates a token: the intent is written before it, the secret is stored right after it, and
the server is asked with that secret before anything else is sent.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

from ._client import Client
from ._connection import together
from ._errors import CredentialLost, StoreChanged, VerifyMismatch, WaitTimeout
from ._executor import Doubts, Outcome, Task, converge, send
from ._models.admin_token import Intent, StoredToken, TokenDirectory, TokenSpec
from ._models.store import DELETE_ENTRY, PUT_ENTRY, Entry
from ._models.store_layout import CONTENT
from ._note_job import ATTEMPTS, Note
from ._plan import Call
from ._planners.admin_token import CREATE, TokenPlan, TokenSnapshot, plan_admin_token, wanted_entry
from ._readers.admin_token import is_accepted, own_token_id, read_directory
from ._readers.identity import ClusterIdentity
from ._stores.interface import OLD, put
from ._stores.opener import open_store
from ._waiter import wait_until

# A new token reaches the copy of the node that was asked in milliseconds; behind a balancer another node may be asked.
_ACCEPTED_WITHIN_SECONDS = 10.0
_NOT_ASKED = "whether the server accepts the token could not be asked; Garage can tell from 2.1.0 on, over HTTP"


def run_token(params: Mapping, context: Any) -> tuple[Outcome, dict]:
    """The outcome of converging an admin token, and the keys a result has beside it."""
    spec, client = together(lambda: TokenSpec.from_params(params), context.client)
    for attempt in range(ATTEMPTS):
        keeper = Keeper(spec, context, client)
        try:
            with keeper.lock():
                outcome = converge(Task(keeper.read, keeper.plan, keeper.show, send=keeper.send), client, context.check)
                if not context.check:
                    keeper.finish(outcome.plan)
            break
        except StoreChanged:
            # Of two runs at once one makes the token, and the other finds it made.
            if keeper.made or attempt == ATTEMPTS - 1:
                raise
    return outcome, {"rotated": outcome.plan.rotated, "adopted": outcome.plan.adopted}


class Keeper:
    """What one run knows: the stores of the secret and of the intent, and what it has made."""

    def __init__(self, spec: TokenSpec, context: Any, client: Client, identity: ClusterIdentity | None = None) -> None:
        self.spec = spec
        self.made: StoredToken | None = None
        self._context = context
        self._client = client
        self._identity = identity or ClusterIdentity()
        self._secrets = open_store(spec.store)
        self._note = Note(self._secrets, patient=not context.check)
        self._nonce = secrets.token_hex(16)
        self._live: TokenSnapshot | None = None
        self._decided: TokenPlan | None = None
        self._accepted: dict[str, bool | None] = {}

    def lock(self) -> AbstractContextManager[None]:
        """Keep other runs away from the store as long as this one is at work."""
        return nullcontext() if self._context.check else self._secrets.lock()

    def read(self, client: Client, doubts: Doubts, listed: TokenDirectory | None = None) -> TokenSnapshot:
        """What server and stores say. Whatever keeps the stored token from being judged is raised, and nothing is made (TD-07).

        ``listed`` are all tokens where they have been read already, as for several in one run.
        """
        intent = Intent.from_text(self._note.read(), self._note.place)
        entry = None if self.spec.absent and not self.spec.delete_store else self._secrets.read()
        stored = self._stored(entry)
        ids = [self.spec.id, stored.id if stored else None, intent.replaces if intent else None]
        directory = listed if listed and listed.complete else read_directory(client, ids)
        kept = directory.by_id(stored.id) if stored else None
        if kept and not kept.expired and not self.spec.absent:
            stored = replace(stored, accepted=self._ask(stored))
        # Asked where it has to be told whose a stored token is, or is to be noted whose a new one is.
        matters = self.spec.store and (kept is None or self.spec.rotate) and (stored or not self.spec.absent)
        nodes = self._identity.nodes(client) if matters else None
        return TokenSnapshot(directory, stored, intent, self._nonce, own_token_id(client), client.server_time, entry, nodes)

    def plan(self, live: TokenSnapshot) -> TokenPlan:
        try:
            self._live, self._decided = live, plan_admin_token(self.spec, live)
        except CredentialLost:
            # In a store without locks another run may have stored it between the look at the store and that at the server.
            found = self._secrets.read()
            if (found.version if found else None) != (live.entry.version if live.entry else None):
                raise StoreChanged(f"{self.spec.place} was written by somebody else while this ran", hint="run this again") from None
            raise
        if self._decided.intent or any(call.endpoint in (PUT_ENTRY, DELETE_ENTRY) for call in self._decided.calls):
            self._secrets.refuse_unwritable(live.entry)
        return self._decided

    def show(self, live: TokenSnapshot) -> dict | None:
        return plan_admin_token(self.spec, live).prediction

    def send(self, client: Client, call: Call, answers: dict[str, Any], done: list[str]) -> None:
        if call.endpoint == CREATE:
            # So that the next run knows what this one made if it breaks off (TD-42).
            self._note.write(self._decided.intent.to_text(), self._live.entry)
            send(client, call, answers, done)
            self._keep(answers[call.binds])
            return
        self._verify()
        if call.endpoint == PUT_ENTRY:
            self._secrets.replace(wanted_entry(self.spec, self._live, self._live.stored.secret), self._live.entry)
            done.append(call.why)
        elif call.endpoint == DELETE_ENTRY:
            self._secrets.delete(self._live.entry)
            done.append(call.why)
        else:
            send(client, call, answers, done)

    def finish(self, plan: TokenPlan) -> None:
        """After everything is as it should be: nothing is left beside the store."""
        self._note.clear()
        if not self.spec.absent and self._secrets.exposed():
            self._context.warn(f"{self.spec.place} can be read by others than its owner; its mode should be 0600")

    def _stored(self, entry: Entry | None) -> StoredToken | None:
        if self.spec.store:
            stored = StoredToken.from_entry(entry, self.spec.store)
        else:
            stored = StoredToken.from_text(entry.content if entry else None, "")
        if stored:
            self._hide(stored)
        return stored

    def _ask(self, token: StoredToken, patience: float = 0.0) -> bool | None:
        """Whether the server accepts the token; asked until it does or ``patience`` is at its end, and not again once it has."""
        if token.id in self._accepted:
            return self._accepted[token.id]
        bearer = self._context.bearing(self._client, token.secret.value, "the store")
        asked: list[bool | None] = []

        def look() -> str | None:
            asked.append(is_accepted(bearer, token.id))
            return "it is refused" if asked[-1] is False else None

        try:
            wait_until(look, "accepting the token", patience, 0.5)
        except WaitTimeout:
            return False
        self._accepted[token.id] = asked[-1]
        if asked[-1] is None:
            self._context.warn(_NOT_ASKED)
        return asked[-1]

    def _keep(self, answer: Mapping) -> None:
        """The secret is shown this once: it is stored before anything else can fail (TD-26)."""
        self.made = made = StoredToken.from_text(answer["secretToken"], "the server's answer")
        self._hide(made)
        live = self._live
        if not self.spec.store:
            put(self._secrets, Entry({CONTENT: made.secret.value}), None)
            return
        if live.outlived:
            old = self._secrets.beside(OLD)
            put(old, Entry(live.entry.data, live.entry.cluster), old.read())
        put(self._secrets, wanted_entry(self.spec, live, made.secret), live.entry)

    def _verify(self) -> None:
        """The old token goes, and the new one gets its name, only when the server accepts it (TD-31)."""
        if self.made and self._ask(self.made, _ACCEPTED_WITHIN_SECONDS) is False:
            raise VerifyMismatch(f"{self.spec.label} was made, but the server does not accept it", hint="a node without a role in the layout knows no"
                                 " token but that of its configuration: run this again at one that has a role; it goes on where this one stopped")

    def _hide(self, stored: StoredToken) -> None:
        self._client.secrets.append(stored.secret.value)
        self._context.hide(stored.secret.value)
