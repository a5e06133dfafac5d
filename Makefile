# Causeway. `make` lists the targets. Longer shell steps are in src/scripts/.

MAKEFLAGS += --no-print-directory
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help setup nats postgres build run restart stop cluster demo ops audit statement rail-check test check lint format bench fuzz sim model ownership-model \
	mutants chaos crash-points cluster-chaos powercut failover restore-drill upgrade-drill freeze release load soak spike profile bench-scale bench-shards bench-cluster bench-refusals bench-compare seed settings metrics contract examples openapi collection \
	client clean sbom licenses test-node try-image

INSTALLED := node_modules/.installed
TYPES := protos/types/.made
BUILT := .build/.made
PROTOS := $(wildcard protos/*.proto protos/causeway/*/v1/*.proto)
SOURCES := $(shell find src actors gateway test -name '*.ts' 2>/dev/null)
# Without `test`, which is also a target.
FOLDERS := $(shell find src actors gateway test -mindepth 1 -type d 2>/dev/null)
ESLINT := node_modules/.bin/eslint
PRETTIER := node_modules/.bin/prettier --log-level warn
LOAD := node .build/test/load/main.js
# A small young generation: the supervisor does little, and its memory stays level (ephemeral_stack.ts likewise).
SUPERVISOR := node --max-semi-space-size=2
# The adapter that the stack starts; `make rail-check` has another RAIL.
WITH_RAIL = $(if $(RAIL),RAIL_ADAPTER=$(RAIL))
# A variable as a flag, when it is set.
with = $(if $($(1)),--$(2) $($(1)))
LOAD_FLAGS = $(call with,SCENARIO,scenario) $(call with,GATEWAYS,gateways) $(call with,STORE,store) $(call with,EVENTS,subscription) $(ARGS)

##@ Run
run: setup nats postgres build ## start a whole stack; Ctrl-C stops it; STORE=postgres keeps the books in PostgreSQL, RAIL=iso20022 speaks to a switch
	@$(WITH_RAIL) $(SUPERVISOR) .build/src/supervisor/main.js

cluster: setup nats postgres build ## start a trial cluster: two shards, three processors, two gateways, two pools, three NATS, PostgreSQL with standby
	@$(SUPERVISOR) .build/src/trial_cluster/main.js

cluster: export STORE = postgres

restart: setup nats postgres build ## replace every process of the running stack or cluster by the programs on disk, one by one
	@node .build/src/supervisor/restart_main.js

# It compiles nothing where a stack can run: what is on disk may be a version that does not compile.
stop: ## stop the running stack or cluster of DATA_DIR in order, from another terminal
	@[ -e .build/src/supervisor/stop_main.js ] || $(MAKE) build
	@node .build/src/supervisor/stop_main.js

demo: setup nats postgres build ## run a QR payment and a payout, step by step; RAIL=iso20022 shows the messages of a switch
	@$(WITH_RAIL) node .build/src/operations/demo/demo.js

ops: build ## run an operator command: make ops ARGS="trial-balance"
	@node .build/src/operations/main.js $(ARGS)

audit: build ## check ledger, rail, events and webhooks against each other; read-only
	@node .build/src/audit/main.js $(ARGS)

statement: build ## write a statement of the sandbox bank: make statement ARGS="--from DAY --until DAY --out FILE"
	@node .build/src/rails/sandbox/statement_main.js $(ARGS)

rail-check: build ## check an adapter of a rail: make rail-check RAIL=host:port TOKEN_FILE=… BEHAVIOR=… RESTART=… ARGS=--json
	@node .build/src/rails/check/main.js $(call with,RAIL,rail) $(call with,TOKEN_FILE,token-file) $(call with,BEHAVIOR,behavior) $(if $(RESTART),--restart-command "$(RESTART)") $(ARGS)

##@ Develop
test: ## set up, run all checks and tests; ONLY="qr/ money/" selects some; ends with "N passed, N failed"
	@src/scripts/test.sh $(ONLY)

test-node: build ## run the tests under another version of Node: make test-node VERSION=24 ONLY="qr/ money/"
	@src/scripts/test_node.sh "$(or $(VERSION),24)" $(ONLY)

check: build lint ## check types, lint, formatting, house rules, generated files of the contract
	@$(PRETTIER) --check .
	@node .build/test/house_rules/files.test.js >.build/files.tap || { grep -A30 'not ok' .build/files.tap; exit 1; }
	@node .build/test/house_rules/imports.test.js >.build/imports.tap || { grep -A30 'not ok' .build/imports.tap; exit 1; }
	@node .build/test/contract/current.test.js >.build/contract.tap || { grep -A30 'not ok' .build/contract.tap; exit 1; }

lint: $(INSTALLED) $(TYPES) ## run the linter only
	@$(ESLINT) .

format: $(INSTALLED) ## format every file
	@$(PRETTIER) --write .

fuzz: build ## fuzz the gateway, the gRPC port and the readers of QR codes and ISO 20022 messages: make fuzz BUDGET=30 (seconds each)
	@node .build/test/fuzz/gateway.js --seconds $(or $(BUDGET),30)
	@node .build/test/fuzz/grpc.js --seconds $(or $(BUDGET),30)
	@node .build/test/fuzz/qr.js --seconds $(or $(BUDGET),30)
	@node .build/test/fuzz/iso20022.js --seconds $(or $(BUDGET),30)

contract: setup nats build ## test requests generated from the OpenAPI document: make contract RUNS=1000 (each operation)
	@CONTRACT_RUNS=$(or $(RUNS),200) node .build/test/contract/generated.test.js

sim: build ## run the deterministic simulation with faults: make sim, make sim SEED=1 STEPS=1500
	@UV_THREADPOOL_SIZE=1 node .build/test/simulation/main.js $(call with,SEED,seed) $(call with,RUNS,runs) $(call with,STEPS,steps) $(ARGS)

model: build ## test random calls against the reference models: make model RUNS=5000 SEED=1 ARGS="--books --rebuilt"
	@node .build/test/model/main.js $(call with,RUNS,runs) $(call with,SEED,seed) $(ARGS)

ownership-model: setup postgres build ## check the Quint model of shards and their owners, and the code against it: make ownership-model SAMPLES=5000 TRACES=40
	@node .build/test/model/ownership/main.js $(call with,SAMPLES,samples) $(call with,TRACES,traces) $(ARGS)

ownership-model: export STORE = postgres

powercut: setup nats build ## test recovery from disk images after power cuts: make powercut IMAGES=200 SEED=1
	@node .build/test/powercut/main.js $(call with,IMAGES,images) $(call with,SEED,seed)

mutants: setup build ## plant faults that the tests must notice: make mutants, make mutants ONLY="ledger limits"
	@node .build/test/mutants/main.js $(if $(ONLY),--only "$(ONLY)") $(call with,JOBS,jobs)

restore-drill: setup nats postgres build ## lose a machine under load, restore its backup, retry every lost payment: make restore-drill PAYMENTS=300, STORE=postgres
	@node .build/test/restore/main.js $(call with,PAYMENTS,payments) $(call with,RAIL,rail) $(call with,STORE,store)

upgrade-drill: setup nats postgres build ## replace every process under load of clients that repeat nothing: make upgrade-drill RATE=300 ROUNDS=3, CLUSTER=yes, FROM=REV
	@env -u CLUSTER node .build/test/upgrade/main.js $(call with,RATE,rate) $(call with,ROUNDS,rounds) $(call with,FROM,from) $(if $(CLUSTER),--cluster)

chaos: setup nats build ## test kills, frozen processes and a full disk under load: make chaos DURATION=60 SEED=1
	@node .build/test/crash/chaos.js $(call with,DURATION,duration) $(call with,SEED,seed)

crash-points: setup nats build ## kill a process at each crash point of the code, under load: make crash-points CRASHES=10
	@CRASHES=$(or $(CRASHES),5) node .build/test/crash/crash_points.test.js

failover: setup nats postgres build ## test kills of a PostgreSQL primary and of the processor under load: make failover ROUNDS=20
	@node .build/test/failover/main.js $(call with,ROUNDS,rounds) $(call with,SEED,seed)

failover: export STORE = postgres

cluster-chaos: setup nats postgres build ## test kills, pauses, partitions and moves in the trial cluster: make cluster-chaos DURATION=60 SEED=1
	@src/scripts/packet_filter.sh
	@node .build/test/cluster/main.js $(call with,DURATION,duration) $(call with,SEED,seed) $(call with,FAULTS,faults) $(call with,TIMES,times)

cluster-chaos: export STORE = postgres

freeze: setup nats build ## freeze a DATA_DIR of this revision that later ones must open: make freeze NAME=1.0.0
	@node .build/test/golden/freeze.js $(call with,NAME,name)
	@cp gateway/openapi.json test/golden/openapi.json

release: ## check a release: clean tree, version, changelog, golden data, tests; then prints the tag command
	@src/scripts/release.sh

##@ Measure (test/load; results go to .build/load)
bench: setup nats postgres build ## benchmark every scenario and its ceiling; STORE=postgres compares PostgreSQL with SQLite
	@$(LOAD) bench $(call with,DURATION,seconds) $(LOAD_FLAGS)

bench-scale: setup nats postgres build ## benchmark with 10,000 and 1,000,000 stored payments, and starts with 100,000 open ones
	@$(LOAD) scale $(call with,KEEP,keep) $(LOAD_FLAGS)

bench-shards: setup postgres build ## benchmark writers of one shard and of two on one PostgreSQL: make bench-shards PAIRS=5 BATCHES=1000
	@$(LOAD) shards $(call with,PAIRS,repeat) $(call with,BATCHES,batches) $(ARGS)

bench-shards: export STORE = postgres

bench-cluster: setup nats postgres build ## benchmark two shards and one on the running make cluster: make bench-cluster PAIRS=5 DURATION=10
	@$(LOAD) cluster $(call with,PAIRS,repeat) $(call with,DURATION,seconds) $(call with,SCENARIO,scenario) $(ARGS)

bench-refusals: setup nats postgres build ## measure whether the time of a refusal tells its cause: make bench-refusals SAMPLES=2000
	@$(LOAD) refusals $(call with,SAMPLES,samples) $(LOAD_FLAGS)

bench-compare: setup nats build ## benchmark two revisions alternately: make bench-compare BASE=main (REV=HEAD)
	@src/scripts/bench_compare.sh "$(BASE)" "$(or $(REV),HEAD)" $(call with,DURATION,seconds) $(LOAD_FLAGS)

load: setup nats postgres build ## load at a fixed rate: make load SCENARIO=mixed RATE=200 DURATION=30 RUNNING=1
	@$(LOAD) load $(call with,RATE,rate) $(call with,DURATION,seconds) $(if $(RUNNING),--running) $(LOAD_FLAGS)

soak: setup nats postgres build ## soak test of 30 minutes (DURATION=1800): memory and file-descriptor growth
	@$(LOAD) soak $(call with,RATE,rate) $(call with,DURATION,seconds) $(LOAD_FLAGS)

spike: setup nats postgres build ## overload, ten times the capacity for 5 seconds: rejections and recovery time
	@$(LOAD) spike $(call with,DURATION,seconds) $(LOAD_FLAGS)

profile: setup nats postgres build ## record CPU profiles for speedscope: make profile SCENARIO=payouts DURATION=10
	@$(LOAD) profile $(call with,RATE,rate) $(call with,DURATION,seconds) $(LOAD_FLAGS)

seed: setup build ## write historical data: make seed COUNT=1000000 WHAT=payouts LIVE=1000, TIMES=100 for years
	@node --max-semi-space-size=64 .build/test/load/main.js seed $(call with,COUNT,count) $(call with,WHAT,what) $(call with,LIVE,live) $(call with,TIMES,times)

##@ Steps and generated files
setup: $(INSTALLED) ## install dependencies; the first time takes about two minutes
	@:

nats: ## install nats-server if missing, unless NATS_URL is set
	@src/scripts/nats.sh

postgres: ## install PostgreSQL if missing and STORE=postgres, unless STORE_URL is set
	@src/scripts/postgres.sh

build: $(BUILT) ## generate types from protos/, compile into .build/
	@:

metrics: build ## generate src/METRICS.md from the code
	@node .build/src/operations/metrics_page.js write

settings: build ## generate src/SETTINGS.md and .env.example from the code
	@node .build/src/operations/settings_page.js write

examples: setup nats openapi ## record the examples of gateway/openapi.json from a real stack
	@node .build/test/contract/record.js
	@$(MAKE) openapi

openapi: build ## generate gateway/openapi.json, and the files that derive from it
	@node .build/test/contract/generate.js
	@node .build/src/client/collection/main.js

collection: build ## generate the Bruno and Postman collection from gateway/openapi.json
	@node .build/src/client/collection/main.js

client: $(INSTALLED) ## build the npm package and the Python wheel of the partner clients into .build/
	@src/scripts/client_package.sh
	@src/scripts/python_package.sh

sbom: $(INSTALLED) ## write the bill of materials of what is shipped into .build/ (CycloneDX)
	@src/scripts/sbom.sh

licenses: build ## list the licenses of all packages; fails for one that is not accepted
	@node .build/src/deploy/licenses_main.js

try-image: ## build the images of src/deploy in a Debian 13 folder, without Docker, and run the stack and the demo in it
	@src/deploy/try_image.sh

clean: ## delete build output; keeps node_modules and var
	@rm -rf .build protos/types

help: ## print this list
	@awk -f src/scripts/help.awk $(MAKEFILE_LIST)

$(INSTALLED): package-lock.json
	@src/scripts/install.sh
	@touch $@

$(TYPES): $(PROTOS) $(INSTALLED) src/scripts/types.sh src/scripts/contracts.mjs
	@src/scripts/types.sh
	@touch $@

# Depends on folders because deleting a file changes only its folder.
$(BUILT): $(SOURCES) $(FOLDERS) $(TYPES) tsconfig.json
	@[ -f $@ ] || echo 'compiling … (a quarter of a minute the first time)'
	@src/scripts/build.sh
	@touch $@
