# Rampart. `make help` lists the targets; `make` builds and tests.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DEFAULT_GOAL := all

PREFIX ?= /usr/local
# What rampart version and cluster status show; a tree without history has none, and may be given one.
VERSION ?= $(shell packaging/version)
LDFLAGS := -s -w $(if $(VERSION),-X rampart/transport/build.version=$(VERSION))
# Where make install takes the programs from.
PROGRAMS ?= bin
FUZZTIME ?= 30s
SEED ?= 1
RUNS ?= 500
BENCH ?=
TOOL := go tool -modfile=tools.mod
GO_FILES = $$(git ls-files --cached --others --exclude-standard '*.go' | grep -vE '\.pb\.go$$|\.connect\.go$$')
# Builds, tests and the programs that tests build share what is compiled, in every checkout of the same source; make vet
# judges once what go test would judge again.
export CGO_ENABLED := 0
export GOFLAGS := -trimpath
# The race detector needs a C compiler; a machine without one still runs every test.
RACE := $(shell command -v "$${CC:-gcc}" >/dev/null 2>&1 && echo -race)
GOTEST := $(if $(RACE),CGO_ENABLED=1 )go test $(RACE) -vet=off
# Tests of real processes run apart from the other tests, which take what they leave of the processors.
PROCESS_TESTS := rampart/cmd/conformance rampart/chaos/real
# Packages in which one goroutine does everything: the race detector has nothing to see there, and archtest looks for goroutines in
# them. All others are raced. sim plays clusters, as chaos does under the detector.
UNRACED := ./fsm/... ./cmd/internal/... ./cli ./cli/admin ./cli/lsf ./cli/plan ./cli/render ./cli/script ./cli/svg ./cli/terminal ./cli/timeline \
	./cmd/bench ./cmd/pbs ./cmd/rampart/dev ./cmd/rampart/home ./cmd/rampart/sim ./cmd/rampart/trace ./chaos/check ./chaos/fault ./chaos/load ./chaos/planted \
	./cluster/identity ./cluster/member ./cluster/recovery ./cluster/sched/calendar ./mom/cgroup ./mom/files \
	./transport/build ./transport/daylog ./transport/disk ./transport/login ./transport/meter ./transport/own
# Tests that play less under the race detector, or nothing, ask for build.Raced: they are played whole without it.
WHOLE = $$(.ci/whole --packages)
WHOLE_TESTS = $$(.ci/whole --tests)
# Some packages wait for disks and processes: one more than there are processors is tested at once.
AT_ONCE := $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) + 1 )))
# Says what fails as soon as it does and again at the end, and keeps the times: $(call TESTS,NAME) go test -json ...
TESTS = $(TOOL) gotestsum --format pkgname-and-test-fails --hide-summary skipped --jsonfile "$$times/$(1).json" --raw-command --
# What the generated code was made from, and what was made.
GENERATED_FROM := buf.yaml buf.gen.yaml tools.mod transport/api/*.proto

.PHONY: all build install package demo test check test-long mpich strace lint vet generated-current generate generate-check fuzz bench bugs chaos clean help

all: build test

build: ## build bin/rampart and bin/pbs, static
	go build -ldflags '$(LDFLAGS)' -o bin/ ./cmd/rampart
	go build -ldflags '$(LDFLAGS)' -tags urfave_cli_no_docs -o bin/ ./cmd/pbs

install: build ## install into PREFIX as PBS_EXEC is laid out: bin, sbin, libexec, etc, lib, share/man
	root="$(DESTDIR)$(PREFIX)"
	install -d "$$root/bin" "$$root/sbin" "$$root/libexec" "$$root/etc"
	install -m 755 $(PROGRAMS)/rampart $(PROGRAMS)/pbs "$$root/bin"
	install -m 755 packaging/libexec/pbs_init.d "$$root/libexec"
	install -m 644 cmd/rampart/home/etc/* packaging/profile.d/pbs.sh "$$root/etc"
	profile="$(DESTDIR)/etc/profile.d"
	if [ -n "$(DESTDIR)" ] || [ -w /etc/profile.d ]; then
		install -D -m 644 packaging/profile.d/pbs.sh "$$profile/pbs.sh"
	else
		echo "$$profile cannot be written: . $$root/etc/pbs.sh sets PATH"
	fi
	python="$$root/lib/python/altair"
	install -d "$$python/pbs"
	install -m 644 mom/hook/python/pbs/*.py "$$python/pbs"
	install -m 644 mom/hook/python/pbs_ifl.py "$$python"
	$(PROGRAMS)/rampart links --dir "$$root/bin" --daemons "$$root/sbin" --manuals "$$root/share/man"

package: build ## dist/rampart_VERSION_ARCH.deb, with PBS_EXEC in /opt/pbs
	root=$$(mktemp -d)
	trap 'rm -rf "$$root"' EXIT
	$(MAKE) -o build install DESTDIR="$$root" PREFIX=/opt/pbs
	mkdir -p dist
	version=$$($(PROGRAMS)/rampart version | sed -n 's/^rampart_version = //p')
	export ROOT="$$root" ARCH="$$(go env GOARCH)" VERSION="$${version/-/\~}" # dpkg orders 1.2~dev before 1.2
	$(TOOL) nfpm package --config packaging/nfpm.yaml --packager deb --target dist/

demo: build ## three replicas, five moms, a real job, a killed leader; explains each step
	bin/rampart dev --exec docs/demo.sh

test: build strace ## lint and every test but the long ones
	@[ -n "$(RACE)" ] || echo "no C compiler: the tests run without the race detector"
	times=$$(mktemp -d) programs=$$(mktemp -d)
	trap 'wait; cat "$$times"/*.json | $(TOOL) gotestsum tool slowest --threshold 0s --num 10; rm -rf "$$times" "$$programs"' EXIT
	# Tests of processes wait a good part of their time: all that waits for nothing goes on beside them, and gives way to them.
	chmod 755 "$$programs" # jobs of other users come by
	cp bin/rampart bin/pbs "$$programs"
	$(call TESTS,processes) go test -json -vet=off -short -p 2 -timeout 12m $(PROCESS_TESTS) -args -bin "$$programs" &
	processes=$$!
	nice $(MAKE) lint
	unraced=$$(go list $(UNRACED))
	nice $(call TESTS,unraced) go test -json -vet=off -short -timeout 12m $$unraced
	raced() { nice $(call TESTS,raced) env $(GOTEST) -json -short -p $(AT_ONCE) -timeout 12m $$(go list ./... | grep -vxF $(addprefix -e ,$(PROCESS_TESTS)) -e "$$unraced"); }
	# The detector's runtime now and then fails a check of its own; then, and only then, what has not passed is played again.
	raced || { grep -q '"Output":"ThreadSanitizer: CHECK failed' "$$times/raced.json" && ! grep -qE '"Output":"( *--- FAIL|panic:|WARNING: DATA RACE)' "$$times/raced.json" && raced; } || exit 1
	[ -z "$(RACE)" ] || nice $(call TESTS,whole) go test -json -vet=off -short -timeout 15m -run "$(WHOLE_TESTS)" $(WHOLE)
	wait $$processes

# BASE is the commit that one's own work began at.
BASE ?= $(shell git rev-parse --verify -q '@{upstream}' || git rev-parse --verify -q HEAD)
check: ## judge what changed since BASE in two minutes: lint, and the short tests of it and of what imports it
	@affected=$$(.ci/affected "$(BASE)")
	[ -n "$$affected" ] || { echo "no package changed since $(BASE)"; exit 0; }
	changed=$$(.ci/affected --changed "$(BASE)")
	unformatted=$$(git diff --name-only --diff-filter=d "$(BASE)" -- '*.go' | xargs -r $(TOOL) gofumpt -l)
	[ -z "$$unformatted" ] || { printf 'not gofumpt-ed:\n%s\n' "$$unformatted"; exit 1; }
	$(MAKE) generated-current
	go vet $$affected
	$(TOOL) staticcheck $$changed
	times=$$(mktemp -d)
	trap 'rm -rf "$$times"' EXIT
	unraced=$$(go list $(UNRACED))
	raced=$$(printf '%s\n' $$affected | grep -vxF "$$unraced" || true)
	unraced=$$(printf '%s\n' $$affected | grep -xF "$$unraced" || true)
	[ -z "$$unraced" ] || $(call TESTS,unraced) go test -json -vet=off -short -timeout 5m $$unraced
	[ -z "$$raced" ] || $(call TESTS,check) env $(GOTEST) -json -short -timeout 5m $$raced
	whole=$$(printf '%s\n' $(WHOLE) | grep -xF "$$affected" || true)
	[ -z "$(RACE)" ] || [ -z "$$whole" ] || $(call TESTS,whole) go test -json -vet=off -short -timeout 5m -run "$(WHOLE_TESTS)" $$whole

test-long: lint generate-check build mpich strace ## every test, with new seeds
	$(GOTEST) -timeout 60m $$(go list ./... | grep -vxF $(addprefix -e ,$(PROCESS_TESTS)))
	$(MAKE) bugs
	go test -count 1 -v -timeout 20m ./mom -run TestReal_NothingLeaks -args -jobs 1000
	go test -count 1 -timeout 240m ./chaos -run 'TestSchedules|TestScenarios' -args -seed $$(date +%s) -runs 20000
	go test -v -p 1 -timeout 60m $(PROCESS_TESTS)

# Without it, and without the right to install it, the test of stalled disks is skipped and says so.
strace: ## install strace for the test of stalled disks, unless it is there
	@command -v strace >/dev/null && exit
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends strace || echo "strace could not be installed"
	else
		echo "strace is not installed: the test of stalled disks is skipped"
	fi

# Without it, and without the right to install it, the tests of MPI are skipped and say so.
mpich: ## install MPICH for the tests of MPI, unless it is there
	@command -v mpicc >/dev/null && exit
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends mpich libmpich-dev libc6-dev || echo "MPICH could not be installed"
	else
		echo "MPICH is not installed: its tests are skipped"
	fi

lint: vet generated-current ## go vet, staticcheck, gofumpt, generated code current
	@$(TOOL) staticcheck ./...
	unformatted=$$($(TOOL) gofumpt -l $(GO_FILES))
	[ -z "$$unformatted" ] || { printf 'not gofumpt-ed:\n%s\n' "$$unformatted"; exit 1; }

vet:
	go vet ./...

generated-current:
	@sha256sum --check --quiet transport/api/generate.sum || { echo "generated code is not current: make generate"; exit 1; }

generate: ## write the generated code again
	$(TOOL) buf generate
	sha256sum $(GENERATED_FROM) $$(git ls-files --cached --others --exclude-standard 'transport/api/*.pb.go' 'transport/api/*.connect.go') > transport/api/generate.sum

generate-check: generate ## generate, and fail if that changed anything
	git diff --exit-code -- transport/api

fuzz: ## fuzz every target for FUZZTIME each
	@for package in $$(git grep -l --untracked '^func Fuzz' -- '*_test.go' | xargs -n1 dirname | sort -u); do
		for target in $$(grep -ho '^func Fuzz[A-Za-z0-9_]*' $$package/*_test.go | cut -c6-); do
			echo "$$package $$target"
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) ./$$package
		done
	done

bench: build ## measure the figures of the design; BENCH="-only failover -kills 100" measures one
	go run ./cmd/bench $(BENCH)

bugs: ## plant each bug that the tests must see, or BUG, and see it
	go test -count 1 -v -timeout 60m ./chaos -run 'TestPlantedBugs/^$(BUG)'

chaos: ## RUNS schedules of faults in the bubble from SEED on; RUNS=1 plays one again
	go test -count 1 -v -timeout 60m ./chaos -run TestSchedules -args -seed $(SEED) -runs $(RUNS)

clean: ## remove what was built
	rm -rf bin

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16
