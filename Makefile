# Targets for working on windlass. `make` alone lists them.

TOOL := go tool -modfile=tools/go.mod
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/windlass
	go build -o bin/windlass ./cmd/windlass

.PHONY: test
test: ## run the tests as the README says
	go test ./...

.PHONY: race
race: ## run the tests under the race detector, in random order
	go test -race -shuffle=on -timeout 30m ./...

.PHONY: lint
lint: fmt-check ## gofumpt, go vet, staticcheck, golangci-lint
	go vet ./...
	$(TOOL) staticcheck ./...
	$(TOOL) golangci-lint run ./...

.PHONY: fmt
fmt: ## format every file
	$(TOOL) gofumpt -w $$(git ls-files '*.go')

.PHONY: fmt-check
fmt-check: ## fail when a file is not formatted
	@out=$$($(TOOL) gofumpt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "gofumpt would change:"; echo "$$out"; exit 1; fi

.PHONY: cross
cross: ## build for every platform, without cgo
	@for p in $(PLATFORMS); do echo "$$p"; CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} go build -o /dev/null ./cmd/windlass || exit 1; done

.PHONY: tidy-check
tidy-check: ## fail when go.mod or go.sum are not tidy
	go mod tidy -diff

.PHONY: schema
schema: ## write schema/cascade.schema.json from the types
	go run ./cmd/windlass schema --output schema/cascade.schema.json

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (default 20s)
	@for t in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
	  for f in $$(grep -rhoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' $$t/*_test.go | sed 's/func //' | sort -u); do \
	    echo "$$t $$f"; go test -run '^$$' -fuzz "^$$f$$" -fuzztime $${FUZZTIME:-20s} $$t || exit 1; done; done

.PHONY: bench
bench: ## measure the turn loop against its floors (docs/performance.md)
	go run ./internal/bench

.PHONY: outlive
outlive: ## kill ClickHouse at random under OUTLIVE runs (default 100), and look for every row
	WINDLASS_OUTLIVE_RUNS=$(or $(OUTLIVE),100) go test ./cmd/windlass -count=1 -timeout 60m -v -run '^TestRunsOutliveTheEngine$$'

.PHONY: crash
crash: ## kill windlass KILLS times (default 200), ClickHouse too, and go on each time (docs/resume.md)
	go test -count=1 -timeout 120m ./cmd/windlass -parallel 3 -run '^TestCrash$$' -v -args -kills $(or $(KILLS),200)

.PHONY: bench-context
bench-context: ## measure the context settings on recorded conversations in DATA (docs/simulate.md)
	@test -n "$(DATA)" || { echo "usage: make bench-context DATA=FOLDER, with transcripts/*.jsonl and retry/*.jsonl in it"; exit 2; }
	go run ./internal/bench/context "$(DATA)"

.PHONY: bench-cards
bench-cards: ## measure a selection among 100,000 cards in ClickHouse, and what making cards adds to a run (docs/performance.md)
	go run ./internal/bench/cards

.PHONY: ci
ci: ## what CI runs
	bash .ci/run
