# Every target sets up .venv by itself. A bare machine needs make and a Python >= 3.11 (.ci/run brings both on Debian). pip compiles
# nothing (--no-compile): most modules of the libraries are never imported, and the others are compiled at their first import.
# The pip of .venv serves the other environments, too (--python).
VENV   := .venv
PY     := $(VENV)/bin/python
STAMP  := $(VENV)/.ready
PYTEST ?= $(PY) -m pytest
# Compiled modules are kept, whatever an image's environment says: each process of the tests, and each that a test starts, would compile
# all of them anew, two thirds of the processor time of a collection.
unexport PYTHONDONTWRITEBYTECODE
# The first Python that is new enough; `make PYTHON=...` overrules.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14; do \
	"$$p" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)

# The pipeline's own environment: PySpark is a source package of 0.45 GB, so only those who ask for the pipeline download it. The wheel made
# of it is not compressed: it is opened at once, and that way it takes a third less processor time.
SPARK_VENV  := .venv-spark
SPARK_PY    := $(SPARK_VENV)/bin/python
SPARK_STAMP := $(SPARK_VENV)/.ready
SPARK_PIP   := $(PY) -m pip --python $(SPARK_PY) install --quiet --disable-pip-version-check --no-compile

# `make` alone says what there is.
.DEFAULT_GOAL := help

# A wheel file in dist/, for whoever has no checkout.
wheel: $(STAMP)
	$(PY) -m hatchling build -t wheel -d dist
	@du -h dist/*.whl

# The documentation as a site in build/docs, with the lessons if `make site` has built them.
DOCS_VENV := .venv-docs

docs: $(STAMP) $(DOCS_VENV)/.ready
	$(PY) -m tools.docs
	NO_MKDOCS_2_WARNING=1 $(DOCS_VENV)/bin/python -m mkdocs build --quiet

$(DOCS_VENV)/.ready: requirements/docs.txt | $(STAMP)
	rm -rf $(DOCS_VENV)
	$(PYTHON) -m venv --without-pip $(DOCS_VENV)
	$(PY) -m pip --python $(DOCS_VENV)/bin/python install --quiet --disable-pip-version-check --no-compile --only-binary :all: --require-hashes \
		-r requirements/docs.txt
	touch $@

# A user's program checked by Pyright, too. It brings Node, 0.28 GB, so only those who ask for it download it.
TYPED_VENV := .venv-typed

typed: $(STAMP) $(TYPED_VENV)/.ready
	$(PYTEST) integration_tests/test_typed.py

$(TYPED_VENV)/.ready: requirements/typed.txt | $(STAMP)
	rm -rf $(TYPED_VENV)
	$(PYTHON) -m venv --without-pip $(TYPED_VENV)
	$(PY) -m pip --python $(TYPED_VENV)/bin/python install --quiet --disable-pip-version-check --no-compile --only-binary :all: --require-hashes \
		-r requirements/typed.txt
	touch $@

# What is published, in dist/, each piece checked; TAG names the version, if there is a tag already.
release: $(STAMP)
	$(PY) -m tools.release build $(if $(TAG),--tag $(TAG)) $(if $(WITHOUT),--without $(WITHOUT))

.PHONY: in-turn beside help setup wheel release docs typed demo site page matrix test lint unit unit-compiled coverage integration spark spark-setup spark-kafka pipeline curve share-curve record images kafka-image bench figures fuzz lock clean

help:
	@echo 'make demo    three client libraries in one group, rebalanced and explained'
	@echo 'make test    lint, types, import layers, tests, comparison with a real broker'
	@echo 'make coverage  the unit tests with branch coverage, which is shown'
	@echo 'make spark   the tests of the data pipeline alone (they are a part of make test)'
	@echo 'make spark-kafka  Spark'"'"'s Kafka connector (by Maven), and its tests with the emulator as the broker'
	@echo 'make pipeline  simulations to tables, metrics and a report, on Spark'
	@echo 'make curve   what rebalances cost against the size of the group, computed anew (docs/curve; long, goes on where it stopped)'
	@echo 'make share-curve   what share groups do with their records, computed anew (docs/share_curve.md; some minutes)'
	@echo 'make lint    ruff (layout and meaning), mypy --strict, import-linter'
	@echo 'make record  what a real Kafka does, recorded anew (integration_tests/golden)'
	@echo 'make site    the lessons as a static site, in build/site (needs Node)'
	@echo 'make page    the page and the lessons in a real Chromium; part of make test'
	@echo 'make images  Docker images: the emulator, and a real broker for where none can be pulled'
	@echo 'make bench   measure speed and memory (docs/performance.md); make figures also writes docs/figures.md, before a release'
	@echo 'make fuzz    the long half of the tests; a million mutated frames; up to 100,000 cases for each assignor and 10,000 patterns against Java; a swarm of simulations (long; needs a JDK and Maven)'
	@echo 'make docs    the documentation as a site, in build/docs; with the lessons after make site'
	@echo 'make wheel   a wheel file, in dist'
	@echo 'make release what is published, in dist, each piece checked; says what release.toml still lacks'
	@echo 'make matrix  client libraries in several versions on the emulator, and the page that says what they do (docs/clients.md; some minutes)'
	@echo 'make typed   what a user writes with the installed wheel, checked by mypy and Pyright (brings Node)'
	@echo 'make lock    pin the dependencies anew'

setup: $(STAMP)

$(STAMP): requirements/dev.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo 'No Python >= 3.11 with venv found; on Debian run .ci/run, elsewhere: make PYTHON=/path/to/python3.11' >&2; exit 1; }
	@echo 'make: setting up $(VENV), once; this takes some minutes'
	rm -rf $(VENV)
	@echo 'make: a virtual environment of its own ...'
	@$(PYTHON) -m venv $(VENV)
	@echo 'make: the libraries and tools that are listed in requirements/dev.txt ...'
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-compile --only-binary :all: --require-hashes -r requirements/dev.txt
	@echo 'make: coordinator itself, as it stands here ...'
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --no-build-isolation -e .
	@touch $@

demo: $(STAMP)
	@echo 'make: three client libraries join one group; a rebalance, and why it happened ...'
	$(PY) -m coordinator demo

# The integration tests compare brokers in real time, and wait for much of theirs: what they leave of the processors Spark's tests and the
# linters have, at a lower priority. What a part says comes whole, at its end; all parts run to theirs.
test: $(STAMP)
	$(MAKE) --no-print-directory --keep-going --jobs=2 --output-sync=target in-turn beside

in-turn: $(STAMP)
	@failed=0; for part in integration unit; do $(MAKE) --no-print-directory $$part || failed=1; done; exit $$failed

beside: $(STAMP)
	@failed=0; for part in spark lint; do nice -n 10 $(MAKE) --no-print-directory $$part || failed=1; done; exit $$failed

lint: $(STAMP)
	$(PY) -m ruff format --check --quiet .
	$(PY) -m ruff check .
	$(PY) -m mypy --strict
	$(VENV)/bin/lint-imports --no-cache

unit: $(STAMP)
	$(PYTEST) -n 3 --dist worksteal

# Their modules compiled and kept, so that the processes of `make unit` do not each do it at the same time.
unit-compiled: $(STAMP)
	$(PYTEST) --collect-only --quiet

# The same tests with branch coverage, which doubles their time: before a release.
coverage: $(STAMP)
	$(PYTEST) -n 3 --dist worksteal --cov --cov-report=term

# The lessons as a static site in build/site, and a real Chromium on it (needs Node; CHROMIUM names the browser). Part of `make integration`.
site: $(STAMP)
	$(PY) -m tools.page_site $(if $(BASE_URL),--base-url $(BASE_URL))

page: $(STAMP)
	$(PYTEST) integration_tests/page

integration: $(STAMP)
	$(PYTEST) -n 4 integration_tests

# Java is looked for before 0.45 GB are downloaded.
$(SPARK_STAMP): requirements/spark-build.txt requirements/spark.txt pyproject.toml | $(STAMP)
	@test -n "$(PYTHON)" || { echo 'No Python >= 3.11 with venv found; on Debian run .ci/run, elsewhere: make PYTHON=/path/to/python3.11' >&2; exit 1; }
	@$(PYTHON) -c 'from coordinator.lab.pipeline.spark.session import java; java()' 2>/dev/null || \
		{ echo 'Spark needs Java 17 or newer: install one (on Debian: apt install default-jre-headless), or set JAVA_HOME' >&2; exit 1; }
	rm -rf $(SPARK_VENV)
	$(PYTHON) -m venv --without-pip $(SPARK_VENV)
	$(SPARK_PIP) --only-binary :all: --require-hashes -r requirements/spark-build.txt
	$(SPARK_PIP) --only-binary :all: --no-binary pyspark --no-build-isolation --config-settings=--build-option=--compression=stored \
		--require-hashes -r requirements/spark.txt
	$(SPARK_PIP) --no-deps --no-build-isolation -e .
	touch $@

# Spark's Kafka connector, by Maven; a folder that is there is whole.
SPARK_JARS := $(SPARK_VENV)/kafka-jars

spark-kafka: $(SPARK_JARS)
	SPARK_KAFKA=1 $(SPARK_PY) -m pytest pipeline_tests/test_kafka.py

$(SPARK_JARS): $(SPARK_STAMP) requirements/spark-kafka/pom.xml
	@command -v mvn >/dev/null || { echo "Spark's Kafka connector needs Maven to be fetched: install it (on Debian: apt install maven)" >&2; exit 1; }
	rm -rf $@ $@-making
	mvn -q -B -f requirements/spark-kafka/pom.xml org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
		-DincludeScope=runtime -DoutputDirectory=$(CURDIR)/$@-making
	mv $@-making $@

# With Maven (.ci/run brings it) the tests of the connector, too; without, they are skipped, and the others run.
ifneq ($(shell command -v mvn),)
spark: export SPARK_KAFKA := 1
spark spark-setup: $(SPARK_JARS)
endif
# What `make spark` needs, without its tests.
spark-setup: $(SPARK_STAMP)
spark: $(SPARK_STAMP)
	$(SPARK_PY) -m pytest pipeline_tests

# Live logs to tables; a sweep with its statistics and its report.
pipeline: $(SPARK_STAMP)
	rm -rf pipeline-run
	mkdir pipeline-run
	$(SPARK_PY) -m coordinator simulate poisson_churn --set duration=10m --log pipeline-run/churn.jsonl
	$(SPARK_PY) -m coordinator tables pipeline-run/churn.jsonl --out pipeline-run/tables
	$(SPARK_PY) -m coordinator sweep examples/pipeline/deployments.toml --out pipeline-run/deployments
	$(SPARK_PY) -m coordinator analyse pipeline-run/deployments
	$(SPARK_PY) -m coordinator report pipeline-run/deployments

# SIZE or SIZE:SEEDS; a size is a sweep of its own, so more sizes and more seeds are added to what is there.
SIZES ?= 10,20,50,100,200,500,1000
SEEDS ?= 20

curve: $(SPARK_STAMP)
	$(SPARK_PY) -m coordinator.lab.pipeline.spark.curve --sizes $(SIZES) --seeds $(SEEDS) $(if $(KNOWN),--known $(KNOWN))

share-curve: $(STAMP)
	$(PY) -m benchmarks.share_curve

# Needs Java with Maven, Go and Node; LIBRARY plays one alone; the rows of the others stay.
matrix: $(STAMP)
	$(PY) -m integration_tests.matrix $(LIBRARY)

record: $(STAMP)
	$(PY) -m integration_tests.record

images: kafka-image
	$(PY) -m tools.images emulator

kafka-image: $(STAMP)
	$(PY) -m tools.images kafka

bench: $(STAMP)
	$(PY) -m benchmarks

# Measures everything and writes docs/figures.md: before a release.
figures: $(STAMP)
	$(PY) -m benchmarks --write

# Two parts at a time, each timed; `python -m tools.fuzz --list` names them. Older Kafkas are in it (docs/releases.md).
fuzz: $(STAMP) $(SPARK_STAMP)
	$(PY) -m tools.fuzz

lock:
	$(PYTHON) tools/lock.py

clean:
	rm -rf $(VENV) $(SPARK_VENV) $(DOCS_VENV) $(TYPED_VENV) build dist .coverage* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
