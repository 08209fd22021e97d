# What can be done here: `make` lists it. Needs Python 3.11 or newer, make, and a package index for the first time.
#
#   PYTHON=/usr/bin/python3.12   the interpreter to use instead of the newest one found
#   ARGS="--port 9000"           passed on to the program a target runs
#   ARGS="-n 0 tests/web"        for test and coverage: these tests only, one after the other in one process

.DEFAULT_GOAL := help
.PHONY: help setup up test test-faults check bench coverage weights docs clean

PYTHON ?=
ARGS ?=

BIN := .venv/bin
# A worker for each processor; each takes a half of the rest from the slowest when it has nothing left.
PYTEST := -m pytest -n auto --dist worksteal
# One heap for all threads: those of a thousand servers, started one after the other, would each keep their own.
ONE_HEAP := MALLOC_ARENA_MAX=1
# Documents and architecture are looked at by `make check`.
TESTS := -m "not fault" --ignore=tests/test_docs.py --ignore=tests/test_architecture.py
READY := .venv/.ready
TOOLS := .venv/.tools
PEERS := .venv/.peers
CANDIDATES := $(or $(PYTHON),$(BIN)/python python3.13 python3.12 python3.11 python3 python)
SAY_PATH := import sys; print(sys._base_executable); sys.exit(sys.version_info < (3, 11))

# The lock names files of pypi.org. Another index serves the same versions, and the hashes hold it to them.
MIRROR := $(or $(UV_DEFAULT_INDEX),$(UV_INDEX_URL),$(PIP_INDEX_URL))
FROM_MIRROR = "$$uv" venv --quiet --allow-existing --python "$$python" .venv && \
	"$$uv" export --frozen --quiet --no-emit-project $(1) --output-file .venv/requirements.txt >/dev/null && \
	"$$uv" pip sync --quiet --python $(BIN)/python --index-url $(MIRROR) .venv/requirements.txt && \
	"$$uv" pip install --quiet --python $(BIN)/python --index-url $(MIRROR) --no-deps --editable .

# Runs a program in this very process, so that signals reach it; that it was ended by Ctrl-C is no error to make.
define QUIETLY
import runpy, sys
sys.argv.pop(0)
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
except SystemExit as end:
    sys.exit(0 if end.code == 130 else end.code)
except KeyboardInterrupt:
    sys.exit(0)
endef
export QUIETLY

# The user's own uv, pip and virtual environment settings must not decide where we install.
unexport VIRTUAL_ENV
export UV_PROJECT_ENVIRONMENT := .venv
export UV_PYTHON_DOWNLOADS := never
# Compiled on all cores now, and not by the first start, which would take four times as long.
export UV_COMPILE_BYTECODE := true
# uv brings its own certificates; where the machine has some (a company's proxy), those count.
ifneq ($(wildcard /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem),)
export UV_SYSTEM_CERTS ?= true
endif

help:  ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

setup: $(TOOLS)  ## install everything into .venv, exactly as uv.lock says

up: $(READY)  ## start Laneway; ARGS="--port 9000" is passed on
	@exec $(BIN)/python -P -c "$$QUIETLY" $(BIN)/laneway up $(ARGS)

test: $(TOOLS)  ## run the tests; with CI=true a skipped test is a failure
	@$(ONE_HEAP) $(BIN)/python $(PYTEST) $(or $(ARGS),$(TESTS))

test-faults: $(TOOLS)  ## run the tests that kill, stop, flood and wait, one after the other
	@$(BIN)/python -m pytest $(or $(ARGS),-m fault)

check: $(TOOLS)  ## format, lint, types, layers, documentation
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	MYPYPATH=src:. $(BIN)/mypy --explicit-package-bases src tests bench docs
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q tests/test_docs.py tests/test_architecture.py

bench: $(PEERS)  ## measure; prints figures and ratios
	@$(BIN)/python -m bench $(ARGS)

coverage: $(TOOLS)  ## run all tests and say which lines they never reached
	@$(BIN)/coverage erase
	@$(ONE_HEAP) $(BIN)/coverage run $(PYTEST) $(or $(ARGS),$(TESTS))
	@$(if $(ARGS),,$(BIN)/coverage run -m pytest -m fault)
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage html --quiet
	@$(BIN)/coverage report --skip-covered --sort=cover

weights: $(TOOLS)  ## train the built-in taxonomies again, after a change of them
	@$(BIN)/python -m laneway.classify.ship

docs: $(TOOLS)  ## write the generated documents again
	@$(BIN)/python docs/generate.py --write
	@$(BIN)/python docs/picture.py --write

clean:  ## remove what make made; the data directory stays
	rm -rf .venv .uv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .coverage .coverage.* htmlcov dist build
	find src tests bench docs -name __pycache__ -type d -prune -exec rm -rf {} +

# A name on PATH can be a stub that does not run (pyenv has such), so every candidate is tried out. A uv that is not
# there is put into .uv: in a virtual environment where Python can make one, else as a plain folder; never into the system.
define INSTALL
@for name in $(CANDIDATES); do \
  python=$$("$$name" -c '$(SAY_PATH)' 2>/dev/null) && break; \
done || { echo "No Python 3.11 or newer among: $(CANDIDATES). Name one: make setup PYTHON=/path/to/python3" >&2; exit 1; }; \
for uv in uv .uv/bin/uv; do \
  "$$uv" --version >/dev/null 2>&1 && break; \
done || { \
  echo "Installing uv into .uv"; \
  { "$$python" -m venv .uv >/dev/null 2>&1 && .uv/bin/python -m pip install --quiet --disable-pip-version-check uv; } \
  || { rm -rf .uv && "$$python" -m pip install --quiet --disable-pip-version-check --target .uv uv; } || exit 1; \
}; \
echo "Installing into .venv what uv.lock names"; \
$(if $(MIRROR),$(call FROM_MIRROR,$(1)),"$$uv" sync --frozen --quiet --python "$$python" $(1))
endef

# What running needs, and reading attached documents; tests and checks need more.
$(READY): pyproject.toml uv.lock
	$(call INSTALL,--no-dev --extra documents)
	@touch $@

$(TOOLS): pyproject.toml uv.lock
	$(call INSTALL,)
	@touch $(READY) $@

# Those we are measured against are heavy, and nobody else needs them; the bench says which of them it did not find.
$(PEERS): $(TOOLS)
	$(call INSTALL,--group bench) && touch $@ || echo "The peers could not be installed: they are left out."
