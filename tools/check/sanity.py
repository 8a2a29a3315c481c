# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run ``ansible-test sanity`` on a staged copy, with every Python it supports that is on PATH."""

from __future__ import annotations

import sys

from tools.check.ansible_test import ansible_test
from tools.check.stage import staged_copy


def main() -> int:
    with staged_copy("sanity") as staged:
        return ansible_test(staged, "sanity", "--local", *sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
