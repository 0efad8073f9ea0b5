# The only requirement is python3 (3.11 or newer) with venv, and make. Everything else lives in .venv.

PYTHON ?= python3
VENV   := .venv
# What was compiled once is kept, whatever this shell says: tests start the program some hundred times.
export PYTHONDONTWRITEBYTECODE :=
PIP    := $(VENV)/bin/pip --quiet --disable-pip-version-check

.PHONY: demo demo-two-laptops test test-slow one steady fuzz simulate trust test-wheel pythons dist-check site lint fix docs secrets-rules bench bench-memory bench-page picture hosts hosts-terminal clean

demo: $(VENV)/.runtime
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" sh fixtures/demo/demo.sh

# One memory on two laptops, by a git repository between them.
demo-two-laptops: $(VENV)/.runtime
	@$(VENV)/bin/python -c 'import pyrage' 2>/dev/null || $(PIP) install --editable '.[sync]'
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" sh fixtures/demo/two-laptops.sh

PYTEST := $(VENV)/bin/python -m pytest -n auto --dist worksteal -q
test: $(VENV)/.dev
	$(PYTEST) -m 'not slow'

# The others: those that start programs (kills, races, full disks, git, shells, whole verbs), and all that take longer than 0.1 s.
test-slow: $(VENV)/.dev
	$(PYTEST) -m slow

# Some of the tests: make one T=tests/log, make one T='-k ledger -x'
one: $(VENV)/.dev
	$(VENV)/bin/python -m pytest -q $(T)

# The suite, N times in a row, until one run fails.
N ?= 50
steady: $(VENV)/.dev
	$(VENV)/bin/python -m tests.support.steady $(N)

# The suite against the built wheel, with the sources out of the way; pythons: with every Python that is here.
test-wheel: $(VENV)/.dev
	$(VENV)/bin/python -m tests.support.installed $(PYTHON) -- $(T)

PYTHONS ?= python3.11 python3.12 python3.13 python3.14
pythons: $(VENV)/.dev
	$(VENV)/bin/python -m tests.support.installed $(PYTHONS) -- $(T)

# What would be published: the wheel twice, with the same bytes, its bill of materials, plugin and bundle, uv and pipx.
dist-check: $(VENV)/.dev
	$(PIP) install uv pipx
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(VENV)/bin/python -m tests.support.dist_check

# The pages of docs/ as a site, in build/site.
site: $(VENV)/.dev
	$(PIP) install 'mkdocs>=1.6'
	$(VENV)/bin/mkdocs build --strict

# Every property, kill and race with fresh seeds, round after round, until SECONDS have passed.
SECONDS ?= 120
fuzz: $(VENV)/.dev
	$(VENV)/bin/python -m tests.support.fuzz $(SECONDS)

# So many whole histories: machines, agents, a person, kills, full disks; each promise is checked after each step.
SEEDS ?= 1000
FIRST ?= 0
simulate: $(VENV)/.dev
	$(VENV)/bin/python -m tests.simulator $(SEEDS) --first $(FIRST)

# The tests of each promise at full effort, an evening long; the table goes into docs/guarantees.md. SCALE=0.1 is a tenth.
SCALE ?= 1
trust: SEEDS = 100000
trust: $(VENV)/.dev
	$(VENV)/bin/python -m tests.support.trust --scale $(SCALE) --seeds $(SEEDS) --only '$(ONLY)' --write

lint: $(VENV)/.dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

fix: $(VENV)/.dev
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

# The rules of tokens that gitleaks maintains, as hooks read them; FROM='gitleaks.toml COMMIT' takes a file.
secrets-rules: $(VENV)/.dev
	$(VENV)/bin/python -m tests.support.token_rules $(FROM) $$(date -u +%F)

# docs/format.md and docs/verbs.md, from the code.
docs: $(VENV)/.dev
	$(VENV)/bin/python -m tests.docs.generate

bench: $(VENV)/.dev
	$(VENV)/bin/python -m bench.installed $(BENCH)

# What is found of what was said, and what speaks unasked; BENCH='--locomo PATH' asks somebody else's questions, too.
bench-memory: $(VENV)/.dev
	$(VENV)/bin/python -m bench.memory $(BENCH)

# What `report` takes, and a move of its slider in a real browser: needs Playwright, and a chromium on the PATH.
bench-page: $(VENV)/.dev
	$(PIP) install playwright
	$(VENV)/bin/python -m bench.page

# The picture of the page in README: of the page that the demo makes.
picture: $(VENV)/.dev
	$(PIP) install playwright
	$(VENV)/bin/python -m tests.support.page_picture

# The real command-line agents from npm, offline, with our hooks; HOSTS=latest takes their newest versions.
hosts: $(VENV)/.dev
	HOSTS=$(HOSTS) $(VENV)/bin/python -m tests.realhosts $(WHICH)

hosts-terminal: $(VENV)/.dev
	HOSTS=$(HOSTS) $(VENV)/bin/python -m tests.realhosts --terminal $(WHICH)

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/.runtime: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --editable '.[dev]'
	@touch $@ $(VENV)/.runtime
