# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Container images made by hand from programs of this machine, as archives of the form that `docker load` takes."""

from __future__ import annotations

import hashlib
import io
import json
import platform
import re
import subprocess
import tarfile
from pathlib import Path

PAUSE_IMAGE = "s3ops.garage.test/pause:1"
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_LIBRARY = re.compile(r"(?:=> )?(/\S+) \(0x")


def garage_image(version: str) -> str:
    """The name of the official image, so that what names it by default finds ours."""
    return f"docker.io/dxflrs/garage:v{version}"


def official_for_one_architecture(version: str) -> str:
    """What upstream publishes beside it: the same program under another name."""
    return f"docker.io/dxflrs/{ARCHITECTURES[platform.machine()]}_garage:v{version}"


def write_garage(binary: Path, name: str, target: Path) -> None:
    """Like the official image: the program, nothing to run a script with, `/garage server` when nothing is said."""
    files = {"garage": binary} | {str(library).lstrip("/"): library for library in _libraries(binary)}
    _write(target, name, files, ["/garage", "server"], ["RUST_BACKTRACE=1", "RUST_LOG=garage=info"])


def write_pause(binary: Path, target: Path) -> None:
    _write(target, PAUSE_IMAGE, {"pause": binary}, ["/pause"], [])


def _libraries(binary: Path) -> list[Path]:
    """What the program loads, under the names by which it asks; nothing for a static program."""
    told = subprocess.run(["ldd", binary], capture_output=True, text=True, check=False)
    return [Path(name) for name in _LIBRARY.findall(told.stdout)]


def _write(target: Path, name: str, files: dict[str, Path], command: list[str], variables: list[str]) -> None:
    layer = _layer(files)
    config = {
        "architecture": ARCHITECTURES[platform.machine()],
        "os": "linux",
        "config": {"Cmd": command, "Env": ["PATH=/", *variables], "WorkingDir": "/"},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
    }
    text = json.dumps(config).encode()
    config_name = f"{hashlib.sha256(text).hexdigest()}.json"
    manifest = [{"Config": config_name, "RepoTags": [name], "Layers": ["layer.tar"]}]
    with tarfile.open(target, "w") as archive:
        for entry, content in (
            (config_name, text),
            ("layer.tar", layer),
            ("manifest.json", json.dumps(manifest).encode()),
        ):
            _add(archive, entry, content, 0o644)


def _layer(files: dict[str, Path]) -> bytes:
    # The same bytes for the same files: no times, no owners.
    memory = io.BytesIO()
    with tarfile.open(fileobj=memory, mode="w") as archive:
        folders = {str(parent) for name in files for parent in Path(name).parents} - {"."}
        for folder in sorted(folders):
            _add_folder(archive, folder, 0o755)
        _add_folder(archive, "tmp", 0o1777)
        for name, path in sorted(files.items()):
            _add(archive, name, path.read_bytes(), 0o755)
    return memory.getvalue()


def _add(archive: tarfile.TarFile, name: str, content: bytes, mode: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), mode
    archive.addfile(entry, io.BytesIO(content))


def _add_folder(archive: tarfile.TarFile, name: str, mode: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = tarfile.DIRTYPE, mode
    archive.addfile(entry)
