# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Show a status page as pictures: on a desk and on a phone, light and dark, and in print, by the Chromium of this machine."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ansible_collections.s3ops.garage.plugins.module_utils._status.page import page
from ansible_collections.s3ops.garage.plugins.module_utils._status.summary import summarize
from tests.unit.status_worlds import NOW, busy

FOLDER = Path(".cache/status")
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
# A browser of its own that asks nobody anything.
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
           "--disable-component-update", "--disable-sync", "--hide-scrollbars")  # fmt: skip
WIDTHS = {"desk": (1280, 3200), "phone": (390, 8000)}
SCHEMES = {"dark": 0, "light": 1}
LIMIT_SECONDS = 120


def main(arguments: list[str]) -> int:
    browser = next((found for name in NAMES if (found := shutil.which(name))), None)
    if browser is None:
        print(f"No Chromium here ({', '.join(NAMES)}): install it, on Debian by `apt-get install chromium`", file=sys.stderr)
        return 1
    FOLDER.mkdir(parents=True, exist_ok=True)
    source = Path(arguments[0]).resolve() if arguments else invented()
    for name, (width, height) in WIDTHS.items():
        for scheme, number in SCHEMES.items():
            show(browser, framed(source, width, height), FOLDER / f"{name}-{scheme}.png", max(width, 500), height, number)
    run(browser, f"--print-to-pdf={FOLDER / 'print.pdf'}", "--no-pdf-header-footer", source.as_uri())
    print(f"Pictures of {source} are in {FOLDER}")
    return 0


def invented() -> Path:
    """A page of sites that do not exist, with something to tell in every part."""
    path = FOLDER.resolve() / "page.html"
    path.write_text(page(summarize(busy(), NOW)), encoding="utf-8")
    return path


def framed(source: Path, width: int, height: int) -> Path:
    """The page in a frame: no window of a browser is as narrow as a phone."""
    path = FOLDER.resolve() / f"frame-{width}.html"
    path.write_text(f'<body style="margin:0"><iframe src="{source.as_uri()}" style="border:0;width:{width}px;height:{height}px"></iframe>', "utf-8")
    return path


def show(browser: str, source: Path, target: Path, width: int, height: int, scheme: int) -> None:
    run(browser, f"--blink-settings=preferredColorScheme={scheme}", f"--window-size={width},{height}", f"--screenshot={target}", source.as_uri())


def run(browser: str, *arguments: str) -> None:
    with tempfile.TemporaryDirectory(prefix="s3ops-garage-") as profile:
        subprocess.run([browser, *OPTIONS, f"--user-data-dir={profile}", *arguments], check=True, capture_output=True, timeout=LIMIT_SECONDS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
