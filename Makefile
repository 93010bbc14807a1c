# Every target works on a machine that has Go and make, and no network once
# the modules are there. A redis-server or valkey-server on PATH is used; else
# miniredis stands in, which is for tests and says so.

BUDGET ?= 4m
FORKS  ?=
ARGS   ?=
rcbench = go tool rcbench

.PHONY: help bench diff server pr-diff pr-summary pr-comment aa studies test conform readme race lint

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "%-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

bench: ## compare all clients: GET, every connection strategy, loop 1/10/100 (BUDGET, FORKS, ARGS)
	$(rcbench) run -bench '^BenchmarkGet$$' -budget $(BUDGET) $(if $(FORKS),-forks $(FORKS)) $(ARGS)

test: ## format, vet, conformance of each client, every benchmark case once
	@test -z "$$(gofmt -l .)" || { echo "not gofmt-clean:"; gofmt -l .; exit 1; }
	go vet ./...
	go test -count=1 -short -parallel 8 ./...

diff: ## compare with a commit (BASE=main) or with other versions of a client (MOD=module@version); GATE=5% fails on a slowdown
	$(rcbench) diff $(if $(MOD),-base-mod $(MOD) -clients changed,-base $(or $(BASE),main)) $(if $(GATE),-gate $(GATE)) -budget $(BUDGET) $(ARGS)

server: ## install a redis-server where apt-get does, if there is none
	@command -v redis-server >/dev/null || { \
	  as_root=; [ "$$(id -u)" = 0 ] || as_root=sudo; \
	  $$as_root apt-get update -q && $$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends redis-server; }
	@redis-server --version

# The steps of a pull request (.github/workflows/bench.yml): base is where it
# left BASE_REF. One that touches go.mod is measured for the clients whose
# modules it changes, any other for all.
BASE_REF ?= origin/main
pr-diff:
	base=$$(git merge-base $(BASE_REF) HEAD) && \
	clients= && { git diff --quiet $$base HEAD -- go.mod || clients='-clients changed'; } && \
	$(rcbench) diff -base $$base $$clients -gate $(or $(GATE),5%) -budget $(BUDGET) -md results/diff.md -json results/diff.json $(ARGS)

pr-summary:
	if [ -f results/diff.md ]; then cat results/diff.md; else echo 'Nothing was measured; see the log.'; fi >> "$${GITHUB_STEP_SUMMARY:-/dev/stdout}"

pr-comment:
	if [ -f results/diff.md ]; then gh pr comment $(PR) --edit-last --create-if-none --body-file results/diff.md; fi

aa: ## compare the benchmarks with themselves: false alarms and noise floor of this machine (ARGS='-inject 3%')
	$(rcbench) aa $(ARGS)

studies: ## measure what the five published studies measured, and print their tables (about nine minutes)
	$(rcbench) studies -md results/studies.md $(ARGS)

conform: ## the conformance suite alone, all clients
	go test -count=1 ./adapters/...

readme: ## execute the commands of the README, cut down in time
	go test -count=1 -v -run TestReadme .

# The benchmarks run on one server here, which make test has run on both.
race: ## the tests under the race detector
	go test -count=1 -race -short -parallel 8 -timeout 15m \
	  -skip 'TestEveryCaseRuns/(redis|valkey)|TestEveryWorkloadRunsAgainAndAgain/mini|TestCountersCatchACarelessClient' ./...

lint: ## staticcheck, actionlint, go.mod
	go mod tidy -diff
	go tool staticcheck ./...
	go tool actionlint
