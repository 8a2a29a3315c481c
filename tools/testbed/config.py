# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""garage.toml of one node."""

from __future__ import annotations

import json
from pathlib import Path

from tools.testbed.ports import HOST, Ports

REGION = "garage"


def render(folder: Path, ports: Ports, replication_factor: int, rpc_secret_file: Path, admin_token_file: Path) -> str:
    """The text of the file; secrets are named by their files and are not in it."""
    # LMDB: a fresh node takes 0.1 MB on disk and listens after 0.05 s; sqlite 1 MB and 0.07 s.
    # rpc_timeout_msec: with the default of 300 s a hung node makes reads through the others hang as long.
    return f"""\
metadata_dir = {_text(folder / "metadata")}
data_dir = {_text(folder / "data")}
db_engine = "lmdb"
replication_factor = {replication_factor}
rpc_bind_addr = "{HOST}:{ports.rpc}"
rpc_public_addr = "{HOST}:{ports.rpc}"
rpc_secret_file = {_text(rpc_secret_file)}
rpc_timeout_msec = 10000

[s3_api]
api_bind_addr = "{HOST}:{ports.s3}"
s3_region = "{REGION}"
root_domain = ".s3.garage.localhost"

[s3_web]
bind_addr = "{HOST}:{ports.web}"
root_domain = ".web.garage.localhost"

[admin]
api_bind_addr = "{HOST}:{ports.admin}"
admin_token_file = {_text(admin_token_file)}
"""


def _text(path: Path) -> str:
    # A JSON string of a path is a valid TOML basic string.
    return json.dumps(str(path))
