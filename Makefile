# All commands for development. Each target sets up what it needs; a second run is quick.

PYTHON ?= python3
# The tested version; any from 2.6 should work.
TORCH ?= torch==2.13.0
# Processes that share the tests. Some tests are about time, so no more than there are cores.
JOBS ?= 2
# More interpreters to try wheels on, beside those of pyenv and those on the path.
PYTHONS ?=
# The tested versions.
ENGINES ?= 'ray[data]==2.60.0' pyspark==4.3.0 polars==2.1.0 duckdb==2.0.0 datasets==5.2.0 pandas==3.1.1
PLUGS ?= docling-core==2.104.0 langextract==1.7.1 instructor==1.17.0 pydantic-ai-slim==2.68.0 dspy==3.4.1 spacy==3.8.18 \
    llama-index-core==0.14.25 haystack-ai==3.4.0 prefect==3.7.7 apache-airflow-task-sdk==1.3.2 polars==2.1.0 pandas==3.1.1
BIN := .venv/bin
CORE := $(wildcard cpp/*/*.cpp cpp/*/*.hpp)
PLAIN_CORE := $(filter-out cpp/python/%,$(wildcard cpp/*/*.cpp))
# Clang as it is called here, or as Debian calls the newest one.
CLANG ?= $(firstword $(shell which clang++ clang++-19 2>/dev/null) clang++-19)

.SECONDARY:
.PHONY: demo demo-files test test-files test-models test-server test-llm test-engines test-plugs test-web web unit lint format sanitize portable wheel docs faults fuzz bench clean

demo: .venv/ready  ## decode the shipped receipts under rules, and two PDF files; write reports
	@mkdir -p build
	$(BIN)/lawful demo --out build/demo.html

demo-files: .venv/with-ocr demo  ## the same with a photo, which needs OCR

test: lint unit  ## all checks and tests, except those with a target of their own
	@echo "left out: the core under the sanitizers: make sanitize"
	@echo "left out: tests/models/with_torch, which needs torch and transformers: make test-models"
	@echo "left out: tests/readers/with_ocr, which needs rapidocr: make test-files"
	@echo "left out: tests/server and tests/review, which start servers: make test-server"
	@echo "left out: a real server of language models, which needs llama.cpp: make test-llm"
	@echo "left out: tests/web, which needs Node.js and a browser: make test-web"
	@echo "left out: tests/engines, which needs Ray and Spark: make test-engines"
	@echo "left out: plugs with the libraries that they are for: make test-plugs"

test-files: .venv/with-ocr  ## tests of reading files with the real libraries: PDFs, photos, OCR
	$(BIN)/python -m pytest tests/readers tests/cli/test_files.py tests/documents/test_reading_order.py

test-models: .venv/trained  ## tests of training, running and exporting models with torch
	$(BIN)/python -m pytest tests/models/with_torch

test-server: .venv/served  ## tests of the HTTP service, with real requests on loopback
	$(BIN)/python -m pytest tests/server tests/review

test-llm: .venv/with-llm  ## tests of language models, with llama.cpp's server on loopback
	$(BIN)/python -m pytest tests/llm

test-engines: .venv-engines/installed  ## Ray Data, Spark, Polars, DuckDB, datasets, pandas: the same rows as one process
	.venv-engines/bin/python -W default -m pytest -W default tests/engines tests/arrow/test_frames.py
	.venv-engines/bin/python -m pytest -W default tests/test_package.py -k with_

test-plugs: .venv-plugs/installed  ## spaCy, docling, LangExtract, instructor, DSPy, Haystack and others, with lawful plugged in
	.venv-plugs/bin/python -W default -m pytest -W default tests/plugs tests/arrow/test_accessors.py

test-web: .venv/with-browser web/node_modules/.package-lock.json  ## tests of the review page, in Chromium
	$(BIN)/python -m pytest -n $(JOBS) tests/web

web: web/node_modules/.package-lock.json  ## build the review page into src/lawful/review/static
	npm --prefix web run --silent build

unit: .venv/installed
	$(BIN)/python -m pytest -n $(JOBS) --ignore=tests/models/with_torch --ignore=tests/readers/with_ocr --ignore=tests/faults \
	    --ignore=tests/server --ignore=tests/review --ignore=tests/web --ignore=tests/engines

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
	@$(MAKE) --no-print-directory -j2 build/random_wide build/random_streams build/random_searches
	build/random_wide 300000
	build/random_streams 4000
	build/random_searches 1500

portable: .venv/installed build/clang  ## the core with Clang and without 128-bit integers, against brute force
	@$(MAKE) --no-print-directory -j2 build/portable/random_streams build/portable/random_searches
	build/portable/random_streams 4000
	build/portable/random_searches 1500
	$(BY_CLANG) -fsyntax-only $$($(BIN)/python tests/cpp/include_flags.py) $(filter %.cpp,$(CORE))

wheel: .venv/with-release-tools  ## build what is released, and try it on every Python of this machine
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
	$(BIN)/check-jsonschema --builtin-schema vendor.github-actions action.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
	$(BIN)/python -m tests.wheels $(PYTHONS)

docs: .venv/with-sphinx  ## the site in build/site; its notebook is executed, warnings are errors
	$(BIN)/python docs/make_cli.py --check
	$(BIN)/python docs/make_notebook.py --check
	$(BIN)/python -m sphinx -q -W --keep-going -d build/doctrees docs build/site
	@echo "open build/site/index.html"

faults: .venv/installed  ## kills, full disks, closed pipes and dying workers during real runs
	$(BIN)/python -m pytest tests/faults

fuzz: .venv/installed  ## a million hostile inputs; then statements about documents against brute force
	$(BIN)/python -m tests.hostile 1000000 --workers 2
	$(BIN)/python -m tests.fuzz 20000 --workers 2
	$(BIN)/python -m tests.fuzz_pins 5000

bench: .venv/benched  ## compare with peer libraries; takes ten minutes
	$(BIN)/python -m lab.benchmarks
	$(BIN)/python -m lab.benchmarks.search
	$(BIN)/python -m lab.benchmarks.limits
	$(BIN)/python -m lab.benchmarks.rows
	$(BIN)/python -m lab.benchmarks.end_to_end

clean:
	rm -rf .venv .venv-engines .venv-plugs build

.venv/ready: pyproject.toml CMakeLists.txt $(CORE) | .venv/made
	@echo "--- building the core and installing lawful into .venv"
	$(BIN)/pip install --quiet --no-build-isolation --editable '.[onnx,pdf]' --editable ./packages/lawful-models
	@touch $@

# What is installed in .venv is taken for 'lawful' below: extras add packages, and the core is built once.
.venv/installed: .venv/ready
	@echo "--- installing the tools for tests into .venv"
	$(BIN)/pip install --quiet 'lawful[test,lint]'
	@touch $@

.venv/benched: .venv/installed
	@echo "--- installing the peers into .venv"
	$(BIN)/pip install --quiet 'lawful[bench]'
	@touch $@

.venv/trained: .venv/installed
	@echo "--- installing torch and transformers into .venv"
	$(BIN)/pip install --quiet 'lawful[train]' $(TORCH)
	@touch $@

.venv/with-browser: .venv/installed
	@echo "--- installing playwright into .venv, and Chromium if apt-get can"
	$(BIN)/pip install --quiet 'lawful[test-web]'
	@$(PYTHON) tests/web/browser.py || { [ "$$(id -u)" = 0 ] && apt-get -qq update && \
	    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y chromium-headless-shell >/dev/null; } || \
	    echo "no Chromium, and none could be installed: the tests of the page will be skipped"
	@touch $@

# Other platforms than that of the lock file lack binaries in it, which npm ci would not add.
web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	@echo "--- installing Vite, TypeScript, Preact and axe into web/node_modules"
	npm --prefix web install --no-save --no-audit --no-fund --loglevel=error
	@touch $@

.venv/with-ocr: .venv/installed
	@echo "--- installing rapidocr into .venv"
	$(BIN)/pip install --quiet 'lawful[ocr]'
	@touch $@

.venv/served: .venv/installed
	@echo "--- installing the HTTP service and its tests into .venv"
	$(BIN)/pip install --quiet 'lawful[test-server]'
	@touch $@

.venv/with-llm: .venv/installed
	@echo "--- installing llama.cpp's server into .venv"
	$(BIN)/pip install --quiet 'lawful[test-llm]'
	@touch $@

.venv-engines/installed: EXTRAS := $(ENGINES)
.venv-plugs/installed: EXTRAS := $(PLUGS)
# Places of their own: over a gigabyte each. All else comes from .venv.
.venv-%/installed: | .venv/served
	@echo "--- installing $(EXTRAS) into .venv-$*"
	$(PYTHON) -m venv .venv-$*
	.venv-$*/bin/pip install --quiet $(EXTRAS)
	$(BIN)/python -c 'import sysconfig; print("import site; site.addsitedir(%r)" % sysconfig.get_path("purelib"))' \
	    > $$(.venv-$*/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/lawful.pth
	@touch $@

.venv/with-sphinx: .venv/installed
	@echo "--- installing Sphinx into .venv"
	$(BIN)/pip install --quiet 'lawful[docs]'
	@touch $@

.venv/with-release-tools: .venv/installed
	@echo "--- installing the tools for releases into .venv"
	$(BIN)/pip install --quiet build auditwheel abi3audit twine check-jsonschema
	@touch $@

.venv/made:
	@echo "--- making .venv"
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("lawful needs Python 3.11 or newer, found " + sys.version.split()[0] + ": make PYTHON=/path/to/a/newer/python")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet cmake ninja scikit-build-core nanobind 'numpy>=2.0'
	@touch $@

STRICT := -std=c++20 -Wall -Wextra -Wpedantic -Werror -Icpp
SANITIZED := $(CXX) $(STRICT) -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all
# Clang complains about what GCC's own stable_sort calls.
BY_CLANG := $(CLANG) $(STRICT) -Wno-deprecated-declarations
PORTABLE := $(BY_CLANG) -O1 -DLAWFUL_PORTABLE
PLAIN_OBJECTS := $(PLAIN_CORE:cpp/%.cpp=build/sanitized/%.o)

build/random_%: tests/cpp/random_%.cpp $(PLAIN_OBJECTS)
	$(SANITIZED) $^ -o $@

build/sanitized/%.o: cpp/%.cpp $(wildcard cpp/*/*.hpp)
	@mkdir -p $(@D)
	$(SANITIZED) -c $< -o $@

build/portable/random_%: tests/cpp/random_%.cpp $(PLAIN_CORE:cpp/%.cpp=build/portable/%.o)
	$(PORTABLE) $^ -o $@

build/portable/%.o: cpp/%.cpp $(wildcard cpp/*/*.hpp)
	@mkdir -p $(@D)
	$(PORTABLE) -c $< -o $@

build/clang:
	@mkdir -p build
	@command -v $(CLANG) || { echo "--- installing Clang"; apt-get update -qq && apt-get install -y -qq --no-install-recommends $(patsubst clang++%,clang%,$(CLANG)); }
	@touch $@
