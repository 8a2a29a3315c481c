# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real Kubernetes for the tests: the given one, kind, or one local node from public Go modules and Debian packages."""
