# All commands for development. Each target sets up what it needs; a second run is quick.

PYTHON ?= python3
# The tested version; any from 2.6 should work.
TORCH ?= torch==2.13.0
# Processes that share the tests. Some tests are about time, so no more than there are cores.
JOBS ?= 2
BIN := .venv/bin
CORE := $(wildcard cpp/*/*.cpp cpp/*/*.hpp)
PLAIN_CORE := $(filter-out cpp/python/%,$(wildcard cpp/*/*.cpp))

.SECONDARY:
.PHONY: demo demo-files test test-files test-models test-server unit lint format sanitize faults fuzz bench clean

demo: .venv/installed  ## decode the shipped receipts under rules, and two PDF files; write reports
	@mkdir -p build
	$(BIN)/lawful demo --out build/demo.html

demo-files: .venv/with-ocr demo  ## the same with a photo, which needs OCR

test: lint sanitize unit  ## all checks and tests, except those that need torch
	@echo "left out: tests/models/with_torch, which needs torch and transformers: make test-models"
	@echo "left out: tests/files/with_ocr, which needs rapidocr: make test-files"
	@echo "left out: tests/server and tests/review, which start servers: make test-server"

test-files: .venv/with-ocr  ## tests of reading files with the real libraries: PDFs, photos, OCR
	$(BIN)/python -m pytest tests/files tests/cli/test_files.py tests/datasets/test_facturx.py tests/test_lines.py

test-models: .venv/trained  ## tests of training, running and exporting models with torch
	$(BIN)/python -m pytest tests/models/with_torch

test-server: .venv/served  ## tests of the HTTP service, with real requests on loopback
	$(BIN)/python -m pytest tests/server tests/review

unit: .venv/installed
	$(BIN)/python -m pytest -n $(JOBS) --ignore=tests/models/with_torch --ignore=tests/files/with_ocr --ignore=tests/faults \
	    --ignore=tests/server --ignore=tests/review

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(CORE) $(wildcard tests/cpp/*.cpp)

format: .venv/installed  ## fix what lint complains about, as far as the tools can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CORE) $(wildcard tests/cpp/*.cpp)

sanitize:  ## compare the core with brute force, under AddressSanitizer and UndefinedBehaviorSanitizer
	@$(MAKE) --no-print-directory -j2 build/random_streams build/random_searches
	build/random_streams 4000
	build/random_searches 1500

faults: .venv/installed  ## kills, full disks, closed pipes and dying workers during real runs
	$(BIN)/python -m pytest tests/faults

fuzz: .venv/installed  ## a million hostile inputs; then statements about documents against brute force
	$(BIN)/python -m tests.hostile 1000000 --workers 2
	$(BIN)/python -m tests.fuzz 20000 --workers 2
	$(BIN)/python -m tests.fuzz_pins 5000

bench: .venv/benched  ## compare with peer libraries; takes ten minutes
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.decoders
	$(BIN)/python -m benchmarks.search
	$(BIN)/python -m benchmarks.limits
	$(BIN)/python -m benchmarks.rows
	$(BIN)/python -m benchmarks.referee
	$(BIN)/python -m benchmarks.files

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

.venv/trained: .venv/installed
	@echo "--- installing torch and transformers into .venv"
	$(BIN)/pip install --quiet --no-build-isolation --editable '.[train]' $(TORCH)
	@touch $@

.venv/with-ocr: .venv/installed
	@echo "--- installing rapidocr into .venv"
	$(BIN)/pip install --quiet --no-build-isolation --editable '.[ocr]'
	@touch $@

.venv/served: .venv/installed
	@echo "--- installing the HTTP service and its tests into .venv"
	$(BIN)/pip install --quiet --no-build-isolation --editable '.[test-server]'
	@touch $@

.venv/made:
	@echo "--- making .venv"
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("lawful needs Python 3.11 or newer, found " + sys.version.split()[0] + ": make PYTHON=/path/to/a/newer/python")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet cmake ninja scikit-build-core nanobind 'numpy>=2.0'
	@touch $@

SANITIZED := $(CXX) -std=c++20 -O1 -g -Wall -Wextra -Werror -fsanitize=address,undefined \
    -fno-sanitize-recover=all -Icpp
PLAIN_OBJECTS := $(PLAIN_CORE:cpp/%.cpp=build/sanitized/%.o)

build/random_%: tests/cpp/random_%.cpp $(PLAIN_OBJECTS)
	$(SANITIZED) $^ -o $@

build/sanitized/%.o: cpp/%.cpp $(wildcard cpp/*/*.hpp)
	@mkdir -p $(@D)
	$(SANITIZED) -c $< -o $@
