# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run one module the way a user does: a playbook with one task, by ansible-playbook."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ANSIBLE_PLAYBOOK = Path(sys.executable).with_name("ansible-playbook")
# Reached only by a hang; nothing is measured with it.
LIMIT_SECONDS = 600


def run_module(
    name: str,
    args: Mapping[str, Any],
    connection: Mapping[str, Any] | None = None,
    *,
    check: bool = False,
    diff: bool = False,
    env: Mapping[str, str] | None = None,
    verbosity: int = 0,
    no_log: bool = False,
) -> dict[str, Any]:
    """The result of `s3ops.garage.<name>` (a name with dots is used as it is), of a failed task as well.

    `connection` holds connection options and is merged into `args`. Two keys are added to the result: `rc` of ansible-playbook (0, or 2
    when the module failed) and `output`, all that it printed. With `check` and `diff` it runs as with `--check` and `--diff`.
    """
    module = name if "." in name else f"s3ops.garage.{name}"
    with tempfile.TemporaryDirectory(prefix="s3ops-garage-") as folder:
        playbook, result = Path(folder, "play.yml"), Path(folder, "result.json")
        # A developer's own ansible.cfg has no say in a test.
        Path(folder, "ansible.cfg").touch()
        playbook.write_text(json.dumps(_play(module, {**(connection or {}), **args}, result, no_log)), encoding="utf-8")
        command = [str(ANSIBLE_PLAYBOOK), "-i", "localhost,", str(playbook)]
        command += ["--check"] * check + ["--diff"] * diff + [f"-{'v' * verbosity}"] * bool(verbosity)
        ended = subprocess.run(
            command, cwd=folder, env=clean_environment(folder, env), capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False
        )
        output = ended.stdout + ended.stderr
        if not result.exists():
            raise AssertionError(f"{module} gave no result, ansible-playbook ended with {ended.returncode}:\n{output}")
        return {**json.loads(result.read_text(encoding="utf-8")), "rc": ended.returncode, "output": output}


def _play(module: str, args: Mapping[str, Any], result: Path, no_log: bool) -> list[dict[str, Any]]:
    # The result is written without being shown, so that `output` is what a user sees of the module and no more.
    def keep(value: str) -> dict[str, Any]:
        copy = {"content": f"{{{{ {value} | to_json }}}}", "dest": str(result), "mode": "0600"}
        return {"name": "Keep the result", "ansible.builtin.copy": copy, "check_mode": False, "diff": False, "no_log": True}

    run = {"name": "Run the module", module: dict(args), "register": "outcome", "no_log": no_log}
    fail = {"name": "End as the module did", "ansible.builtin.fail": {"msg": "the module failed"}}
    play = {
        "name": "One module",
        "hosts": "localhost",
        "connection": "local",
        "gather_facts": False,
        "vars": {"ansible_python_interpreter": sys.executable},
        "tasks": [{"name": "Once", "block": [run, keep("outcome")], "rescue": [keep("ansible_failed_result"), fail]}],
    }
    return [play]


def clean_environment(folder: str, extra: Mapping[str, str] | None) -> dict[str, str]:
    """The environment without any setting of Ansible or of this collection, and with an ansible.cfg of `folder`, which the caller makes. A release of the
    collection that the developer has installed is not what is tested: what is linked into the environment comes first."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "GARAGE_"))}
    return {**inherited, "ANSIBLE_CONFIG": f"{folder}/ansible.cfg", "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_COLLECTIONS_PATH": sysconfig.get_path("purelib"), **(extra or {})}
