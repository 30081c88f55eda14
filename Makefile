# Every target sets up what it needs: the virtual environment in .venv, and Docker's sandbox image or bubblewrap.
# Nothing has to be there but make; what only root can install is named when it is missing.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help demo test check format bench venv executor image full-image app-image lock clean

PYTEST_ARGS ?=
BENCH_ARGS ?=
BIN := .venv/bin

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1~\2/p' $(MAKEFILE_LIST) | awk -F'~' '{printf "%-18s %s\n", $$1, $$2}'

demo: venv executor ## Run the whole path on a small problem set: import, judge, score
	@$(BIN)/live demo

test: venv executor ## Run the tests (PYTEST_ARGS="-k window" chooses)
	@$(BIN)/pytest $(PYTEST_ARGS)

check: venv ## Run ruff, mypy --strict and the import contract
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: venv ## Lay the code out as check wants it
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .

bench: venv executor ## Run the benchmarks (BENCH_ARGS is passed on)
	@$(BIN)/python -m benchmarks $(BENCH_ARGS)

venv: .venv/.installed ## Make .venv with every pinned dependency

.venv/.installed: constraints.txt pyproject.toml tools/make-venv
	@PYTHON="$(PYTHON)" tools/make-venv

executor: ## Make sure that programs can be judged here (Docker, else bubblewrap)
	@tools/prepare-executor

image: ## Build the sandbox image (Python and its standard library)
	@tools/build-image sandbox

full-image: ## Build the sandbox image with every language and NumPy (1.8 GB)
	@tools/build-image full

app-image: venv ## Build the image of the live command
	@tools/build-image app

lock: ## Resolve the dependencies anew (tools/lock-dependencies --upgrade takes the newest)
	@tools/lock-dependencies

clean: ## Remove what make made in this folder
	@rm -rf .venv wheels dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
