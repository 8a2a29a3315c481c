# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

# The first Python of 3.11 or newer that can make virtual environments; PYTHON=… chooses another.
PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13 python3.14; do \
	"$$p" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$p"; break; }; done)
RUN := .venv/bin/python
RESULTS := .cache/results

.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.PHONY: help venv quickstart quickstart-stop test unit real

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' Makefile

venv: ## make or refresh .venv (only when the requirements changed)
	@test -n "$(PYTHON)" || { echo "No Python of 3.11 or newer with venv and pip: install python3 and python3-venv, or set PYTHON=" >&2; exit 1; }
	@$(PYTHON) -m tools.check.venv

quickstart: venv ## two sites on a local Garage, from two site files
	@$(RUN) -m tools.quickstart up

quickstart-stop: venv ## stop what quickstart started
	@$(RUN) -m tools.quickstart stop

unit: venv ## tests that need no Garage
	$(RUN) -m pytest tests/unit --junit-xml=$(RESULTS)/unit.xml

real: venv ## tests on a real Garage
	$(RUN) -m pytest tests/garage --junit-xml=$(RESULTS)/real.xml
