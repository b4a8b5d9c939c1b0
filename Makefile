# Every target sets itself up: it needs Python 3.11 or newer with its venv module, and make.
# Another Python than `python3`: make demo PYTHON=python3.12

PYTHON ?= python3
WORKERS ?= 2
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
BENCHMARKS := $(filter-out benchmarks/_%,$(sort $(wildcard benchmarks/*.py)))

# The virtual environment is the whole world: nothing leaks in from the caller's own Python.
# Bytecode is kept: without it each process that tests start would compile the package anew.
unexport PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE
export PYTHONNOUSERSITE := 1

.DEFAULT_GOAL := help
.PHONY: help demo test spark check format docs prove bench lock clean
.DELETE_ON_ERROR:

help:
	@echo 'make demo    run two private releases on real data and write demo-report.html'
	@echo 'make test    the tests, with a twentieth of the long property runs'
	@echo 'make spark   the tests of tables on Spark: 400 MB to download, and Java'
	@echo 'make check   format, lint, types, the rooms and the examples in the docs'
	@echo 'make prove   the long property runs in full (BAYESDP_PROVE_SHARE=0.2 for a fifth)'
	@echo 'make bench   the measurements behind the README'
	@echo 'make format  rewrite the sources in the house format'
	@echo 'make lock    make the lock files anew from pyproject.toml'
	@echo 'make clean   remove the virtual environment and every cache'

demo: $(VENV)/.ready-to-run
	$(BIN)/bayesdp demo

# The workers fill the cores already: threads of linear algebra would only wait for each other.
test prove: export OPENBLAS_NUM_THREADS := 1

# Each worker takes one stretch of the tests, so that what the tests of a file share is made once.
test: $(VENV)/.ready-to-develop
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

spark: $(VENV)/.ready-for-spark
	$(BIN)/python -m pytest tests/tables/test_spark.py tests/release/test_engines.py

check: $(VENV)/.ready-to-develop
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --strict src
	$(BIN)/lint-imports
	$(BIN)/python tools/check_names.py
	$(BIN)/python tools/make_theory.py --check
	$(BIN)/python tools/check_docs.py

docs: $(VENV)/.ready-to-develop
	$(BIN)/python tools/check_docs.py

format: $(VENV)/.ready-to-develop
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

prove: $(VENV)/.ready-to-develop
	BAYESDP_PROVE=1 $(BIN)/python -m pytest -n $(WORKERS) -m prove

bench: $(VENV)/.ready-to-develop
	@set -e; for file in $(BENCHMARKS); do echo "== $$file"; $(BIN)/python $$file; done

lock:
	$(PYTHON) tools/make_locks.py

clean:
	rm -rf $(VENV) .venv-lock .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

# Setup. Each stamp is newer than what it was made from, so setting up happens once per change.
$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'bayesdp needs Python 3.11 or newer: make $(MAKECMDGOALS) PYTHON=/path/to/python3.11'; exit 2; }
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/.ready-to-run: $(VENV)/.created requirements.lock pyproject.toml
	$(PIP) install --quiet --require-hashes -r requirements.lock
	$(PIP) install --quiet --no-deps --no-index --no-build-isolation --editable .
	@touch $@

$(VENV)/.ready-to-develop: $(VENV)/.ready-to-run requirements-dev.lock
	$(PIP) install --quiet --require-hashes -r requirements-dev.lock
	@touch $@

$(VENV)/.ready-for-spark: $(VENV)/.ready-to-develop requirements-spark.lock
	$(PIP) install --quiet --require-hashes -r requirements-spark.lock
	@touch $@
