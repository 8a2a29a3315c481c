# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""One way to talk to both a fake and a real Garage."""

from __future__ import annotations

import itertools
import json
import subprocess
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import boto3
import botocore.config
import jsonschema
import requests

from ansible_collections.s3ops.garage.plugins.module_utils._endpoints import ENDPOINTS
from tests.fakes.garage import ADMIN_TOKEN, FakeGarage

_OWN = object()
_names = itertools.count(1)

Refusal = tuple[int, str, str]
Version = tuple[int, int, int]


@dataclass(frozen=True)
class Answer:
    """Status and decoded body; text that is not JSON is a str."""

    status: int
    data: Any

    @property
    def refusal(self) -> Refusal:
        """Status, code and message of an error; the reason why JSON could not be read is left out, it is the parser's own."""
        assert set(self.data) == {"code", "message", "region", "path"}, self.data
        head, invalid, _reason = self.data["message"].partition("Invalid JSON")
        return self.status, self.data["code"], head + invalid


class Server(ABC):
    """A Garage with one node. ``version`` is what both kinds play in one run; successful answers are held against its OpenAPI description."""

    def __init__(self, version: Version, description: dict, token: str) -> None:
        self.version = version
        self.token = token
        self._components = {"components": description["components"]}
        self._schemas = {path: _schema(operation) for path, methods in description["paths"].items() for operation in methods.values()}

    @abstractmethod
    def send(self, method: str, path: str, query: str = "", body: bytes | None = None, authorization: str | None = None) -> Answer:
        """One request, as it goes over the wire."""

    @property
    @abstractmethod
    def node_id(self) -> str:
        """The id of the node."""

    @abstractmethod
    def store(self, bucket_id: str, key: dict, name: str, body: bytes) -> None:
        """Write an object with an access key (as CreateKey shows it)."""

    @abstractmethod
    def begin_upload(self, bucket_id: str, key: dict, name: str) -> None:
        """Begin a multipart upload and leave it."""

    def since(self, *version: int) -> bool:
        return self.version >= version

    def call(self, endpoint: str, query: dict | None = None, body: Any = None, token: Any = _OWN) -> Answer:
        """One call of the Admin API; ``body`` is a JSON value, or bytes for what is none. A token of None sends none."""
        row = ENDPOINTS[endpoint]
        token = self.token if token is _OWN else token
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        answer = self.send(row.method, row.path, urlencode(query or {}, doseq=True), data, None if token is None else f"Bearer {token}")
        schema = self._schemas.get(row.path)
        if answer.status == 200 and schema:
            jsonschema.validate(answer.data, {**self._components, **schema})
        return answer

    def ok(self, endpoint: str, query: dict | None = None, body: Any = None, token: Any = _OWN) -> Any:
        """The data of a call that must succeed."""
        answer = self.call(endpoint, query, body, token)
        assert answer.status == 200, answer
        return answer.data

    def refusal(self, endpoint: str, query: dict | None = None, body: Any = None, token: Any = _OWN) -> Refusal:
        """Status, code and message of a call that must be refused."""
        return self.call(endpoint, query, body, token).refusal

    def name(self, stem: str) -> str:
        """A name nobody else has used."""
        return f"{stem}-{next(_names)}"

    def make_bucket(self, alias: str | None = None) -> dict:
        return self.ok("CreateBucket", body={"globalAlias": alias or self.name("bucket")})

    def make_key(self, name: str | None = None) -> dict:
        return self.ok("CreateKey", body={"name": name or self.name("key")})

    def bucket(self, bucket_id: str) -> dict:
        return self.ok("GetBucketInfo", {"id": bucket_id})

    def key(self, key_id: str) -> dict:
        return self.ok("GetKeyInfo", {"id": key_id})

    def grant(self, bucket: dict, key: dict, **flags: bool) -> dict:
        return self.ok("AllowBucketKey", body={"bucketId": bucket["id"], "accessKeyId": key["accessKeyId"], "permissions": flags})

    def update(self, bucket: dict, **settings: Any) -> dict:
        return self.ok("UpdateBucket", {"id": bucket["id"]}, settings)

    def update_refusal(self, bucket: dict, **settings: Any) -> Refusal:
        return self.refusal("UpdateBucket", {"id": bucket["id"]}, settings)


class InMemory(Server):
    """The fake."""

    def __init__(self, version: Version, description: dict, **options: Any) -> None:
        super().__init__(version, description, ADMIN_TOKEN)
        self.garage = FakeGarage(version=".".join(map(str, version)), **options)

    @property
    def node_id(self) -> str:
        return self.garage.node_id

    def send(self, method: str, path: str, query: str = "", body: bytes | None = None, authorization: str | None = None) -> Answer:
        return Answer(*self.garage.handle(method, path, query, body, authorization))

    def store(self, bucket_id: str, key: dict, name: str, body: bytes) -> None:
        self.garage.put_object(bucket_id, name, len(body))

    def begin_upload(self, bucket_id: str, key: dict, name: str) -> None:
        self.garage.begin_upload(bucket_id, name)


class OverHttp(Server):
    """A real node."""

    def __init__(self, version: Version, description: dict, cluster: Any) -> None:
        super().__init__(version, description, cluster.token)
        self.cluster = cluster
        self._session = requests.Session()
        self._session.trust_env = False

    @property
    def node_id(self) -> str:
        return self.cluster.node_ids[0]

    def send(self, method: str, path: str, query: str = "", body: bytes | None = None, authorization: str | None = None) -> Answer:
        headers = {} if authorization is None else {"Authorization": authorization.encode("utf-8")}
        answer = self._session.request(method, f"{self.cluster.api_url}{path}{'?' if query else ''}{query}", data=body, headers=headers, timeout=60)
        if answer.headers.get("Content-Type") == "application/json":
            return Answer(answer.status_code, answer.json())
        return Answer(answer.status_code, answer.text)

    def store(self, bucket_id: str, key: dict, name: str, body: bytes) -> None:
        self._s3(key).put_object(Bucket=bucket_id, Key=name, Body=body)

    def begin_upload(self, bucket_id: str, key: dict, name: str) -> None:
        self._s3(key).create_multipart_upload(Bucket=bucket_id, Key=name)

    def close(self) -> None:
        # A node waits 10 s for open connections when it is stopped.
        self._session.close()

    def _s3(self, key: dict) -> Any:
        config = botocore.config.Config(s3={"addressing_style": "path"}, proxies={}, retries={"total_max_attempts": 1},
                                        request_checksum_calculation="when_required")
        return boto3.client("s3", endpoint_url=self.cluster.s3_url, region_name="garage", aws_access_key_id=key["accessKeyId"],
                            aws_secret_access_key=key["secretAccessKey"], config=config)


def description_of(binary: Path) -> dict:
    """What the binary says of its own Admin API."""
    return json.loads(subprocess.run([binary, "admin-api-schema"], capture_output=True, check=True, timeout=60).stdout)


def _schema(operation: dict) -> dict | None:
    content = operation["responses"].get("200", {}).get("content", {})
    return content.get("application/json", {}).get("schema")
