# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run ``ansible-test sanity`` on a staged copy, with every Python it supports that is on PATH."""

from __future__ import annotations

import sys

from tools.check.ansible_test import ansible_test
from tools.check.stage import stage


def main() -> int:
    return ansible_test(stage("sanity"), "sanity", "--local", *sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
