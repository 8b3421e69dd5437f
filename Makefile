# Everything a person types. Each target sets up what it needs; a second run is quick.

PYTHON ?= python3
BIN := .venv/bin
CORE := $(wildcard cpp/*.cpp cpp/*.hpp)
PLAIN_CORE := $(filter-out cpp/bindings%,$(wildcard cpp/*.cpp))

.PHONY: demo test unit lint format sanitize bench clean

demo: .venv/installed  ## decode the shipped receipts under rules, and write a report
	@mkdir -p build
	$(BIN)/lawful demo --out build/demo.html

test: lint sanitize unit  ## everything that must hold

unit: .venv/installed
	$(BIN)/python -m pytest

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(CORE) tests/random_cases.cpp

format: .venv/installed  ## what lint asks for, where a tool can do it
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CORE) tests/random_cases.cpp

sanitize: build/random_cases  ## the core, under the sanitizers, against brute force
	$< 4000

bench: .venv/benched  ## against the peers; ten minutes
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.decoders
	$(BIN)/python -m benchmarks.referee

clean:
	rm -rf .venv build

.venv/installed: pyproject.toml CMakeLists.txt $(CORE) | .venv/made
	@echo "--- building the core and installing lawful into .venv"
	$(BIN)/pip install --quiet --no-build-isolation --editable '.[test,lint]'
	@touch $@

.venv/benched: .venv/installed
	@echo "--- installing the peers into .venv"
	$(BIN)/pip install --quiet --no-build-isolation --editable '.[bench]'
	@touch $@

.venv/made:
	@echo "--- making .venv"
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("lawful needs Python 3.11 or newer, found " + sys.version.split()[0] + ": make PYTHON=/path/to/a/newer/python")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet cmake ninja scikit-build-core nanobind 'numpy>=2.0'
	@touch $@

build/random_cases: tests/random_cases.cpp $(filter-out cpp/bindings%,$(CORE))
	@echo "--- building the core with AddressSanitizer and UndefinedBehaviourSanitizer"
	@mkdir -p build
	$(CXX) -std=c++20 -O1 -g -Wall -Wextra -Werror -fsanitize=address,undefined \
	    -fno-sanitize-recover=all tests/random_cases.cpp $(PLAIN_CORE) -o $@
