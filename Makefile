# Thin: each target is one or two commands that also work by hand after scripts/setup.
.PHONY: climb vgpu dist install report test check build configure sanitize aarch64 fuzz setup \
  format lint clean
.DEFAULT_GOAL := build

# What `make climb` needs; `make test` needs more packages, and cuBLAS.
setup:
	@scripts/setup --for \
	  $(if $(filter aarch64,$(MAKECMDGOALS)),aarch64,$\
	  $(if $(filter test check report sanitize fuzz setup,$(MAKECMDGOALS)),test,climb))

configure: setup
	@. .toolchain/env.sh && cmake --preset release $(CMAKE_FLAGS) >.toolchain/configure.log 2>&1 || \
	  { cat .toolchain/configure.log; exit 1; }
	@grep -E '^-- off:' .toolchain/configure.log || true

BUILD = . .toolchain/env.sh && cmake --build --preset release

build: configure
	@$(BUILD)

# The virtual GPU alone.
vgpu: configure
	@$(BUILD) --target vgpu

# The main job: every rung verified, then measured on a GPU, or counted on the virtual one. The CPU
# rungs come first: their rows do not wait for the CUDA kernels to compile. Both programs have this
# one verb; `make` builds `ladder` with all.
climb: configure
	@$(BUILD) --target ladder_first
	build/bin/ladder_first climb host --device cpu --json build/climb-host.json
	@$(BUILD) --target ladder_climb_cuda
	build/bin/ladder_climb_cuda climb --json build/climb-cuda.json
	@echo "make: builds build/bin/ladder with all verbs, and build/bin/vgpu."
	@echo "Then, one page of all rungs: build/bin/ladder report build/climb-host.json build/climb-cuda.json --html build/climb.html"

# Programs, libraries, manual pages and completions, below DESTDIR and PREFIX; the result can be
# moved as a whole.
PREFIX ?= /usr/local
install: configure
	@$(BUILD) --target ladder_programs
	DESTDIR="$(DESTDIR)" cmake --install build --prefix "$(PREFIX)"

# A tarball for any Linux on x86-64 with glibc 2.31 or later, and its checksum.
dist: setup
	packaging/dist

# What is made from the committed rows: tables and pictures of README and docs, and the report that
# README links.
report: build
	scripts/tables

test: build
	ctest --preset release -LE long

# The tests that take minutes: broken copies of the rungs, the fuzzers' corpora.
check: build
	@$(BUILD) --target long_tests
	ctest --preset release -L long

# The virtual GPU without a CUDA runtime, compiled for aarch64, and the tests of PTX and textures
# under qemu-user. Their device code is that of the build for this machine.
aarch64: configure
	@$(BUILD) --target vgpu_device_code
	@. .toolchain/env.sh && cmake --preset aarch64 >.toolchain/configure-aarch64.log 2>&1 || \
	  { cat .toolchain/configure-aarch64.log; exit 1; }
	@. .toolchain/env.sh && cmake --build --preset aarch64 \
	  --target test_vgpu_ptx test_vgpu_texture && ctest --preset aarch64 -R 'test_vgpu_(ptx|texture)'

# The virtual GPU's tests under AddressSanitizer with UBSan, and under ThreadSanitizer.
sanitize: setup
	@for kind in asan tsan; do \
	  . .toolchain/env.sh && cmake --preset $$kind >/dev/null && \
	  cmake --build --preset $$kind --target vgpu_tests && \
	  ctest --preset $$kind -L vgpu || exit 1; \
	done

# Ten minutes each, two at a time; fuzz/run says how to choose.
fuzz: configure
	@$(BUILD) --target fuzz_targets && fuzz/run

format:
	git ls-files '*.hpp' '*.h' '*.cpp' '*.cu' '*.cuh' | xargs clang-format -i

lint:
	scripts/lint

clean:
	rm -rf build
