# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""garage.toml of a node. Pure. Private: not for use outside of the collection."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from .names import PORTS, Unit
from .volumes import METADATA_DIR, data_dir

TABLES = ("s3_api", "s3_web", "k2v_api", "admin", "consul_discovery", "kubernetes_discovery")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def garage_toml(workload: Mapping, unit: Unit, namespace: str, ordinal: int | None, peers: Sequence[str] = ()) -> str:
    """The configuration of one node, without any secret.

    ``ordinal`` takes the place of ``{ordinal}`` in ``rpc_public_addr``; with None it is left there, for what all pods of a unit share.
    """
    return to_toml({**_top(workload, unit, ordinal, peers), **_tables(workload, namespace)})


def to_toml(document: Mapping[str, Any]) -> str:
    """TOML of values as YAML has them, one table deep; what lies deeper becomes inline tables."""
    tables = {name: value for name, value in document.items() if isinstance(value, Mapping)}
    lines = [f"{_key(name)} = {_value(value)}" for name, value in document.items() if name not in tables]
    for name, table in tables.items():
        lines += ["", f"[{_key(name)}]", *(f"{_key(key)} = {_value(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


def _top(workload: Mapping, unit: Unit, ordinal: int | None, peers: Sequence[str]) -> dict:
    config, replication = workload["config"], workload["replication"]
    found: dict[str, Any] = {name: value for name, value in config.items() if name not in TABLES}
    found.update(
        metadata_dir=METADATA_DIR, data_dir=data_dir(unit), rpc_bind_addr=_bind("rpc"),
        replication_factor=replication["factor"], consistency_mode=replication["consistency_mode"],
    )
    if address := unit.section.get("rpc_public_addr"):
        found["rpc_public_addr"] = address if ordinal is None else address.replace("{ordinal}", str(ordinal))
    if peers:
        found["bootstrap_peers"] = sorted(peers)
    return found


def _tables(workload: Mapping, namespace: str) -> dict:
    config = workload["config"]
    found = {
        "s3_api": {**config["s3_api"], "api_bind_addr": _bind("s3")},
        "admin": {**config.get("admin", {}), "api_bind_addr": _bind("admin")},
    }
    if "s3_web" in config:
        found["s3_web"] = {**config["s3_web"], "bind_addr": _bind("web")}
    if "k2v_api" in config:
        found["k2v_api"] = {**config["k2v_api"], "api_bind_addr": _bind("k2v")}
    if "consul_discovery" in config:
        found["consul_discovery"] = config["consul_discovery"]
    if "kubernetes_discovery" in config:
        # Making the kind is a right over the whole cluster, which a site does not get (TD-21).
        found["kubernetes_discovery"] = {"namespace": namespace, "service_name": workload["name"], "skip_crd": True, **config["kubernetes_discovery"]}
    return found


def _bind(port: str) -> str:
    return f"[::]:{PORTS[port]}"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(str(name))} = {_value(item)}" for name, item in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    return repr(value) if isinstance(value, (int, float)) else _text(str(value))


def _text(value: str) -> str:
    # A JSON text is a basic string of TOML but for the delete character, which TOML wants escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
