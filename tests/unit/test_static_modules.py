# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each module's documentation, argument spec, examples and place in the action group say the same."""

from __future__ import annotations

import copy
import importlib
import re

import pytest
import yaml
from ansible_collections.s3ops.garage.plugins.module_utils import _connection, _runner
from tests.unit.static_sources import COLLECTION, PLUGINS, ROOT, documents, modules

MODULES = modules()
TEXTS = {name: documents((PLUGINS / "modules" / f"{name}.py").read_text(encoding="utf-8")) for name in MODULES}
# Names that only look like secrets must say so, or AnsibleModule warns; real ones must be hidden.
SECRET = re.compile(r"secret|token|passw|(^|_)key($|_)", re.I)
DICT_METHODS = set(dir({}))


def documentation(name):
    """DOCUMENTATION with its fragments taken in, as ansible-doc does: what the module itself says of an option beats the fragment."""
    document = yaml.safe_load(TEXTS[name]["DOCUMENTATION"])
    document.setdefault("options", {})
    for fragment in document.get("extends_documentation_fragment", []):
        _namespace, _collection, file, *part = fragment.split(".")
        shared = importlib.import_module(f"{COLLECTION}doc_fragments.{file}").ModuleDocFragment
        part = yaml.safe_load(getattr(shared, part[0].upper() if part else "DOCUMENTATION"))
        for section in ("options", "attributes"):
            for key, value in (part.get(section) or {}).items():
                own = document.setdefault(section, {})
                own[key] = {**copy.deepcopy(value), **own.get(key, {})}
    return document


def option_faults(documented, spec, where=""):
    """Where options as documented and as they are taken differ."""
    faults = [f"{where}{name} is documented and not taken" for name in documented.keys() - spec.keys()]
    faults += [f"{where}{name} is taken and not documented" for name in spec.keys() - documented.keys()]
    for name in sorted(documented.keys() & spec.keys()):
        told, taken, place = documented[name], spec[name], f"{where}{name}"
        for key, nothing in (("type", "str"), ("elements", None), ("required", False), ("default", None), ("choices", None), ("aliases", [])):
            one, two = told.get(key, nothing), taken.get(key, nothing)
            if one != two or (isinstance(one, bool) != isinstance(two, bool)):
                faults.append(f"{place}: {key} is {one!r} in the documentation and {two!r} in the argument spec")
        if not told.get("description"):
            faults.append(f"{place} is not described")
        faults += option_faults(told.get("suboptions") or {}, taken.get("options") or {}, f"{place}.")
    return faults


def secret_faults(spec, where=""):
    """Options that are, or look like, a secret and do not say whether they are."""
    faults = []
    for name, option in spec.items():
        if SECRET.search(name) and option.get("type", "str") in ("str", "path", "raw", "list") and "options" not in option and "no_log" not in option:
            faults.append(f"{where}{name} does not say no_log")
        faults += secret_faults(option.get("options") or {}, f"{where}{name}.")
    return faults


def unknown_options(given, spec, where=""):
    """Names in an example that the module would not take."""
    known = {**spec, **{alias: option for option in spec.values() for alias in option.get("aliases", ())}}
    faults = [f"{where}{name}" for name in given if name not in known]
    for name in given.keys() & known.keys():
        value = given[name]
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict) and known[name].get("options"):
                faults += unknown_options(item, known[name]["options"], f"{where}{name}.")
    return faults


def tasks(node):
    """All tasks of our modules in a piece of YAML: name and options."""
    if isinstance(node, list):
        for item in node:
            yield from tasks(item)
    elif isinstance(node, dict):
        for key, value in node.items():
            if isinstance(key, str) and key.startswith("s3ops.garage."):
                yield key.removeprefix("s3ops.garage."), value or {}
            yield from tasks(value)


def test_there_are_modules():
    assert {"bucket", "bucket_info", "layout"} <= set(MODULES)


def test_all_modules_are_in_the_action_group_and_nothing_else_is():
    groups = yaml.safe_load((ROOT / "meta" / "runtime.yml").read_text(encoding="utf-8"))["action_groups"]
    assert sorted(groups) == ["garage"]
    assert sorted(groups["garage"]) == MODULES


@pytest.mark.parametrize("name", MODULES)
def test_options_are_documented_as_they_are_taken(spec_of, name):
    assert option_faults(documentation(name)["options"], spec_of(name)["argument_spec"]) == []


@pytest.mark.requirement("LW-02", "LW-03", "LW-52", "MH-13")
@pytest.mark.parametrize("name", MODULES)
def test_every_module_takes_the_connection_and_the_role_of_the_site(spec_of, name):
    spec = spec_of(name)["argument_spec"]
    assert spec["site_role"] == {"type": "str", "choices": ["writer", "follower"]}
    assert _runner.connection_spec().items() <= spec.items()
    assert "s3ops.garage.connection" in documentation(name)["extends_documentation_fragment"]


@pytest.mark.parametrize("name", MODULES)
def test_every_module_runs_in_check_mode(spec_of, name):
    assert spec_of(name)["supports_check_mode"] is True
    support = {key: value["support"] for key, value in documentation(name)["attributes"].items()}
    assert support["check_mode"] == "full"
    assert support["action_group"] == "full"
    assert documentation(name)["attributes"]["action_group"]["membership"] == ["s3ops.garage.garage"]


@pytest.mark.requirement("FC-085")
@pytest.mark.parametrize("name", MODULES)
def test_options_that_look_like_secrets_say_whether_they_are(spec_of, name):
    spec = spec_of(name)["argument_spec"]
    assert secret_faults(spec) == []
    assert spec["api_token"]["no_log"] is True


@pytest.mark.parametrize("name", MODULES)
def test_a_page_is_complete(name):
    page = documentation(name)
    assert page["module"] == name
    assert page["version_added"]
    assert page["author"]
    assert page["description"]
    assert not page["short_description"].endswith(".")
    assert "requests (Python library)" in importlib.import_module(f"{COLLECTION}doc_fragments.connection").ModuleDocFragment.DOCUMENTATION


@pytest.mark.parametrize("name", MODULES)
def test_modules_that_are_named_exist(name):
    for text in TEXTS[name].values():
        assert set(re.findall(r"M\(s3ops\.garage\.(\w+)\)", text)) <= set(MODULES)
    seen = [entry["module"].removeprefix("s3ops.garage.") for entry in documentation(name).get("seealso", []) if "module" in entry]
    assert set(seen) <= set(MODULES) - {name}


@pytest.mark.parametrize("name", MODULES)
def test_examples_use_options_that_exist(spec_of, name):
    found = list(tasks(yaml.safe_load(TEXTS[name]["EXAMPLES"])))
    assert name in [module for module, _options in found]
    for module, options in found:
        assert module in MODULES
        assert unknown_options(options, spec_of(module)["argument_spec"]) == [], module


@pytest.mark.parametrize("name", MODULES)
def test_results_are_documented_and_hide_no_method(name):
    results = yaml.safe_load(TEXTS[name]["RETURN"])
    assert results
    assert not set(results) & DICT_METHODS
    for key, value in results.items():
        assert value["description"], key
        assert value["returned"], key
        assert value["type"], key
    assert "error" in results or name.endswith("_info")


@pytest.mark.parametrize("name", MODULES)
def test_a_module_file_is_named_as_it_should(name):
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", name)
    text = (PLUGINS / "modules" / f"{name}.py").read_text(encoding="utf-8")
    assert text.startswith("#!/usr/bin/python\n")
    assert text.endswith('\n\n\nif __name__ == "__main__":\n    main()\n')


# the checks themselves can fail

TOLD = {"name": {"description": "x", "type": "str", "required": True}, "size": {"description": "x", "type": "int", "default": 1, "aliases": ["s"]},
        "mode": {"description": "x", "choices": ["a", "b"]}, "list": {"description": "x", "type": "list", "elements": "dict",
                                                                      "suboptions": {"id": {"description": "x"}}}}
TAKEN = {"name": {"type": "str", "required": True}, "size": {"type": "int", "default": 1, "aliases": ["s"]}, "mode": {"type": "str", "choices": ["a", "b"]},
         "list": {"type": "list", "elements": "dict", "options": {"id": {"type": "str"}}}}


@pytest.mark.parametrize(("where", "value"), [
    (("name", "required"), False), (("name", "type"), "int"), (("size", "default"), 2), (("size", "default"), True), (("size", "aliases"), []),
    (("mode", "choices"), ["a"]), (("mode", "default"), "a"), (("list", "elements"), "str"), (("list", "options"), {}), (("more",), {"type": "str"}),
])
def test_a_difference_between_the_two_is_found(where, value):
    spec = copy.deepcopy(TAKEN)
    assert option_faults(TOLD, spec) == []
    inner = spec
    for key in where[:-1]:
        inner = inner[key]
    inner[where[-1]] = value
    assert len(option_faults(TOLD, spec)) == 1
    del spec["name"]
    assert "name is documented and not taken" in option_faults(TOLD, spec)


def test_an_option_that_looks_like_a_secret_is_found():
    assert len(secret_faults({"api_token": {"type": "str"}, "keys": {"type": "list", "options": {"secret_access_key": {"type": "str"}}}})) == 2
    assert secret_faults({"api_token": {"type": "str", "no_log": True}, "keys": {"type": "list"}, "monkey": {"type": "str"}}) == []


def test_an_unknown_option_in_an_example_is_found():
    assert unknown_options({"name": "x", "s": 1, "list": [{"id": 1, "no": 1}], "wrong": 1}, TAKEN) == ["wrong", "list.no"]
    assert list(tasks([{"name": "x", "block": [{"s3ops.garage.bucket": {"name": "x"}}, {"s3ops.garage.bucket_info": None}]}])) == [
        ("bucket", {"name": "x"}), ("bucket_info", {})]


def test_modules_and_plugins_take_the_same_connection():
    """The fragments are two, since a plugin reads the environment by its documentation and a module by its code."""
    shared = [yaml.safe_load(importlib.import_module(f"{COLLECTION}doc_fragments.{name}").ModuleDocFragment.DOCUMENTATION)["options"]
              for name in ("connection", "plugin_connection")]
    of_modules, of_plugins = ({name: {key: option.get(key) for key in ("type", "default", "choices")} for name, option in options.items()}
                              for options in shared)
    assert of_modules == of_plugins
    # GARAGE_SITE_ROLE matters to nobody who only reads.
    read = {name: [row["name"] for row in option["env"]] for name, option in shared[1].items() if "env" in option}
    assert {**read, "site_role": ["GARAGE_SITE_ROLE"]} == {name: [variable] for name, variable in _connection.ENVIRONMENT.items()}
    for variable in _connection.ENVIRONMENT.values():
        assert f"E({variable})" in yaml.safe_dump(shared[0], width=10**6)
