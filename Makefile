# ngx-cachefront: build it, try it, test it. `make help` lists the targets.
#
# NGINX_SOURCE_DIR and NGINX_BUILD_DIR (default: its objs/) choose the nginx to build for, instead of
# the installed one; TEST_NGINX_BINARY the nginx to test with.

SHELL := /bin/bash
CARGO ?= cargo
export CARGO

TARGET_DIR := $(if $(CARGO_TARGET_DIR),$(CARGO_TARGET_DIR),target)
MODULE := $(TARGET_DIR)/release/libngx_cachefront.so

# What is laid out for nginx-sys to read. Where the sources are read-only, cargo has to be told that it is
# beside what cargo builds.
ifneq ($(shell test -w . && echo writable),)
NGINX := build/nginx
FOR_NGINX :=
else
NGINX = $(if $(CARGO_TARGET_DIR),$(shell realpath -m -- "$(CARGO_TARGET_DIR)")/nginx,$(error \
	these sources are read-only: set CARGO_TARGET_DIR to where to build))
FOR_NGINX = NGINX_SOURCE_DIR="$${NGINX_SOURCE_DIR:-$(NGINX)}" NGINX_BUILD_DIR="$${NGINX_BUILD_DIR:-$(NGINX)/objs}"
endif

# cargo reads them in other folders than this one.
ifdef NGINX_SOURCE_DIR
override NGINX_SOURCE_DIR := $(shell realpath -m -- "$(NGINX_SOURCE_DIR)")
override NGINX_BUILD_DIR := $(shell realpath -m -- "$(or $(NGINX_BUILD_DIR),$(NGINX_SOURCE_DIR)/objs)")
export NGINX_SOURCE_DIR NGINX_BUILD_DIR
CONFIGURED :=
else
ifdef NGINX_BUILD_DIR
$(error NGINX_BUILD_DIR is set without NGINX_SOURCE_DIR: name the sources of that nginx too)
endif
CONFIGURED := configure
endif

.PHONY: help build tools configure demo test matrix features build-checks msrv deb deb-test container-test check clean packages \
	bench bench-instr bench-check bench-update fuzz memcheck sanitize soak

help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: $(CONFIGURED) ## Build the module for the installed nginx
	@scripts/packages.sh check build
	@scripts/check-nginx.sh "$${NGINX_SOURCE_DIR:-$(NGINX)}" "$${NGINX_BUILD_DIR:-$(NGINX)/objs}"
	$(FOR_NGINX) "$(CARGO)" build --release --locked --lib
	@echo "built $(MODULE)"

tools: ## Build the command memcached-hash
	"$(CARGO)" build --release --locked --no-default-features --bin memcached-hash

# The installed nginx's sources, configured as it was, for nginx-sys to read.
configure:
	@scripts/packages.sh check build
	@scripts/configure-nginx.sh "$(NGINX)"

demo: ## Install what is missing, build, and serve a cluster that Perl filled (DEMO_ONCE=1: ask, and end)
	@scripts/packages.sh install build demo
	@$(MAKE) --no-print-directory build
	@scripts/demo.sh "$(MODULE)"

test: ## Install what is missing, build, and run every test
	@scripts/packages.sh install build demo test
	@scripts/clients.sh
	@$(MAKE) --no-print-directory build
	@scripts/test.sh

matrix: ## Run every test with several versions of nginx (MATRIX="debian nginx-src trixie sid", or versions)
	@scripts/packages.sh install build demo test matrix
	@scripts/clients.sh
	@scripts/matrix.sh

features: ## Build the module with nginx's own build; load it into nginx without realip, memcached, gzip, gunzip, SSI, PCRE, threads
	@scripts/packages.sh install build demo test matrix
	@scripts/features.sh

build-checks: ## Build it as packagers do: sources read-only, offline, with Debian's flags; the same bytes wherever it is built
	@scripts/packages.sh install build deb
	@scripts/build-checks.sh

msrv: ## Compile everything with the oldest Rust that Cargo.toml promises
	@scripts/packages.sh install build matrix
	@scripts/msrv.sh

deb: ## Pack the module for Debian's nginx: build/deb/libnginx-mod-http-cachefront_*.deb
	@[[ -z $$NGINX_SOURCE_DIR ]] || { echo "error: the package is for the installed nginx and its nginx-dev: unset \
	NGINX_SOURCE_DIR" >&2; exit 1; }
	@scripts/packages.sh check build deb
	@$(MAKE) --no-print-directory build
	@scripts/deb.sh "$(MODULE)"

deb-test: ## Install that package on this machine (as root), use it, and remove it
	@scripts/packages.sh install build deb
	@$(MAKE) --no-print-directory deb
	@scripts/deb-test.sh build/deb/*.deb

container-test: ## Build the image of Dockerfile without Docker (as root), start it and ask it
	@scripts/packages.sh install build demo matrix container
	@scripts/container-test.sh

bench: ## Measure against what people use today, into docs/benchmarks.md (twenty minutes)
	@scripts/packages.sh install build demo bench
	@$(MAKE) --no-print-directory build
	@python3 bench "$(MODULE)" all

bench-instr: ## Count instructions a request only
	@scripts/packages.sh install build demo bench
	@$(MAKE) --no-print-directory build
	@python3 bench "$(MODULE)" instr

bench-check: ## Compare a few counts with those of bench/instructions.tsv
	@scripts/packages.sh install build demo bench-check
	@$(MAKE) --no-print-directory build
	@python3 bench "$(MODULE)" check

bench-update: ## Write bench/instructions.tsv
	@scripts/packages.sh install build demo bench-check
	@$(MAKE) --no-print-directory build
	@python3 bench "$(MODULE)" update

fuzz: ## Fuzz the logic, ten minutes a target (SECONDS_EACH=600)
	@scripts/packages.sh install build fuzz
	@scripts/fuzz.sh $(or $(SECONDS_EACH),600)

memcheck: ## Run the suite under valgrind
	@scripts/packages.sh install build demo test memcheck
	@$(if $(CONFIGURED),$(MAKE) --no-print-directory configure)
	@scripts/memcheck.sh

sanitize: ## Run the suite with AddressSanitizer and UndefinedBehaviorSanitizer
	@scripts/packages.sh install build demo test matrix
	@scripts/sanitize.sh

soak: ## A million requests in five minutes, with reloads and a memcached that dies; 300 reloads under load
	@scripts/packages.sh install build demo test
	@$(MAKE) --no-print-directory build
	@SOAK=1 "$(CARGO)" test --locked --test soak --test memcached_hash -- --nocapture nothing_fails b13

check: $(CONFIGURED) ## Check format and lints
	"$(CARGO)" fmt --all -- --check
	$(FOR_NGINX) "$(CARGO)" clippy --locked --all-targets -- -D warnings

packages: ## Install the Debian packages that the other targets need
	@scripts/packages.sh install build demo test

clean: ## Remove all that was built
	rm -rf build
	"$(CARGO)" clean
