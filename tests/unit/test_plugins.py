# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inventory plugin `nodes` and the lookup plugin `key`, on a Garage in memory."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from ansible_collections.s3ops.garage.plugins.doc_fragments.plugin_connection import ModuleDocFragment
from ansible_collections.s3ops.garage.plugins.module_utils import _plugin
from ansible_collections.s3ops.garage.plugins.module_utils._argspec import connection_spec
from ansible_collections.s3ops.garage.plugins.module_utils._client import Client
from ansible_collections.s3ops.garage.plugins.module_utils._connection import ENVIRONMENT
from ansible_collections.s3ops.garage.plugins.module_utils._errors import Ambiguous, GateClosed, InputError, NotDeclaredHere, PlanError, SetupError
from ansible_collections.s3ops.garage.plugins.module_utils._models.cluster import ClusterStatus, Node
from ansible_collections.s3ops.garage.plugins.module_utils._models.inventory import inventory
from ansible_collections.s3ops.garage.plugins.module_utils._models.key import LIST_CAP
from ansible_collections.s3ops.garage.plugins.module_utils._readers.credentials import read_credentials
from tests.fakes.garage import ADMIN_TOKEN, FakeGarage, FakeServer, FakeTransport
from tests.garage.ansible_run import clean_environment

BIN = Path(sys.executable).parent
FRAGMENT = yaml.safe_load(ModuleDocFragment.DOCUMENTATION)["options"]
# Reached only by a hang.
LIMIT_SECONDS = 600


# nodes as hosts

def node(number: int, hostname: str | None = None, **more: Any) -> Node:
    return Node(id=f"{number:02x}" * 32, hostname=hostname, **more)


def hosts(*nodes: Node) -> dict[str, dict]:
    return inventory(ClusterStatus(1, nodes))


def test_a_host_has_the_name_of_its_node_where_that_tells_it_apart() -> None:
    short = "ab" * 8
    found = hosts(node(1, "alone"), node(2, "twin"), node(3, "twin"), node(4), node(5, ""), node(6, short), node(0xab))
    assert {name: host["vars"]["garage_node_id"][:2] for name, host in found.items()} == {
        "alone": "01", "02" * 8: "02", "03" * 8: "03", "04" * 8: "04", "05" * 8: "05", "06" * 8: "06", short: "ab"}


def test_ids_that_begin_alike_are_told_apart() -> None:
    one, two = Node(id="a" * 16 + "1" * 48), Node(id="a" * 16 + "2" * 48)
    assert list(hosts(one, two)) == [one.id, two.id]


def test_groups_of_a_host() -> None:
    found = hosts(node(1, "a", up=True, has_role=True, zone="par is", capacity=5, tags=("ssd", "big")),
                  node(2, "b", has_role=True, zone="lyon"), node(3, "c", up=True))
    assert {name: host["groups"] for name, host in found.items()} == {
        "a": ["storage", "up", "zone_par is", "tag_ssd", "tag_big"], "b": ["gateway", "down", "zone_lyon"], "c": ["no_role", "up"]}


def test_variables_of_a_host_are_those_that_are_documented() -> None:
    [host] = list(hosts(node(1, "a", garage_version="2.5.0", tags=("x",))).values())
    assert host["vars"]["garage_node_version"] == "2.5.0"
    assert host["vars"]["garage_node_tags"] == ["x"]
    assert json.loads(json.dumps(host)) == host
    page = (Path(__file__).parents[2] / "plugins" / "inventory" / "nodes.py").read_text(encoding="utf-8")
    assert [name for name in host["vars"] if f"C({name})" not in page] == []
    assert page.count("C(garage_node_") == len(host["vars"])


# credentials

def with_keys(*names: str, version: str = "2.5.0") -> tuple[FakeGarage, Client, list[dict]]:
    garage = FakeGarage(version=version)
    made = [garage.handle("POST", "/v2/CreateKey", None, {"name": name})[1] for name in names]
    expected = [{"access_key_id": key["accessKeyId"], "secret_access_key": key["secretAccessKey"], "name": key["name"]} for key in made]
    return garage, Client(FakeTransport(garage), retry_delay=0), expected


@pytest.mark.requirement("FC-056")
def test_credentials_by_name_and_by_id_in_the_order_that_was_asked() -> None:
    dummy, client, [one, two, three] = with_keys("one", "two", "ONE")
    assert read_credentials(client, ["two", one["access_key_id"], "ONE"]) == [two, one, three]
    assert [sent.endpoint for sent in client.transport.sent] == ["ListKeys", "GetKeyInfo", "GetKeyInfo", "GetKeyInfo"]
    assert {one["secret_access_key"], two["secret_access_key"], three["secret_access_key"]} <= set(client.secrets)


@pytest.mark.requirement("FC-058")
def test_what_several_keys_are_called_is_refused() -> None:
    garage, client, [one, two] = with_keys("twin", "twin")
    ids = sorted((one["access_key_id"], two["access_key_id"]))
    with pytest.raises(Ambiguous, match=", ".join(ids)):
        read_credentials(client, ["twin"])
    garage.handle("POST", "/v2/CreateKey", None, {"name": ids[0]})
    with pytest.raises(Ambiguous, match=ids[0]):
        read_credentials(client, [ids[0]])
    assert read_credentials(client, [ids[1]])[0]["access_key_id"] == ids[1]


@pytest.mark.parametrize("term", ["app2", "ap", "GK000000000000000000000000", "with blanks"])
def test_a_key_that_is_not_there(term: str) -> None:
    dummy, client, _made = with_keys("app")
    with pytest.raises(NotDeclaredHere, match=f"the name or the id {term!r}"):
        read_credentials(client, [term])


def test_a_key_that_a_cut_list_lacks_is_found_by_its_id_and_not_missed_by_its_name() -> None:
    garage, client, [key] = with_keys("zz", version="2.4.1")
    garage.state.keys[key["access_key_id"]].id = key["access_key_id"] = "zz-last-of-all"
    garage.state.keys["zz-last-of-all"] = garage.state.keys.popitem()[1]
    for number in range(LIST_CAP):
        garage.handle("POST", "/v2/CreateKey", None, {"name": f"key-{number}"})
    assert read_credentials(client, ["zz-last-of-all"]) == [key]
    for term in ("zz", "GK000000000000000000000000"):
        with pytest.raises(PlanError, match="it may have more"):
            read_credentials(client, [term])


# the connection

def test_the_options_are_those_of_the_modules() -> None:
    for name, option in connection_spec().items():
        documented = FRAGMENT[name]
        assert (documented["type"], documented.get("default"), documented.get("choices")) == (
            option["type"], option.get("default"), option.get("choices")), name
        # What a plugin writes nothing for needs no role.
        env = [entry["name"] for entry in documented.get("env", ())]
        assert env == ([ENVIRONMENT[name]] if name in ENVIRONMENT and name != "site_role" else []), name
    assert {*_plugin.CONNECTION, "site_role"} == set(FRAGMENT) == set(connection_spec())


def plugin(**given: tuple[Any, str]) -> Any:
    """A plugin with these options, each with where Ansible found it."""
    values = {name: (option.get("default"), "default") for name, option in FRAGMENT.items()} | given
    return SimpleNamespace(option_definitions=FRAGMENT, get_option_and_origin=values.__getitem__)


def test_what_came_from_the_environment_is_left_to_it() -> None:
    found = plugin(api_url=("http://a", "Direct"), api_token=("t", "env: GARAGE_ADMIN_TOKEN"), ca_path=("/x", "env: GARAGE_CA_PATH"),
                   api_token_file=("/f", "Direct"))
    options = _plugin.connection_options(found, ["api_url", "api_token_file"])
    assert options == {"api_url": "http://a", "api_token": None, "api_token_file": "/f", "validate_certs": True, "ca_path": None, "client_cert": None,
                       "client_key": None, "timeout": 60, "retries": 3, "retry_delay": 1, "transport": None, "kubernetes": None}


def test_options_that_do_not_exist_are_refused() -> None:
    with pytest.raises(InputError, match="api_tokn: there is no such option; url: there is no such option"):
        _plugin.connection_options(plugin(), ["url", "api_url", "api_tokn", "site_role"])


@pytest.fixture
def options(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    for name in ENVIRONMENT.values():
        monkeypatch.delenv(name, raising=False)
    return _plugin.connection_options(plugin(api_url=("http://127.0.0.1:1", "Direct"), retries=(0, "Direct")), [])


@pytest.mark.requirement("LW-13")
def test_the_client_of_a_plugin_writes_no_layout_and_is_closed(options: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    warnings: list[str] = []
    closed: list[Client] = []

    def close(self: Client) -> None:
        closed.append(self)

    monkeypatch.setattr(Client, "close", close)
    monkeypatch.setenv("GARAGE_ADMIN_TOKEN", "token-of-the-environment")
    with pytest.raises(GateClosed), _plugin.connected(options, warnings.append) as client:
        client.warnings.append("careful")
        client.call("ApplyClusterLayout", None, {"version": 1})
    assert (warnings, closed, client.retries, client.transport.connection.token) == (["careful"], [client], 0, "token-of-the-environment")


def test_without_requests_the_library_is_named(options: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_plugin, "REQUESTS_ERROR", "Traceback …")
    monkeypatch.setenv("GARAGE_ADMIN_TOKEN", "token-of-the-environment")
    with pytest.raises(SetupError, match="requests") as caught, _plugin.connected(options, print):
        pass
    assert _plugin.told(caught.value).endswith("What to do: install it: pip install requests.")


def test_a_file_without_a_usable_token_is_a_sentence(options: dict, tmp_path: Path) -> None:
    options["api_token_file"] = str(tmp_path / "x")
    with pytest.raises(InputError, match="cannot be read: No such file"), _plugin.connected(options, print):
        pass


# as Ansible runs them

@pytest.fixture
def server() -> Iterator[FakeServer]:
    garage = FakeGarage()
    garage.give_layout("paris-1")
    garage.add_node("twin")
    garage.add_node("twin", up=False)
    for name in ("app", "twin", "twin"):
        garage.handle("POST", "/v2/CreateKey", None, {"name": name})
    with FakeServer(garage) as running:
        yield running


def run(folder: Path, command: str, *arguments: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    (folder / "ansible.cfg").touch()
    return subprocess.run([str(BIN / command), *arguments], cwd=folder, env=clean_environment(str(folder), env), capture_output=True, text=True,
                          timeout=LIMIT_SECONDS, check=False)


def write(path: Path, content: Mapping) -> None:
    path.write_text(yaml.safe_dump({"plugin": "s3ops.garage.nodes", **content}), encoding="utf-8")


def listing(folder: Path, content: Mapping, name: str = "x.garage_nodes.yml", env: Mapping[str, str] | None = None, *more: str) -> Any:
    """What ansible-inventory says of such a file: its JSON, or what it printed when it refused."""
    write(folder / name, content)
    ended = run(folder, "ansible-inventory", "-i", name, "--list", *more, env={"ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "1", **(env or {})})
    return json.loads(ended.stdout, object_hook=plain) if ended.returncode == 0 else ended.stdout + ended.stderr


def plain(value: dict) -> Any:
    """What Ansible marks as text from elsewhere, which is never a template."""
    return value.get("__ansible_unsafe", value)


def test_an_inventory(server: FakeServer, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{ADMIN_TOKEN}\n", encoding="ascii")
    content = {
        "api_url": "{{ 'http://' ~ there }}", "api_token_file": "token",
        "compose": {"ansible_host": "garage_node_addr | regex_replace(':[0-9]+$', '')"}, "groups": {"reached": "garage_node_up"},
        "keyed_groups": [{"key": "garage_node_version", "prefix": "garage"}], "strict": True,
    }  # fmt: skip
    # A token of the environment does not get into the way of a file that was given.
    found = listing(tmp_path, content, "x.garage_nodes.yaml", {"GARAGE_ADMIN_TOKEN": "another"}, "-e", f"there={server.url.removeprefix('http://')}")
    names = set(found["_meta"]["hostvars"])
    first, second, third = [node.id for node in server.garage.state.nodes]
    assert names == {"node0", second[:16], third[:16]}
    groups = {name: set(group["hosts"]) for name, group in found.items() if "hosts" in group}
    assert groups == {"storage": {"node0"}, "zone_paris_1": {"node0"}, "no_role": names - {"node0"}, "up": names - {third[:16]}, "down": {third[:16]},
                      "reached": names - {third[:16]}, "garage_2_5_0": names}
    assert "gateway" in found["all"]["children"]
    own = found["_meta"]["hostvars"]["node0"]
    assert [own[name] for name in ("garage_node_id", "ansible_host", "garage_node_zone", "garage_node_last_seen_seconds")] == [
        first, "127.0.0.1", "paris-1", None]  # fmt: skip


def test_an_inventory_is_cached_when_asked(server: FakeServer, tmp_path: Path) -> None:
    env = {"GARAGE_ADMIN_URL": server.url, "GARAGE_ADMIN_TOKEN": ADMIN_TOKEN}
    content = {"cache": True, "cache_plugin": "ansible.builtin.jsonfile", "cache_connection": str(tmp_path / "cache")}
    before = listing(tmp_path, content, env=env)
    server.garage.add_node("new")
    assert listing(tmp_path, content, env=env) == before
    assert ADMIN_TOKEN not in "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "cache").iterdir())
    assert "new" in listing(tmp_path, content, "x.garage_nodes.yml", env, "--flush-cache")["_meta"]["hostvars"]


def test_a_token_that_vault_encrypted(server: FakeServer, tmp_path: Path) -> None:
    (tmp_path / "password").write_text("open sesame", encoding="ascii")
    secret = run(tmp_path, "ansible-vault", "encrypt_string", "--vault-password-file", "password", "--name", "api_token", ADMIN_TOKEN)
    text = f"plugin: s3ops.garage.nodes\napi_url: {server.url}\n{secret.stdout}"
    (tmp_path / "garage_nodes.yml").write_text(text, encoding="utf-8")
    ended = run(tmp_path, "ansible-inventory", "-i", "garage_nodes.yml", "--list", "--vault-password-file", "password")
    assert "node0" in json.loads(ended.stdout)["_meta"]["hostvars"], ended.stderr


FAULTY = {
    "wrong": ({"api_token": "wrong-token-1234"}, "the token from option api_token is wrong"),
    "both": ({"api_token": "wrong-token-1234", "api_token_file": "/x"}, "option api_token and option api_token_file are both set"),
    "misspelt": ({"api_token": "wrong-token-1234", "api_tokn": "x"}, "api_tokn: there is no such option"),
    "ftp": ({"api_token": "wrong-token-1234", "api_url": "ftp://x"}, "must be http://host:port"),
    "never": ({"api_token": "wrong-token-1234", "timeout": -1}, "timeout: -1 must be from 0.001"),
    "none": ({}, "no admin token"),
}


def test_inventories_that_cannot_be_read_are_told_without_the_token(server: FakeServer, tmp_path: Path) -> None:
    for name, (content, dummy) in FAULTY.items():
        write(tmp_path / f"{name}.garage_nodes.yml", {"api_url": server.url, **content})
    sources = [argument for name in FAULTY for argument in ("-i", f"{name}.garage_nodes.yml")]
    ended = run(tmp_path, "ansible-inventory", *sources, "--list", "-vvvv")
    told = ended.stdout + ended.stderr
    assert [words for dummy, words in FAULTY.values() if words not in told] == []
    assert told.count("plugin: s3ops.garage.nodes: ") == len(FAULTY)
    assert "wrong-token-1234" not in told and "Traceback" not in told


def test_a_file_of_another_name_is_not_taken(server: FakeServer, tmp_path: Path) -> None:
    assert "could not be verified by inventory plugin" in listing(tmp_path, {"api_url": server.url}, "nodes.yml")


def lookup(folder: Path, expression: str, *arguments: str, env: Mapping[str, str] | None = None) -> str:
    ended = run(folder, "ansible", "-i", "localhost,", "-c", "local", "localhost", "-m", "ansible.builtin.debug", "-a", f"msg={{{{ {expression} }}}}",
                *arguments, env=env)
    return ended.stdout + ended.stderr


def test_a_lookup(server: FakeServer, tmp_path: Path) -> None:
    env = {"GARAGE_ADMIN_URL": server.url, "GARAGE_ADMIN_TOKEN": ADMIN_TOKEN}
    [app, *twins] = server.garage.state.keys.values()
    several = f"query('s3ops.garage.key', 'app', '{twins[1].id}') | map(attribute='access_key_id')"
    found = lookup(tmp_path, f"[lookup('s3ops.garage.key', 'app'), {several}]", env=env)
    rows = json.loads(found[found.index("{"):])["msg"]
    assert rows == [{"access_key_id": app.id, "secret_access_key": app.secret, "name": "app"}, [app.id, twins[1].id]]
    # The options of the modules can be handed on; errors may be passed over.
    connection = json.dumps({"api_url": server.url, "api_token": ADMIN_TOKEN, "site_role": "follower", "retries": 0})
    found = lookup(tmp_path, "[lookup('s3ops.garage.key', 'app', **given).name, lookup('s3ops.garage.key', 'x', errors='ignore', **given)]",
                   "-e", json.dumps({"given": json.loads(connection)}))
    assert json.loads(found[found.index("{"):])["msg"] == ["app", None]


UNANSWERED = {
    "'twin'": "is the name or the id of 2 access keys",
    "'nobody'": "there is no access key with the name or the id 'nobody'",
    "'app', api_tokn='x'": "api_tokn: there is no such option",
    "''": "each as a text that is not empty",
    "'app', api_token_file='/nowhere'": "file /nowhere (option api_token_file) cannot be read",
}


def test_lookups_that_cannot_be_answered(server: FakeServer, tmp_path: Path) -> None:
    env = {"GARAGE_ADMIN_URL": server.url, "GARAGE_ADMIN_TOKEN": ADMIN_TOKEN}
    warned = [f"lookup('s3ops.garage.key', {arguments}, errors='warn')" for arguments in UNANSWERED]
    told = lookup(tmp_path, f"[{', '.join(warned)}, lookup('s3ops.garage.key')]", "-vvv", env=env)
    words = " ".join(told.split())
    assert [expected for expected in UNANSWERED.values() if expected not in words] == []
    # Without `errors` it ends the task.
    assert "FAILED!" in told and "at least one access key" in words
    assert "Traceback" not in told and ADMIN_TOKEN not in told
    assert [key.id for key in server.garage.state.keys.values() if key.secret in told] == []
