# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a planner returns. Pure. Private: not for use outside of the collection.

One decision, one object: ``changed``, the diff, what check mode predicts and the requests that are sent are all read off a
:class:`Plan`; nothing decides a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Ref:
    """A value that only the answer to an earlier call can give: ``field`` of the answer bound under ``name``.

    ``known`` is what it will be, where that is settled beforehand; the call that uses it still needs the earlier one to have succeeded.
    """

    name: str
    field: str
    known: str | None = None


@dataclass(frozen=True, repr=False)
class Secret:
    """A value that must never be shown: neither ``repr`` nor ``str`` contains it."""

    value: str

    def __repr__(self) -> str:
        return "Secret(********)"


@dataclass(frozen=True)
class Call:
    """One Admin API request of a plan.

    ``query`` and ``body`` may hold :class:`Ref` and :class:`Secret` at any depth. ``why`` says in plain words what the call does, for
    "would" lines and for "done so far". ``binds`` names the answer for later references. ``check`` is a pure function of the answer that
    says what is wrong with it, or None; a fault stops the run before the next call (OP-107). ``conflict`` is what a 409 to this call means, where
    the server's own words do not tell.
    """

    endpoint: str
    why: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    binds: str | None = None
    conflict: str | None = None
    check: Callable[[Any], str | None] | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Awaiting:
    """Work that only the layout writer may do (LW-10): ``reason``, the node ids meant, and the ``lines`` the writer's site needs."""

    reason: str
    nodes: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    lines: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class Plan:
    """A decision about one subject (``"bucket media"``).

    ``before`` and ``after`` are the two sides of the diff, for most kinds the result itself (None = absent); ``predicted`` is the result where
    that is shaped otherwise. ``calls`` is what has to be sent, in order; ``undo`` puts back what they did when the server refuses one of them
    half-way. ``notes`` become warnings; ``awaiting`` is set when the calls were left out because the site is a follower.

    ``stages`` holds the plans that a combined one was made of: those of one stage are about different subjects and may be in flight together, a
    stage begins when the one before has ended. Without stages the calls are sent one after the other.
    """

    subject: str
    before: Any = None
    after: Any = None
    calls: tuple[Call, ...] = ()
    notes: tuple[str, ...] = ()
    awaiting: Awaiting | None = None
    predicted: Any = None
    undo: Call | None = None
    stages: tuple[tuple[Plan, ...], ...] = field(default=(), repr=False)

    @property
    def prediction(self) -> Any:
        """The result after this plan, as check mode returns it."""
        return self.after if self.predicted is None else self.predicted

    @property
    def changed(self) -> bool:
        return bool(self.calls)

    @property
    def would(self) -> tuple[str, ...]:
        return tuple(call.why for call in self.calls)

    @property
    def diff(self) -> dict:
        """Ansible's diff: only the fields that differ, so that one changed quota is not lost in a page; never a secret."""
        if not self.changed:
            return {"before": {}, "after": {}}
        before, after = (masked(side) for side in difference(self.before, self.after))
        return {"before": before, "after": after, "before_header": self.subject, "after_header": self.subject}


def difference(before: Any, after: Any) -> tuple[Any, Any]:
    """The parts of two values that differ. Mappings are compared field by field, everything else as a whole."""
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return ({}, {}) if before == after else (before if before is not None else {}, after if after is not None else {})
    left, right = {}, {}
    for name in dict.fromkeys([*before, *after]):
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            old, new = difference(old, new)
        left[name], right[name] = old, new
    return left, right


def combine(subject: str, stages: Sequence[Sequence[Plan]]) -> Plan:
    """One plan that does what all of ``stages`` do, in their order; before and after by subject."""
    plans = [plan for stage in stages for plan in stage]
    return Plan(
        subject=subject,
        before={plan.subject: plan.before for plan in plans if plan.changed},
        after={plan.subject: plan.after for plan in plans if plan.changed},
        calls=tuple(call for plan in plans for call in plan.calls),
        notes=tuple(note for plan in plans for note in plan.notes),
        stages=tuple(tuple(plan for plan in stage if plan.changed) for stage in stages),
    )


def refs_in(value: Any) -> Iterator[Ref]:
    """Every reference inside of ``value``."""
    if isinstance(value, Ref):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from refs_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from refs_in(item)


def resolve(value: Any, answers: Mapping[str, Any]) -> Any:
    """``value`` with every :class:`Ref` replaced from ``answers`` and every :class:`Secret` opened: what goes on the wire."""
    if isinstance(value, Ref):
        return answers[value.name][value.field]
    if isinstance(value, Secret):
        return value.value
    if isinstance(value, Mapping):
        return {name: resolve(item, answers) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [resolve(item, answers) for item in value]
    return value


def masked(value: Any) -> Any:
    """``value`` with stars in place of every :class:`Secret`: what may be shown."""
    if isinstance(value, Secret):
        return "********"
    if isinstance(value, Mapping):
        return {name: masked(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [masked(item) for item in value]
    return value


def secrets_in(value: Any) -> Iterator[str]:
    """Every secret inside of ``value``, so that the executor can have them struck from whatever leaves."""
    if isinstance(value, Secret):
        yield value.value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from secrets_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from secrets_in(item)
