# Two commands do everything: `make run` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The lock holds for the build's own isolated environment too; the name of that setting depends on pip's age.
PIP := PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip
# Not its __pycache__, which is newer than what was installed once Python has been there.
BEGAN := $(shell date +%s)
NATIVE := CMakeLists.txt $(wildcard engine/native/*.* engine/native/*/*.*)

.PHONY: run install test dev bench lint map sanitize fuzz mutants stub lock clean

run: $(VENV)/.installed
	$(BIN)/desdemona run

install: $(VENV)/.installed

# Whatever the caller's shell says: else each process of the tests would compile them anew.
test: export PYTHONDONTWRITEBYTECODE :=
test: $(VENV)/.installed-dev lint
	$(BIN)/python -m compileall -q bot engine storage migrations  # once, not in each program that a test starts
	@status=0; $(BIN)/python -m pytest -n auto || status=$$?; took=$$(($$(date +%s) - $(BEGAN))); \
	echo "make test: $$((took / 60)) min $$((took % 60)) s"; exit $$status

dev: $(VENV)/.installed-dev

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

# Small changes of the code that matters, each of which a test must notice; some twenty minutes on two cores.
mutants: $(VENV)/.installed-dev
	$(BIN)/python -m tests.mutants

# The stub of the C++ core as the built module has it.
stub: $(VENV)/.installed-dev
	$(BIN)/python -m tests.engine.native.stub engine/_native.pyi

# The list of modules in docs/development.md.
map: $(VENV)/.installed-dev
	$(BIN)/python -m tests.code_map

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("Desdemona needs Python 3.11 or newer: make run PYTHON=python3.12, for instance" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt $(NATIVE) | $(BIN)/python
	@echo "Installing, and compiling the core: one to a few minutes"
	$(PIP) install --quiet --editable .
	touch $@

# Not on top of the other: the core would be compiled twice.
$(VENV)/.installed-dev: pyproject.toml constraints.txt $(NATIVE) | $(BIN)/python
	@echo "Installing with what tests need, and compiling the core: one to a few minutes"
	$(PIP) install --quiet --editable '.[dev]'
	touch $(VENV)/.installed $@

# Refresh the lock from what is newest today, in an environment of its own.
lock:
	rm -rf build/lock && $(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install --quiet --upgrade scikit-build-core nanobind cmake ninja '.[dev]'
	{ echo '# Exact versions for repeatable installs; `make lock` writes this file.'; \
	  build/lock/bin/python -m pip freeze --exclude desdemona; } > constraints.txt

clean:
	rm -rf build $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
