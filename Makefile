# Causeway. `make` alone lists what there is.
#
# Owns: the verbs people type. Does not own: how the processes start and stop (src/supervisor), nor the
# steps that need more than a line of shell (.make/).

MAKEFLAGS += --no-print-directory
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help setup nats build run demo ops audit test check lint format bench fuzz clean

INSTALLED := node_modules/.installed
TYPES := protos/types/.made
BUILT := .build/.made
PROTOS := $(wildcard protos/*.proto)
SOURCES := $(shell find src actors gateway test -name '*.ts' 2>/dev/null)
# Without `test` itself, which is also the name of a target.
FOLDERS := $(shell find src actors gateway test -mindepth 1 -type d 2>/dev/null)
ESLINT := node_modules/.bin/eslint -c .eslint.config.mjs
PRETTIER := node_modules/.bin/prettier --log-level warn

##@ Use it
run: setup nats build ## start everything; Ctrl-C stops it
	@node .build/src/supervisor/main.js

demo: setup nats build ## a QR payment and a payout from end to end, told step by step
	@node .build/src/operations/demo.js

ops: build ## the operator's commands: make ops ARGS="trial-balance"
	@node .build/src/operations/main.js $(ARGS)

audit: build ## check the books against the rail, the events and the ledger; reads only
	@node .build/src/audit/main.js $(ARGS)

##@ Work on it
test: ## the whole set-up, every check and every test; ends with "N passed, N failed"
	@.make/test.sh

check: build lint ## types, lint, formatting, house rules
	@$(PRETTIER) --check .
	@node .build/test/tidy.test.js >.build/tidy.tap || { grep -A30 'not ok' .build/tidy.tap; exit 1; }

lint: $(INSTALLED) $(TYPES) ## the linter alone
	@$(ESLINT) .

format: $(INSTALLED) ## lay out every file
	@$(PRETTIER) --write .

fuzz: build ## hostile bytes at the gateway's door: make fuzz BUDGET=30 (seconds)
	@node .build/test/fuzz/door.js --seconds $(or $(BUDGET),30)

bench: setup build ## what it takes, beside the ceiling of the same machine (test/load)
	@node .build/test/load/main.js bench $(ARGS)

##@ Parts of the above
setup: $(INSTALLED) ## dependencies; the first time takes about two minutes
	@:

nats: ## nats-server, from PATH or from apt; nothing to do when NATS_URL is set
	@.make/nats.sh

build: $(BUILT) ## types of the protos, then JavaScript into .build/
	@:

clean: ## remove what was built; keeps node_modules and var
	@rm -rf .build .tap protos/types

help: ## this list
	@awk -f .make/help.awk $(MAKEFILE_LIST)

$(INSTALLED): package-lock.json
	@.make/install.sh
	@touch $@

$(TYPES): $(PROTOS) $(INSTALLED)
	@.make/types.sh
	@touch $@

# The folders are there because a file that was removed changes its folder only.
$(BUILT): $(SOURCES) $(FOLDERS) $(TYPES) tsconfig.json
	@.make/build.sh
	@touch $@
