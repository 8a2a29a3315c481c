# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Try an access key where it is for. Private: not for use outside of the collection."""

from __future__ import annotations

_SECONDS = 10


def try_key(endpoint: str, region: str | None, key_id: str, secret: str, verify: bool | str) -> tuple[bool | None, str | None]:
    """Whether S3 at ``endpoint`` takes a request that this key has signed, and why not; None where that could not be asked."""
    # Loaded by the one task that needs it.
    try:
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError, ClientError
        from botocore.session import get_session
    except ImportError:
        return None, "the Python library botocore is not there"
    config = Config(connect_timeout=_SECONDS, read_timeout=_SECONDS, retries={"total_max_attempts": 1}, s3={"addressing_style": "path"})
    try:
        client = get_session().create_client("s3", endpoint_url=endpoint, region_name=region or "garage", aws_access_key_id=key_id,
                                             aws_secret_access_key=secret, verify=verify, config=config)
        client.list_buckets()
    except ClientError as error:
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        return (False if status in (400, 401, 403) else None), f"HTTP {status} {error.response.get('Error', {}).get('Code')}"
    except BotoCoreError as error:
        return None, type(error).__name__
    return True, None
