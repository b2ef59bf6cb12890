# What a newcomer would guess. Needs make and Python >= 3.11, nothing else.

VENV ?= .venv
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)

bin := $(abspath $(VENV))/bin
installed := $(VENV)/.installed
jobs ?= auto
parallel = -n $(jobs) --dist worksteal
target ?= RTX 5090:4@570.133.07

.PHONY: help venv demo test test-slow coverage test-network lint format schemas bench clean

help:
	@echo "make demo          plan and apply a move on an example project (about a minute)"
	@echo "make test          the quick tests, offline, on all cores (jobs=1: on one)"
	@echo "make test-slow     what takes longer: 300 generated registries against uv, and more"
	@echo "make coverage      both of these, and which lines and branches of the program they run"
	@echo "make test-network  the tests that ask the package index; fetches torch, jax and CUDA (4 GB)"
	@echo "make lint          ruff, mypy, import contracts"
	@echo "make format        let ruff format the code"
	@echo "make schemas       write the JSON schemas anew, from the types of the documents"
	@echo "make bench         measure (ratios in one run)"

venv: $(installed)

$(installed): pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed"; exit 2; }
	test -x $(bin)/uv || { $(PYTHON) -m venv $(VENV) && $(bin)/python -m pip install --quiet uv; }
	$(bin)/uv pip install --quiet --compile-bytecode --python $(bin)/python --editable . --group dev
	@touch $@

demo: $(installed)
	@PATH="$(bin):$$PATH" UV_PYTHON="$(bin)/python" sh tests/fixtures/demo.sh "$(target)"

test: $(installed)
	$(bin)/python -m pytest $(parallel)

test-slow: $(installed)
	$(bin)/python -m pytest $(parallel) -m "slow and not network"

coverage: $(installed)
	$(bin)/python -m pytest $(parallel) -m "not network" --cov --cov-report=term:skip-covered \
		--cov-fail-under=95

test-network: $(installed)
	$(bin)/python -m pytest -m network

lint: $(installed)
	$(bin)/ruff format --check .
	$(bin)/ruff check .
	$(bin)/mypy
	$(bin)/lint-imports

format: $(installed)
	$(bin)/ruff format .
	$(bin)/ruff check --fix .

schemas: $(installed)
	$(bin)/python -m stackfix.report.schemas

bench: $(installed)
	$(bin)/python -m tests.bench

clean:
	rm -rf .demo build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
