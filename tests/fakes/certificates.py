# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Throw-away certificates for tests: an authority, and what it signs."""

from __future__ import annotations

import datetime
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = datetime.timedelta(days=1)


@dataclass(frozen=True)
class Pair:
    """Paths of a certificate and of its key, both PEM."""

    cert: str
    key: str


class Authority:
    """A certificate authority in ``folder``; ``path`` is its certificate."""

    def __init__(self, folder: Path, name: str = "test authority") -> None:
        self._folder, self._name = folder, _name(name)
        self._key = ec.generate_private_key(ec.SECP256R1())
        cert = _builder(self._name, self._name, self._key, DAY).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True).add_extension(
            x509.KeyUsage(digital_signature=False, content_commitment=False, key_encipherment=False, data_encipherment=False, key_agreement=False,
                          key_cert_sign=True, crl_sign=True, encipher_only=False, decipher_only=False), critical=True).add_extension(
            x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False).sign(self._key, hashes.SHA256())
        self.path = self._write(f"{name}.ca.pem", cert.public_bytes(serialization.Encoding.PEM))

    def issue(self, name: str, valid: datetime.timedelta = DAY) -> Pair:
        """A certificate for ``name`` (an address or a host name); a negative ``valid`` makes one that has expired."""
        key = ec.generate_private_key(ec.SECP256R1())
        cert = _builder(_name(name), self._name, key, valid).add_extension(
            x509.SubjectAlternativeName([_alternative(name)]), critical=False).add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False).sign(self._key, hashes.SHA256())
        secret = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        stem = f"{name}-{cert.serial_number:x}"
        return Pair(self._write(f"{stem}.pem", cert.public_bytes(serialization.Encoding.PEM)), self._write(f"{stem}.key", secret))

    def _write(self, name: str, content: bytes) -> str:
        path = self._folder / name.replace(" ", "-")
        path.write_bytes(content)
        return str(path)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, valid: datetime.timedelta) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.timezone.utc)
    return x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key()).serial_number(
        x509.random_serial_number()).not_valid_before(now - 3 * DAY).not_valid_after(now + valid)


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
