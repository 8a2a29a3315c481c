# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs of the job of ``admin_token`` on a Garage in memory, which can be cut off at any point of the wire and the disk."""

from __future__ import annotations

import copy
import stat
from dataclasses import replace

from ansible_collections.s3ops.garage.plugins.module_utils._client import Client
from ansible_collections.s3ops.garage.plugins.module_utils._token_job import run_token
from tests.fakes.garage import ADMIN_TOKEN, FakeTransport

SCOPE = ["ListBuckets", "ListKeys"]


class Crash(BaseException):
    """The run ends here and now, as by a power cut."""


class Power:
    """Counts what a run does on the wire and on disk, before and after each, and cuts it off at one of those points."""

    def __init__(self, until=None):
        self.points = 0
        self.until = until

    def point(self):
        if self.points == self.until:
            raise Crash
        self.points += 1


class Wire(FakeTransport):
    """A transport that any token may be sent through; all that is sent stands in one list."""

    power = Power()

    def send(self, *arguments):
        self.power.point()
        answer = super().send(*arguments)
        self.power.point()
        return answer

    def bearing(self, token):
        other = copy.copy(self)
        other.connection = replace(self.connection, token=token)
        return other


class Context:
    """What a job may use of the module."""

    def __init__(self, garage, check=False, faults=None, token=ADMIN_TOKEN, power=None):
        self.check = check
        self.wire = Wire(garage, token, faults)
        self.wire.power = power or Power()
        self.warnings, self.hidden, self.clients = [], [], []

    def client(self):
        return self._open(self.wire)

    def bearing(self, client, token, source):
        return self._open(self.wire.bearing(token))

    def hide(self, secret):
        self.hidden.append(secret)

    def warn(self, text):
        self.warnings.append(text)

    def _open(self, wire):
        self.clients.append(Client(wire, retries=0, retry_delay=0))
        return self.clients[-1]

    @property
    def endpoints(self):
        return [sent.endpoint for sent in self.wire.sent]


def options(path=None, **more):
    return {"name": "ci", "scope": SCOPE, "store": {"path": str(path)} if path else None, **more}


def run(garage, params, **more):
    """(result, context) of a run; the result as the module would make it of it."""
    context = Context(garage, **more)
    outcome, beside = run_token(params, context)
    context.warnings += outcome.plan.notes
    return {"changed": outcome.plan.changed, "admin_token": outcome.result, "actions": list(outcome.plan.would), "diff": outcome.plan.diff,
            **beside}, context


def tokens(garage):
    return {row.id: row.name for row in garage.state.tokens.values()}


def in_order(garage, path):
    """One token of the name, its secret in the file, and nothing else anywhere."""
    (row,) = [row for row in garage.state.tokens.values() if row.name.startswith("ci")]
    assert row.name == "ci"
    assert path.read_text() == row.secret + "\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    left = {each.name for each in path.parent.iterdir()} - {f"{path.name}.old", f".{path.name}.old.garage"}
    assert left == {path.name, f".{path.name}.garage"}
    return row
