# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run ansible-test in a staged copy with nothing but the Python package index in reach.

ansible-test makes its virtual environments with a pip bootstrap that it downloads from a host of the Ansible project,
and takes no answer from pip's environment variables. Both are settled in a home folder of its own in the cache,
which also keeps its environments from one run to the next.
"""

from __future__ import annotations

import os
import re
import subprocess
from importlib.util import find_spec
from pathlib import Path

from tools.check.paths import CACHE, STAGE, VENV
from tools.check.pythons import search_path
from tools.check.stage import point
from tools.testbed.files import write_private

HOME = CACHE / "ansible-test"

BOOTSTRAP = """\
import os, subprocess, sys

packages = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
subprocess.check_call([sys.executable, "-m", "ensurepip"], stdout=subprocess.DEVNULL)
subprocess.check_call([sys.executable, "-m", "pip", "install", "--disable-pip-version-check", *packages])
"""


def ansible_test(staged: Path, *arguments: str) -> int:
    """Run ``ansible-test`` in the folder ``staged`` and return its exit status."""
    prepare_home()
    tools = short_way() / "bin"
    path = f"{tools}{os.pathsep}{search_path(HOME / 'bin')}"
    variables = os.environ | {"HOME": str(HOME), "PATH": path}
    command = [str(tools / "python"), str(tools / "ansible-test"), *arguments, "--color", "no"]
    return subprocess.run(command, cwd=staged, env=variables, stdin=subprocess.DEVNULL, check=False).returncode


def short_way() -> Path:
    """A link to the environment. ansible-test writes scripts that begin with the path of the interpreter, which may neither
    be long nor hold a space; a checkout may lie anywhere."""
    if VENV.is_relative_to(STAGE):
        return VENV
    link = STAGE / "venv"
    point(link, VENV)
    return link


def prepare_home() -> None:
    put(HOME / ".ansible" / "test" / "cache" / f"get_pip_{pip_version().replace('.', '_')}.py", BOOTSTRAP)
    lines = [f"{name} = {value}\n" for name, value in sorted(pip_settings().items())]
    put(HOME / ".config" / "pip" / "pip.conf", "[global]\n" + "".join(lines))


def put(file: Path, text: str) -> None:
    """Write a private file (an index address may hold a password) unless it says the same already: others may read it."""
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_private(file, text)


def pip_version() -> str:
    """The pip that this ansible-test wants: the name of the bootstrap file carries it."""
    spec = find_spec("ansible_test")
    source = Path(spec.submodule_search_locations[0], "_internal", "python_requirements.py").read_text(encoding="utf-8")
    return re.search(r"pip='([0-9.]+)'", source)[1]


def pip_settings() -> dict[str, str]:
    """What pip would use here: the user's file and the environment variables, the latter last because they win."""
    listed = subprocess.run(
        [str(VENV / "bin" / "python"), "-m", "pip", "config", "list"], check=True, capture_output=True, text=True
    ).stdout
    found = {"quiet": "1"}
    for scope in ("global.", "install.", ":env:."):
        found.update(re.findall(rf"^{re.escape(scope)}([a-z-]+)='(.*)'$", listed, re.MULTILINE))
    return found
