# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Credentials in files. Private: not for use outside of the collection."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from .._errors import StoreChanged, StoreFault
from .._models.store import Entry
from .._models.store_layout import CONTENT
from .file import FileStore
from .file_lock import FileLock
from .interface import INTENT, OLD


class EntryFile:
    """A file that holds the credential and nothing else, so that whatever needs it can read it.

    What else is to be known, the cluster and that the file is ours, is noted in a hidden file beside it. That is written first: a credential of ours
    is never without its note, and a note without a credential says nothing. What stands ``beside`` a credential has no note.
    """

    def __init__(self, path: str, noted: bool = True) -> None:
        self.place = path
        self._noted = noted
        self._file = FileStore(path)
        folder, name = os.path.split(path)
        self._note = FileStore(os.path.join(folder, f".{name}.garage"))
        self._lock = FileLock(os.path.join(folder, f".{name}.lock"))

    def read(self) -> Entry | None:
        text = self._file.read()
        if text is None:
            return None
        note = self._read_note() if self._noted else {"cluster": []}
        nodes, derivation = (note["cluster"], note.get("derivation", {})) if note else ((), {})
        return Entry(self._decode(text), tuple(nodes), ours=note is not None, version=text, derivation=derivation)

    def create(self, entry: Entry) -> None:
        self._write_note(entry)
        self._file.create(self._encode(entry.data))

    def replace(self, entry: Entry, held: Entry) -> None:
        self._refuse_changed(held)
        self._write_note(entry)
        self._file.replace(self._encode(entry.data))

    def delete(self, held: Entry) -> None:
        self._refuse_changed(held)
        self._file.delete()
        if self._noted:
            self._note.delete()

    def refuse_unwritable(self, held: Entry | None) -> None:
        self._file.refuse_bad_folder()

    def beside(self, name: str) -> EntryFile:
        return EntryFile(f"{self.place}.{name}", noted=False)

    @contextmanager
    def lock(self) -> Iterator[None]:
        with self._lock as alone:
            if alone:
                for each in (self, self.beside(INTENT), self.beside(OLD)):
                    each.sweep()
            yield

    def sweep(self) -> None:
        """Remove what runs that were killed left half written, which may hold a secret. Only under the lock."""
        self._file.sweep()
        self._note.sweep()

    def exposed(self) -> bool:
        return self._file.exposed()

    def _decode(self, text: str) -> Mapping[str, str]:
        return {CONTENT: text}

    def _encode(self, data: Mapping[str, str]) -> str:
        return data[CONTENT]

    def _refuse_changed(self, held: Entry) -> None:
        if self._file.read() != held.version:
            raise StoreChanged(f"{self.place} was changed by somebody else while this ran; it is left as it is", hint="run this again")

    def _read_note(self) -> dict | None:
        text = self._note.read()
        if text is None:
            return None
        try:
            note = json.loads(text)
            sound = all(isinstance(node, str) for node in note["cluster"]) and isinstance(note.get("derivation", {}), dict)
        except (ValueError, KeyError, TypeError):
            sound = False
        if not sound:
            raise StoreFault(f"{self._note.path} is not a note of this collection about {self.place}", hint="move it away, then run this again")
        return note

    def _write_note(self, entry: Entry) -> None:
        derivation = {"derivation": dict(entry.derivation)} if entry.derivation else {}
        text = json.dumps({"cluster": list(entry.cluster), **derivation}) + "\n"
        if self._noted and self._note.read() != text:
            self._note.replace(text)
