# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find a Garage binary of a wanted version, or get one.

`python3 -m tools.testbed.garage_binary [--version V]` prints its path on stdout and what it does on stderr.
Looked for in this order:

1. the environment variable GARAGE_BIN,
2. the cache, `${XDG_CACHE_HOME:-~/.cache}/s3ops-garage/garage/<version>/garage`,
3. `garage` on PATH,
4. the official release, when GARAGE_SHA256 names the checksum of the binary,
5. a build from the crate with cargo, into the cache.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

from tools.testbed import cargo_build, releases
from tools.testbed.cache import Say, binary_place, locked
from tools.testbed.errors import SetupError
from tools.testbed.versions import DEFAULT_VERSION, OLDEST_VERSION, as_text, parse_version, version_of


def say_on_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def obtain(version: str = DEFAULT_VERSION, say: Say = say_on_stderr) -> Path:
    """The path of a working Garage binary; it may take minutes when it has to be built.

    The default version stands for "at least this one of the same major"; any other is meant exactly, so that a test
    on an old release cannot run on a new one. Raises SetupError, which says what to do.
    """
    if parse_version(version) < OLDEST_VERSION:
        raise SetupError(f"Garage {version} has no Admin API v2: the oldest supported is {as_text(OLDEST_VERSION)}")
    found = _from_environment(version, say) or _from_cache(version, say) or _from_path(version, say)
    if found:
        return found
    with locked(version, say):
        # Whoever held the lock before may have got it.
        return _from_cache(version, say) or releases.download(version, say) or cargo_build.build(version, say)


def _from_environment(version: str, say: Say) -> Path | None:
    named = os.environ.get("GARAGE_BIN")
    if not named:
        return None
    binary = Path(named).absolute()
    got = version_of(binary)
    if got < OLDEST_VERSION:
        raise SetupError(f"GARAGE_BIN: {binary} is {as_text(got)}, older than {as_text(OLDEST_VERSION)}")
    if got == parse_version(version):
        return binary
    if version != DEFAULT_VERSION:
        say(f"GARAGE_BIN: {binary} is {as_text(got)}, passed over as exactly {version} is wanted")
        return None
    say(f"GARAGE_BIN: using {binary}, which is {as_text(got)} and not {version}")
    return binary


def _from_cache(version: str, say: Say) -> Path | None:
    binary = binary_place(version)
    if not binary.exists():
        return None
    try:
        got = version_of(binary)
    except SetupError as broken:
        say(f"cache: passed over: {broken}")
        return None
    if got != parse_version(version):
        say(f"cache: passed over: {binary} is {as_text(got)}")
        return None
    return binary


def _from_path(version: str, say: Say) -> Path | None:
    named = shutil.which("garage")
    if not named:
        return None
    binary = Path(named).absolute()
    try:
        got = version_of(binary)
    except SetupError as broken:
        say(f"PATH: passed over: {broken}")
        return None
    wanted = parse_version(version)
    if got == wanted or (version == DEFAULT_VERSION and got > wanted and got[0] == wanted[0]):
        return binary
    say(f"PATH: {binary} is {as_text(got)}, passed over as {version} is wanted")
    return None


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python3 -m tools.testbed.garage_binary", description="Find or get a Garage binary and print its path."
    )
    parser.add_argument("--version", default=DEFAULT_VERSION, help="the wanted version (default: %(default)s)")
    wanted = parser.parse_args(arguments)
    try:
        print(obtain(wanted.version))
    except SetupError as failed:
        say_on_stderr(f"no Garage {wanted.version}: {failed}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
