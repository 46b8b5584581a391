# Two commands do everything: `make run` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BEGAN := $(shell date +%s)
# Not its __pycache__, which is newer than what was installed once Python has been there.
NATIVE := CMakeLists.txt $(filter-out %.pyc,$(wildcard engine/native/*.* engine/native/*/*.* lab/native/*.*))

.PHONY: run install test compiled dev wheel bench lint map docs sentences sanitize fuzz mutants stub lock clean

run: $(VENV)/.installed
	@echo "Starting the bot, which makes its database if there is none, and prints the page's address"
	@$(BIN)/desdemona run

install: $(VENV)/.installed

# Whatever the caller's shell says: else each process of the tests would compile them anew.
test: export PYTHONDONTWRITEBYTECODE :=
test: $(VENV)/.installed-dev
	@$(MAKE) --no-print-directory -j 2 lint compiled
	@status=0; $(BIN)/python -m pytest -n auto || status=$$?; took=$$(($$(date +%s) - $(BEGAN))); \
	echo "make test: $$((took / 60)) min $$((took % 60)) s"; exit $$status

# Compile the program and, which takes pytest longer, the tests: once, not in each of its processes.
compiled: $(VENV)/.installed-dev
	$(BIN)/python -m compileall -q bot engine lab storage migrations
	$(BIN)/python -m pytest --collect-only -q > build/collected || cat build/collected

dev: $(VENV)/.installed-dev

# The source archive, and from it the wheel for this Python, in dist/: what `pipx install` takes, without a compiler.
wheel: export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
wheel: export PIP_BUILD_CONSTRAINT := $(CURDIR)/constraints.txt
wheel: $(VENV)/.installed-dev
	rm -f dist/desdemona-*.tar.gz
	$(BIN)/python -c 'from scikit_build_core.build import build_sdist; build_sdist("dist")'
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist dist/desdemona-*.tar.gz
	@ls dist

bench: $(VENV)/.installed-dev
	$(BIN)/python -m bench.native

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The C++ core by itself: under sanitizers (a minute or two on two cores), and with ten million random inputs.
sanitize:
	$(MAKE) -C tests/native -j 2 sanitize

fuzz:
	$(MAKE) -C tests/native -j 2 fuzz

# Small changes of the code that matters, each of which a test must notice; half an hour on two slow cores.
mutants: $(VENV)/.installed-dev
	$(BIN)/python -m lab.mutants

# The stubs of the C++ modules as they were built.
stub: $(VENV)/.installed-dev
	$(BIN)/python -m tests.engine.native.stub

# The parts of docs/ that follow from the code or from docs/data/numbers.toml.
map: $(VENV)/.installed-dev
	$(BIN)/python -m tests.storage.sql.sql_page
	$(BIN)/python -m tests.docs.generated

# The documentation as a site, in build/docs; broken links and pages outside of the navigation are errors.
docs: export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
docs: export NO_MKDOCS_2_WARNING := 1
docs: $(VENV)/.installed-dev
	@$(BIN)/python -c 'import material' 2> build/docs.log || $(BIN)/python -m pip install --quiet --disable-pip-version-check mkdocs-material
	$(BIN)/mkdocs build --quiet --strict
	! grep -rlE '<(script|link|img|iframe)[^>]*(src|href)="(https?:)?//' build/docs
	@echo "The site: build/docs/index.html"

# What the catalogues of the arena's page have, and lack, of its sentences.
sentences: $(VENV)/.installed-dev
	$(BIN)/python -m tests.bot.arena.sentences

$(VENV)/.installed: pyproject.toml constraints.txt $(NATIVE)
	@$(PYTHON) deploy/install.py
	@touch $@

# Not on top of the other: the core would be compiled twice.
$(VENV)/.installed-dev: pyproject.toml constraints.txt $(NATIVE)
	@$(PYTHON) deploy/install.py dev
	@touch $(VENV)/.installed $@

# Refresh the lock from what is newest today, in an environment of its own.
lock:
	rm -rf build/lock && $(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install --quiet --upgrade scikit-build-core nanobind cmake ninja '.[dev,docs]'
	{ echo '# Exact versions for repeatable installs; `make lock` writes this file.'; \
	  build/lock/bin/python -m pip freeze --exclude desdemona; } > constraints.txt

clean:
	rm -rf build $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
