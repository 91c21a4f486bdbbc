# Everything sets itself up: a virtual environment in .venv, and Debian's Chromium for the browser tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --disable-pip-version-check --quiet
CONSTRAINTS := .ci/constraints.txt
# As many test processes as a laptop has to spare.
JOBS ?= 2

# PyTorch for the tests of the engine `paged`, in an environment of its own: nothing else needs it.
TORCH ?= torch==2.13.0
GPU_VENV := .venv-gpu

.PHONY: demo test contract-paged contract-vllm lint format browser shots clean

demo: $(VENV)/.runs
	$(BIN)/studyhall demo $(DEMO)

test: $(VENV)/.develops browser
	$(BIN)/pytest -n $(JOBS) --dist loadfile $(TESTS)

lint: $(VENV)/.develops
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

# The engine `paged` on the real libraries, whose insides it changes; with a CUDA device its kernel too.
contract-paged: $(GPU_VENV)/.develops
	$(GPU_VENV)/bin/pytest -k paged tests/engines/test_paged.py tests/engines/test_contract.py

# The contract on a real vLLM, which is too large for every run: make contract-vllm VLLM_PYTHON=…/bin/python (docs/engines.md).
contract-vllm: $(VENV)/.develops
	STUDYHALL_VLLM_PYTHON=$(VLLM_PYTHON) $(BIN)/pytest tests/engines/test_vllm.py

format: $(VENV)/.develops
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The pictures of the README and the docs, taken anew.
shots: $(VENV)/.develops browser
	STUDYHALL_SCREENSHOTS=docs/images $(BIN)/pytest -q tests/browser/test_demo.py

# Chromium is a Debian package; where it cannot be installed, the browser tests are skipped and say so.
browser:
	@command -v chromium >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; \
	  else echo "Chromium is missing: install the package 'chromium' to run the browser tests too."; fi; }

$(VENV)/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
	  || { echo "Studyhall needs Python 3.11 to 3.13. Name one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -qq && apt-get install -y -qq python3-venv >/dev/null && $(PYTHON) -m venv $(VENV); \
	  else echo "Python's venv is missing: install the package 'python3-venv'."; exit 1; fi; }

$(VENV)/.runs: $(VENV)/bin/pip pyproject.toml $(CONSTRAINTS)
	$(PIP) install -c $(CONSTRAINTS) -e '.[local,embeddings]'
	@touch $@

$(VENV)/.develops: $(VENV)/bin/pip pyproject.toml $(CONSTRAINTS)
	$(PIP) install -c $(CONSTRAINTS) -e '.[local,embeddings,dev]'
	@touch $@ $(VENV)/.runs

$(GPU_VENV)/.develops: pyproject.toml $(CONSTRAINTS) | $(VENV)/bin/pip
	$(PYTHON) -m venv $(GPU_VENV)
	$(GPU_VENV)/bin/pip --disable-pip-version-check --quiet install -c $(CONSTRAINTS) '$(TORCH)' -e '.[gpu,dev]'
	@touch $@

clean:
	rm -rf $(VENV) $(GPU_VENV) .pytest_cache .ruff_cache .hypothesis
