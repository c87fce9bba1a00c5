# The front door. Meson does the building; each target first installs what it lacks.
#
#   make            build the program and the library in build/
#   make demo       the main job on the shipped model: formulas and noisy data, brought together
#   make test       the test suite
#   make test-asan  the same under address and undefined-behaviour sanitizers
#   make test-tsan  the library's test with several threads, under the thread sanitizer
#   make test-page  the page of snip serve in Debian's chromium; screenshots in build/pictures
#   make bench      benchmarks
#   make bench-fit  snip fit on 30 problems by SRBench's protocol, clean and noisy: under 20 minutes
#   make bench-torch  a training step beside the same step in PyTorch
#   make fuzz       fuzz the readers of formulas, tables and models, snip rank, fit and serve,
#                   connections to serve (FUZZ_SECONDS=600 each)
#   make lint       formatting, clang-tidy, cppcheck
#   make format     put the sources into the house format
#   make reproduce  all results from the shipped weights: docs/results.md, docs/report/
#   make docs       run the commands in the documents again and renew their output
#   make install    install below PREFIX (default /usr/local): program, library, header, manual
#                   pages, completion for bash and zsh; DESTDIR stages it for a package

BUILD_PACKAGES = gcc libc6-dev meson ninja-build pkg-config python3 libsleef-dev libjansson-dev libsqlite3-dev \
                 libxxhash-dev zlib1g-dev libdnnl-dev libcminpack-dev libmicrohttpd-dev libopenmpi-dev openmpi-bin libcmocka-dev \
                 python3-numpy
LINT_PACKAGES  = clang-format clang-tidy cppcheck libomp-dev
FUZZ_PACKAGES  = clang libclang-rt-dev libomp-dev
TORCH_PACKAGES = python3-torch python3-numpy libopenblas0
PREFIX  ?= /usr/local
FUZZ_SECONDS ?= 600
# Compiled once per instruction set: the compile commands that clang-tidy reads have several of each.
KERNELS  = $(shell grep -l ISA_SUFFIX src/*/*.c)
SOURCES  = $(shell find include src tests bench examples -name '*.[ch]')

# Golden data of another folder: tests run elsewhere, so a relative path is made absolute here.
ifdef SNIP_GOLDEN
export SNIP_GOLDEN := $(abspath $(SNIP_GOLDEN))
endif

.PHONY: all docs reproduce demo test test-asan test-tsan test-page bench bench-fit bench-torch fuzz lint format install clean deps

all: build/build.ninja
	@ninja -C build

deps:
	@scripts/deps.sh $(BUILD_PACKAGES)

build/build.ninja: | deps
	@meson setup build --prefix=$(PREFIX) $(if $(CI),--werror) >/dev/null

demo: all
	@scripts/demo.sh build/snip

test: all
	@meson test -C build --print-errorlogs

build-asan/build.ninja: | deps
	@meson setup build-asan -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=1 >/dev/null

test-asan: build-asan/build.ninja
	@ninja -C build-asan
	@meson test -C build-asan --print-errorlogs --timeout-multiplier 4

# Only the one test that makes no team of OpenMP's: libgomp is not instrumented, so the sanitizer
# sees none of its locks and barriers. The models come from the plain program.
build-tsan/build.ninja: | deps
	@meson setup build-tsan -Db_sanitize=thread -Db_lundef=false -Doptimization=1 >/dev/null

test-tsan: all build-tsan/build.ninja
	@ninja -C build-tsan tests/test_api_threads
	@TSAN_OPTIONS=halt_on_error=1 tests/with_model.sh build/snip build-tsan/tests/test_api_threads

test-page: all
	@scripts/deps.sh chromium fonts-dejavu-extra
	@tests/page/page.py build/snip . build/pictures

bench: all
	@build/snip bench

# A second run begins anew: the folder's runs are of an older program.
bench-fit: all
	@rm -rf build/bench-fit
	@scripts/srbench.py build/snip --install --part rest --count 30 --noise 0,.01 --time 12 --threads 2 \
	    --judge-time 5 --out build/bench-fit

bench-torch: all
	@scripts/deps.sh $(TORCH_PACKAGES)
	@bench/torch/compare.py build/snip
	@bench/torch/compare.py build/snip --embed

build-fuzz/build.ninja: | deps
	@scripts/deps.sh $(FUZZ_PACKAGES)
	@CC=clang meson setup build-fuzz -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false >/dev/null

fuzz: build-fuzz/build.ninja
	@ninja -C build-fuzz
	@mkdir -p tests/fuzz/findings
	@for t in formula table model rank fit http serve; do \
	    mkdir -p build-fuzz/corpus-$$t && \
	    build-fuzz/tests/fuzz_$$t -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -timeout=60 \
	        -artifact_prefix=tests/fuzz/findings/$$t- build-fuzz/corpus-$$t tests/fuzz/$$t || exit 1; \
	done

lint: all
	@scripts/deps.sh $(LINT_PACKAGES)
	@clang-format --dry-run --Werror $(SOURCES)
	@cppcheck --quiet --error-exitcode=1 --enable=warning,performance,portability \
	    --suppress=missingIncludeSystem --suppress=invalidFunctionArg -Iinclude -Isrc -Ibench -D_GNU_SOURCE -DSNIP_X86 -DLANES=1 \
	    -DISA_SUFFIX=generic -DSNIP_VERSION='""' src bench
	@clang-tidy --quiet -p build $(filter-out $(KERNELS),$(filter src/%.c,$(SOURCES)))

format:
	@scripts/deps.sh clang-format
	@clang-format -i $(SOURCES)

docs: all
	@scripts/refresh.py build/snip README.md docs/fit.md docs/tutorial.md docs/api.md

reproduce: all
	@scripts/reproduce.sh build/snip

# The loader's cache covers the system's own folders; elsewhere, or staged, there is nothing to add.
install: all
	@meson configure build --prefix=$(abspath $(PREFIX)) >/dev/null
	@meson install -C build --quiet $(if $(DESTDIR),--destdir $(abspath $(DESTDIR)))
	@case "$(DESTDIR):$(abspath $(PREFIX))" in \
	    :/usr|:/usr/local) [ "$$(id -u)" -ne 0 ] || ldconfig ;; \
	esac
	@echo "installed below $(DESTDIR)$(PREFIX)"

clean:
	@rm -rf build build-asan build-tsan build-fuzz
