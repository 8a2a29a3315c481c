# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Admin tokens, and who may call what."""

from __future__ import annotations

from collections.abc import Mapping

from tests.fakes.garage.bodies import Query, flag, many, moment, struct, text
from tests.fakes.garage.errors import Refusal, bad_request, forbidden, internal, no_such_token
from tests.fakes.garage.keys import refuse_both_expirations
from tests.fakes.garage.row import ID, Row
from tests.fakes.garage.state import State, TokenRow, show_time

_ALWAYS_ALLOWED = "GetCurrentAdminTokenInfo"


def authorise(state: State, authorization: str | None, endpoint: str) -> None:
    """Raises the 403 of a missing, wrong, expired or out-of-scope token; they differ in nothing but a word."""
    if authorization is None:
        raise forbidden("Bearer token must be provided in Authorization header")
    if not authorization.isascii():
        raise Refusal(400, "InvalidHeaderValue", "Invalid header value: failed to convert header to a str")
    if not authorization.startswith("Bearer "):
        raise forbidden("Invalid Authorization header")
    token = authorization.removeprefix("Bearer ")
    if not state.since(2, 5):
        token = token.strip()
    prefix, dot, _rest = token.partition(".")
    if not dot:
        known = state.admin_token is not None and token == state.admin_token.strip()
    else:
        # A token with a dot is never compared with the configured one.
        row = state.tokens.get(prefix)
        known = bool(row and row.secret == token and not state.expired(row.expiration)
                     and (endpoint == _ALWAYS_ALLOWED or not {"*", endpoint}.isdisjoint(row.scope)))
    if not known:
        raise forbidden("Invalid bearer token")


def bearer(authorization: str | None) -> str:
    """The token of a call that asks about itself; looked at before it is known to be right."""
    if authorization is None:
        raise bad_request("Missing Authorization header")
    if not authorization.isascii():
        raise bad_request("Invalid Authorization header")
    if not authorization.startswith("Bearer "):
        raise bad_request("Authorization header must be Bearer token")
    return authorization.removeprefix("Bearer ")


def _info(state: State, token: TokenRow) -> dict:
    return {"id": token.id, "created": show_time(token.created), "name": token.name, "expiration": show_time(token.expiration),
            "expired": state.expired(token.expiration), "scope": list(token.scope)}


def _configured(name: str, scope: str) -> dict:
    return {"id": None, "created": None, "name": f"{name} (from daemon configuration)", "expiration": None, "expired": False, "scope": [scope]}


def _list(state: State, args: dict) -> list[dict]:
    state.tables()
    first = [_configured("admin_token", "*")] if state.admin_token is not None else []
    first += [_configured("metrics_token", "Metrics")] if state.metrics_token is not None else []
    return first + [_info(state, state.tokens[token_id]) for token_id in sorted(state.tokens)[:10_000]]


def _get(state: State, args: dict) -> dict:
    if (args["id"] is None) == (args["search"] is None):
        raise bad_request("Either id or search must be provided (but not both)")
    if args["id"] is not None:
        return _info(state, _existing(state, args["id"]))
    state.tables()
    wanted = args["search"].lower()
    found = [token for token in state.tokens.values() if token.id.startswith(wanted) or token.name.lower() == wanted][:10]
    if len(found) != 1:
        raise bad_request(f"{len(found)} matching admin tokens")
    return _info(state, found[0])


def _current(state: State, args: dict) -> dict:
    token = args["token"]
    if token == state.metrics_token:
        return _configured("metrics_token", "Metrics")
    if token == state.admin_token:
        return _configured("admin_token", "*")
    prefix, dot, _rest = token.partition(".")
    if not dot:
        raise internal("Invalid admin token")
    return _info(state, _existing(state, prefix))


def _create(state: State, args: dict) -> dict:
    body = args["body"]
    refuse_both_expirations(body)
    state.tables()
    token_id = state.make_hex(24)
    row = TokenRow(id=token_id, secret=f"{token_id}.{state.make_hex(43)}", name=state.clock.now.strftime("token_%Y%m%d_%H%M"),
                   created=state.clock.milliseconds)
    _apply(row, body)
    state.tokens[row.id] = row
    return {"secretToken": row.secret, **_info(state, row)}


def _update(state: State, args: dict) -> dict:
    row = _existing(state, args["id"])
    refuse_both_expirations(args["body"])
    _apply(row, args["body"])
    return _info(state, row)


def _delete(state: State, args: dict) -> None:
    del state.tokens[_existing(state, args["id"]).id]


def _existing(state: State, token_id: str) -> TokenRow:
    state.tables()
    if token_id not in state.tokens:
        raise no_such_token(token_id)
    return state.tokens[token_id]


def _apply(row: TokenRow, body: Mapping) -> None:
    if body["name"] is not None:
        row.name = body["name"]
    if body["expiration"] is not None or body["neverExpires"]:
        row.expiration = body["expiration"]
    if body["scope"] is not None:
        row.scope = list(body["scope"])


_UPDATE = struct(optional={"name": text, "expiration": moment, "scope": many(text)}, defaulted={"neverExpires": (flag, False)})

ROWS = (
    Row("ListAdminTokens", "GET", _list),
    Row("GetAdminTokenInfo", "GET", _get, query={"id": Query.optional, "search": Query.optional}),
    Row(_ALWAYS_ALLOWED, "GET", _current, since=(2, 1)),
    Row("CreateAdminToken", "POST", _create, body=_UPDATE),
    Row("UpdateAdminToken", "POST", _update, body=_UPDATE, query=ID),
    Row("DeleteAdminToken", "POST", _delete, query=ID),
)
