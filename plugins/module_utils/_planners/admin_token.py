# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide what an admin token needs, from what the server, the store and an interrupted run say. Pure. Private: not for use outside.

The store is the record of a secret that is shown once. A token is made under a pending name, its secret is stored and tried, the token it
replaces is deleted, and only then it gets its name: at every point where that may break off, the next run can tell what is what.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from .._errors import CredentialLost, NotDeclaredHere, PlanError
from .._models.admin_token import EVERYTHING, SAME_AS_EVERYTHING, AdminToken, Intent, StoredToken, TokenDirectory, TokenSpec, interrupted
from .._models.key import KNOWN_AFTER, NEVER
from .._models.store import DELETE_ENTRY, PUT_ENTRY, Entry, noted, refuse_foreign
from .._models.store_layout import token_data
from .._plan import Call, Plan, Ref, Secret
from .._units import parse_server_time

CREATE = "CreateAdminToken"


@dataclass(frozen=True)
class TokenSnapshot:
    """What the planner must know: all tokens, the entry in the store and the token in it, the intent beside it, a ``nonce`` for a token that is to be
    made, the id of the token that the task itself works with (None for one of the configuration), and the server's clock. ``nodes`` are the ids of
    those of the cluster, None where they could not be read or need not be."""

    directory: TokenDirectory
    stored: StoredToken | None = None
    intent: Intent | None = None
    nonce: str = ""
    own_id: str | None = None
    now: datetime | None = None
    entry: Entry | None = None
    nodes: tuple[str, ...] | None = None

    @property
    def kept(self) -> AdminToken | None:
        """The token on the server whose secret the store holds."""
        return self.directory.by_id(self.stored.id) if self.stored else None

    @property
    def outlived(self) -> bool:
        """Whether the store holds the secret of a token that the server does not have: it was reset, or is another one (TD-06)."""
        return self.stored is not None and self.kept is None

    @property
    def pending(self) -> tuple[AdminToken, ...]:
        """The tokens that the interrupted run made, which its intent names. Nothing else is ever taken for residue (TD-43)."""
        return self.directory.named(self.intent.pending_name) if self.intent else ()


@dataclass(frozen=True)
class TokenPlan(Plan):
    """``intent`` goes beside the store before the token is made. ``adopted``: the stored token is in use and accepted. ``rotated``: it takes the place
    of another."""

    intent: Intent | None = None
    adopted: bool = False
    rotated: bool = False


def plan_admin_token(spec: TokenSpec, live: TokenSnapshot) -> TokenPlan:
    """Raises PlanError when the live state forbids what is wanted, CredentialLost when a secret is gone; nothing is sent then."""
    if live.intent and spec.name not in (None, live.intent.name):
        raise PlanError(f"{spec.label}: beside {spec.place} there is the note of an interrupted run for {live.intent.name!r}",
                        hint="run the task for that one again, or give another path")
    if spec.absent:
        return _plan_absent(spec, live)
    if live.outlived and spec.store:
        refuse_foreign(spec.store, live.entry, live.nodes)
    if _finishes(spec, live):
        return _plan_finish(spec, live)
    token = _find(spec, live)
    _refuse_other_secret(spec, live, token)
    if token is None:
        return _plan_new(spec, live, None)
    if spec.rotate:
        _refuse_own(spec, live, token)
        return _plan_new(spec, live, token)
    _refuse_lost(spec, live, token)
    return _plan_update(spec, live, token, _residue(live))


def _find(spec: TokenSpec, live: TokenSnapshot) -> AdminToken | None:
    if spec.id is None:
        return live.directory.by_name(spec.name)
    token = live.directory.by_id(spec.id)
    if token is None and not spec.absent:
        raise NotDeclaredHere(f"{spec.label}: there is no admin token with the id {spec.id}, and nothing was made",
                              hint="leave id out to make a token by name; Garage chooses its id")
    return token


def _finishes(spec: TokenSpec, live: TokenSnapshot) -> bool:
    """Whether an interrupted run came as far as the store, so that this one has to go on and not to begin again."""
    if not live.intent or not live.kept or live.kept.id == live.intent.replaces:
        return False
    unusable = spec.rotate and live.stored.accepted is False
    return not unusable and live.kept.name in (live.intent.pending_name, live.intent.name)


def _plan_finish(spec: TokenSpec, live: TokenSnapshot) -> TokenPlan:
    _refuse_unaccepted(spec, live, live.kept)
    residue = [token for token in live.pending if token != live.kept]
    old = live.directory.by_id(live.intent.replaces)
    calls = [_delete(token, "which an interrupted run left") for token in residue] + ([_delete(old, "which the new one replaces")] if old else [])
    plan = _plan_update(replace(spec, name=live.intent.name), live, live.kept, tuple(calls))
    before = plan.before if old is None else _result(spec, old, None)
    # When nothing but the intent itself is left, the interrupted run has done everything.
    replaced = live.intent.replaces if plan.calls else None
    return replace(plan, before=before, rotated=replaced is not None, notes=plan.notes + _rotation_notes(spec, replaced))


def _plan_new(spec: TokenSpec, live: TokenSnapshot, old: AdminToken | None) -> TokenPlan:
    if not spec.store and not spec.show_secret:
        raise PlanError(f"{spec.label}: it is not there, and its secret, which is shown once, would have no place", hint="give store, or set"
                        " return_secret: true and no_log: true on the task")
    name = spec.name or old.name
    scope = spec.scope if spec.scope is not None or old is None else old.scope
    if scope is None:
        raise PlanError(f"{spec.label}: scope must be set to make a token; Garage would let it do everything otherwise",
                        hint=f"list the calls it may make, or write scope: ['{EVERYTHING}']")
    expiration = _wanted(spec.expiration, old)
    if expiration and _passed(expiration, live.now):
        raise PlanError(f"{spec.label}: a token that expires at {expiration} would never work", hint="give an expiration in the future, or never")
    intent = Intent(name, live.nonce, old.id if old else None)
    body = {"name": intent.pending_name, "scope": list(scope), **({"expiration": expiration} if expiration else {})}
    # Of its own for each token: several are made in one run of a tenancy.
    new = f"new {spec.label}"
    place = f", its secret goes to {spec.place}" if spec.store else ""
    calls = [*_residue(live), Call(CREATE, f"create {spec.label}{place}", body=body, binds=new)]
    if old:
        calls.append(_delete(old, "which the new one replaces"))
    calls.append(Call("UpdateAdminToken", f"give the new token its name, {name}", query={"id": Ref(new, "id")}, body={"name": name}))
    after = AdminToken(None, name, expiration=expiration, scope=scope)
    return TokenPlan(subject=spec.label, before=_result(spec, old, _known_secret(live, old)) if old else None,
                     after=_result(spec, after, KNOWN_AFTER), calls=tuple(calls), notes=_notes(spec, live, scope) + _outlived_notes(spec, live)
                     + _rotation_notes(spec, old.id if old else None), intent=intent, rotated=old is not None)


def _plan_update(spec: TokenSpec, live: TokenSnapshot, token: AdminToken, first: tuple[Call, ...]) -> TokenPlan:
    after, body = _settings(spec, token, live.now)
    calls = first
    if body:
        words = list(dict.fromkeys("expiration" if name == "neverExpires" else name for name in body))
        calls += (Call("UpdateAdminToken", f"set {', '.join(words)} of {spec.label}", query={"id": token.id}, body=body),)
    calls += _store_calls(spec, live)
    secret = _known_secret(live, token)
    expired = (f"{spec.label} has expired; expiration: never, or a later one, brings it back",) if after.expired else ()
    return TokenPlan(spec.label, before=_result(spec, token, secret), after=_result(spec, after, secret), calls=calls,
                     notes=(_notes(spec, live, after.scope) if body.get("scope") else _notes(spec, live, ())) + expired,
                     adopted=spec.store is not None)


def _plan_absent(spec: TokenSpec, live: TokenSnapshot) -> TokenPlan:
    token = _find(spec, live)
    if token and spec.id and spec.name not in (None, token.name):
        raise PlanError(f"{spec.label}: the token with id {spec.id} is not called {spec.name!r} but {token.name!r}; nothing was deleted",
                        hint="leave out the name or the id")
    if token:
        _refuse_own(spec, live, token)
    going = {each.id for each in (*live.pending, *((token,) if token else ()))}
    calls = _residue(live) + ((Call("DeleteAdminToken", f"delete {spec.label}", query={"id": token.id}),) if token else ())
    notes = _notes(spec, live, ())
    if spec.delete_store and live.stored:
        if live.outlived:
            refuse_foreign(spec.store, live.entry, live.nodes)
        if live.kept is None or live.kept.id in going:
            calls += (Call(DELETE_ENTRY, f"delete {spec.place}", query={"place": spec.place}),)
        else:
            notes += (f"{spec.place} was left: it holds the secret of {live.kept.label}, which is another token",)
    return TokenPlan(spec.label, before=_result(spec, token, None) if token else None, calls=calls, notes=notes)


def wanted_entry(spec: TokenSpec, live: TokenSnapshot, secret: Secret) -> Entry:
    """What the store shall hold for a token with this secret."""
    cluster = noted(live.nodes) or (live.entry.cluster if live.entry else ())
    return Entry(token_data(spec.store, secret.value), cluster, spec.store.labels, spec.store.annotations)


def _store_calls(spec: TokenSpec, live: TokenSnapshot) -> tuple[Call, ...]:
    """The step that gives a stored token the form that it shall have. What was put there by hand is good where it is a plain file with the token."""
    if not spec.store or spec.store.is_text or not live.stored or live.entry.satisfies(wanted_entry(spec, live, live.stored.secret)):
        return ()
    return (Call(PUT_ENTRY, f"set what {spec.place} holds beside the token", query={"place": spec.place}),)


def _residue(live: TokenSnapshot) -> tuple[Call, ...]:
    return tuple(_delete(token, "which an interrupted run left") for token in live.pending)


def _delete(token: AdminToken, why: str) -> Call:
    return Call("DeleteAdminToken", f"delete {token.label}, {why}", query={"id": token.id})


def _refuse_own(spec: TokenSpec, live: TokenSnapshot, token: AdminToken) -> None:
    if token.id == live.own_id:
        raise PlanError(f"{spec.label}: this is the very token that the task works with; it cannot take itself away", hint="work with another token,"
                        " as the one in the daemon's configuration")


def _refuse_other_secret(spec: TokenSpec, live: TokenSnapshot, token: AdminToken | None) -> None:
    """A store that holds a living secret of something else must never be written to."""
    kept = live.kept
    if kept and kept not in live.pending and kept != token:
        raise PlanError(f"{spec.label}: {spec.place} holds the secret of another token, {kept.label}", hint="give each token a file of its own; to"
                        f" rename that one give id: {kept.id} and the name")


def _refuse_lost(spec: TokenSpec, live: TokenSnapshot, token: AdminToken) -> None:
    """TD-09, TD-28: what is on the server without its secret is never replaced unless that is asked for."""
    if spec.store is None:
        return
    if live.stored is None:
        raise _lost(spec, token, f"its secret is not in {spec.place}")
    if live.stored.id != token.id:
        raise _lost(spec, token, f"{spec.place} holds the secret of a token {live.stored.id} that the server does not have")
    _refuse_unaccepted(spec, live, token)


def _refuse_unaccepted(spec: TokenSpec, live: TokenSnapshot, token: AdminToken) -> None:
    if live.stored.accepted is False:
        raise _lost(spec, token, f"the server does not accept the secret in {spec.place}",
                    "; if the node at api_url has no role in the layout (such a node knows no token but that of its configuration), ask another")


def _lost(spec: TokenSpec, token: AdminToken, fault: str, more: str = "") -> CredentialLost:
    return CredentialLost(f"{spec.label} exists on the server (id {token.id}), but {fault}; the server cannot show it again",
                          hint=f"restore {spec.place} from a backup, or set rotate: true to replace the token{more}")


def _settings(spec: TokenSpec, token: AdminToken, now: datetime | None) -> tuple[AdminToken, dict]:
    """The token with the wanted settings, and the body that makes them so ({} when all are there)."""
    body: dict = {}
    after = token
    if spec.name is not None and spec.name != token.name:
        body["name"] = spec.name
        after = replace(after, name=spec.name)
    if spec.scope is not None and spec.scope != token.scope:
        body["scope"] = list(spec.scope)
        after = replace(after, scope=spec.scope)
    wanted = _wanted(spec.expiration, token)
    if wanted != token.expiration:
        body.update({"neverExpires": True} if wanted is None else {"expiration": wanted})
        after = replace(after, expiration=wanted, expired=wanted is not None and _passed(wanted, now))
    return after, body


def _wanted(expiration: str | None, token: AdminToken | None) -> str | None:
    """The expiration as a timestamp, or None for never; that of the token where nothing is wanted."""
    if expiration is None:
        return token.expiration if token else None
    return None if expiration == NEVER else expiration


def _passed(expiration: str, now: datetime | None) -> bool:
    return bool(now and parse_server_time(expiration) <= now)


def _known_secret(live: TokenSnapshot, token: AdminToken) -> Secret | None:
    return live.stored.secret if live.stored and live.stored.id == token.id else None


def _result(spec: TokenSpec, token: AdminToken, secret: Secret | str | None) -> dict:
    return {**token.to_result(), "store": spec.store.where if spec.store else None, "secret_token": secret if spec.show_secret else None}


def _notes(spec: TokenSpec, live: TokenSnapshot, scope: tuple[str, ...]) -> tuple[str, ...]:
    notes = []
    if powerful := [name for name in SAME_AS_EVERYTHING if name in scope]:
        notes.append(f"{spec.label}: {' and '.join(powerful)} in its scope lets it give itself every other right")
    left = [token for token in interrupted(spec.name or "", live.directory.tokens) if token not in live.pending and token != live.kept]
    if left:
        notes.append(f"{', '.join(token.label for token in left)}: left by an interrupted run of which there is no note; if no other run is at work,"
                     " delete by id")
    return tuple(notes)


def _outlived_notes(spec: TokenSpec, live: TokenSnapshot) -> tuple[str, ...]:
    if not live.outlived or not spec.store:
        return ()
    return (f"{spec.place} held a token {live.stored.id} that this server does not have, as after a reset; it is kept as {spec.store.beside('old')}",)


def _rotation_notes(spec: TokenSpec, old: str | None) -> tuple[str, ...]:
    return (f"{spec.label}: whoever uses the secret of {old} needs the new one, since that token goes with the rotation",) if old else ()
