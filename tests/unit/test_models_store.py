# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where a credential is kept and in what form, as it is declared."""

from __future__ import annotations

import configparser
import json
import subprocess

import pytest
import yaml

from ansible_collections.s3ops.garage.plugins.doc_fragments.store import ModuleDocFragment
from ansible_collections.s3ops.garage.plugins.module_utils._argspec_store import key_store_spec, token_store_spec
from ansible_collections.s3ops.garage.plugins.module_utils._errors import PlanError
from ansible_collections.s3ops.garage.plugins.module_utils._models.store import NOTED, Entry, StoreSpec, noted, refuse_foreign
from ansible_collections.s3ops.garage.plugins.module_utils._models.store_layout import CONTENT, key_data, stored_pair, token_data
from ansible_collections.s3ops.garage.plugins.modules import tenancy

ID, SECRET = "GK0123456789abcdef01234567", "5" * 64
FILE = {"path": "/etc/app/s3"}
OBJECT = {"secret": "app-s3", "namespace": "app"}
VAULT = {"path": "/etc/app/s3.yml", "vault_password_file": "/etc/password"}
S3 = {"endpoint": "https://s3.example.org:3900", "region": "garage", "bucket": "media", "website_url": "https://media.web.example.org/"}


def spec(token=False, **params):
    faults = []
    found = StoreSpec.from_params(params, faults, token)
    assert faults == []
    return found


def faults_of(token=False, **params):
    faults = []
    StoreSpec.from_params(params, faults, token)
    return faults


# forms

@pytest.mark.requirement("FC-108", "TD-35")
def test_values_stand_under_names_of_their_own():
    assert key_data(spec(**OBJECT, **S3), ID, SECRET) == {
        "access-key-id": ID, "secret-access-key": SECRET, "endpoint": "https://s3.example.org:3900", "host": "s3.example.org:3900", "scheme": "https",
        "region": "garage", "bucket": "media", "website-url": "https://media.web.example.org/"}
    assert key_data(spec(**OBJECT), ID, SECRET) == {"access-key-id": ID, "secret-access-key": SECRET}


@pytest.mark.requirement("FC-108")
def test_names_can_be_chosen_values_left_out_and_others_added():
    names = {"access_key_id": "user", "secret_access_key": "password", "scheme": "", "host": "", "website_url": "site"}
    wanted = spec(**OBJECT, **S3, data_keys=names, extra_data={"force_path_style": True, "n": 1})
    assert key_data(wanted, ID, SECRET) == {"user": ID, "password": SECRET, "endpoint": "https://s3.example.org:3900", "region": "garage",
                                            "bucket": "media", "site": "https://media.web.example.org/", "force_path_style": "True", "n": "1"}


def test_a_plain_file_holds_them_as_json():
    data = key_data(spec(**FILE, **S3), ID, SECRET)
    assert json.loads(data[CONTENT])["secret-access-key"] == SECRET


@pytest.mark.requirement("FC-108")
@pytest.mark.parametrize(("more", "profile"), [({}, "default"), ({"profile": "garage@home"}, "garage@home")])
def test_a_credentials_file_is_one(more, profile):
    for place in (FILE, OBJECT, VAULT):
        wanted = spec(**place, **S3, **more, format="aws_credentials")
        data = key_data(wanted, ID, SECRET)
        assert stored_pair(wanted, data) == (ID, SECRET)
        ((name, text),) = data.items()
        assert name == (CONTENT if place is FILE else "credentials")
        found = configparser.ConfigParser()
        found.read_string(text)
        assert found.sections() == [profile]
        assert dict(found[profile]) == {"aws_access_key_id": ID, "aws_secret_access_key": SECRET, "endpoint_url": S3["endpoint"], "region": "garage"}


@pytest.mark.requirement("FC-108")
def test_a_file_of_variables_is_read_by_a_shell():
    odd = "a b'c\"$d\\"
    text = key_data(spec(**FILE, **S3, format="env", extra_data={"ODD": odd}), ID, SECRET)[CONTENT]
    shown = subprocess.run(["sh", "-c", 'eval "$1"; printf "%s\\n" "$AWS_ACCESS_KEY_ID" "$AWS_ENDPOINT_URL" "$WEBSITE_URL" "$ODD"', "sh", text],
                           capture_output=True, text=True, check=True).stdout
    assert shown.splitlines() == [ID, S3["endpoint"], S3["website_url"], odd]
    assert f"AWS_SECRET_ACCESS_KEY={SECRET}\n" in text
    assert key_data(spec(**OBJECT, format="env"), ID, SECRET) == {"AWS_ACCESS_KEY_ID": ID, "AWS_SECRET_ACCESS_KEY": SECRET}


@pytest.mark.parametrize("secret", [SECRET, "it's a \"long\" secret = $x"])
@pytest.mark.parametrize("form", ["keys", "aws_credentials", "env"])
@pytest.mark.parametrize("place", [FILE, OBJECT, VAULT], ids=["file", "Secret", "vault file"])
def test_what_is_stored_is_found_again(place, form, secret):
    wanted = spec(**place, **S3, format=form)
    assert stored_pair(wanted, key_data(wanted, ID, secret)) == (ID, secret)
    assert stored_pair(wanted, {CONTENT: "something else"}) is None
    assert stored_pair(wanted, {}) is None


def test_a_token_stands_alone_in_a_file_and_by_its_name_elsewhere():
    assert token_data(spec(True, **FILE), "a.b") == {CONTENT: "a.b\n"}
    assert token_data(spec(True, **VAULT), "a.b") == {"token": "a.b"}
    assert token_data(spec(True, **OBJECT, data_keys={"token": "admin-token"}, extra_data={"url": "x"}), "a.b") == {"admin-token": "a.b", "url": "x"}


@pytest.mark.requirement("TD-37")
def test_a_place_is_told_by_what_it_takes_to_find_it():
    vault = {"hashi_vault": {"url": "https://v", "path": "app", "mount_point": "secret", "token": "hush", "namespace": None, "ca_path": None}}
    assert [(spec(**place).where, spec(**place).place, spec(**place).beside("old")) for place in (FILE, OBJECT, vault)] == [
        ({"path": "/etc/app/s3"}, "/etc/app/s3", "/etc/app/s3.old"),
        ({"secret": "app-s3", "namespace": "app"}, "Secret app/app-s3", "Secret app/app-s3-old"),
        ({"url": "https://v", "mount_point": "secret", "path": "app"}, "secret/app of https://v", "secret/app-old of https://v")]


# faults

@pytest.mark.parametrize(("params", "words"), [
    ({}, "store.path: give one of path, secret, hashi_vault"),
    ({**FILE, **OBJECT}, "store.path and secret: give one of"),
    ({"path": "s3"}, "store.path: 's3' must be an absolute path"),
    ({"secret": "app"}, "store.namespace: must be set with secret"),
    ({"secret": "App", "namespace": "app"}, "store.secret: 'App' is no name"),
    ({**FILE, "namespace": "app"}, "store.namespace: is for secret"),
    ({**FILE, "labels": {}}, "store.labels: is for secret"),
    ({**OBJECT, "vault_password": "x"}, "store.vault_password: is for path"),
    ({**FILE, "vault_password": ""}, "store.vault_password: must not be empty"),
    ({**VAULT, "vault_password": "x"}, "store.vault_password: give either this or vault_password_file"),
    ({**OBJECT, "labels": {"app.kubernetes.io/managed-by": "helm"}}, "must be s3ops.garage"),
    ({**OBJECT, "annotations": {"s3ops.garage/cluster": "x"}}, "is set by this collection"),
    ({**OBJECT, "data_keys": {"bucket": "a b"}}, "store.data_keys: 'a b' is no name that Kubernetes takes"),
    ({**OBJECT, "data_keys": {"access_key": "x"}}, "store.data_keys: 'access_key' is no field"),
    ({**OBJECT, "data_keys": {"bucket": "region"}}, "store.data_keys: two values would be called 'region'"),
    ({**OBJECT, "extra_data": {"endpoint": "x"}}, "store.data_keys: two values would be called 'endpoint'"),
    ({**OBJECT, "data_keys": {"access_key_id": ""}}, "store.data_keys: access_key_id and secret_access_key must have a name"),
    ({**FILE, "format": "aws_credentials", "extra_data": {"a": "b"}}, "store.extra_data: has no place"),
    ({**FILE, "format": "env", "data_keys": {"bucket": "my-bucket"}}, "store.data_keys: 'my-bucket' is no name of a variable"),
    ({**FILE, "format": "env", "extra_data": {"A": "b\nc"}}, "store.extra_data.A: must be one line"),
    ({**FILE, "format": "aws_credentials", "region": "a\nb"}, "store.region: must be one line"),
    ({**FILE, "endpoint": "s3.example.org"}, "store.endpoint: 's3.example.org' is no address"),
    ({**FILE, "endpoint": "https://user:pass@s3"}, "is no address"),
    ({**FILE, "website_url": "media.example.org"}, "store.website_url: 'media.example.org' is no address"),
    ({**FILE, "profile": "app"}, "store.profile: is for format: aws_credentials"),
    ({**FILE, "format": "aws_credentials", "profile": "a]b"}, "store.profile: 'a]b' must be of letters"),
    ({**FILE, "format": "aws_credentials", "profile": ""}, "store.profile: '' must be of letters"),
])
def test_a_faulty_store_of_a_key(params, words):
    assert any(words in fault for fault in faults_of(**params)), faults_of(**params)


@pytest.mark.parametrize(("params", "words"), [
    ({**FILE, "data_keys": {"token": "x"}}, "store.data_keys: a plain file holds the token and nothing else"),
    ({**FILE, "extra_data": {"a": "b"}}, "store.extra_data: a plain file holds the token and nothing else"),
    ({**OBJECT, "data_keys": {"access_key_id": "x"}}, "is no field of such a credential; there are token"),
    ({**OBJECT, "extra_data": {"token": "x"}}, "two values would be called 'token'"),
])
def test_a_faulty_store_of_a_token(params, words):
    assert any(words in fault for fault in faults_of(True, **params)), faults_of(True, **params)


def test_all_faults_are_told_at_once_and_no_secret_in_them():
    faults = faults_of(path="x", vault_password="hush-hush", namespace="a", format="env", data_keys={"bucket": "a-b"})
    assert len(faults) == 3 and "hush-hush" not in str(faults)
    assert "hush-hush" not in repr(spec(**FILE, vault_password="hush-hush")) + repr(Entry({"a": "hush-hush"}))


# equal, and whose

@pytest.mark.requirement("FC-108")
def test_equal_content_is_equal_whatever_others_put_beside_it():
    held = Entry({"a": "1"}, labels={"team": "x", "theirs": "y"}, annotations={"n": "1"}, version="7", age=3)
    assert held.satisfies(Entry({"a": "1"}, labels={"team": "x"}))
    for other in (Entry({"a": "2"}), Entry({"a": "1", "b": "2"}), Entry({}), Entry({"a": "1"}, labels={"team": "z"}),
                  Entry({"a": "1"}, annotations={"m": "1"})):
        assert not held.satisfies(other)


@pytest.mark.requirement("TD-32")
def test_an_entry_belongs_to_the_cluster_one_of_whose_nodes_is_noted():
    one, other, third = "a" * 64, "b" * 64, "c" * 64
    entry = Entry({}, noted([one, other]))
    assert entry.cluster == ("a" * NOTED, "b" * NOTED)
    refuse_foreign(spec(**FILE), entry, (other, third))
    refuse_foreign(spec(**FILE), Entry({}), (third,))
    refuse_foreign(spec(**FILE, take_over=True), entry, (third,))
    with pytest.raises(PlanError, match="none of which is in this one"):
        refuse_foreign(spec(**FILE), entry, (third,))
    with pytest.raises(PlanError, match="could not be read"):
        refuse_foreign(spec(**FILE), entry, None)


# documents

def described(options):
    """The names, types, defaults, choices and suboptions that a documentation tells, as an argument spec says them."""
    return {name: {key: described(value) if key in ("options", "suboptions") else value for key, value in option.items() if key != "description"}
            for name, option in options.items()}


def declared(spec_of):
    named = {name: {("suboptions" if key == "options" else key): declared(value) if key == "options" else value
                    for key, value in option.items() if key != "no_log"} for name, option in spec_of.items()}
    return named


@pytest.mark.requirement("TD-14")
@pytest.mark.parametrize(("text", "arguments"), [(ModuleDocFragment.DOCUMENTATION, key_store_spec()), (ModuleDocFragment.TOKEN, token_store_spec())],
                         ids=["key", "token"])
def test_the_documentation_says_what_the_modules_take(text, arguments):
    assert described(yaml.safe_load(text)["options"]) == declared(arguments)


def words(value, prefix=""):
    """A documentation's texts without their line breaks, with the options of a document's entry called as those of a module are."""
    if isinstance(value, dict):
        return {name: words(item, prefix) for name, item in value.items()}
    if isinstance(value, list):
        return [words(item, prefix) for item in value]
    return " ".join(value.replace(f"O({prefix}", "O(").split()) if isinstance(value, str) else value


@pytest.mark.requirement("TD-14", "TD-15")
@pytest.mark.parametrize(("text", "part"), [(ModuleDocFragment.DOCUMENTATION, "keys"), (ModuleDocFragment.TOKEN, "admin_tokens")])
def test_a_tenancy_says_the_same_of_its_stores(text, part):
    shared = words(yaml.safe_load(text)["options"])
    entry = yaml.safe_load(tenancy.DOCUMENTATION)["options"][part]["suboptions"]
    assert {name: words(entry[name], f"{part}[].") for name in shared} == shared
