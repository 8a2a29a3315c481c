# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whole runs of ``tenancy`` on a Garage in memory, and a wire that can be slow, cut, or shared by several requests at a time."""

from __future__ import annotations

import threading
from contextlib import contextmanager

from ansible_collections.s3ops.garage.plugins.module_utils._client import Client
from ansible_collections.s3ops.garage.plugins.module_utils._errors import TransportError
from ansible_collections.s3ops.garage.plugins.module_utils._tenancy_job import run_tenancy
from tests.fakes.contexts import Context
from tests.fakes.garage import ADMIN_TOKEN, FakeTransport

# Reached only by a hang; nothing is measured with it.
PATIENCE = 60.0


class Wire(FakeTransport):
    """Counts how many requests are under way at once. ``meet`` requests of the endpoint ``where`` wait for one another before any is answered.

    The first ``halfway`` CreateBucket requests make their bucket, give it no name and are cut off, as was seen on 2.5.0.
    """

    def __init__(self, garage, token=ADMIN_TOKEN, meet=0, where="", halfway=0, **more):
        super().__init__(garage, token, **more)
        self.most = self.most_writes = 0
        self._under_way: list[str] = []
        self._halfway = halfway
        self._where = where
        self._barrier = threading.Barrier(meet) if meet else None
        self._guard = threading.RLock()

    def send(self, method, path, query, body, label):
        with self._counted(label):
            if self._barrier and label == self._where:
                self._barrier.wait(PATIENCE)
                # Those that come later need not meet.
                self._barrier = None
            with self._guard:
                if label == "CreateBucket" and self._halfway:
                    self._halfway -= 1
                    super().send(method, path, query, {}, label)
                    raise TransportError(f"{label}: cut", sent=True, endpoint=label)
                return super().send(method, path, query, body, label)

    @contextmanager
    def _counted(self, label):
        with self._guard:
            self._under_way.append(label)
            self.most = max(self.most, len(self._under_way))
            self.most_writes = max(self.most_writes, sum(not label.startswith(("Get", "List")) for label in self._under_way))
        try:
            yield
        finally:
            with self._guard:
                self._under_way.remove(label)

    @property
    def endpoints(self):
        return [sent.endpoint for sent in self.sent]

    def client(self, retries=0):
        return Client(self, retries=retries, retry_delay=0)


def options(keys=(), buckets=(), **more):
    return {"keys": list(keys), "buckets": list(buckets), "on_error": "stop", "max_in_flight": 4, **more}


def run(garage, params, check=False, wire=None):
    """(outcome, wire) of a run."""
    wire = wire or Wire(garage)
    outcome = run_tenancy(params, Context(wire.client(), check))
    return outcome, wire


def names(garage):
    """The names of all keys and buckets on the server."""
    return (sorted(row.name for row in garage.state.keys.values() if not row.deleted),
            sorted(min(row.aliases, default="") for row in garage.state.buckets.values()))
