# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Carry out what a whole tenancy needs, with the stores of its keys and admin tokens. Private: not for use outside of the collection.

One plan for all of it. The calls of an admin token go through its keeper, which notes the intent before its secret is made and stores that right
after, as the module ``admin_token`` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

from ._client import Client
from ._connection import together
from ._derivation_job import send_import, settled, with_rpc_secrets
from ._errors import PlanError, StoreFault
from ._executor import Doubts, Outcome, Task, converge, send
from ._key_job import KeyKeeper, subject_of
from ._models.tenancy import TenancySpec
from ._plan import Call, Plan
from ._planners._tenancy_tokens import TokensSnapshot
from ._planners.admin_token import TokenPlan, TokenSnapshot
from ._planners.tenancy import TenancySnapshot, keys_of, plan_tenancy, show_tenancy
from ._readers.admin_token import own_token_id, read_directory
from ._readers.identity import ClusterIdentity
from ._readers.tenancy import read_tenancy
from ._token_job import Keeper


def run_tenancy(params: Mapping, context: Any) -> Outcome:
    """The outcome of converging a tenancy."""
    spec, client = together(lambda: TenancySpec.from_params(with_rpc_secrets(params)), context.client)
    spec = replace(spec, keys=tuple(settled(key) for key in spec.keys))
    tenancy = _Tenancy(spec, context, client)
    task = Task(tenancy.read, tenancy.plan, lambda live: show_tenancy(spec, live), params["max_in_flight"], params["on_error"] == "continue",
                tenancy.send)
    with tenancy.locks():
        outcome = converge(task, client, context.check)
        if not context.check:
            tenancy.finish(outcome)
    return outcome


class _Tenancy:
    """What one run knows: the document, the keepers of its keys that have a store, and for each admin token its keeper with what that decided last."""

    def __init__(self, spec: TenancySpec, context: Any, client: Client) -> None:
        self._spec = spec
        identity = ClusterIdentity()
        self._keys = {key: KeyKeeper(key, context, client, identity) for key in spec.keys if key.store}
        self._tokens = [Keeper(token, context, client, identity) for token in spec.admin_tokens]
        self._by_subject = {subject: keeper for keeper in self._keys.values() for subject in keeper.subjects}
        self._decided: dict[Keeper, TokenPlan] = {}
        # By the identity of the call: two tokens may need calls that are equal.
        self._keepers: dict[int, KeyKeeper | Keeper] = {}

    @contextmanager
    def locks(self) -> Iterator[None]:
        """Keep other runs away from all stores; taken in one order by all, so that no two wait for each other."""
        with ExitStack() as stack:
            for keeper in sorted((*self._keys.values(), *self._tokens), key=lambda keeper: keeper.spec.store.place if keeper.spec.store else ""):
                stack.enter_context(keeper.lock())
            yield

    def read(self, client: Client, doubts: Doubts) -> TenancySnapshot:
        begun = {spec: _attempt(keeper.begin) for spec, keeper in self._keys.items()}
        live = read_tenancy(client, self._spec, doubts)
        stores = {spec: begun[spec] or _attempt(keeper.look, client, keys_of(spec, live.directory)) for spec, keeper in self._keys.items()}
        live = replace(live, stores=stores)
        if not self._spec.names_tokens:
            return live
        directory = read_directory(client)
        each = tuple(_attempt(keeper.read, client, doubts, directory) for keeper in self._tokens)
        return replace(live, tokens=TokensSnapshot(directory, each, own_token_id(client)))

    def plan(self, live: TenancySnapshot) -> Plan:
        plan = plan_tenancy(self._spec, live, [lambda found, keeper=keeper: self._decide(keeper, found) for keeper in self._tokens])
        of_keys = {id(call): self._by_subject[subject_of(call)] for call in plan.calls if subject_of(call) in self._by_subject}
        of_tokens = {id(call): keeper for keeper, decided in self._decided.items() for call in decided.calls}
        self._keepers = {**of_keys, **of_tokens}
        for call in plan.calls:
            if id(call) in of_keys:
                of_keys[id(call)].refuse_unwritable([call])
        return plan

    def send(self, client: Client, call: Call, answers: dict[str, Any], done: list[str]) -> None:
        """One call; that of a declared admin token, and what has to do with the store of a key, through its keeper."""
        keeper = self._keepers.get(id(call))
        (keeper.send if keeper else send_import if call.endpoint == "ImportKey" else send)(client, call, answers, done)

    def finish(self, outcome: Outcome) -> None:
        """After a credential is as it should be, nothing is left beside its store. One that failed keeps its note for the next run."""
        for spec, keeper in self._keys.items():
            if spec.label not in outcome.failed:
                keeper.finish()
        for keeper, plan in self._decided.items():
            if plan.subject not in outcome.failed:
                keeper.finish(plan)

    def _decide(self, keeper: Keeper, found: TokenSnapshot) -> TokenPlan:
        self._decided[keeper] = keeper.plan(found)
        return self._decided[keeper]


def _attempt(look: Callable[..., Any], *arguments: Any) -> Any:
    """What ``look`` gives, or why a store cannot be used: that is told together with all other faults of the document."""
    try:
        return look(*arguments)
    except (PlanError, StoreFault) as error:
        return error
