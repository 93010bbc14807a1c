# Every target works on a machine that has Go and make, and no network once
# the modules are there. A redis-server or valkey-server on PATH is used; else
# miniredis stands in, which is for tests and says so.

BUDGET ?= 4m
FORKS  ?=
ARGS   ?=
rcbench = go tool rcbench

.PHONY: help bench diff aa test conform readme race lint

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "%-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

bench: ## compare all clients: GET, every connection strategy, loop 1/10/100 (BUDGET, FORKS, ARGS)
	$(rcbench) run -bench '^BenchmarkGet$$' -budget $(BUDGET) $(if $(FORKS),-forks $(FORKS)) $(ARGS)

test: ## format, vet, conformance of each client, every benchmark case once
	@test -z "$$(gofmt -l .)" || { echo "not gofmt-clean:"; gofmt -l .; exit 1; }
	go vet ./...
	go test -short -parallel 8 ./...

diff: ## compare with a commit (BASE=main) or with other versions of a client (MOD=module@version); GATE=5% fails on a slowdown
	$(rcbench) diff $(if $(MOD),-base-mod $(MOD) -clients changed,-base $(or $(BASE),main)) $(if $(GATE),-gate $(GATE)) -budget $(BUDGET) $(ARGS)

aa: ## compare the benchmarks with themselves: false alarms and noise floor of this machine (ARGS='-inject 3%')
	$(rcbench) aa $(ARGS)

conform: ## the conformance suite alone, all clients
	go test -count=1 ./adapters/...

readme: ## execute the commands of the README, cut down in time
	go test -count=1 -v -run TestReadme .

race: ## the tests under the race detector
	go test -race -short -parallel 8 -timeout 15m ./...

lint: ## staticcheck, actionlint, go.mod
	go mod tidy -diff
	go tool staticcheck ./...
	go tool actionlint
