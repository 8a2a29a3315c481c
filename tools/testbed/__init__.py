# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real Garage on this machine: getting the binary, and nodes as local processes (Linux, standard library only)."""
