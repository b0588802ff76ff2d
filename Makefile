# make demo   install and run the suite on iris and wine against the two control models
# make test   install the test extra and run the tests (make test TESTS=tests/suite for some of them)
# make lint   ruff format and check, mypy --strict

PYTHON ?= python3
TESTS ?= tests
BIN = .venv/bin

.PHONY: demo test lint format clean

demo: .venv/.installed
	$(BIN)/python -m tabcontam run

test: .venv/.test
	$(BIN)/python -m pytest $(TESTS)

lint: .venv/.lint
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: .venv/.lint
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf .venv build dist

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/.installed: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet .
	touch $@

.venv/.test: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[test]"
	touch $@

.venv/.lint: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[test,lint]"
	touch $@
