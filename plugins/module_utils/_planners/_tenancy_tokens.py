# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide what the admin tokens of a tenancy need. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Union

from .._errors import PlanError, StoreFault
from .._models.admin_token import AdminToken, TokenDirectory
from .._models.tenancy import TenancySpec
from .._plan import Call, Plan
from .admin_token import TokenPlan, TokenSnapshot

Found = Union[TokenSnapshot, PlanError, StoreFault]
Decide = Callable[[TokenSnapshot], TokenPlan]


@dataclass(frozen=True)
class TokensSnapshot:
    """All admin tokens of the server, and for each declared one, in their order, what must be known of it, or why that cannot be. ``own_id`` is the
    token that the task itself works with (None for one of the configuration)."""

    directory: TokenDirectory = field(default_factory=TokenDirectory)
    each: tuple[Found, ...] = ()
    own_id: str | None = None


class Faults(Protocol):
    """Where faults are kept by their path in the document."""

    def attempt(self, path: str, decide: Callable[..., Any], *args: Any) -> Any:
        """What ``decide`` gives, or None when it raises a fault."""

    def same_twice(self, subjects: Any) -> None:
        """A fault for each path whose thing another path stands for already."""


class Tokens:
    """The declared tokens with their plans (None where there was a fault), and the plans that remove what the owner has beside them."""

    def __init__(self, spec: TenancySpec, live: TokensSnapshot, deciders: Sequence[Decide], faults: Faults) -> None:
        self.plans = [faults.attempt(f"admin_tokens[{index}]", _decide, *each) for index, each in enumerate(zip(deciders, live.each, strict=True))]
        faults.same_twice((f"admin_tokens[{index}]", plan.before["id"] if plan and plan.before else None) for index, plan in enumerate(self.plans))
        going = faults.attempt("purge_admin_tokens", self._going, spec, live) if spec.purge_admin_tokens else None
        self.purged = [_remove(token) for token in going or () if token.id != live.own_id]
        self.notes = tuple(f"{token.label}: it belongs to the owner and is not declared, but this very task works with it, so it stays"
                           for token in going or () if token.id == live.own_id)

    def _going(self, spec: TenancySpec, live: TokensSnapshot) -> list[AdminToken]:
        if not live.directory.complete:
            raise PlanError("the server may not have listed all admin tokens, so nothing is purged", hint="Garage lists everything from 2.5.0 on")
        needed = {plan.before["id"] for plan in self.plans if plan and plan.before}
        for found in live.each:
            if isinstance(found, TokenSnapshot):
                needed |= {token.id for token in (found.kept, *found.pending) if token} | {found.intent.replaces if found.intent else None}
        # What is in the making belongs to the run that makes it, which knows how to clean up after itself.
        return [token for token in live.directory.tokens if token.id is not None and token.id not in needed and not token.in_the_making
                and token.name.startswith(spec.owner_prefix)]


def _decide(decide: Decide, found: Found) -> TokenPlan:
    if not isinstance(found, TokenSnapshot):
        raise found
    return decide(found)


def _remove(token: AdminToken) -> Plan:
    return Plan(token.label, before=token.to_result(), calls=(Call("DeleteAdminToken", f"delete {token.label}", query={"id": token.id}),))
