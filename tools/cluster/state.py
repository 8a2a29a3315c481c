# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster of this user: what is known of it, written down so that any later process can use or end it."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from kubernetes import client, config

from tools.testbed.cache import cache_folder
from tools.testbed.files import write_private

STATE_FILE = "state.json"
KUBECONFIG_VARIABLE = "GARAGE_TEST_KUBECONFIG"


def default_home() -> Path:
    """Outside of the checkout, so that all checkouts of a user share one cluster; a given one is another."""
    return cache_folder() / ("cluster-given" if os.environ.get(KUBECONFIG_VARIABLE) else "cluster")


@dataclass
class Cluster:
    """A cluster that was started, or is being started, or was left by a run that is dead."""

    home: Path
    # given, kind or local
    kind: str
    # differs for each start
    identity: str
    # whether it is to stay when the last test run that uses it ends
    keep: bool = False
    ready: bool = False
    kubeconfig: str = ""
    image: str = ""
    storage_class: str = ""
    # the folder of the volumes as the node sees it; empty when the cluster brings its own storage
    storage_folder: str = ""
    # what to put before a command to have it run where the volumes are
    node_command: list[str] = field(default_factory=list)
    # whether this machine reaches the addresses of pods
    reaches_pods: bool = False
    storage_process: dict[str, int] | None = None
    # what its kind needs to end it
    record: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def find(cls, home: Path) -> Cluster | None:
        """The cluster whose state lies there."""
        try:
            told = json.loads((home / STATE_FILE).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        return cls(home=home, **told)

    @classmethod
    def load(cls, home: Path) -> Cluster:
        """As find(). Raises FileNotFoundError when there is none."""
        found = cls.find(home)
        if found is None:
            raise FileNotFoundError(home / STATE_FILE)
        return found

    def save(self) -> None:
        told = {name: value for name, value in asdict(self).items() if name != "home"}
        write_private(self.home / STATE_FILE, json.dumps(told, indent=2) + "\n")

    def remember(self, facts: dict[str, Any]) -> None:
        """Add to the record, on disk at once."""
        self.record |= facts
        self.save()

    def api(self) -> client.ApiClient:
        """A client with all rights, independent of every other configuration of this process."""
        return config.new_client_from_config(config_file=self.kubeconfig)
