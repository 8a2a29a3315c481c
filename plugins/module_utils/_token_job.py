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
from dataclasses import replace
from typing import Any

from ._client import Client
from ._connection import together
from ._errors import VerifyMismatch, WaitTimeout
from ._executor import Doubts, Outcome, Task, converge, send
from ._models.admin_token import Intent, StoredToken, TokenDirectory, TokenSpec
from ._plan import Call
from ._planners.admin_token import CREATE, TokenPlan, TokenSnapshot, plan_admin_token
from ._readers.admin_token import is_accepted, own_token_id, read_directory
from ._stores.file import FileStore
from ._stores.interface import Store
from ._stores.memory import MemoryStore
from ._waiter import wait_until

# A new token reaches the copy of the node that was asked in milliseconds; behind a balancer another node may be asked.
_ACCEPTED_WITHIN_SECONDS = 10.0
_NOT_ASKED = "whether the server accepts the token could not be asked; Garage can tell from 2.1.0 on"


def run_token(params: Mapping, context: Any) -> tuple[Outcome, dict]:
    """The outcome of converging an admin token, and the keys a result has beside it."""
    spec, client = together(lambda: TokenSpec.from_params(params), context.client)
    keeper = Keeper(spec, context, client)
    outcome = converge(Task(keeper.read, keeper.plan, keeper.show, send=keeper.send), client, context.check)
    plan = outcome.plan
    if not context.check:
        keeper.finish(plan)
    beside: dict = {"rotated": plan.rotated, "adopted": plan.adopted}
    if drops := keeper.drops(plan):
        beside.update(changed=True, actions=[*plan.would, *drops])
    return outcome, beside


class Keeper:
    """What one run knows: the stores of the secret and of the intent, and what it has made."""

    def __init__(self, spec: TokenSpec, context: Any, client: Client) -> None:
        self.spec = spec
        self._context = context
        self._client = client
        self._file = FileStore(spec.store_path) if spec.store_path else None
        self._secrets: Store = self._file or MemoryStore()
        self._intents: Store = FileStore(f"{spec.store_path}.intent") if spec.store_path else MemoryStore()
        self._nonce = secrets.token_hex(16)
        self._text: str | None = None
        self._live: TokenSnapshot | None = None
        self._decided: TokenPlan | None = None
        self._made: StoredToken | None = None
        self._accepted: dict[str, bool | None] = {}

    def read(self, client: Client, doubts: Doubts, listed: TokenDirectory | None = None) -> TokenSnapshot:
        """What server and stores say. Whatever keeps the stored token from being judged is raised, and nothing is made (TD-07).

        ``listed`` are all tokens where they have been read already, as for several in one run.
        """
        stored = self._read_stored()
        intent = Intent.from_text(self._intents.read(), f"{self.spec.store_path}.intent")
        ids = [self.spec.id, stored.id if stored else None, intent.replaces if intent else None]
        directory = listed if listed and listed.complete else read_directory(client, ids)
        kept = directory.by_id(stored.id) if stored else None
        if kept and not kept.expired and not self.spec.absent:
            stored = replace(stored, accepted=self._ask(stored))
        return TokenSnapshot(directory, stored, intent, self._nonce, own_token_id(client), client.server_time)

    def plan(self, live: TokenSnapshot) -> TokenPlan:
        self._live, self._decided = live, plan_admin_token(self.spec, live)
        if self._decided.intent and self._file:
            self._file.refuse_bad_folder()
        return self._decided

    def show(self, live: TokenSnapshot) -> dict | None:
        return plan_admin_token(self.spec, live).prediction

    def send(self, client: Client, call: Call, answers: dict[str, Any], done: list[str]) -> None:
        if call.endpoint != CREATE:
            self._verify()
            send(client, call, answers, done)
            return
        self._put(self._intents, self._decided.intent.to_text(), self._live.intent is not None)
        send(client, call, answers, done)
        self._keep(answers[call.binds])

    def drops(self, plan: TokenPlan) -> tuple[str, ...]:
        """What ``finish`` deletes beside what is sent, in words."""
        return (f"delete {self.spec.store_path}",) if plan.drops_store else ()

    def finish(self, plan: TokenPlan) -> None:
        """After everything is as it should be: nothing is left beside the store."""
        self._intents.delete()
        if plan.drops_store:
            self._secrets.delete()
        elif self._file and self._file.exposed():
            self._context.warn(f"{self.spec.store_path} can be read by others than its owner; its mode should be 0600")

    def _read_stored(self) -> StoredToken | None:
        if self.spec.absent and not self.spec.delete_store:
            return None
        self._text = self._secrets.read()
        stored = StoredToken.from_text(self._text, self.spec.store_path or "")
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
        made = StoredToken.from_text(answer["secretToken"], "the server's answer")
        self._hide(made)
        if self._live.outlived and self._file:
            FileStore(f"{self.spec.store_path}.old").replace(self._text)
        self._put(self._secrets, made.secret.value + "\n", self._text is not None)
        self._made = made

    def _verify(self) -> None:
        """The old token goes, and the new one gets its name, only when the server accepts it (TD-31)."""
        if self._made and self._ask(self._made, _ACCEPTED_WITHIN_SECONDS) is False:
            raise VerifyMismatch(f"{self.spec.label} was made, but the server does not accept it", hint="a node without a role in the layout knows no"
                                 " token but that of its configuration: run this again at one that has a role; it goes on where this one stopped")

    def _hide(self, stored: StoredToken) -> None:
        self._client.secrets.append(stored.secret.value)
        self._context.hide(stored.secret.value)

    @staticmethod
    def _put(store: Store, text: str, there: bool) -> None:
        (store.replace if there else store.create)(text)
