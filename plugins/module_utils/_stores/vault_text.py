# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The format of ansible-vault, 1.1 and 1.2, as Ansible documents it. Private: not for use outside of the collection.

Ansible's own code for it is of the controller and cannot be loaded in the process of a module (ansible-core 2.19).
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from binascii import unhexlify
from typing import Any

from .._errors import LibraryMissing

_HEADER = "$ANSIBLE_VAULT;1.1;AES256"
_ANY_HEADER = re.compile(r"\$ANSIBLE_VAULT;1\.(1;AES256|2;AES256;[^;]+)")
_ROUNDS, _KEY, _BLOCK, _WIDTH = 10000, 32, 16, 80


def encrypt(text: str, password: bytes) -> str:
    """The text of a file that ``ansible-vault view`` shows as ``text``."""
    salt = os.urandom(32)
    cipher, seal = _cipher(salt, password)
    plain = text.encode("utf-8")
    fill = _BLOCK - len(plain) % _BLOCK
    encryptor = cipher.encryptor()
    sealed = encryptor.update(plain + bytes([fill]) * fill) + encryptor.finalize()
    body = "\n".join((salt.hex(), _seal(sealed, seal), sealed.hex())).encode("ascii").hex()
    return "\n".join((_HEADER, *(body[start:start + _WIDTH] for start in range(0, len(body), _WIDTH)))) + "\n"


def decrypt(text: str, password: bytes) -> str:
    """What such a file holds. Raises ValueError when the password is another one, or the file is something else."""
    header, *lines = text.split()
    if not _ANY_HEADER.fullmatch(header):
        raise ValueError("no vault")
    salt, told, sealed = (unhexlify(part) for part in unhexlify("".join(lines)).split(b"\n"))
    cipher, seal = _cipher(salt, password)
    if not hmac.compare_digest(_seal(sealed, seal), told.hex()):
        raise ValueError("another password")
    decryptor = cipher.decryptor()
    plain = decryptor.update(sealed) + decryptor.finalize()
    return plain[:-plain[-1]].decode("utf-8")


def _seal(sealed: bytes, key: bytes) -> str:
    return hmac.new(key, sealed, hashlib.sha256).hexdigest()


def _cipher(salt: bytes, password: bytes) -> tuple[Any, bytes]:
    """The cipher, and the key by which its text is sealed."""
    # Of the few who ask for a vault file; ansible-core brings it.
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    except ImportError:
        raise LibraryMissing("cryptography", "a vault file") from None
    made = hashlib.pbkdf2_hmac("sha256", password, salt, _ROUNDS, 2 * _KEY + _BLOCK)
    return Cipher(algorithms.AES(made[:_KEY]), modes.CTR(made[2 * _KEY:])), made[_KEY:2 * _KEY]
