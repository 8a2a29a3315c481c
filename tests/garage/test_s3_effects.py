# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the modules declare, as an S3 client meets it: rights, quotas, unfinished uploads, objects and their blocks.

That a second run changes nothing, and what check mode says, is shown by tests/integration/targets.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from tests.garage.ansible_run import run_module
from tools.testbed.config import REGION
from tools.testbed.nodes import Cluster

# Larger than what Garage keeps in its metadata, smaller than one block.
BLOCK = b"garage" * 20_000


class Store:
    """One Garage node: modules, what somebody else would do through the Admin API, and S3 clients."""

    def __init__(self, cluster: Cluster, clients: contextlib.ExitStack) -> None:
        self.cluster = cluster
        self.admin = cluster.nodes[0].admin
        self._clients = clients

    def run(self, module: str, args: dict[str, Any], **options: Any) -> dict[str, Any]:
        return run_module(module, args, {"api_url": self.cluster.api_url, "api_token_file": str(self.cluster.token_file)}, **options)

    def done(self, module: str, args: dict[str, Any], **options: Any) -> dict[str, Any]:
        result = self.run(module, args, **options)
        assert result["rc"] == 0, result["msg"]
        return result

    def key(self, name: str) -> dict[str, Any]:
        """A key made by somebody else: `accessKeyId`, `secretAccessKey`."""
        return self.admin.post("CreateKey", {"name": name})

    def bucket(self, name: str, *owners: dict[str, Any]) -> str:
        """The id of a bucket made by somebody else, on which these keys have read and write."""
        bucket_id = self.admin.post("CreateBucket", {"globalAlias": name})["id"]
        for key in owners:
            self.admin.post("AllowBucketKey", {"bucketId": bucket_id, "accessKeyId": key["accessKeyId"],
                                               "permissions": {"read": True, "write": True, "owner": False}})
        return bucket_id

    def s3(self, key_id: str, secret: str) -> Any:
        config = Config(s3={"addressing_style": "path"}, proxies={}, retries={"total_max_attempts": 1})
        client = boto3.client("s3", endpoint_url=self.cluster.s3_url, region_name=REGION, config=config,
                              aws_access_key_id=key_id, aws_secret_access_key=secret)
        return self._clients.enter_context(contextlib.closing(client))

    def s3_of(self, key: dict[str, Any]) -> Any:
        return self.s3(key["accessKeyId"], key["secretAccessKey"])


@pytest.fixture(scope="module")
def store(single_node: Cluster) -> Iterator[Store]:
    # A node waits for open connections when it is stopped.
    with contextlib.ExitStack() as clients:
        yield Store(single_node, clients)


def forbidden(call: Callable[..., Any], **args: Any) -> str:
    """The message of the 403 that the call must meet."""
    with pytest.raises(ClientError) as refused:
        call(**args)
    assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403, refused.value
    return refused.value.response["Error"]["Message"]


@pytest.mark.requirement("FC-056", "FC-065")
def test_the_right_to_create_buckets(store: Store) -> None:
    made = store.done("key", {"name": "s3-maker", "return_secret": True}, no_log=True, verbosity=4, diff=True)
    key_id, secret = made["key"]["id"], made["key"]["secret_access_key"]
    assert len(secret) == 64 and secret not in made["output"]
    client = store.s3(key_id, secret)
    forbidden(client.create_bucket, Bucket="s3-made")

    given = store.done("key", {"id": key_id, "secret_access_key": secret, "allow_create_bucket": True}, verbosity=4, diff=True)
    assert secret not in given["output"] and given["key"]["secret_access_key"] is None
    client.create_bucket(Bucket="s3-made")

    store.done("key", {"id": key_id, "allow_create_bucket": False})
    forbidden(client.create_bucket, Bucket="s3-made-later")


@pytest.mark.requirement("FC-071", "FC-073", "FC-077")
def test_rights_on_a_bucket(store: Store) -> None:
    key = store.key("s3-app")
    store.bucket("s3-media")
    client = store.s3_of(key)
    of = {"bucket": "s3-media", "key": "s3-app"}
    cors = {"CORSRules": [{"AllowedMethods": ["GET"], "AllowedOrigins": ["*"]}]}

    forbidden(client.put_object, Bucket="s3-media", Key="one", Body=b"1")
    store.done("grant", {**of, "read": True, "write": True})
    client.put_object(Bucket="s3-media", Key="one", Body=b"1")
    assert client.get_object(Bucket="s3-media", Key="one")["Body"].read() == b"1"
    forbidden(client.put_bucket_cors, Bucket="s3-media", CORSConfiguration=cors)

    owner = store.done("grant", {**of, "write": False, "owner": True})
    assert {right: owner["grant"][right] for right in ("read", "write", "owner")} == {"read": True, "write": False, "owner": True}
    client.put_bucket_cors(Bucket="s3-media", CORSConfiguration=cors)
    assert client.get_object(Bucket="s3-media", Key="one")["Body"].read() == b"1"
    forbidden(client.put_object, Bucket="s3-media", Key="two", Body=b"2")

    store.done("grant", {**of, "owner": True, "exact": True})
    client.get_bucket_cors(Bucket="s3-media")
    forbidden(client.get_object, Bucket="s3-media", Key="one")

    store.done("grant", {**of, "state": "absent"})
    forbidden(client.get_bucket_cors, Bucket="s3-media")
    forbidden(client.get_object, Bucket="s3-media", Key="one")
    forbidden(client.list_objects_v2, Bucket="s3-media")


@pytest.mark.requirement("FC-067")
def test_a_deleted_key(store: Store) -> None:
    leaving, staying = store.key("s3-leaving"), store.key("s3-staying")
    store.bucket("s3-shared", leaving, staying)
    gone, kept = store.s3_of(leaving), store.s3_of(staying)
    gone.put_object(Bucket="s3-shared", Key="one", Body=b"1")

    store.done("key", {"name": "s3-leaving", "state": "absent"})
    forbidden(gone.get_object, Bucket="s3-shared", Key="one")
    assert kept.get_object(Bucket="s3-shared", Key="one")["Body"].read() == b"1"
    kept.put_object(Bucket="s3-shared", Key="two", Body=b"2")


@pytest.mark.requirement("FC-041", "GS-08")
def test_a_quota_of_nothing(store: Store) -> None:
    key = store.key("s3-quota")
    store.bucket("s3-quota", key)
    client = store.s3_of(key)
    client.put_object(Bucket="s3-quota", Key="one", Body=b"1")
    store.done("bucket", {"name": "s3-quota", "quotas": {"max_size": "0"}})
    assert "quota" in forbidden(client.put_object, Bucket="s3-quota", Key="two", Body=b"2").lower()
    store.done("bucket", {"name": "s3-quota", "quotas": {"max_size": "unlimited", "max_objects": "1"}})
    assert "quota" in forbidden(client.put_object, Bucket="s3-quota", Key="two", Body=b"2").lower()

    full = store.run("bucket", {"name": "s3-quota", "state": "absent"})
    assert (full["rc"], full["error"]["kind"], full["changed"]) == (2, "refused", False)
    assert "1 object" in full["msg"]
    assert client.get_object(Bucket="s3-quota", Key="one")["Body"].read() == b"1"


@pytest.mark.requirement("FC-049", "FC-052")
def test_unfinished_uploads(store: Store) -> None:
    key = store.key("s3-uploads")
    bucket_id = store.bucket("s3-uploads", key)
    client = store.s3_of(key)

    def begin(name: str) -> None:
        upload = client.create_multipart_upload(Bucket="s3-uploads", Key=name)
        client.upload_part(Bucket="s3-uploads", Key=name, UploadId=upload["UploadId"], PartNumber=1, Body=b"part")

    def unfinished() -> int:
        return len(client.list_multipart_uploads(Bucket="s3-uploads").get("Uploads", []))

    begin("one")
    begin("two")
    old = store.done("bucket_uploads", {"name": "s3-uploads", "older_than": "1d"})
    assert (old["changed"], old["uploads"]) == (False, {"bucket_id": bucket_id, "deleted": 0})
    args = {"name": "s3-uploads", "older_than": "0s"}
    predicted = store.done("bucket_uploads", args, check=True)
    assert (predicted["changed"], unfinished()) == (True, 2)
    done = store.done("bucket_uploads", args)
    assert (done["changed"], done["uploads"]["deleted"], unfinished()) == (True, 2, 0)
    assert done["actions"] == predicted["actions"]
    again = store.done("bucket_uploads", args)
    assert (again["changed"], again["uploads"]["deleted"]) == (False, 0)

    begin("three")
    deleted = store.done("bucket", {"name": "s3-uploads", "state": "absent"})
    assert (deleted["changed"], deleted["bucket"]) == (True, None)
    with pytest.raises(ClientError):
        unfinished()


def test_an_object_and_its_block(store: Store) -> None:
    key = store.key("s3-blocks")
    bucket_id = store.bucket("s3-blocks", key)
    client = store.s3_of(key)
    name = "pictures/übers & more/one.jpg"
    client.put_object(Bucket="s3-blocks", Key=name, Body=BLOCK, ContentType="image/jpeg")

    seen = store.done("object_info", {"bucket": "s3-blocks", "key": name})
    (version,) = seen["versions"]
    assert (version["size"], version["inline"], version["uploading"], version["delete_marker"]) == (len(BLOCK), False, False, False)
    assert ["content-type", "image/jpeg"] in [[header.lower(), value] for header, value in version["headers"]]
    (block,) = version["blocks"]

    found = store.done("block_info", {"block": block["hash"][:16]})
    (node,) = found["nodes"]
    assert (node["block"]["block_hash"], node["block"]["refcount"]) == (block["hash"], 1)
    (used,) = node["block"]["versions"]
    assert used["backlink"]["object"] == {"bucket_id": bucket_id, "key": name}

    purge = {"action": "purge", "blocks": [block["hash"]], "confirm": True}
    assert store.done("block_action", purge, check=True)["changed"]
    assert client.get_object(Bucket="s3-blocks", Key=name)["Body"].read() == BLOCK
    assert store.done("block_action", purge)["nodes"][0]["objects_deleted"] == 1
    with pytest.raises(client.exceptions.NoSuchKey):
        client.get_object(Bucket="s3-blocks", Key=name)
