# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Grants, as they are wanted: what one access key may do with one bucket. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .._errors import InputError
from .._names import bucket_id_fault, bucket_name_fault, key_id_fault
from .bucket import BucketSpec

RIGHTS = ("read", "write", "owner")


@dataclass(frozen=True)
class GrantSpec:
    """A grant as it is wanted. A right is True, False, or None to leave it alone; with ``exact`` None is False.

    The bucket and the key are each told by name or by id.
    """

    bucket: str | None = None
    bucket_id: str | None = None
    key: str | None = None
    key_id: str | None = None
    read: bool | None = None
    write: bool | None = None
    owner: bool | None = None
    exact: bool = False
    absent: bool = False

    @property
    def bucket_label(self) -> str:
        return f"bucket {self.bucket or self.bucket_id}"

    @property
    def key_label(self) -> str:
        return f"access key {self.key or self.key_id}"

    @property
    def label(self) -> str:
        return f"grant of {self.key_label} on {self.bucket_label}"

    def rights(self, live: Iterable[str]) -> frozenset[str]:
        """The rights that are wanted where those in ``live`` are there."""
        if self.absent:
            return frozenset()
        kept = frozenset() if self.exact else frozenset(live)
        given = {right: getattr(self, right) for right in RIGHTS}
        return (kept | {right for right, wanted in given.items() if wanted}) - {right for right, wanted in given.items() if wanted is False}

    @classmethod
    def from_params(cls, params: Mapping, where: str = "", bucket: BucketSpec | None = None) -> GrantSpec:
        """From module options; ``where`` is put before the name of a faulty option. Raises InputError with all faults.

        With ``bucket``, the grant is one of that bucket's own list, and the bucket is not looked at again.
        """
        name, bucket_id = (params.get("bucket"), params.get("bucket_id")) if bucket is None else (bucket.name, None if bucket.name else bucket.id)
        spec = cls(bucket=name, bucket_id=bucket_id, key=params.get("key"), key_id=params.get("key_id"), read=params.get("read"),
                   write=params.get("write"), owner=params.get("owner"), exact=bool(params.get("exact")), absent=params.get("state") == "absent")
        faults = [*([] if bucket else _bucket_faults(spec)), *_key_faults(spec), *_rights_faults(spec)]
        if faults:
            raise InputError([where + fault for fault in faults])
        return spec


def _bucket_faults(spec: GrantSpec) -> list[str]:
    faults = _one_of(spec, "bucket", "bucket_id")
    if spec.bucket is not None and (fault := bucket_name_fault(spec.bucket)):
        faults.append(f"bucket: {fault}")
    if spec.bucket_id is not None and (fault := bucket_id_fault(spec.bucket_id)):
        faults.append(f"bucket_id: {fault}")
    return faults


def _key_faults(spec: GrantSpec) -> list[str]:
    faults = _one_of(spec, "key", "key_id")
    if spec.key == "":
        faults.append("key: must not be empty")
    if spec.key_id is not None and (fault := key_id_fault(spec.key_id)):
        faults.append(f"key_id: {fault}")
    return faults


def _one_of(spec: GrantSpec, first: str, second: str) -> list[str]:
    given = [name for name in (first, second) if getattr(spec, name) is not None]
    if len(given) == 1:
        return []
    return [f"{first} and {second} exclude one another" if given else f"{first} or {second} must be set"]


def _rights_faults(spec: GrantSpec) -> list[str]:
    given = [getattr(spec, right) for right in RIGHTS if getattr(spec, right) is not None]
    if spec.absent or True in given:
        return []
    if not given:
        return ["read, write or owner must be set"]
    # With one right left alone the live grant decides; otherwise nothing can be left of it.
    return ["no right would be left; write state: absent to remove a grant"] if spec.exact or len(given) == len(RIGHTS) else []
