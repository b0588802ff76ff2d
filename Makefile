# make demo   install and run the suite on iris and wine against the two control models
# make test   install the test extra and run the quick tests, on all cores; make test SLOW=1 runs all of them,
#             make test SLOW=only the slow ones,
#             make test TESTS=tests/report some of them, slow ones as well
# make reference   ask six open LLMs about nine tables and write what a paper would publish, into reports/reference:
#             many hours, on a GPU; the same command continues; make reference REFERENCE="--list FILE --out DIR"
# make lint   ruff format and check, mypy --strict

PYTHON ?= python3
TESTS ?=
REFERENCE ?=
SLOW ?=
BIN = .venv/bin
SELECTED = $(if $(filter only,$(SLOW)),-m slow,$(if $(SLOW)$(TESTS),,-m "not slow"))
# a file's tests share what they make, so they stay with one worker; each worker computes in one thread, since there is one
# for each core
WORKERS = -n auto --maxprocesses 8 --dist loadfile --no-loadscope-reorder

# tests start hundreds of processes: each would compile the whole package again where an environment forbids to keep that
export PYTHONDONTWRITEBYTECODE =

.PHONY: demo test reference lint format clean

demo: .venv/.installed
	$(BIN)/python -m tabcontam run

test: .venv/.test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest $(WORKERS) $(SELECTED) $(TESTS)

reference: .venv/.reference
	$(BIN)/python -m reference $(REFERENCE)

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

.venv/.reference: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[hf,local,plots]"
	touch $@

.venv/.lint: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[test,lint]"
	touch $@
