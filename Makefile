# Two commands matter: `make repro` regenerates every report, `make test` runs everything that CI runs.

SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
STAMP := $(VENV)/.installed
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)

# The same bytes on every machine: no clock, no hash seed, no thread count decides.
export PYTHONHASHSEED := 0
export MPLBACKEND := Agg
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export DVC_NO_ANALYTICS := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYDEVD_DISABLE_FILE_VALIDATION := 1

.DEFAULT_GOAL := help
.PHONY: help repro test lab notebooks lock clean

help: ## List the commands
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "virtperf needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V). Try: make repro PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "Python's venv module is missing; on Debian: apt-get install python3-venv"; exit 1; }
	@echo "environment: installing pinned packages into $(VENV) (a minute or two, once)"
	@$(VENV)/bin/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/python -m pip install --quiet --no-input --use-pep517 --require-hashes -r requirements.lock
	@$(VENV)/bin/python -m pip install --quiet --no-input --no-deps --no-build-isolation -e .
	@touch $@

# The studies side by side, each in a process that waits for its turn to write dvc.lock; then what needs all of them.
define pipeline
lanes=(); for study in $$(ls data/published); do \
  dvc --wait-for-lock repro --quiet report@$$study pages@$$study & lanes+=($$!); \
done; failed=0; for lane in "$${lanes[@]}"; do wait $$lane || failed=1; done; [ $$failed = 0 ] && dvc repro --quiet
endef

repro: ## Create the environment, run what is out of date, say where the reports are
	@begin=$$(date +%s); $(MAKE) --silent --no-print-directory $(STAMP) && ready=$$(date +%s) && \
	{ $(pipeline); } && done=$$(date +%s) && \
	for page in reports/*.html; do echo "report: $$page"; done && \
	echo "took $$((ready - begin)) s for the environment, $$((done - ready)) s for the pipeline"

# nbval compares every output as it stands: outputs are deterministic, so nothing is sanitized. It runs in one process
# (a kernel per notebook is enough for two cores), and `-W ignore` leaves the kernel's own warnings to its authors.
test: $(STAMP) ## Everything that CI runs: lint, types, pipeline, tests, notebooks, report in a browser
	@echo "== lint" && ruff check --quiet . && ruff format --check --quiet .
	@echo "== types" && mypy --no-error-summary
	@echo "== pipeline" && { $(pipeline); }
	@echo "== tests" && pytest -q -n 2 tests
	@echo "== notebooks" && pytest -q --nbval --nbval-kernel-name python3 -p no:cacheprovider -W ignore notebooks

lab: $(STAMP) ## JupyterLab on the notebooks
	@jupyter lab --notebook-dir=notebooks

notebooks: $(STAMP) ## Execute the notebooks and keep their outputs, ready to commit
	@dvc repro --quiet && for page in notebooks/*.ipynb; do virtperf keep-outputs $$(basename $$page .ipynb); done && dvc repro --quiet

lock: ## Resolve the pinned packages again (needs uv)
	@uv pip compile --quiet --python-version 3.11 --generate-hashes --no-annotate requirements.in -o requirements.lock

clean: ## Remove everything that `make repro` made, the environment too
	@rm -rf $(VENV) .cache .dvc/cache .dvc/tmp build data/reconstructed data/samples data/runs data/verdicts reports/*.html
