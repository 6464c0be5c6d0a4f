# Targets for working on windlass. `make` alone lists them.

TOOL := go tool -modfile=tools/go.mod
TOOL_HERE := go tool -modfile=$(CURDIR)/tools/go.mod
MODULES := . bench e2e
VERSION = $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
COMMIT = $(shell git rev-parse HEAD 2>/dev/null)
PREFIX ?= /usr/local
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64
CROSS := linux/arm64 darwin/arm64 windows/amd64 # each system and each architecture; make packaging builds linux/amd64

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/windlass
	go build -trimpath -ldflags "-X main.version=$(VERSION) -X main.commit=$(COMMIT)" -o bin/windlass ./cmd/windlass

.PHONY: install
install: build ## install windlass and its completions below PREFIX (default /usr/local), of a package below DESTDIR
	@set -e; root="$(DESTDIR)$(PREFIX)"; \
	install -d "$$root/bin" "$$root/share/bash-completion/completions" "$$root/share/zsh/site-functions" "$$root/share/fish/vendor_completions.d"; \
	install -m 755 bin/windlass "$$root/bin/windlass"; \
	bin/windlass completion bash > "$$root/share/bash-completion/completions/windlass"; \
	bin/windlass completion zsh > "$$root/share/zsh/site-functions/_windlass"; \
	bin/windlass completion fish > "$$root/share/fish/vendor_completions.d/windlass.fish"; \
	echo "installed $$root/bin/windlass"

.PHONY: uninstall
uninstall: ## remove what make install has installed, with the same PREFIX and DESTDIR
	@root="$(DESTDIR)$(PREFIX)"; rm -f "$$root/bin/windlass" "$$root/share/bash-completion/completions/windlass" \
	"$$root/share/zsh/site-functions/_windlass" "$$root/share/fish/vendor_completions.d/windlass.fish"

.PHONY: dist
dist: ## make the archives of a release in dist, with checksums; with VERSION=... of another version than git names
	rm -rf dist
	cd tools && go run ./dist -out ../dist -version "$(VERSION)" -commit "$(COMMIT)" $(PLATFORMS)

.PHONY: test
test: ## run the tests as the README says
	go test ./...

.PHONY: race
race: ## run the tests of concurrent packages under the race detector, in random order; EVERY=1: of all packages
	go test -race -shuffle=on -timeout 30m $(if $(EVERY),./...,$$(bash .ci/concurrent))

.PHONY: lint
lint: fmt-check ## gofumpt, and golangci-lint with what go vet and staticcheck find, of all modules
	@for m in $(MODULES); do echo "lint $$m"; (cd $$m && $(TOOL_HERE) golangci-lint run ./...) || exit 1; done

.PHONY: fmt
fmt: ## format every file
	$(TOOL) gofumpt -w $$(git ls-files '*.go')

.PHONY: fmt-check
fmt-check: ## fail when a file is not formatted
	@out=$$($(TOOL) gofumpt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "gofumpt would change:"; echo "$$out"; exit 1; fi

.PHONY: cross
cross: ## build for other systems and architectures, without cgo; EVERY=1: for every platform
	@for p in $(if $(EVERY),$(PLATFORMS),$(CROSS)); do echo "$$p"; CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} go build -o /dev/null ./cmd/windlass || exit 1; done

.PHONY: packaging
packaging: ## install windlass in every way that can be tried here, and make its archives twice; EVERY=1: of every platform
	cd e2e && go test -count=1 -timeout 60m ./packaging $(if $(EVERY),-args -every)

.PHONY: recordings
recordings: ## type the commands of docs/recordings.md into tmux, and compare what it shows; FLAGS=-update writes the recordings
	cd e2e && go test -count=1 -timeout 20m ./recordings $(if $(FLAGS),-args $(FLAGS))

.PHONY: tidy-check
tidy-check: ## fail when go.mod or go.sum are not tidy
	@for m in $(MODULES); do (cd $$m && go mod tidy -diff) || exit 1; done

.PHONY: schema
schema: ## write schema/cascade.schema.json from the types
	go test ./internal/schemagen -run TestCommittedSchemaIsCurrent -update

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (default 20s)
	@bash .ci/fuzz

.PHONY: fuzz-list
fuzz-list: ## list the fuzz targets
	@bash .ci/fuzz list

.PHONY: attack
attack: ## attack the built program, then the same program with one check taken out for each group (docs/security.md)
	@mkdir -p bin; cd e2e && go test -count=1 -timeout 60m ./attack -mutants $(or $(MUTANTS),all) -table $(CURDIR)/bin/attack.txt; status=$$?; cat $(CURDIR)/bin/attack.txt; exit $$status

.PHONY: e2e-users
e2e-users: ## try every door as other users of the machine; needs root (docs/security.md)
	cd e2e && go test -count=1 -timeout 30m ./users

.PHONY: trees
trees: ## run children, lists, graphs and wards in the built program; kill them KILLS times (default 30), SEED=N: at the same places
	cd e2e && go test -count=1 -timeout 120m -v ./trees $(if $(RUN),-run '$(RUN)') -args -kills $(or $(KILLS),30) -seed $(or $(SEED),0)

.PHONY: e2e-browser
e2e-browser: ## try the page of windlass serve in Chromium; FLAGS=-update writes the accessibility trees
	cd e2e && go test -count=1 -timeout 20m ./browser $(if $(FLAGS),-args $(FLAGS))

.PHONY: waits
waits: ## kill windlass around waits KILLS times (default 20), SEED=N: at the same places
	cd e2e && go test -count=1 -timeout 60m -v ./waits $(if $(RUN),-run '$(RUN)') -args -kills $(or $(KILLS),20) -seed $(or $(SEED),0)

.PHONY: memories
memories: ## kill windlass around banks of memory and memos KILLS times (default 20), SEED=N: at the same places
	cd e2e && go test -count=1 -timeout 60m -v ./memories $(if $(RUN),-run '$(RUN)') -args -kills $(or $(KILLS),20) -seed $(or $(SEED),0)

.PHONY: soundings
soundings: ## run soundings in the built program; kill them KILLS times (default 30), SEED=N: at the same places
	cd e2e && go test -count=1 -timeout 120m -v ./soundings $(if $(RUN),-run '$(RUN)') -args -kills $(or $(KILLS),30) -seed $(or $(SEED),0)

.PHONY: vulncheck
vulncheck: ## look for known vulnerabilities in what is called
	@bash .ci/vulncheck

.PHONY: web
web: ## fetch the libraries that browsers get, with npm
	internal/server/web/vendor.sh

.PHONY: licences
licences: ## write LICENSES.csv: the modules that are linked in, with their licences
	cd tools && go run ./licences ../LICENSES.csv

.PHONY: licences-check
licences-check: ## fail when LICENSES.csv is not current, or a licence is not an allowed one
	cd tools && go run ./licences -check ../LICENSES.csv

.PHONY: bench
bench: ## measure the turn loop against its floors, and with BEFORE=REVISION against an earlier windlass (docs/performance.md)
	cd bench && go run ./turns $(if $(BEFORE),--before $(BEFORE)) $(FLAGS)

.PHONY: bench-growth
bench-growth: ## measure how a turn grows with the conversation, and with how many there are at once (docs/performance.md)
	cd bench && go run ./turns --growth --rounds 3 $(if $(BEFORE),--before $(BEFORE)) $(FLAGS)

.PHONY: outlive
outlive: ## kill ClickHouse at random under OUTLIVE runs (default 100), and look for every row
	WINDLASS_OUTLIVE_RUNS=$(or $(OUTLIVE),100) go test ./cmd/windlass -count=1 -timeout 60m -v -run '^TestRunsOutliveTheEngine$$'

.PHONY: crash
crash: ## kill windlass KILLS times (default 200), ClickHouse too, and go on each time (docs/resume.md)
	go test -count=1 -timeout 120m ./cmd/windlass -parallel 3 -run '^TestCrash$$' -v -args -kills $(or $(KILLS),200)

.PHONY: bench-context
bench-context: ## measure the context settings on recorded conversations in DATA (docs/simulate.md)
	@test -n "$(DATA)" || { echo "usage: make bench-context DATA=FOLDER, with transcripts/*.jsonl and retry/*.jsonl in it"; exit 2; }
	cd bench && go run ./context "$(abspath $(DATA))"

.PHONY: bench-selection
bench-selection: ## measure what selections find of the evidence in the conversations of the file DATA (docs/measured.md)
	@test -n "$(DATA)" || { echo "usage: make bench-selection DATA=FILE, a file in the format of LoCoMo"; exit 2; }
	cd bench && go run ./selection $(FLAGS) "$(abspath $(DATA))"

.PHONY: bench-memory
bench-memory: ## measure what a bank that remembers by itself has of the evidence in the conversations of the file DATA (docs/measured.md)
	@test -n "$(DATA)" || { echo "usage: make bench-memory DATA=FILE, a file in the format of LoCoMo"; exit 2; }
	cd bench && go run ./memory $(FLAGS) "$(abspath $(DATA))"

.PHONY: bench-judges
bench-judges: ## measure how honest the choice among candidates is, with simulated judges (docs/soundings.md)
	cd bench && go run ./judges $(FLAGS)

.PHONY: bench-soundings
bench-soundings: ## measure what five candidates cost in one sounding, against five runs, by a server that bills (docs/soundings.md)
	cd bench && go run ./soundings $(FLAGS)

.PHONY: bench-cards
bench-cards: ## measure a selection among 100,000 cards in ClickHouse, and what making cards adds to a run (docs/performance.md)
	cd bench && go run ./cards

.PHONY: ci
ci: ## what CI runs
	bash .ci/run

.PHONY: release-check
release-check: ## what CI runs only in part, whole: every package under the race detector, every platform, mutant and kill
	$(MAKE) race cross packaging EVERY=1
	$(MAKE) attack crash outlive fuzz
	$(MAKE) trees soundings waits memories KILLS=300
