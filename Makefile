# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

# The first Python of 3.11 or newer that can make virtual environments; PYTHON=… chooses another.
PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13 python3.14; do \
	"$$p" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$p"; break; }; done)
RUN := .venv/bin/python
# Some of Ansible's tools call each other by name.
TOOLS := PATH="$(CURDIR)/.venv/bin:$$PATH"
RESULTS := .cache/results
# Tests of one file follow one another, two files run side by side; WORKERS=0 runs all in one process, for -s and for a debugger.
WORKERS ?= 2
export WORKERS
PYTEST := $(RUN) -m pytest -n $(WORKERS) --dist loadfile
# Narrows a target: make unit ARGS="-k layout", make integration ARGS=bucket, make sanity ARGS="--test validate-modules"
ARGS ?=

.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.PHONY: help venv quickstart quickstart-stop test lint docs-lint docs unit garage real awx integration kubernetes kubernetes-long molecule cluster cluster-stop importer sanity test-matrix newest bench status-picture trace lock clean

# At most 24 lines of 80 columns: one screen.
help:
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' Makefile

venv: ## make or refresh .venv, when the requirements changed
	@test -n "$(PYTHON)" || { echo "No Python of 3.11 or newer with venv and pip: install python3 and python3-venv, or set PYTHON=" >&2; exit 1; }
	@$(PYTHON) -m tools.check.venv

quickstart: venv ## two sites on a local Garage; quickstart-stop ends it
	@$(RUN) -m tools.quickstart up

quickstart-stop: venv
	@$(RUN) -m tools.quickstart stop

test: venv ## everything below up to sanity, in this order
	@rm -rf $(RESULTS)
	@set -e; for step in lint docs-lint unit real awx integration kubernetes importer sanity; do \
		started=$$(date +%s); $(MAKE) $$step; echo "==> $$step: done in $$(($$(date +%s) - started)) s"; done
	@$(RUN) -m tools.check.summary

lint: venv ## ansible-lint, production profile; changelog fragments
	@echo "==> ansible-lint"
	@$(TOOLS) ansible-lint --nocolor $(ARGS)
	@echo "==> antsibull-changelog lint"
	@$(TOOLS) antsibull-changelog lint

docs-lint: venv ## pages of modules and roles are complete; build the site
	@echo "==> documentation pages"
	@$(RUN) -m tools.check.docs
	@$(MAKE) docs

docs: venv ## the documentation site, into .cache/docs/html
	@echo "==> documentation site"
	@$(RUN) -m tools.check.site

unit: venv ## tests that need no Garage
	@echo "==> unit tests"
	@$(PYTEST) tests/unit --junit-xml=$(RESULTS)/unit.xml $(ARGS)

garage: venv ## find or build a Garage (15 minutes the first time)
	@echo "==> Garage binary"
	@$(RUN) -m tools.testbed.garage_binary

real: garage ## all other tests by pytest: on a real Garage
	@echo "==> tests on a real Garage"
	@$(PYTEST) tests --ignore=tests/unit --ignore=tests/kubernetes --ignore=tests/awx --junit-xml=$(RESULTS)/real.xml $(ARGS)

awx: garage ## the AWX project, by ansible-runner (Python 3.12)
	@echo "==> AWX"
	@$(RUN) -m tools.check.awx $(ARGS)

integration: garage ## every module by ansible-test on a real Garage
	@echo "==> ansible-test integration"
	@$(RUN) -m tools.check.integration $(ARGS)

kubernetes: garage ## what needs a Kubernetes (INSTALL=yes: and packages)
	@echo "==> tests on a real Kubernetes"
	@INSTALL="$(INSTALL)" $(RUN) -m tools.check.kubernetes $(ARGS)

kubernetes-long: garage ## the stories that take minutes each
	@echo "==> Kubernetes, the long stories"
	@INSTALL="$(INSTALL)" $(RUN) -m tools.check.kubernetes -m long $(ARGS)

molecule: garage ## molecule's scenario; cluster-stop ends its cluster
	@echo "==> molecule"
	@$(TOOLS) INSTALL="$(INSTALL)" molecule test $(ARGS)

cluster: garage ## start the Kubernetes of the tests; cluster-stop ends it
	@INSTALL="$(INSTALL)" $(RUN) -m tools.cluster up

cluster-stop: venv
	@$(RUN) -m tools.cluster down

importer: venv ## build the collection; Galaxy's importer judges it
	@echo "==> galaxy-importer"
	@$(RUN) -m tools.check.importer

sanity: venv ## ansible-test sanity with every Python found
	@echo "==> ansible-test sanity"
	@$(RUN) -m tools.check.sanity $(ARGS)

# 2.2.0 was never published where released sources are built from.
MATRIX := 2.0.0 2.1.0 2.3.0 2.4.1
test-matrix: venv ## contract tests on older Garages (MATRIX="2.3.0")
	@set -e; for version in $(MATRIX); do echo "==> contract tests on Garage $$version"; \
		$(RUN) -m tools.testbed.garage_binary --version $$version; \
		GARAGE_CONTRACT_VERSION=$$version $(RUN) -m pytest tests/contract $(ARGS); done

newest: garage ## on the newest ansible-core (Python 3.12; ARGS=bucket)
	@echo "==> the newest ansible-core"
	@$(RUN) -m tools.check.newest $(ARGS)

bench: garage ## tenancy beside a bare script (ARGS="100 1000 10000")
	@$(RUN) -m tools.bench $(ARGS)

status-picture: venv ## a status page in Chromium (ARGS=page.html)
	@$(RUN) -m tools.status_picture $(ARGS)

trace: venv ## which requirements have a test and which have none
	@$(RUN) -m tools.trace $(ARGS)

lock: ## write requirements/dev.txt anew from dev.in
	@$(PYTHON) -m tools.check.lock

clean: ## remove .venv and what checks left in the checkout
	rm -rf .venv .cache .ansible .hypothesis .pytest_cache changelogs/.plugin-cache.yaml
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
