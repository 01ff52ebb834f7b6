# Two commands: `make serve` runs the product, `make test` runs the tests. Both set up what they need.
PYTHON ?= python3.11
ifeq ($(origin VAR), undefined)
VAR := $(or $(CREDENCE_VAR),$(CURDIR)/var)
endif
HOST ?= 127.0.0.1
PORT ?= 8000
WORKERS ?= 2
THREADS ?= 8
# 0 leaves out the sample project and its known passwords: for every installation that others can reach.
SAMPLE ?= 1
VENV := .venv
BIN := $(VENV)/bin
export CREDENCE_VAR := $(VAR)
# Python keeps the bytecode of what it imports; that of everything would be a third of the environment.
unexport PYTHONDONTWRITEBYTECODE
export HOST PORT WORKERS THREADS SAMPLE

.PHONY: test-all prepare serve prepared-web web worker engine-worker test texts setup dev-setup lock lint check clean-venv

prepare: setup
	@echo "Preparing the database (the first time takes up to a minute)…"
	@$(BIN)/python manage.py prepare $(if $(filter 1,$(SAMPLE)),--sample)

serve: setup
	@exec $(BIN)/python -m config.supervised -c config/supervisord.conf

# What a container runs beside a worker of its own.
prepared-web: prepare web

web:
	@exec $(BIN)/python -m config.web
worker:
	@exec $(BIN)/python -m config.worker
# One a GPU, for the endpoint that it holds: make engine-worker ENDPOINT=name
engine-worker:
	@test -n "$(ENDPOINT)" || { echo "Name the endpoint: make engine-worker ENDPOINT=name" >&2; exit 1; }
	@exec $(BIN)/python -m config.worker "$(ENDPOINT)"

test: dev-setup
	@bash tests/run.sh

# All tests, those among them that take long: fuzzing, chaos, every page in the browser. Before a release.
test-all: dev-setup
	@TEST_ALL=1 bash tests/run.sh

# Collects the texts of code, templates and scripts into the catalogues of their translations.
texts: dev-setup
	@$(BIN)/python manage.py texts

setup: $(VENV)/.installed
dev-setup: $(VENV)/.installed-dev

$(BIN)/uv:
	@command -v $(PYTHON) >/dev/null || { echo "Credence needs Python 3.11; set PYTHON to where it is." >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-uv.txt
	@$(BIN)/uv pip uninstall --quiet --python $(BIN)/python pip setuptools

$(VENV)/.installed: $(BIN)/uv requirements.txt
	@echo "Installing the locked dependencies (once)…"
	@$(BIN)/uv pip sync --quiet --require-hashes --python $(BIN)/python requirements.txt requirements-uv.txt
	@rm -f $(VENV)/.installed-dev; touch $@

$(VENV)/.installed-dev: $(BIN)/uv requirements-dev.txt
	@echo "Installing the locked dependencies for development (once)…"
	@$(BIN)/uv pip sync --quiet --require-hashes --python $(BIN)/python requirements-dev.txt requirements-uv.txt
	@touch $@ $(VENV)/.installed

# Writes the lock files anew from pyproject.toml, for every Python from 3.11.0 on; hashes, no host names.
LOCK = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate pyproject.toml
lock: $(BIN)/uv
	@$(LOCK) --group dev -o requirements-dev.txt
	@$(LOCK) -c requirements-dev.txt -o requirements.txt

lint: dev-setup
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/djangofmt --check . && $(BIN)/mypy
