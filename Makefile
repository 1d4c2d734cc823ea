# Needs Go, git and make. `make help` lists the targets.

GO       ?= go
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
FUZZTIME ?= 10s
# BENCH and BENCHTIME choose the benchmarks of `make bench`.
BENCH     ?= .
BENCHTIME ?= 1s
# CRASH is the package of the crash walk.
CRASH    ?= ./host/crashtest/...

LINT_VERSION := v2.15.0
LINT_OWN     := bin/tools/golangci-lint-$(LINT_VERSION)

HOST     := bin/zchost
DIST     := plugins/builtin/dist
LDFLAGS  := -s -w -X main.version=$(VERSION)
HOST_BUILD := CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags='$(LDFLAGS)'
# A guest is the same bytes wherever it is built: no paths, no build id.
GUEST    := GOOS=wasip1 GOARCH=wasm CGO_ENABLED=0 $(GO) build -buildmode=c-shared -trimpath -buildvcs=false -ldflags='-s -w -buildid='

# The race detector needs cgo and a C compiler. Without them the tests run all
# the same.
RACE := $(shell test "$$($(GO) env CGO_ENABLED)" = 1 && command -v $$($(GO) env CC) >/dev/null 2>&1 && echo -race)

# A plugin is a directory plugins/KIND/NAME with a plugin.toml.
MANIFESTS := $(wildcard plugins/*/*/plugin.toml)
PLUGINS   := $(notdir $(patsubst %/plugin.toml,%,$(MANIFESTS)))
MODULES   := $(PLUGINS:%=$(DIST)/%/plugin.wasm)
BUILT     := $(patsubst %/plugin.toml,%,$(wildcard $(DIST)/*/plugin.toml))
STALE     := $(filter-out $(PLUGINS:%=$(DIST)/%),$(BUILT))
# The directories are here because they change when a file is deleted.
GUEST_SRC := go.mod go.sum $(shell find abi sdk -type d -o -name '*.go' ! -name '*_test.go')

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

.PHONY: help
help: ## List the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/\1	\2/p' Makefile | sort | awk -F '\t' '{ printf "%-10s %s\n", $$1, $$2 }'

.PHONY: run
run: build ## Build everything and open a chat that needs no key and no config
	@$(HOST) chat

.PHONY: build
build: plugins ## Build the host with its plugins into bin/zchost
	$(HOST_BUILD) -o $(HOST) ./cmd/zchost

.PHONY: plugins
plugins: $(MODULES) $(if $(STALE),prune) ## Build the built-in plugins to WebAssembly

define plugin_rule
$(DIST)/$(notdir $(1))/plugin.wasm: $(1) $(1)/plugin.toml $(filter-out %_test.go,$(wildcard $(1)/*.go)) $(GUEST_SRC) bin/toolchain
	@mkdir -p $$(@D)
	$(GUEST) -o $$@ ./$(1)
	@cp $(1)/plugin.toml $$(@D)/plugin.toml
	@touch $$@
endef
$(foreach m,$(MANIFESTS),$(eval $(call plugin_rule,$(patsubst %/plugin.toml,%,$(m)))))

# What is in dist but no longer in plugins would still be embedded.
.PHONY: prune
prune:
	rm -rf $(STALE)

# Newer than before only when the toolchain is another one.
bin/toolchain: FORCE
	@mkdir -p bin
	@v=$$($(GO) env GOVERSION); test "$$(cat $@ 2>/dev/null)" = "$$v" || echo "$$v" > $@

.PHONY: FORCE
FORCE:

.PHONY: test
test: plugins ## Run all tests, with the race detector where a C compiler is
	@echo "go test $(or $(RACE),without -race: it needs cgo and a C compiler)"
	@$(GO) test $(RACE) -timeout 15m ./...

.PHONY: lint
lint: plugins ## Check with golangci-lint, which is built here if it is missing
	internal/tools/lint.sh $(LINT_VERSION) $(LINT_OWN)

.PHONY: fmt
fmt: ## Format the Go code
	gofmt -s -w abi cmd e2e examples host internal plugins sdk

.PHONY: generate
generate: ## Write the generated files again
	$(GO) generate ./...

.PHONY: verify
verify: build ## Check that generated files are current and builds reproducible
	internal/tools/verify.sh

.PHONY: bench
bench: build ## Measure what docs/performance.md lists
	$(GO) test -run='^$$' -bench='$(BENCH)' -benchtime=$(BENCHTIME) -benchmem -timeout 30m ./...

.PHONY: fuzz
fuzz: plugins ## Run every fuzz test for FUZZTIME (10s)
	internal/tools/fuzz.sh $(FUZZTIME)

.PHONY: crash
crash: plugins ## Kill the host at every failpoint and check the promises
	$(GO) test -tags failpoints -count=1 -timeout 20m $(CRASH)

.PHONY: e2e
e2e: build ## Run bin/zchost against servers that nobody here wrote (needs node and npm)
	cd e2e && npm ci --ignore-scripts --no-fund --no-audit
	$(GO) test -tags e2e -count=1 -timeout 10m ./e2e/...

.PHONY: cross
cross: plugins ## Build for the other systems into bin/cross
	@set -e; for t in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64; do \
		o=bin/cross/zchost-$${t%/*}-$${t#*/}; test $${t%/*} != windows || o=$$o.exe; echo "$$o"; \
		GOOS=$${t%/*} GOARCH=$${t#*/} $(HOST_BUILD) -o $$o ./cmd/zchost; \
	done

.PHONY: clean
clean: ## Remove what was built
	rm -rf bin e2e/node_modules $(BUILT)
