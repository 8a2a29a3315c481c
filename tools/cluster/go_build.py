# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Building a program from its Go module, once, into the cache."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from tools.cluster.programs import SOURCES, Source
from tools.testbed.cache import Say, held
from tools.testbed.errors import SetupError
from tools.testbed.versions import Version, as_text, parse_version

HERE = Path(__file__).parent
# What k8s.io/kubernetes and etcd name in their go.mod; a newer one that they name is fetched by Go where it may.
OLDEST_GO: Version = (1, 24, 0)
PROGRESS_SECONDS = 15.0
LOG_LINES_SHOWN = 20
# Everything else on the machine goes first.
NICENESS = "15"
STAGING = "./staging/src/"

NEEDS = f"""\
Building Kubernetes needs:
  - Go {as_text(OLDEST_GO)} or newer: from https://go.dev/dl, or from the distribution if new enough
  - access to the Go module proxy, or a GOPROXY that names a mirror of it"""


def obtain(source: Source, say: Say) -> Path:
    """The folder with the programs; they are built when it is not there. Raises SetupError which says what to do."""
    if source.folder.is_dir():
        return source.folder
    source.folder.parent.mkdir(parents=True, exist_ok=True)
    with held(source.folder.with_name(source.folder.name + ".lock"), f"{source.name} {source.version}", say):
        if not source.folder.is_dir():  # whoever held the lock before may have built it
            _build(source, say)
    return source.folder


def _build(source: Source, say: Say) -> None:
    if lacking := unavailable():
        raise SetupError(f"{lacking}\n{NEEDS}")
    work = source.folder.with_name(source.folder.name + ".build")
    shutil.rmtree(work, ignore_errors=True)
    (work / "bin").mkdir(parents=True)
    say(f"building {source.name} {source.version}, once; its log: {work / 'go.log'}")
    started = time.monotonic()
    _write_module(source, work)
    for name, package in source.packages.items():
        before = time.monotonic()
        _go_build(source, work, name, package, say)
        say(f"built {name} in {_elapsed(before)}")
    (work / "bin").rename(source.folder)
    shutil.rmtree(work)
    say(f"built {source.name} {source.version} in {_elapsed(started)}")


def unavailable() -> str | None:
    """Why nothing can be built here, or None; what is built already needs no Go."""
    if all(source.folder.is_dir() for source in SOURCES):
        return None
    if not shutil.which("go"):
        return f"building Kubernetes needs Go {as_text(OLDEST_GO)} or newer, and it is not installed"
    # A release candidate or a first release may have no third number.
    number = _go(["env", "GOVERSION"], HERE).strip().removeprefix("go").split("-")[0].split("rc")[0]
    if parse_version(number if number.count(".") > 1 else f"{number}.0") < OLDEST_GO:
        return f"building Kubernetes needs Go {as_text(OLDEST_GO)} or newer, and this is {number}"
    return None


def _write_module(source: Source, work: Path) -> None:
    """A module of ours that requires the source and imports it."""
    lines = ["module s3ops.garage/tools/cluster"]
    if source.module:
        found = json.loads(_go(["mod", "download", "-json", f"{source.module}@v{source.version}"], work))
        told = json.loads(_go(["mod", "edit", "-json", found["GoMod"]], work))
        lines += [f"go {told['Go']}", f"require {source.module} v{source.version}"]
        lines += [f"replace {old} => {new}" for old, new in _replacements(source, told.get("Replace") or [])]
    (work / "go.mod").write_text("\n".join(lines) + "\n", encoding="utf-8")
    if source.own_main:
        shutil.copyfile(HERE / source.own_main, work / "main.go")
    else:
        imports = "".join(f'import _ "{package}"\n' for package in source.packages.values())
        (work / "tools.go").write_text(f"//go:build tools\n\npackage tools\n\n{imports}", encoding="utf-8")


def _replacements(source: Source, named: list[dict[str, dict[str, str]]]) -> list[tuple[str, str]]:
    """The replacements of Kubernetes' go.mod, which count only where it is the main module.

    k8s.io/api => ./staging/src/k8s.io/api, required as v0.0.0, is published: with 1.34.4 as v0.34.4. (What etcd
    replaces by a folder it requires with its true version.)
    """
    published = f"v0.{source.version.partition('.')[2]}"
    return [
        (each["Old"]["Path"], f"{each['Old']['Path']} {published}")
        for each in named
        if each["New"]["Path"].startswith(STAGING)
    ]


def _go(arguments: list[str], folder: Path) -> str:
    done = subprocess.run(
        ["go", *arguments], cwd=folder, env=_environment(), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SetupError(f"`go {' '.join(arguments)}` failed: {(done.stderr or done.stdout).strip()[-2000:]}\n{NEEDS}")
    return done.stdout


def _go_build(source: Source, work: Path, name: str, package: str, say: Say) -> None:
    linker = " ".join(["-s", "-w", *(f"-X {key}={value}" for key, value in source.variables.items())])
    command = ["nice", "-n", NICENESS, "go", "build", "-v", "-mod=mod", "-trimpath", "-ldflags", linker]
    log = work / "go.log"
    started = time.monotonic()
    with open(log, "wb") as file:
        process = subprocess.Popen(
            [*command, "-o", str(work / "bin" / name), package],
            cwd=work,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            while process.poll() is None:
                try:
                    process.wait(PROGRESS_SECONDS)
                except subprocess.TimeoutExpired:
                    say(f"go: {name}, {_elapsed(started)}, {len(_lines(log))} packages compiled")
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait()
    if process.returncode != 0:
        tail = "\n".join(_lines(log)[-LOG_LINES_SHOWN:])
        raise SetupError(f"go build of {name} failed ({process.returncode}); the end of {log}:\n{tail}\n\n{NEEDS}")


def _environment() -> dict[str, str]:
    # Static programs, which need no C compiler. A go.work above the cache would be none of ours.
    return os.environ | {"CGO_ENABLED": "0", "GOWORK": "off"}


def _lines(log: Path) -> list[str]:
    return log.read_text(encoding="utf-8", errors="replace").splitlines()


def _elapsed(started: float) -> str:
    minutes, seconds = divmod(int(time.monotonic() - started), 60)
    return f"{minutes} min {seconds:02} s"
