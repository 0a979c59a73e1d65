# SPDX-License-Identifier: Apache-2.0
#
# A thin front over CMake: `make help` lists the targets. Everything is built under build/ (sanitizers: build-san/,
# fuzzers: build-fuzz/, clang: build-clang/).
BUILD ?= build
JOBS ?= $(shell nproc 2>/dev/null || echo 1)

all:
	@scripts/build.sh $(BUILD) $(JOBS)

.PHONY: all
