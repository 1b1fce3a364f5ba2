# make        what there is to make
# make demo   from nothing to a rendered cluster that its real daemons have read
# make lab    the same cluster in containers, with jobs running on it
# make test   everything: lint, types, tests, real Slurm and its neighbours
# make quick  the same without what needs real programs

PYTHON  ?= python3
WORKERS ?= 2
DEMO    ?= inventories/ml-training

VENV  := .venv
BIN   := $(VENV)/bin
READY := $(VENV)/.ready-$(shell cat pyproject.toml constraints.txt | sha256sum | cut -c1-16)

.DEFAULT_GOAL := help
.PHONY: help venv parsers containers lab demo render proof lint types quick test clean

help: ## this list
	@sed -nE 's/^([a-z]+):.*## (.*)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

venv: $(READY) ## the Python environment, anew when pyproject.toml or constraints.txt changed

$(READY):
	$(PYTHON) -m venv $(VENV)
	PIP_CONSTRAINT=constraints.txt $(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

parsers: ## real Slurm 22.05, 24.11 and 26.05, promtool and others, in a private folder (two minutes, once)
	tools/setup-parsers

containers: ## what nodes in containers take: podman, mmdebstrap
	tools/setup-lab

lab: venv containers ## a cluster in containers, with a real Slurm (five minutes)
	$(BIN)/clustergen lab up $(DEMO)/manifest.yaml --scale 3
	$(BIN)/clustergen lab apply $(DEMO)/manifest.yaml
	$(BIN)/clustergen lab status $(DEMO)/manifest.yaml

demo: venv parsers ## renders a cluster and lets the real daemons read it
	$(BIN)/clustergen render $(DEMO)/manifest.yaml
	$(BIN)/clustergen verify $(DEMO)/rendered

render: venv ## renders every inventory again
	for manifest in inventories/*/manifest.yaml; do $(BIN)/clustergen render "$$manifest" || exit; done

proof: venv parsers ## docs/proof.md anew: who has read which kind of file
	$(BIN)/clustergen proof --write docs/proof.md inventories/*/manifest.yaml tests/fixtures/verify/*.yaml

lint: venv ## ruff, shellcheck, yamllint, ansible-lint
	$(BIN)/ruff check
	tools/shell-files | xargs -r shellcheck
	$(BIN)/yamllint --strict .
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/ansible-lint --offline -q --profile production playbooks $(DEMO)/rendered/site.yml

types: venv ## mypy --strict
	$(BIN)/mypy

quick: venv lint types ## lint, types, and the tests that need no real program
	$(BIN)/pytest -n $(WORKERS) -m 'not real and not container'

test: venv parsers containers lint types ## everything: real programs, and nodes in containers
	tools/setup-lab --docker
	@failed=0; \
	$(BIN)/pytest -n $(WORKERS) -m 'not container' || failed=1; \
	$(BIN)/pytest -n 0 -m container || failed=1; \
	exit $$failed

clean: ## removes what make made here; the parsers stay
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
