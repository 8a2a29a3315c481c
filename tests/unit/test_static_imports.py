# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who may import what: each file of plugins/ has a layer, and a layer may use only the ones below it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from fnmatch import fnmatch

import pytest
from tests.unit.static_sources import calls, imports, is_ours, sources

BASE = ("errors", "units", "names", "endpoints")
DATA = (*BASE, "translate", "plan", "models")
BELOW_RUNNER = (*DATA, "planners", "transport", "pods", "transports", "connection", "client", "waiter", "executor", "readers", "argspec")
# What a pure layer must not touch: clock, environment, network, processes, chance. The same in, the same out, in every test.
IMPURE = {"time", "os", "socket", "ssl", "subprocess", "random", "secrets", "threading", "concurrent", "multiprocessing", "asyncio", "tempfile", "shutil",
          "urllib", "http", "logging", "sys"}
IMPURE_CALLS = {"now", "utcnow", "today", "open", "print", "input", "getenv", "urandom"}


@dataclass(frozen=True)
class Layer:
    """``ours``: layers that may be imported; ``others``: packages beyond the standard library."""

    files: tuple[str, ...]
    ours: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    pure: bool = False


LAYERS = {
    "errors": Layer(("module_utils/_errors.py",), pure=True),
    "units": Layer(("module_utils/_units.py",), pure=True),
    "names": Layer(("module_utils/_names.py",), pure=True),
    "endpoints": Layer(("module_utils/_endpoints.py",), pure=True),
    "translate": Layer(("module_utils/_translate.py",), BASE, pure=True),
    "plan": Layer(("module_utils/_plan.py",), BASE, pure=True),
    "models": Layer(("module_utils/_models/*.py",), DATA, pure=True),
    "planners": Layer(("module_utils/_planners/*.py",), (*DATA, "manifests", "planners"), pure=True),
    "site": Layer(("module_utils/_site/*.py",), (*DATA, "planners", "site"), ("jsonschema",), pure=True),
    "status": Layer(("module_utils/_status/*.py",), (*BASE, "status"), pure=True),
    "manifests": Layer(("module_utils/_manifests/*.py",), (*BASE, "manifests"), pure=True),
    "transport": Layer(("module_utils/_transport.py",), ("errors",), ("requests",)),
    "stores": Layer(("module_utils/_stores/[!v]*.py",), ("errors", "models", "stores", "vault file", "pods"), ("hvac", "kubernetes", "requests", "urllib3")),
    "vault file": Layer(("module_utils/_stores/vault_*.py",), ("errors", "stores", "vault file"), ("cryptography",)),
    # The Kubernetes API, and commands in pods by it; its library brings the other packages.
    "pods": Layer(("module_utils/_kubernetes.py", "module_utils/_pods.py"), ("errors", "models", "pods"),
                  ("kubernetes", "urllib3", "websocket", "certifi")),
    "live": Layer(("module_utils/_live_*.py",), ("errors", "pods")),
    "s3": Layer(("module_utils/_s3.py",), (), ("botocore",)),
    "transports": Layer(("module_utils/_transport_exec.py", "module_utils/_transports.py"),
                        ("errors", "models", "transport", "pods", "transports", "connection", "client")),
    "connection": Layer(("module_utils/_connection.py",), ("errors", "transport", "pods")),
    "client": Layer(("module_utils/_client.py",), ("errors", "endpoints", "transport")),
    "waiter": Layer(("module_utils/_waiter.py",), ("errors",)),
    "executor": Layer(("module_utils/_executor.py",), (*DATA, "planners", "client")),
    "readers": Layer(("module_utils/_readers/*.py",), (*DATA, "planners", "client", "waiter", "executor", "readers")),
    "argspec": Layer(("module_utils/_argspec*.py",), ("argspec",), pure=True),
    "runner": Layer(("module_utils/_runner.py",), BELOW_RUNNER, ("ansible",)),
    # What a module does beyond reading, planning and sending; the runner's Context is given to it.
    "jobs": Layer(("module_utils/_*_job.py",), (*DATA, "planners", "stores", "s3", "live", "connection", "client", "waiter", "executor", "readers", "jobs")),
    "modules": Layer(("modules/*.py",), ("runner", "argspec", "executor", "models", "translate", "planners", "readers", "jobs")),
    "filters": Layer(("filter/*.py",), ("errors", "site", "manifests", "planners", "status"), ("ansible",)),
    # From the options of any other plugin to a client.
    "plugin": Layer(("module_utils/_plugin.py",), ("errors", "transport", "pods", "transports", "connection", "client")),
    "plugins": Layer(("inventory/*.py", "lookup/*.py"), ("errors", "plugin", "models", "readers"), ("ansible",)),
    "fragments": Layer(("doc_fragments/*.py",), pure=True),
}


def layer_of(path):
    """The name of a file's layer, or None."""
    found = [name for name, layer in LAYERS.items() if any(fnmatch(path, pattern) for pattern in layer.files)]
    return found[0] if len(found) == 1 else None


def target_layer(name):
    """The layer of what is imported as ``module_utils._models.bucket:Bucket``."""
    module, dummy, taken = name.partition(":")
    path = module.replace(".", "/")
    return layer_of(f"{path}.py") or layer_of(f"{path}/{taken}.py")


def import_faults(path, text):
    """Why a file must not import what it imports."""
    own = layer_of(path)
    if own is None:
        return [f"{path}: belongs to no layer, or to several"]
    layer, faults = LAYERS[own], []
    for name in imports(text, path):
        package = name.split(".")[0].split(":")[0]
        if is_ours(name):
            if target_layer(name) not in layer.ours:
                faults.append(f"{path}: {own} must not import {name}")
        elif package in sys.stdlib_module_names:
            if layer.pure and package in IMPURE:
                faults.append(f"{path}: {own} is pure and must not import {package}")
        elif package not in layer.others:
            faults.append(f"{path}: {own} must not import {package}")
    if layer.pure:
        faults += [f"{path}:{line}: {own} is pure and must not call {name}()" for line, name, _call in calls(text) if name in IMPURE_CALLS]
    faults += [f"{path}:{line}: {name} hides an import" for line, name, _call in calls(text) if name in ("__import__", "import_module", "exec", "eval")]
    return faults


def module_faults(path, text):
    """What a module may take from the layers it may import."""
    names = [name for name in imports(text, path) if is_ours(name)]
    faults = [f"{path}: only Task may be taken from the executor, not {name}" for name in names
              if target_layer(name) == "executor" and not name.endswith(":Task")]
    planners = {name.partition(":")[0] for name in names if target_layer(name) == "planners"}
    if len(planners) > 1:
        faults.append(f"{path}: one planner, not {', '.join(sorted(planners))}")
    if not any(target_layer(name) == "runner" for name in names):
        faults.append(f"{path}: must run through the runner")
    return faults


FILES = sources()


def test_there_are_files_of_every_layer():
    assert {layer_of(path) for path in FILES} == set(LAYERS)


@pytest.mark.parametrize("path", FILES)
def test_a_file_imports_only_what_its_layer_may(path):
    assert import_faults(path, FILES[path]) == []


@pytest.mark.requirement("MH-13")
@pytest.mark.parametrize("path", [path for path in FILES if path.startswith("modules/")])
def test_a_module_is_a_document_over_the_runner(path):
    assert module_faults(path, FILES[path]) == []


@pytest.mark.requirement("MH-13")
@pytest.mark.parametrize(("name", "homes"), [
    # Where a transport is chosen, a client asks for the health and is thrown away.
    ("Client", {"module_utils/_runner.py", "module_utils/_plugin.py", "module_utils/_transports.py"}),
    ("HttpTransport", {"module_utils/_transport.py", "module_utils/_transports.py"}),
    ("ExecTransport", {"module_utils/_runner.py", "module_utils/_transports.py"}),
    ("Connection", {"module_utils/_connection.py"}),
    ("PodConnection", {"module_utils/_connection.py"}),
    ("Session", {"module_utils/_transport.py"}),
    ("AnsibleModule", {"module_utils/_runner.py"}),
])
def test_what_leads_to_a_server_is_made_in_one_place(name, homes):
    """A client made elsewhere would know neither the site role nor the secrets of the first."""
    assert {path for path, text in FILES.items() for _line, called, _call in calls(text) if called == name} == homes


# the checks themselves can fail

@pytest.mark.parametrize(("path", "text"), [
    ("module_utils/_errors.py", "from ._units import x"),
    ("module_utils/_units.py", "import time"),
    ("module_utils/_names.py", "def f():\n    import os"),
    ("module_utils/_models/bucket.py", "from .._client import Client"),
    ("module_utils/_models/bucket.py", "from .._planners.bucket import x"),
    ("module_utils/_models/bucket.py", "from ansible_collections.s3ops.garage.plugins.module_utils._client import Client"),
    ("module_utils/_models/bucket.py", "from datetime import datetime\ndatetime.now()"),
    ("module_utils/_models/bucket.py", "open('x')"),
    ("module_utils/_planners/bucket.py", "import requests"),
    ("module_utils/_planners/bucket.py", "import ansible.module_utils.basic"),
    ("module_utils/_planners/bucket.py", "from .. import _client"),
    ("module_utils/_planners/bucket.py", "from .._readers import bucket"),
    ("module_utils/_planners/bucket.py", "import random"),
    ("module_utils/_planners/bucket.py", "import importlib\nimportlib.import_module('time')"),
    ("module_utils/_stores/file.py", "from .._client import Client"),
    ("module_utils/_stores/file.py", "from ansible.module_utils.basic import AnsibleModule"),
    ("module_utils/_planners/admin_token.py", "from .._stores.file import FileStore"),
    ("module_utils/_status/page.py", "from .._client import Client"),
    ("module_utils/_status/page.py", "from .._models.bucket import Bucket"),
    ("module_utils/_status/page.py", "from datetime import datetime\ndatetime.now()"),
    ("module_utils/_client.py", "from ._plan import Call"),
    ("module_utils/_client.py", "from ansible.module_utils.basic import AnsibleModule"),
    ("module_utils/_readers/bucket.py", "from .._runner import run_task"),
    ("module_utils/_readers/bucket.py", "import requests"),
    ("module_utils/_readers/bucket.py", "from .._transport import HttpTransport"),
    ("module_utils/_readers/bucket.py", "from .._pods import Pods"),
    ("module_utils/_client.py", "from ._transport_exec import ExecTransport"),
    ("module_utils/_transport.py", "from ._pods import Pods"),
    ("module_utils/_pods.py", "from ansible.module_utils.basic import AnsibleModule"),
    ("module_utils/_layout_job.py", "from ._runner import Context"),
    ("module_utils/_runner.py", "import requests"),
    ("modules/bucket.py", "import requests"),
    ("modules/bucket.py", "from ansible.module_utils.basic import AnsibleModule"),
    ("modules/bucket.py", "from ansible_collections.s3ops.garage.plugins.module_utils._client import Client"),
    ("modules/bucket.py", "from ansible_collections.s3ops.garage.plugins.module_utils._nowhere import x"),
    ("filter/site.py", "from ansible_collections.s3ops.garage.plugins.module_utils._client import Client"),
    ("lookup/key.py", "from ansible_collections.s3ops.garage.plugins.module_utils._client import Client"),
    ("inventory/nodes.py", "from ansible_collections.s3ops.garage.plugins.module_utils._runner import run_info"),
    ("module_utils/_plugin.py", "from ansible.module_utils.basic import AnsibleModule"),
    ("module_utils/_new.py", ""),
    ("module_utils/helpers/x.py", ""),
    ("action/bucket.py", ""),
])
def test_a_wrong_import_is_found(path, text):
    assert len(import_faults(path, text)) == 1


@pytest.mark.parametrize(("path", "text"), [
    ("module_utils/_models/bucket.py", "from .._errors import InputError\nfrom . import key\nimport json"),
    ("module_utils/_readers/bucket.py", "from .._executor import Doubt\nfrom .cluster import read_status\nimport time"),
    ("module_utils/_transport.py", "try:\n    import requests\nexcept ImportError:\n    pass"),
    ("modules/bucket.py", "from ansible_collections.s3ops.garage.plugins.module_utils._planners.bucket import plan_bucket"),
])
def test_a_right_import_is_none(path, text):
    assert import_faults(path, text) == []


RUNNER = "from ansible_collections.s3ops.garage.plugins.module_utils._runner import run_task\n"


@pytest.mark.parametrize("text", [
    "",
    RUNNER + "from ansible_collections.s3ops.garage.plugins.module_utils._executor import converge\n",
    RUNNER + "".join(f"from ansible_collections.s3ops.garage.plugins.module_utils._planners.{name} import x\n" for name in ("bucket", "key")),
])
def test_a_module_that_is_more_than_a_document_is_found(text):
    assert len(module_faults("modules/bucket.py", text)) == 1
