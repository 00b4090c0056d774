# Two commands matter: `make repro` regenerates every report, `make test` runs everything that CI runs.

SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
STAMP := $(VENV)/.installed
UV := $(VENV)/bin/uv pip install --system-certs --python $(VENV)/bin/python
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)

# The same bytes on every machine: no hash seed, no thread count, no kind of processor decides.
export PYTHONHASHSEED := 0
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export OPENBLAS_CORETYPE := Haswell
export NPY_DISABLE_CPU_FEATURES := X86_V4 AVX512_ICL AVX512_SPR
export DVC_NO_ANALYTICS := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYDEVD_DISABLE_FILE_VALIDATION := 1
# Plots appear in notebooks, whatever the shell says.
unexport MPLBACKEND
# Each of some hundred processes would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help repro test site docs lab notebooks lock clean

help: ## List the commands
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

# uv, pinned like everything else, installs the pinned packages in a few seconds. It does not read pip's configuration:
# where that names the index to use, pip itself installs them.
$(STAMP): requirements/main.lock requirements/installer.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "virtperf needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V). Try: make repro PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "Python's venv module is missing; on Debian: apt-get install python3-venv"; exit 1; }
	@echo "environment: installing pinned packages into $(VENV) (once)"
	@$(VENV)/bin/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/python -m pip install --quiet --no-input --require-hashes -r requirements/installer.lock
	@$(UV) --quiet --require-hashes -r requirements/main.lock || \
	  $(VENV)/bin/python -m pip install --quiet --no-input --use-pep517 --require-hashes -r requirements/main.lock
	@$(VENV)/bin/python -m pip install --quiet --no-input --no-deps --no-build-isolation -e .
# DVC's Git library writes every tracked file as a loose object when an experiment ends, and repacks the
# repository at each of its commits above Git's limit of 6,700: minutes in place of seconds.
	@git config --local gc.auto >/dev/null 2>&1 || git config --local gc.auto 100000 2>/dev/null || true
	@touch $@

repro: ## Create the environment, run what is out of date, say where the reports are
	@begin=$$(date +%s); $(MAKE) --silent --no-print-directory $(STAMP) && ready=$$(date +%s) && \
	virtperf pipeline && done=$$(date +%s) && \
	for page in reports/*.html; do echo "report: $$page"; done && \
	echo "took $$((ready - begin)) s for the environment, $$((done - ready)) s for the pipeline"

# The pipeline executes the notebooks of studies, and tests compare every output with the committed one. nbval shows that
# they run outside of the pipeline too, without its parameters: one of a study, the one over all studies and the one that
# belongs to no stage. Outputs are deterministic, so nothing is sanitized. A notebook stays in one process, which has its
# kernel; `-W ignore` leaves the kernel's own warnings to its authors.
# `virtperf.report.html` as a plugin keeps nbformat from compiling a grammar in each process. Tests begin in two halves, so
# that most fixtures are made once; who is done takes over from the other. They do without nbval, which takes seconds to load.
NBVAL := $(patsubst %,notebooks/%.ipynb,xen-2026 synthesis your-own-plot)

test: $(STAMP) ## Everything that CI runs: lint, types, pipeline, tests, notebooks, report in a browser
	@echo "== lint" && ruff check --quiet . && ruff format --check --quiet .
	@echo "== types" && mypy --no-error-summary
	@echo "== pipeline" && virtperf pipeline
	@echo "== tests" && pytest -q -rs -p no:nbval -n 2 --dist worksteal tests
	@echo "== notebooks" && pytest -q -p virtperf.report.html -n 2 --dist loadfile --nbval --nbval-kernel-name python3 -p no:cacheprovider -W ignore $(NBVAL)

site: $(STAMP) ## All reports as one zip file for a release, build/virtperf-reports.zip: opens offline
	@virtperf pipeline && virtperf export

# Sphinx and its theme come on top of the pinned packages, in the same versions: no other command needs them.
docs: $(STAMP) ## The documentation with the reports inside it, in build/site: works offline, makes no request
	@$(UV) --quiet --require-hashes -r requirements/docs.lock
	@virtperf pipeline
	@rm -rf build/site && sphinx-build -q -W --keep-going -d .cache/sphinx docs build/site
	@virtperf export && python -m zipfile -e build/virtperf-reports.zip build/site
	@echo "documentation: build/site/index.html"

lab: $(STAMP) ## JupyterLab on the repository; git diff then shows notebooks cell by cell
	@nbdime config-git --enable 2>/dev/null || true
	@jupyter lab --ServerApp.root_dir=.

notebooks: $(STAMP) ## Execute the notebooks and keep their outputs and the picture of README.md, ready to commit
	@virtperf pipeline && for page in notebooks/*.ipynb; do virtperf keep-outputs $$(basename $$page .ipynb); done && virtperf pipeline
	@virtperf figure zvm-xen-2009 figure-5 -o docs/figure.svg

lock: $(STAMP) ## Resolve the pinned packages again
	@uv pip compile --quiet --python-version 3.11 --generate-hashes --no-annotate requirements/main.in -o requirements/main.lock
	@uv pip compile --quiet --python-version 3.11 --generate-hashes --no-annotate -c requirements/main.lock requirements/docs.in -o requirements/docs.lock

clean: ## Remove everything that `make repro` made, the environment too
	@rm -rf $(VENV) .cache .dvc/cache .dvc/tmp build data/hypotheses data/reconstructed data/samples data/runs data/verdicts reports/*.html reports/*.json
