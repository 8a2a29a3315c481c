# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules that the sources keep: one exit, one guard, known writers of the layout, and the house's own."""

from __future__ import annotations

import ast
import re
from fnmatch import fnmatch
from pathlib import Path

import pytest
from ansible_collections.s3ops.garage.plugins.module_utils._endpoints import ENDPOINTS, LAYOUT_WRITES
from tests.unit.static_sources import PLUGINS, ROOT, calls, code_lines, documents, sources, strings

FILES = sources()
RUNNER = "module_utils/_runner.py"
EXECUTOR = "module_utils/_executor.py"
CLIENT = "module_utils/_client.py"
# What a client sends goes through these: a transport that hands on to the one it has chosen, and a web socket.
BELOW_CLIENT = ("module_utils/_transports.py", "module_utils/_pods.py")
# Where the name of a layout-writing call may stand: the table, and the planners whose calls meet the gate (LW-17).
LAYOUT_WRITERS = {"module_utils/_endpoints.py", "module_utils/_planners/layout.py", "module_utils/_planners/operations.py"}


def paths(pattern):
    return [path for path in FILES if fnmatch(path, pattern)]


# one exit

def exit_faults(path, text):
    found = [(node.lineno, node.attr) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute)]
    found += strings(text)
    return [f"{path}:{line}: {name} belongs to the runner" for line, name in found if name in ("exit_json", "fail_json") and path != RUNNER]


@pytest.mark.parametrize("path", FILES)
def test_only_the_runner_exits(path):
    assert exit_faults(path, FILES[path]) == []


@pytest.mark.parametrize("text", ["module.fail_json(msg='x')", "leave = module.exit_json", "getattr(module, 'exit_json')()"])
def test_another_exit_is_found(text):
    assert len(exit_faults("modules/x.py", text)) == 1
    assert exit_faults(RUNNER, text) == []


# the guard

def guard_faults(text):
    """Whether the guard comes first in Client.call, and whether there is a way around it."""
    tree = ast.parse(text)
    client = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Client")
    methods = {node.name: node for node in client.body if isinstance(node, ast.FunctionDef)}
    first = [node for node in methods["call"].body if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))][0]
    faults = []
    if ast.unparse(first) != "guard_layout_write(ENDPOINTS[endpoint], self.site_role)":
        faults.append("Client.call must begin with the guard")
    for name, node in methods.items():
        used = {inner.attr for inner in ast.walk(node) if isinstance(inner, ast.Attribute)}
        if "_once" in used and name != "call":
            faults.append(f"Client.{name} goes around the guard")
        if "send" in used and name != "_once":
            faults.append(f"Client.{name} sends by itself")
    return faults


@pytest.mark.requirement("LW-18", "LW-13")
def test_the_guard_is_the_first_statement_of_every_call():
    assert guard_faults(FILES[CLIENT]) == []


@pytest.mark.requirement("LW-18")
@pytest.mark.parametrize(("old", "new"), [
    ("        guard_layout_write(ENDPOINTS[endpoint], self.site_role)\n        row = ENDPOINTS[endpoint]\n",
     "        row = ENDPOINTS[endpoint]\n        guard_layout_write(row, self.site_role)\n"),
    ("        guard_layout_write(ENDPOINTS[endpoint], self.site_role)\n", ""),
    ("        guard_layout_write(ENDPOINTS[endpoint], self.site_role)\n", "        guard_layout_write(ENDPOINTS[endpoint], None)\n"),
    ("    def once(self)", "    def quick(self, row):\n        return self._once(row, None, None)\n\n    def once(self)"),
    ("    def once(self)", "    def quick(self):\n        return self.transport.send('POST', '/v2/x', None, None, 'x')\n\n    def once(self)"),
])
def test_a_way_around_the_guard_is_found(old, new):
    assert FILES[CLIENT].count(old) == 1
    assert len(guard_faults(FILES[CLIENT].replace(old, new))) == 1


@pytest.mark.requirement("LW-18", "MH-13")
def test_only_the_client_sends():
    """``send`` of a transport takes a method and a path; nothing else may be given those. A socket's takes bytes and what they are."""
    for path, text in FILES.items():
        for _line, name, call in calls(text):
            if name == "send" and path not in (CLIENT, *BELOW_CLIENT):
                assert ast.unparse(call.args[0]) in ("client", "self.client"), f"{path}: {ast.unparse(call)}"


# who writes the layout

def layout_faults(path, text):
    return [f"{path}:{line}: names {name}" for line, value in strings(text) for name in LAYOUT_WRITES if name in value and path not in LAYOUT_WRITERS]


@pytest.mark.requirement("LW-17")
@pytest.mark.parametrize("path", FILES)
def test_layout_writes_are_named_in_known_places_only(path):
    assert layout_faults(path, FILES[path]) == []


@pytest.mark.requirement("LW-17")
def test_every_known_place_is_one():
    for path in LAYOUT_WRITERS:
        assert any(name in value for _line, value in strings(FILES[path]) for name in LAYOUT_WRITES), path


@pytest.mark.requirement("LW-17")
@pytest.mark.parametrize("name", sorted(LAYOUT_WRITES))
def test_a_module_that_calls_the_endpoint_itself_is_found(name):
    """By its name, by a write beside the plan, by a name put together, and by a client of its own."""
    head = "from ansible_collections.s3ops.garage.plugins.module_utils._runner import run_job\n\n\ndef job(params, context):\n"
    direct = f"{head}    return context.client().call('{name}', body={{}})\n"
    assert len(layout_faults("modules/quick_layout.py", direct)) == 1
    assert len(direct_call_faults("modules/quick_layout.py", direct)) == 1
    built = f"{head}    return context.client().call('{name[:6]}' + '{name[6:]}')\n"
    assert len(direct_call_faults("modules/quick_layout.py", built)) == 1
    assert len(direct_call_faults("modules/quick_layout.py", f"{head}    return Call('{name}', 'w')\n")) == 1


@pytest.mark.requirement("LW-17")
@pytest.mark.parametrize("name", sorted(LAYOUT_WRITES))
def test_a_new_place_is_found(name):
    for text in (f"client.call('{name}')", f"x = f'/v2/{name}/{{y}}'", f"def f():\n    return Call('{name}', 'w')"):
        assert len(layout_faults("module_utils/_readers/new.py", text)) == 1
        assert layout_faults("module_utils/_endpoints.py", text) == []
    assert layout_faults("module_utils/_readers/new.py", f'"""Says {name}."""\ndef f():\n    """And {name}."""') == []


# Where the client is asked for an endpoint that is not written there, but handed on.
HANDED_ON = {EXECUTOR, "module_utils/_connect_job.py", "module_utils/_readers/cluster.py", "module_utils/_readers/nodes.py"}


def direct_call_faults(path, text):
    """Reads may be asked of the client anywhere below the runner; a write goes through a plan, which the executor carries out."""
    faults = []
    for line, name, call in calls(text):
        if name == "call" and not isinstance(call.args[0], ast.Constant):
            if path not in HANDED_ON:
                faults.append(f"{path}:{line}: {ast.unparse(call)} does not show what is called")
        elif name == "call" and not ENDPOINTS[call.args[0].value].read_only:
            faults.append(f"{path}:{line}: {call.args[0].value} is a write and must be in a plan")
        if name == "Call" and not path.startswith("module_utils/_planners/"):
            faults.append(f"{path}:{line}: only planners make calls")
    return faults


@pytest.mark.requirement("LW-16", "LW-17")
@pytest.mark.parametrize("path", paths("module*"))
def test_writes_go_through_plans(path):
    assert direct_call_faults(path, FILES[path]) == []


def test_a_write_beside_the_plan_is_found():
    assert len(direct_call_faults("module_utils/_readers/x.py", "client.call('CreateBucket')")) == 1
    assert len(direct_call_faults("module_utils/_readers/x.py", "client.call(APPLY)")) == 1
    assert len(direct_call_faults("module_utils/_readers/x.py", "Call('CreateBucket', 'create')")) == 1
    assert direct_call_faults("module_utils/_readers/x.py", "client.call('ListBuckets')") == []
    assert direct_call_faults("module_utils/_planners/x.py", "Call('CreateBucket', 'create')") == []


@pytest.mark.parametrize("path", paths("module_utils/_planners/*.py"))
def test_planners_name_calls_that_exist(path):
    for _line, name, call in calls(FILES[path]):
        if name == "Call" and isinstance(call.args[0], ast.Constant):
            assert call.args[0].value in ENDPOINTS


# small files

def size_faults(path, text):
    faults, own = [], text
    for document in documents(text).values():
        own = own.replace(document, "")
    if len(own.splitlines()) > 400:
        faults.append(f"{path}: {len(own.splitlines())} lines without documentation, 400 are the limit")
    if path.startswith("modules/") and code_lines(text) > 25:
        faults.append(f"{path}: {code_lines(text)} lines of code, a module has 25")
    return faults


@pytest.mark.parametrize("path", FILES)
def test_files_are_small(path):
    assert size_faults(path, FILES[path]) == []


def test_what_is_too_large_is_found():
    long_document = 'DOCUMENTATION = r"""\n' + "text\n" * 900 + '"""\n'
    assert size_faults("modules/x.py", long_document) == []
    assert len(size_faults("module_utils/x.py", "x = 1\n" * 401)) == 1
    assert len(size_faults("modules/x.py", long_document + "x = 1\n" * 26)) == 1
    assert size_faults("modules/x.py", long_document + 'import a\n\n# why\ndef f():\n    """What."""\n' + "    x = 1\n" * 24) == []


# what is not done

def habit_faults(path, text):
    faults = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ExceptHandler) and (node.type is None or ast.unparse(node.type) in ("Exception", "BaseException")):
            faults.append(f"{path}:{node.lineno}: catches everything")
    faults += [f"{path}:{line}: prints" for line, name, _call in calls(text) if name in ("print", "pprint")]
    faults += [f"{path}:{number}: unfinished" for number, line in enumerate(text.splitlines(), 1) if re.search(r"#.*\b(TODO|FIXME|XXX)\b", line)]
    return faults


@pytest.mark.parametrize("path", FILES)
def test_nothing_is_printed_swallowed_or_left_open(path):
    assert habit_faults(path, FILES[path]) == []


@pytest.mark.parametrize("text", ["print('x')", "try:\n    x\nexcept:\n    pass", "try:\n    x\nexcept Exception:\n    pass", "x = 1  # TODO: y"])
def test_a_bad_habit_is_found(text):
    assert len(habit_faults("module_utils/x.py", text)) == 1


# headers

OWN = ("plugins", "tests", "tools", "roles", "playbooks", "molecule", "meta", "examples", "docs", "changelogs", "awx", ".ci", ".github")
SPDX = ("SPDX-FileCopyrightText: 2026 s3ops.garage contributors", "SPDX-License-Identifier: GPL-3.0-or-later")
GNU = "# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)"
FUTURE = "from __future__ import annotations"


def own_files(*suffixes):
    found = [path for path in ROOT.iterdir() if path.is_file()]
    found += [path for folder in OWN for path in (ROOT / folder).rglob("*") if path.is_file()]
    # ansible-test keeps copies of the collection in tests/output.
    return sorted(path.relative_to(ROOT) for path in found
                  if (path.suffix in suffixes or path.name in suffixes) and path.relative_to(ROOT).parts[:2] != ("tests", "output"))


SOURCES = own_files(".py", ".yml", ".yaml", ".toml", ".sh", ".j2", ".ini", ".cfg", "Makefile")


def header_faults(path, text):
    head = text.splitlines()[:6]
    faults = [f"{path}: lacks {line}" for line in SPDX if not any(line in found for found in head)]
    if fnmatch(str(path), "plugins/*.py"):
        lines = head[1:] if head[0].startswith("#!") else head
        if lines[0] != GNU:
            faults.append(f"{path}: must begin with {GNU}")
        if FUTURE not in text.splitlines():
            faults.append(f"{path}: lacks {FUTURE}")
    return faults


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_a_file_says_whose_it_is(path):
    # The changelog is written by a tool, and fragments are taken into it.
    if path.parts[0] != "changelogs" or path.name == "config.yaml":
        assert header_faults(path, (ROOT / path).read_text(encoding="utf-8")) == []


def test_a_missing_header_is_found():
    good = f"{GNU}\n# {SPDX[0]}\n# {SPDX[1]}\n\n{FUTURE}\n"
    assert header_faults(Path("plugins/modules/x.py"), good) == []
    assert header_faults(Path("plugins/modules/x.py"), f"#!/usr/bin/python\n{good}") == []
    assert len(header_faults(Path("plugins/modules/x.py"), good.replace(SPDX[0], ""))) == 1
    assert len(header_faults(Path("plugins/modules/x.py"), good.replace(SPDX[1], ""))) == 1
    assert len(header_faults(Path("plugins/modules/x.py"), good.replace(GNU, "#"))) == 1
    assert len(header_faults(Path("plugins/modules/x.py"), good.replace(FUTURE, ""))) == 1
    assert header_faults(Path("tests/x.py"), good.replace(GNU, "#").replace(FUTURE, "")) == []


# tests and plays

LEFT_OUT = re.compile(r"pytest\.(?:skip|xfail|importorskip)\b|mark\.(?:skip|skipif|xfail)\b")


@pytest.mark.parametrize("path", own_files(".py"), ids=str)
def test_no_test_is_left_out(path):
    if path.parts[0] == "tests" and path != Path(__file__).relative_to(ROOT):
        assert not LEFT_OUT.search((ROOT / path).read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", own_files(".yml", ".yaml"), ids=str)
def test_no_play_hides_a_failure(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    assert not re.search(r"^\s*(ignore_errors: *(true|yes)|failed_when: *(false|no)) *$", text, re.M | re.I)


@pytest.mark.parametrize("path", own_files(".py", ".yml", ".yaml", ".md", ".toml", ".sh", ".j2", ".json", ".txt", "Makefile"), ids=str)
def test_no_path_of_a_machine_is_written_down(path):
    assert not re.search(r"(?<![\w.~-])/(work|root)/\w", (ROOT / path).read_text(encoding="utf-8"))


def test_the_sources_were_found():
    assert len(FILES) > 20
    assert {path.split("/")[0] for path in FILES} >= {"modules", "module_utils", "doc_fragments"}
    assert Path("galaxy.yml") in SOURCES
    assert Path("tests/unit/test_static_rules.py") in SOURCES
    assert PLUGINS.is_dir()
