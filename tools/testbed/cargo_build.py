# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Building Garage from its crate."""

from __future__ import annotations

import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import IO

from tools.testbed.cache import Say, build_folder, place
from tools.testbed.errors import SetupError
from tools.testbed.versions import Version, as_text, parse_version

SETTINGS_FILE = Path(__file__).with_name("cargo-build.toml")
FEATURES = "bundled-libs,lmdb,sqlite,metrics"
# What upstream builds its releases with.
OLDEST_RUST: Version = (1, 91, 0)
PROGRESS_SECONDS = 10.0
LOG_LINES_SHOWN = 20
CHUNK_BYTES = 1 << 16
_PROGRESS = re.compile(rb"\] (\d+)/(\d+)")

NEEDS = f"""\
Building Garage needs:
  - Rust {as_text(OLDEST_RUST)} or newer with cargo: from https://rustup.rs, or from the distribution if new enough
  - a C compiler and make: Debian, Ubuntu: build-essential; Fedora: gcc make; Alpine: build-base
  - access to the crates registry, or a cargo configuration that names a mirror of it
Or set GARAGE_BIN to a Garage binary that is already there."""


def build(version: str, say: Say) -> Path:
    """The binary in its place in the cache. Raises SetupError which says what to install."""
    _check_tools()
    folder = build_folder(version)
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "cargo.log"
    say(f"building Garage {version} with cargo, once; it takes minutes. Log: {log}")
    started, cpu_before = time.monotonic(), _cpu_seconds()
    _run(_command(version, folder), log, say)
    target = place(folder / "root" / "bin" / "garage", version)
    shutil.rmtree(folder)
    say(f"built Garage {version} in {_elapsed(started)}, {_cpu_seconds() - cpu_before:.0f} s of CPU")
    return target


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _command(version: str, folder: Path) -> list[str]:
    return [
        *("cargo", "install", "garage", "--version", version, "--locked", "--force"),
        *("--no-default-features", "--features", FEATURES),
        *("--config", str(SETTINGS_FILE)),
        *("--root", str(folder / "root"), "--target-dir", str(folder / "target")),
    ]


def _check_tools() -> None:
    missing = [name for name in ("cargo", _c_compiler(), "make") if not shutil.which(name)]
    if missing:
        raise SetupError(f"not installed: {', '.join(missing)}\n{NEEDS}")
    told = subprocess.run(["cargo", "--version"], capture_output=True, text=True, check=False)
    if told.returncode != 0:
        raise SetupError(f"cargo does not work: {told.stderr.strip()}\n{NEEDS}")
    if parse_version(told.stdout) < OLDEST_RUST:
        raise SetupError(f"{told.stdout.strip()} is too old\n{NEEDS}")


def _c_compiler() -> str:
    return (shlex.split(os.environ.get("CC", "")) or ["cc"])[0]


def _run(command: list[str], log: Path, say: Say) -> None:
    # Cargo counts its units only in the progress bar, which it draws outside of a terminal when it is told a width.
    shown = {"CARGO_TERM_COLOR": "never", "CARGO_TERM_PROGRESS_WHEN": "always", "CARGO_TERM_PROGRESS_WIDTH": "80"}
    started = time.monotonic()
    process = subprocess.Popen(
        command,
        env=os.environ | shown,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    progress = _Progress(process.stdout, log)
    try:
        while process.poll() is None:
            try:
                process.wait(PROGRESS_SECONDS)
            except subprocess.TimeoutExpired:
                say(f"cargo: {_elapsed(started)}, {progress.text}")
        progress.finish()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()
    if process.returncode != 0:
        raise SetupError(f"cargo failed ({process.returncode}); the end of {log}:\n{progress.tail()}\n\n{NEEDS}")


class _Progress:
    """Reads what cargo prints: lines go to the log, the progress bar becomes `text`."""

    def __init__(self, stream: IO[bytes] | None, log: Path) -> None:
        self.text = "starting"
        assert stream
        self._descriptor = stream.fileno()
        self._log = log
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def finish(self) -> None:
        self._thread.join()

    def tail(self) -> str:
        return "\n".join(self._log.read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_LINES_SHOWN:])

    def _read(self) -> None:
        with open(self._log, "wb", buffering=0) as log:
            rest = b""
            while chunk := os.read(self._descriptor, CHUNK_BYTES):
                *pieces, rest = re.split(rb"[\r\n]+", rest + chunk)
                for piece in pieces:
                    self._take(piece, log)
            self._take(rest, log)

    def _take(self, piece: bytes, log: IO[bytes]) -> None:
        if counted := _PROGRESS.search(piece):
            done, total = (int(number) for number in counted.groups())
            self.text = f"{done} of {total} steps"
        elif piece.strip():
            log.write(piece + b"\n")


def _elapsed(started: float) -> str:
    minutes, seconds = divmod(int(time.monotonic() - started), 60)
    return f"{minutes} min {seconds:02} s"
