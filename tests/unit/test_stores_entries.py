# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What every place for a credential does alike: file, vault file, Secret and KV engine."""

from __future__ import annotations

import os
import stat

import pytest
from ansible.parsing.vault import VaultLib, VaultSecret

from ansible_collections.s3ops.garage.plugins.module_utils._errors import StoreChanged, StoreFault
from ansible_collections.s3ops.garage.plugins.module_utils._models.store import CLUSTER_NOTE, LABEL, OWNER, Entry, StoreSpec
from ansible_collections.s3ops.garage.plugins.module_utils._models.store_layout import CONTENT
from ansible_collections.s3ops.garage.plugins.module_utils._stores.entry_file import EntryFile
from ansible_collections.s3ops.garage.plugins.module_utils._stores.interface import put
from ansible_collections.s3ops.garage.plugins.module_utils._stores.opener import open_store
from ansible_collections.s3ops.garage.plugins.module_utils._stores.vault_file import VaultFile
from tests.fakes.secrets_api import SecretsApi

KINDS = ["file", "vault file", "Secret", "KV engine"]


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def spec(kind, tmp_path, secrets, kv):
    if kind == "Secret":
        return StoreSpec(secret="app-s3", namespace="app", kubeconfig=secrets.kubeconfig(tmp_path))
    if kind == "KV engine":
        return StoreSpec(hashi_vault={"url": kv.url, "mount_point": kv.mount, "path": "app/s3", "token": kv.token})
    folder = tmp_path / "store"
    folder.mkdir()
    (tmp_path / "password").write_text("open sesame\n")
    return StoreSpec(path=str(folder / "app"), vault_password_file=str(tmp_path / "password") if kind == "vault file" else None)


@pytest.fixture
def store(spec):
    return open_store(spec)


def entry(store, text, **more):
    name = CONTENT if isinstance(store, EntryFile) and not isinstance(store, VaultFile) else "token"
    return Entry({name: text}, **more)


def text_of(held):
    (text,) = held.data.values()
    return text


def test_an_entry_is_made_read_replaced_and_deleted(store):
    assert store.read() is None
    store.refuse_unwritable(None)
    assert store.read() is None
    put(store, entry(store, "one", cluster=("ab", "cd")), None)
    held = store.read()
    assert (text_of(held), held.cluster, held.ours) == ("one", ("ab", "cd"), True)
    store.refuse_unwritable(held)
    put(store, entry(store, "two", cluster=("ef",)), held)
    held = store.read()
    assert (text_of(held), held.cluster) == ("two", ("ef",))
    store.delete(held)
    assert store.read() is None
    store.create(entry(store, "three"))
    assert text_of(store.read()) == "three"


def test_a_second_process_sees_the_same(store, spec):
    store.create(entry(store, "one", cluster=("ab",)))
    held = open_store(spec).read()
    assert (text_of(held), held.cluster, held.ours) == ("one", ("ab",), True)


def test_what_is_there_is_never_overwritten_by_create(store, spec):
    open_store(spec).create(entry(store, "theirs"))
    with pytest.raises(StoreFault):
        store.create(entry(store, "hush-hush"))
    assert text_of(store.read()) == "theirs"


@pytest.mark.parametrize("do", ["replace", "delete"])
def test_what_changed_in_between_is_left_alone(store, spec, do):
    store.create(entry(store, "one"))
    held = store.read()
    other = open_store(spec)
    other.replace(entry(store, "theirs"), other.read())
    with pytest.raises(StoreChanged) as caught:
        store.replace(entry(store, "hush-hush"), held) if do == "replace" else store.delete(held)
    assert "hush-hush" not in str(caught.value)
    assert text_of(store.read()) == "theirs"


@pytest.mark.parametrize("kind", ["Secret", "KV engine"], indirect=True)
def test_what_was_made_anew_in_between_is_left_alone(store, spec, kv):
    store.create(entry(store, "one"))
    held = store.read()
    store.delete(held)
    kv.pass_time(1)
    open_store(spec).create(entry(store, "theirs"))
    with pytest.raises(StoreChanged):
        store.delete(held)
    assert text_of(store.read()) == "theirs"


def test_another_entry_belongs_to_it(store):
    beside = store.beside("intent")
    beside.create(Entry({CONTENT: "note"}))
    assert store.read() is None
    assert text_of(beside.read()) == "note"
    assert beside.place != store.place


def test_lines_quotes_and_other_scripts_are_kept(store):
    store.create(entry(store, "a\n\"b\" 'c' = ü\n"))
    assert text_of(store.read()) == "a\n\"b\" 'c' = ü\n"


@pytest.mark.parametrize("kind", ["Secret", "KV engine"], indirect=True)
def test_an_age_is_told_by_the_clock_of_the_store(store, secrets, kv):
    store.create(entry(store, "one"))
    young = store.read().age
    secrets.pass_time(90)
    kv.pass_time(90)
    assert store.read().age - young >= 90


# Secrets

@pytest.mark.parametrize("kind", ["Secret"], indirect=True)
def test_a_secret_is_marked_as_ours_and_keeps_what_others_put_on_it(store, secrets):
    store.create(Entry({"token": "one"}, ("ab",), labels={"team": "a"}, annotations={"note": "x"}))
    meta = secrets.secrets["app", "app-s3"]["metadata"]
    assert meta["labels"] == {"team": "a", LABEL: OWNER}
    assert meta["annotations"] == {"note": "x", CLUSTER_NOTE: '["ab"]'}
    meta["labels"]["theirs"] = "1"
    store.replace(Entry({"token": "two"}, labels={"team": "b"}), store.read())
    meta = secrets.secrets["app", "app-s3"]["metadata"]
    assert meta["labels"] == {"team": "b", LABEL: OWNER, "theirs": "1"}
    assert secrets.data("app", "app-s3") == {"token": "two"}


@pytest.mark.requirement("FC-108")
@pytest.mark.parametrize("kind", ["Secret"], indirect=True)
@pytest.mark.parametrize("do", ["replace", "delete", "refuse_unwritable"])
def test_a_secret_without_the_label_is_read_and_never_written_to(store, secrets, do):
    secrets.put("app", "app-s3", {"password": "theirs"})
    held = store.read()
    assert (held.ours, held.data) == (False, {"password": "theirs"})
    with pytest.raises(StoreFault, match="somebody else's"):
        store.replace(Entry({}), held) if do == "replace" else getattr(store, do)(held)
    assert secrets.data("app", "app-s3") == {"password": "theirs"}


@pytest.mark.parametrize("kind", ["Secret"], indirect=True)
def test_a_secret_that_may_not_be_written_is_told_of_beforehand(store, secrets):
    secrets.refuse = {"create"}
    with pytest.raises(StoreFault, match="403.*cannot create") as caught:
        store.refuse_unwritable(None)
    assert "secrets in this namespace" in caught.value.hint
    assert secrets.secrets == {}


@pytest.mark.parametrize("kind", ["Secret"], indirect=True)
def test_data_that_is_no_text_is_not_taken_for_a_credential(store, secrets):
    secrets.put("app", "app-s3", {"token": "x"})
    secrets.secrets["app", "app-s3"]["data"]["token"] = "/w=="
    assert store.read().data == {"token": "(not text)"}


def test_an_api_that_does_not_answer_is_told_of(tmp_path):
    with SecretsApi() as api:
        path = api.kubeconfig(tmp_path)
    with pytest.raises(StoreFault, match="did not answer"):
        open_store(StoreSpec(secret="a", namespace="b", kubeconfig=path)).read()


def test_a_kubeconfig_that_is_not_there_is_told_of(tmp_path):
    with pytest.raises(StoreFault, match="no way to a Kubernetes API"):
        open_store(StoreSpec(secret="a", namespace="b", kubeconfig=str(tmp_path / "none")))


# the KV engine

@pytest.mark.parametrize("kind", ["KV engine"], indirect=True)
def test_a_secret_of_others_in_the_kv_engine_is_left_alone(store, kv):
    kv.put("app/s3", {"password": "theirs"})
    held = store.read()
    assert not held.ours
    for do in (lambda: store.replace(Entry({}), held), lambda: store.delete(held), lambda: store.refuse_unwritable(held)):
        with pytest.raises(StoreFault, match="somebody else's"):
            do()
    assert kv.data("app/s3") == {"password": "theirs"}


@pytest.mark.parametrize("kind", ["KV engine"], indirect=True)
@pytest.mark.parametrize("end", [lambda kv: kv.put("app/s3", None), lambda kv: kv.destroy("app/s3")], ids=["deleted", "destroyed"])
def test_a_version_that_is_no_more_is_followed_by_another(store, kv, end):
    store.create(Entry({"token": "one"}))
    end(kv)
    assert store.read() is None
    store.create(Entry({"token": "two"}))
    assert store.read().data == {"token": "two"}


@pytest.mark.parametrize("kind", ["KV engine"], indirect=True)
def test_an_engine_of_version_1_is_told_of_before_it_takes_anything(spec, kv):
    store = open_store(StoreSpec(hashi_vault={**spec.hashi_vault, "mount_point": kv.mount_1}))
    assert store.read() is None
    with pytest.raises(StoreFault, match="no KV engine of version 2"):
        store.refuse_unwritable(None)
    store.create(Entry({"token": "one"}))
    with pytest.raises(StoreFault, match="no KV engine of version 2"):
        store.read()


@pytest.mark.parametrize("kind", ["KV engine"], indirect=True)
def test_a_refusal_of_the_kv_engine_is_told_without_what_was_sent(store, kv):
    kv.read_only = True
    with pytest.raises(StoreFault, match="permission denied") as caught:
        store.create(Entry({"token": "hush-hush"}))
    assert "hush-hush" not in str(caught.value)


# files

@pytest.mark.parametrize("kind", ["vault file"], indirect=True)
def test_a_vault_file_is_one_of_ansible_vault(store, spec):
    store.create(Entry({"token": "hush-hush"}))
    text = open(spec.path, encoding="utf-8").read()
    assert text.startswith("$ANSIBLE_VAULT;1.1;AES256") and "hush" not in text
    vault = VaultLib([("default", VaultSecret(b"open sesame"))])
    assert b'"token": "hush-hush"' in vault.decrypt(text)
    held = store.read()
    for label in (None, "prod"):
        with open(spec.path, "wb") as handle:
            handle.write(vault.encrypt('{"token": "ö"}', VaultSecret(b"open sesame"), vault_id=label))
        assert store.read().data == {"token": "ö"} != held.data


@pytest.mark.parametrize("kind", ["vault file"], indirect=True)
@pytest.mark.parametrize("text", ["theirs", "$ANSIBLE_VAULT;1.1;AES256\n3030", "$ANSIBLE_VAULT;9.9;AES256\n30", "$ANSIBLE_VAULT;1.1;AES256"])
def test_a_file_that_is_no_vault_is_left_alone(store, spec, text):
    with open(spec.path, "w", encoding="utf-8") as handle:
        handle.write(text)
    with pytest.raises(StoreFault, match="cannot be opened"):
        store.read()


@pytest.mark.parametrize("kind", ["vault file"], indirect=True)
def test_a_vault_file_with_another_password_is_left_alone(store, spec, tmp_path):
    store.create(Entry({"token": "hush-hush"}))
    (tmp_path / "password").write_text("wrong")
    with pytest.raises(StoreFault, match="cannot be opened") as caught:
        open_store(spec).read()
    assert "hush" not in str(caught.value) and "wrong" not in str(caught.value)


@pytest.mark.parametrize("kind", ["vault file"], indirect=True)
@pytest.mark.parametrize("content", ["", None])
def test_a_vault_password_that_is_not_there_is_told_of(spec, tmp_path, content):
    (tmp_path / "password").unlink() if content is None else (tmp_path / "password").write_text(content)
    with pytest.raises(StoreFault, match="vault password file"):
        open_store(spec)


@pytest.mark.parametrize("kind", ["file", "vault file"], indirect=True)
def test_a_file_and_its_note_are_for_their_owner(store, spec):
    store.create(entry(store, "one", cluster=("ab",)))
    folder = os.path.dirname(spec.path)
    assert sorted(os.listdir(folder)) == [".app.garage", "app"]
    assert {stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode) for name in os.listdir(folder)} == {0o600}
    store.delete(store.read())
    assert os.listdir(folder) == []


@pytest.mark.parametrize("kind", ["file"], indirect=True)
def test_a_file_of_others_is_told_from_ours(store, spec):
    with open(spec.path, "w", encoding="utf-8") as handle:
        handle.write("theirs")
    assert not store.read().ours


@pytest.mark.parametrize("kind", ["file"], indirect=True)
@pytest.mark.parametrize("text", ["theirs", "[]", '{"cluster": 1}', '{"cluster": [1]}'])
def test_a_note_of_others_is_left_alone(store, spec, text):
    store.create(entry(store, "one"))
    with open(os.path.join(os.path.dirname(spec.path), ".app.garage"), "w", encoding="utf-8") as handle:
        handle.write(text)
    with pytest.raises(StoreFault, match="not a note of this collection"):
        store.read()
