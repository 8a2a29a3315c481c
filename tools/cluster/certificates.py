# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A throw-away certificate authority for one local cluster."""

from __future__ import annotations

import datetime
import ipaddress
import os
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

VALIDITY = datetime.timedelta(days=365)
# A clock that was set back a little while the cluster runs does no harm.
BACKDATED = datetime.timedelta(days=1)


class Authority:
    """Signs certificates and writes them with their keys, as `<name>.crt` and `<name>.key`, into one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("s3ops-garage-test-ca", None)
        basic = x509.BasicConstraints(ca=True, path_length=None)
        builder = _builder(self._name, self._name, self._key).add_extension(basic, critical=True)
        self._write("ca", builder.sign(self._key, hashes.SHA256()), self._key)

    @property
    def certificate_file(self) -> Path:
        return self.folder / "ca.crt"

    def issue(
        self, name: str, user: str, group: str | None = None, addresses: tuple[str, ...] = ()
    ) -> tuple[Path, Path]:
        """Certificate and key for a user of a group, as Kubernetes reads them; with addresses for a server as well."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(_name(user, group), self._name, key)
        if addresses:
            builder = builder.add_extension(
                x509.SubjectAlternativeName([_address(a) for a in addresses]), critical=False
            )
        return self._write(name, builder.sign(self._key, hashes.SHA256()), key)

    def key_pair(self, name: str) -> tuple[Path, Path]:
        """Public and private key alone, which sign the tokens of service accounts."""
        key = ec.generate_private_key(ec.SECP256R1())
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        return _write(self.folder / f"{name}.pub", public), _write(self.folder / f"{name}.key", _private(key))

    def _write(self, name: str, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> tuple[Path, Path]:
        pem = certificate.public_bytes(serialization.Encoding.PEM)
        return _write(self.folder / f"{name}.crt", pem), _write(self.folder / f"{name}.key", _private(key))


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.timezone.utc)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - BACKDATED)
        .not_valid_after(now + VALIDITY)
    )


def _name(common: str, organization: str | None) -> x509.Name:
    parts = [x509.NameAttribute(NameOID.COMMON_NAME, common)]
    if organization:
        parts.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization))
    return x509.Name(parts)


def _address(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)


def _private(key: ec.EllipticCurvePrivateKey) -> bytes:
    # PKCS8 is read by all, SEC1 as well; without a password, as nobody is there to type it.
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _write(path: Path, content: bytes) -> Path:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    return path
