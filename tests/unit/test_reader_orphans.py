# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a create of unknown fate left behind, on a Garage in memory: found again, and never mistaken for somebody else's."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._client import Client
from ansible_collections.s3ops.garage.plugins.module_utils._errors import PlanError
from ansible_collections.s3ops.garage.plugins.module_utils._executor import Outcome, converge
from ansible_collections.s3ops.garage.plugins.modules.bucket import build
from tests.fakes.garage import FakeGarage, FakeTransport, Fault

CREATE = 1  # the second request: the first one looks for the bucket


def run(garage: FakeGarage, **faults: Any) -> Outcome:
    return converge(build({"name": "media"}), Client(FakeTransport(garage, **faults), retry_delay=0))


def nameless(garage: FakeGarage) -> str:
    return garage.handle("POST", "/v2/CreateBucket", body={})[1]["id"]


@pytest.mark.requirement("GS-07")
def test_a_bucket_that_was_made_without_its_name_gets_it():
    garage = FakeGarage()
    outcome = run(garage, faults={CREATE: Fault.CUT_HALFWAY})
    assert outcome.done == ("create bucket media", "add alias media of bucket media")
    assert list(garage.state.buckets) == [outcome.result["id"]]


@pytest.mark.requirement("GS-07")
@pytest.mark.parametrize("touch", [
    lambda garage, id: garage.handle("POST", "/v2/UpdateBucket", {"id": id}, {"quotas": {"maxObjects": 5}}),
    lambda garage, id: garage.handle("POST", "/v2/UpdateBucket", {"id": id}, {"websiteAccess": {"enabled": True, "indexDocument": "i"}}),
    lambda garage, id: garage.put_object(id, "object"),
    lambda garage, id: garage.begin_upload(id, "upload"),
    lambda garage, id: garage.clock.advance(3600),
], ids=["quota", "website", "object", "upload", "older"])
def test_a_nameless_bucket_of_somebody_else_is_left_alone(touch):
    garage = FakeGarage()
    other = nameless(garage)
    touch(garage, other)
    outcome = run(garage, faults={CREATE: Fault.CUT_BEFORE})
    assert outcome.result["id"] != other
    assert garage.state.buckets[other].aliases == set()


@pytest.mark.requirement("GS-07", "FC-034")
def test_two_that_look_alike_are_for_a_person_to_tell_apart():
    garage = FakeGarage()
    other = nameless(garage)
    with pytest.raises(PlanError, match="2 buckets without a name appeared") as caught:
        run(garage, faults={CREATE: Fault.CUT_HALFWAY})
    assert other in caught.value.message
    assert "bucket_info" in caught.value.hint
