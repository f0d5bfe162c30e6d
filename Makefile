# Every target sets up .venv by itself. A bare machine needs make and a Python >= 3.11 (.ci/run brings both on Debian).
VENV   := .venv
PY     := $(VENV)/bin/python
STAMP  := $(VENV)/.ready
PYTEST ?= $(PY) -m pytest
# The first Python that is new enough; `make PYTHON=...` overrules.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14; do \
	"$$p" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)

.PHONY: help setup demo test lint unit integration record images kafka-image bench fuzz lock clean

help:
	@echo 'make demo    three client libraries in one group, rebalanced and explained'
	@echo 'make test    lint, types, import walls, tests with branch coverage, comparison with a real broker'
	@echo 'make lint    ruff, mypy --strict, import-linter'
	@echo 'make record  what a real Kafka does, recorded anew (integration_tests/golden)'
	@echo 'make images  Docker images: the emulator, and a real broker for where none can be pulled'
	@echo 'make bench   the measurements of docs/performance.md'
	@echo 'make fuzz    a million mutated frames; 100,000 cases for each assignor against Java (long; needs a JDK and Maven)'
	@echo 'make lock    pin the dependencies anew'

setup: $(STAMP)

$(STAMP): requirements/dev.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo 'No Python >= 3.11 with venv found; on Debian run .ci/run, elsewhere: make PYTHON=/path/to/python3.11' >&2; exit 1; }
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check --only-binary :all: --require-hashes -r requirements/dev.txt
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

demo: $(STAMP)
	$(PY) -m coordinator demo

test: lint unit integration

lint: $(STAMP)
	$(PY) -m ruff check .
	$(PY) -m mypy --strict
	$(VENV)/bin/lint-imports --no-cache

unit: $(STAMP)
	$(PYTEST) -n 2 --cov --cov-report=term

integration: $(STAMP)
	$(PYTEST) integration_tests

record: $(STAMP)
	$(PY) -m integration_tests.record

images: kafka-image
	$(PY) -m tools.images emulator

kafka-image: $(STAMP)
	$(PY) -m tools.images kafka

bench: $(STAMP)
	$(PY) -m benchmarks

fuzz: $(STAMP)
	$(PY) -m tests.fuzz
	$(PY) -m tests.assignors.fuzz
	$(PY) -m tests.assignors.server_fuzz

lock:
	$(PYTHON) tools/lock.py

clean:
	rm -rf $(VENV) build dist .coverage* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
