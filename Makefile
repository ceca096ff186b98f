# Two commands for everybody: `make demo` and `make test`. Everything is installed into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STORE ?= demo-store

.PHONY: demo test lint soak bench retrieval exploration dreaming clean

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	touch $@

demo: $(VENV)/.installed
	$(BIN)/python examples/demo.py $(STORE)

test: $(VENV)/.installed lint
	$(BIN)/python -m pytest -n 2

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

soak: $(VENV)/.installed
	$(BIN)/python -m pytest -n 2 -m soak

bench: $(VENV)/.installed
	$(BIN)/python -m bench

retrieval: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group bench
	$(BIN)/python -m bench.retrieval --ablation

exploration: $(VENV)/.installed
	$(BIN)/python -m bench.exploration

dreaming: $(VENV)/.installed
	$(BIN)/python -m bench.dreaming locomo hotpotqa garden

clean:
	rm -rf $(VENV) $(STORE) build dist
