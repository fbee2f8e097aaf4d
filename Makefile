# The menu. Each verb is one script or a preset; `make` alone prints the list.
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
export JOBS

.DEFAULT_GOAL := help
.PHONY: help demo build test bench dev unit lint format fuzz clang tsan coverage install clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' Makefile

demo: ## install what is missing, build, and show the main job on a real small project
	@tools/demo

build: ## build/bin/paddock and the programs beside it (release)
	@tools/install_packages build
	@tools/build release

test: ## install what the tests need, build, run every test
	@tools/test

bench: ## install the peers and print the table of ratios
	@tools/bench

dev: ## build everything under ASan and UBSan into build-dev/
	@tools/build dev

unit: dev ## the unit tests alone, under ASan and UBSan
	@ctest --test-dir build-dev -L unit -j $(JOBS) --output-on-failure

lint: ## layers, names, headers, documents, formatting
	@tools/lint

format: ## clang-format every C and C++ file in place
	@git ls-files '*.cc' '*.h' '*.c' | xargs clang-format -i

fuzz: ## build the libFuzzer targets and run each for FUZZ_SECONDS (60)
	@tools/fuzz

clang: ## the unit tests built by the second compiler
	@tools/build clang && ctest --test-dir build-clang -L unit -j $(JOBS) --output-on-failure

tsan: ## the unit tests under ThreadSanitizer
	@tools/build tsan && ctest --test-dir build-tsan -L unit -j $(JOBS) --output-on-failure

coverage: ## line coverage of the unit tests, by folder
	@tools/coverage

install: build ## install the programs below PREFIX (/usr/local)
	@cmake --install build --prefix $(DESTDIR)$(PREFIX)

clean: ## remove every build folder
	@rm -rf build build-dev build-fast build-clang build-tsan build-fuzz build-coverage
