# SPDX-License-Identifier: Apache-2.0
#
# A thin front over CMake and scripts/. Everything is built under build/; sanitizers build-san/, fuzzers build-fuzz/, clang
# build-clang/. CMake options go through CMAKE_ARGS, e.g. make CMAKE_ARGS=-DXST_CUDA=OFF.
BUILD ?= build
JOBS ?= $(shell nproc 2>/dev/null || echo 1)
FUZZ_SECONDS ?= 300
export JOBS FUZZ_SECONDS

all: ## build the library and the tool into build/
	@scripts/build.sh $(BUILD) $(JOBS) $(CMAKE_ARGS)

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1	\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 18

setup: ## install what build and tests need (Debian packages), if anything is missing
	@scripts/setup.sh test

demo: ## build, then calibrate, predict and report on recorded measurements: no GPU needed
	@scripts/setup.sh build
	@XST_BUILD_TARGET=xstage_tool scripts/build.sh build $(JOBS) $(CMAKE_ARGS)
	@scripts/demo.sh

test: ## all tests, plain and under sanitizers
	@scripts/setup.sh test
	@scripts/run_tests.sh plain san

san: ## all tests under address and undefined-behaviour sanitizers alone
	@scripts/setup.sh test
	@scripts/run_tests.sh san

lint: ## include rules, format, clang-tidy, headers alone, shell and Python checks
	@scripts/setup.sh test
	@scripts/lint.sh

fuzz: ## each fuzzer for FUZZ_SECONDS (300)
	@scripts/setup.sh test
	@scripts/run_fuzz.sh

bench: all ## run bench/, print its tables
	@scripts/run_bench.sh $(BUILD)

format: ## rewrite C and CUDA sources with clang-format
	@scripts/format.sh

install: all ## into PREFIX (/usr/local), below DESTDIR when given
	@DESTDIR="$(DESTDIR)" cmake --install $(BUILD) $(if $(PREFIX),--prefix "$(PREFIX)")

clean: ## remove everything that was built
	rm -rf build build-san build-fuzz build-clang

.PHONY: all help setup demo test san lint fuzz bench format install clean
