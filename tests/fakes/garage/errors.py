# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The refusals of Garage's Admin API, with the codes and words of 2.5.0."""

from __future__ import annotations


class Refusal(Exception):
    """An error answer: HTTP status, Garage's code, text."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.message = message


def bad_request(text: str) -> Refusal:
    return Refusal(400, "InvalidRequest", f"Bad request: {text}")


def invalid_bucket_name(name: str) -> Refusal:
    return Refusal(400, "InvalidBucketName", f"Invalid bucket name: {name}")


def forbidden(text: str) -> Refusal:
    return Refusal(403, "AccessDenied", f"Forbidden: {text}")


def no_such_bucket(name: str) -> Refusal:
    return Refusal(404, "NoSuchBucket", f"Bucket not found: {name}")


def no_such_key(key_id: str) -> Refusal:
    return Refusal(404, "NoSuchAccessKey", f"Access key not found: {key_id}")


def no_such_token(token_id: str) -> Refusal:
    return Refusal(404, "NoSuchAdminToken", f"Admin token not found: {token_id}")


def conflict(code: str, message: str) -> Refusal:
    return Refusal(409, code, message)


def internal(text: str) -> Refusal:
    return Refusal(500, "InternalError", f"Internal error: {text}")
