# make        lists the targets
# make demo   renders a cluster and lets its real daemons read it
# make lab    the same cluster in containers, with jobs running on it
# make quick  lint, types, and a sample of the tests, in a minute
# make test   what CI runs: lint, types, the tests, real Slurm and its neighbours, in 20 minutes

PYTHON  ?= python3
PYTHONS ?= python3.12 python3.13 debian:forky
WORKERS ?= 2
SEED    ?= $(shell date +%Y%m%d)
DEMO    ?= inventories/ml-training
PART    ?=
SAMPLE  ?= 6

VENV  := .venv
BIN   := $(VENV)/bin
READY := $(VENV)/.ready-$(shell cat pyproject.toml constraints.txt | sha256sum | cut -c1-16)

# Hundreds of tests start Python: each module is compiled once, regardless of the caller's environment.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help venv parsers containers docker lab demo render proof site image browser lint ansible types quick test long pythons benchmark mutants clean

help: ## list the targets
	@sed -nE 's/^([a-z]+):.*## (.*)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

venv: $(READY) ## the Python environment, created again if pyproject.toml or constraints.txt changed

$(READY):
	$(PYTHON) -m venv $(VENV)
	PIP_CONSTRAINT=constraints.txt $(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev,docs]'
	@touch $@

parsers: venv ## real Slurm 22.05, 24.11 and 26.05, promtool and others, in ~/.cache/clustergen (two minutes, once)
	$(BIN)/clustergen setup parsers

containers: venv ## packages for nodes in containers: podman, mmdebstrap
	$(BIN)/clustergen setup lab

docker: venv ## the same, and docker for its own test
	$(BIN)/clustergen setup lab --docker

lab: venv containers ## a cluster in containers, with a real Slurm (five minutes)
	$(BIN)/clustergen lab up $(DEMO)/manifest.yaml --scale 3
	$(BIN)/clustergen lab apply $(DEMO)/manifest.yaml
	$(BIN)/clustergen lab status $(DEMO)/manifest.yaml

demo: venv parsers ## render a cluster and let the real daemons read it
	$(BIN)/clustergen render $(DEMO)/manifest.yaml
	$(BIN)/clustergen verify $(DEMO)/rendered

render: venv ## render every inventory again
	for manifest in inventories/*/manifest.yaml; do $(BIN)/clustergen render "$$manifest" || exit; done

proof: venv parsers ## write docs/proof.md: which program has read which kind of file
	$(BIN)/clustergen proof --write docs/proof.md inventories/*/manifest.yaml tests/fixtures/verify/*.yaml

site: venv ## the documentation site, in build/site/html; a warning is an error
	$(BIN)/python tools/build-site

image: venv containers ## a container image with clustergen and all parsers, in podman's store (three minutes, then one)
	$(BIN)/python tools/build-image

browser: venv ## the browser that looks at the site in the tests
	tools/setup-browser

lint: venv ## ruff, vermin, import contracts, tools/lint, shellcheck, yamllint
	$(BIN)/ruff check
	$(BIN)/ruff check --select F,I,PLE $$(grep -lsE '^#!.*python' tools/*)
	$(BIN)/vermin --quiet --no-tips --violations --target=3.9- programs
	$(BIN)/python tools/lint
	$(BIN)/lint-imports --no-logo --no-cache
	tools/shell-files | tools/once-per-content shellcheck
	git ls-files --cached --others --exclude-standard '*.yml' '*.yaml' .yamllint | tools/once-per-content $(BIN)/yamllint --strict

ansible: venv ## ansible-lint of the playbooks and of a rendered site.yml
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/ansible-lint --offline -q --profile production playbooks $(DEMO)/rendered/site.yml

types: venv ## mypy --strict
	$(BIN)/mypy
	MYPYPATH=programs/lib $(BIN)/mypy --python-version 3.10 --scripts-are-modules $$(find programs -name '*.py')

quick: venv ## lint, types, fast tests, and one of eight cases of each large table (a minute)
	tools/side-by-side \
		checks make --no-print-directory lint types -- \
		tests $(BIN)/pytest -n $(WORKERS) --dist worksteal -m 'not real and not container and not long and not slow' \
			--sample 8 --hypothesis-profile quick

# What a part requires, as the first word of its name says.
NEEDS_containers := parsers docker
NEEDS_docs := parsers browser
NEEDS_real := parsers
NEEDS := $(NEEDS_$(firstword $(subst -, ,$(PART))))
# One more than there are cores, since many tests wait for daemons.
SPREAD := -n $(shell expr $(WORKERS) + 1) --dist worksteal
LABS := -n 3 --dist loadfile
SHARE := --tb short --sample $(SAMPLE)

# Each side installs what it requires, so that a bare machine is busy while packages are downloaded.
test: venv ## all that CI runs: real programs, nodes in containers; PART=real-24.11 runs a part, PART=? lists them
	$(if $(NEEDS),@$(MAKE) --no-print-directory --jobs $(NEEDS))
	$(if $(PART),$(BIN)/pytest $(if $(filter containers,$(PART)),$(LABS),$(SPREAD)) $(SHARE) -m 'not long' --part '$(PART)',\
	tools/side-by-side \
		types make --no-print-directory lint types ansible -- \
		tests sh -c 'make --no-print-directory --jobs parsers browser && \
			exec $(BIN)/pytest $(SPREAD) $(SHARE) -m "not container and not long"' -- \
		containers make --no-print-directory test PART=containers)

long: venv parsers docker ## what takes hours: all cases, thousands of mutations and faults; run again, it continues
	$(BIN)/pytest $(SPREAD) -m '(long or many) and not container' --resume build/long
	$(BIN)/pytest $(LABS) -m 'container and (long or many)' --resume build/long

benchmark: venv ## write docs/benchmarks.md: times of all verbs as ratios, and instructions where valgrind is installed
	$(BIN)/python benchmarks/run.py --runs 5 $(if $(shell command -v valgrind),--instructions) --write docs/benchmarks.md

mutants: venv parsers ## write docs/mutants.md: changes of the code that the tests notice; SEED draws others
	ls build/mutants/reach-quick-*.pickle >/dev/null 2>&1 || $(BIN)/python tools/mutate --record quick
	$(BIN)/python tools/mutate --seed $(SEED) --count 40 --workers $(WORKERS) --write docs/mutants.md

pythons: ## the quick tests with other Pythons (PYTHONS; debian:forky has 3.14), and with the oldest libraries that are allowed
	for python in $(PYTHONS); do \
		case $$python in debian:*) ;; *) command -v $$python >/dev/null || continue ;; esac; tools/try-python $$python || exit; \
	done
	tools/try-python $(PYTHON) --lowest

clean: ## removes what make made here; the parsers stay
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
