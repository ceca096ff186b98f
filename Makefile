# Two commands for everybody: `make demo` and `make test`. Both install into .venv, the former without extras.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STORE ?= demo-store
# How many times the stated number of examples `make soak` tries.
FACTOR ?= 1
# With which kernels `make soak` and `make nightly` run everything, one after the other.
KERNELS ?= auto python

# How tests are run, here and in .github/workflows: with one process for each core.
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal

# Tests start hundreds of processes; without bytecode on the disk each would compile the libraries again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo setup test one quick lint crate frameworks soak nightly torture fuzz attack coverage package docs pictures workflows bench falls retrieval exploration agents dreaming clean

# The crate in engine/kernels is compiled during the installation if Cargo is there.
CRATE := $(wildcard engine/kernels/Cargo.* engine/kernels/.cargo/* engine/kernels/src/*.rs)

# pip hides what a build prints, so the compilation is announced here.
announce = @if [ "$(or $(MEMROOT_KERNELS),auto)" != python ] && command -v cargo >/dev/null; then \
	echo 'memroot compiles its kernels with Cargo, half a minute or more; MEMROOT_KERNELS=python skips it.'; fi
PIP := MEMROOT_KERNELS=$(or $(MEMROOT_KERNELS),auto) $(BIN)/python -m pip install --quiet --disable-pip-version-check

# What `make demo` needs: the distribution without extras.
$(VENV)/.base: pyproject.toml $(CRATE)
	$(PYTHON) -m venv $(VENV)
	$(announce)
	$(PIP) --editable .
	touch $@

$(VENV)/.installed: pyproject.toml $(CRATE)
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip
	$(announce)
	$(PIP) --editable '.[service,remote,postgresql,nlp,files,watch]' --group dev
	-$(PIP) --group pipeline
	touch $(VENV)/.base $@

setup: $(VENV)/.installed

demo: $(VENV)/.base
	$(BIN)/python examples/demo.py $(STORE)

test: $(VENV)/.installed lint
	$(PYTEST)
	MEMROOT_KERNELS=python $(PYTEST) -m "twins and not soak"

# Runs the test files whose paths contain T: `make one T=recall`.
one: $(VENV)/.installed
	@files="$$(find tests bench -path '*$(T)*' -name 'test_*.py')"; \
	if [ -z "$(T)" ] || [ -z "$$files" ]; then echo 'no test file has T in its path: make one T=recall'; exit 2; fi; \
	$(PYTEST) $$files

# The tests without those marked `slow`: a file with this mark takes over a second, or starts many processes.
quick: $(VENV)/.installed
	$(BIN)/ruff check .
	$(PYTEST) -m "not slow and not soak and not frameworks"

lint: $(VENV)/.installed crate
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Checks the crate, where the tools of Rust are.
crate:
	@cd engine/kernels && if cargo fmt --version >/dev/null 2>&1; then cargo fmt --check; \
	else echo 'cargo fmt is not installed: the format of the crate is not checked'; fi
	@cd engine/kernels && if cargo clippy --version >/dev/null 2>&1; \
	then cargo clippy --locked --quiet --target-dir ../../build/kernels -- --deny warnings; \
	else echo 'cargo clippy is not installed: the crate is not checked'; fi

# The adapters in engine/frameworks, each with its framework in an environment of its own (build/frameworks). The
# first run makes the environments, which takes about a minute of CPU.
frameworks: $(VENV)/.installed
	$(PYTEST) -m frameworks

soak: $(VENV)/.installed
	for kernels in $(KERNELS); do MEMROOT_KERNELS=$$kernels MEMROOT_SOAK=$(FACTOR) \
		$(PYTEST) -m "soak or hypothesis" || exit; done

# The reliability programme (docs/reliability.md). A run that was stopped goes on with the same SEED and SHARE.
SHARE ?= 1
torture: $(VENV)/.installed
	$(BIN)/python -m tests.torture $(if $(filter command,$(origin SEED)),--seed $(SEED)) --share $(SHARE) $(PAGE)

# Guided fuzzing of every decoder and every kernel, for SECONDS each. The first line fails where atheris has no
# wheel; the kernels need cargo-fuzz.
SECONDS ?= 60
fuzz: $(VENV)/.installed
	-$(PIP) --only-binary :all: --group fuzz
	$(BIN)/python -m tests.torture.fuzz --seconds $(SECONDS)
	$(BIN)/python -m tests.kernels.fuzz --seconds $(SECONDS)

# Attacks the HTTP service with requests made from its OpenAPI document, for SECONDS.
attack: $(VENV)/.installed
	$(PIP) --group attack
	$(BIN)/python -m tests.service.attack --seconds $(SECONDS)

nightly: $(VENV)/.installed lint
	for kernels in $(KERNELS); do MEMROOT_KERNELS=$$kernels MEMROOT_SOAK=10 \
		$(PYTEST) -m "" || exit; done

# The tests, and the lines and branches that none of them reaches; htmlcov/index.html shows them. The test that is
# left out watches which libraries a process loads, and the measuring loads some itself.
coverage: $(VENV)/.installed
	$(PYTEST) --cov --cov-report=term --cov-report=html \
		--deselect tests/cli/test_processes.py::test_start_up_loads_only_what_is_needed

# The source distribution, and the wheel made from it. A release uploads the former, and wheels of its own.
package: $(VENV)/.installed
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*

# The pages and the API reference as a site in site/, or an error for a broken link. The variable silences the
# announcement that Material for MkDocs ends in May 2027.
docs: export NO_MKDOCS_2_WARNING = 1
docs: $(VENV)/.installed
	$(PIP) --group docs
	$(BIN)/mkdocs build --strict

# Takes the pictures of the window in README and docs again. Needs Chromium.
pictures: $(VENV)/.installed
	$(BIN)/python -m tests.window.pictures

# Checks the files in .github/workflows. Needs Go.
workflows:
	go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

bench: $(VENV)/.installed
	$(PIP) --group bench
	$(BIN)/python -m bench

# Fails if an operation uses more CPU time than in the version BASE, by more than the noise. Both are measured in turn.
BASE ?= HEAD~1
falls: $(VENV)/.installed
	rm -rf build/base && git worktree prune && git worktree add --quiet --force --detach build/base $(BASE)
	$(PYTHON) -m venv build/base/.venv && build/base/.venv/bin/python -m pip install --quiet --disable-pip-version-check build/base
	$(BIN)/python -m bench.falls build/base/.venv/bin/python
	git worktree remove --force build/base

retrieval: $(VENV)/.installed
	$(PIP) --group bench
	$(BIN)/python -m bench.retrieval --ablation

exploration: $(VENV)/.installed
	$(BIN)/python -m bench.exploration

agents: $(VENV)/.installed
	$(BIN)/python -m bench.agents

dreaming: $(VENV)/.installed
	$(BIN)/python -m bench.dreaming locomo hotpotqa garden

clean:
	rm -rf $(VENV) $(STORE) build dist site htmlcov
