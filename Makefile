# Two commands on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: demo test browser gold bench soak lint clean
.DELETE_ON_ERROR:

demo: $(STAMP)
	@$(BIN)/tracker diff release:0.12.0.1 --base release:0.11.1 || test $$? -eq 1

test: $(STAMP)
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n 2
	$(BIN)/coverage combine -q
	$(BIN)/coverage report

# What the tests of the HTML report take besides Chromium (Debian: apt-get install chromium).
browser: $(STAMP)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[browser]'

# The share of right answers on ten months of JAX; the second line needs `tracker pull`.
gold: $(STAMP)
	@$(BIN)/python -m tests.gold.figures

# What other ways of following errors make of the same ten months, and the history beside git; needs `tracker pull`.
bench: $(STAMP)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[bench]'
	@$(BIN)/python -m tests.benchmarks.speed
	@$(BIN)/python -m tests.benchmarks.peers
	@$(BIN)/python -m tests.benchmarks.history

# The daemon over 500 runs, and a thousand random years at the desk.
soak: $(STAMP)
	TRACKER_SOAK_RUNS=500 $(BIN)/python -m pytest -q -s tests/test_daemon.py -k many_runs
	$(BIN)/python -m tests.filing.schedules 1000

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# One rule installs everything, once: the stamp is older than neither file it depends on.
$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test,lint]'
	@touch $@

clean:
	rm -rf $(VENV) .coverage* .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis

# Takes the newest versions that pyproject.toml allows and writes them down.
.PHONY: relock
relock:
	rm -rf $(VENV)
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,lint,bench,browser]'
	{ echo "# The versions a fresh machine gets. Renew with: make relock"; $(BIN)/python -m pip freeze --all --exclude-editable --exclude setuptools --exclude wheel; } > constraints.txt
	@touch $(STAMP)
