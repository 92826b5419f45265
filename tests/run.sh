#!/usr/bin/env bash
# Sets everything up on a machine with nothing but Python 3.11 (and root or sudo, where Java has to be installed), and runs every check and test.
#
#   bash tests/run.sh [-fast] [-slow] [-facts] [PYTEST ARGUMENTS...]
#
# -fast leaves out what needs a JVM, -slow adds the tests that take minutes each. -facts measures the facts about Spark, Iceberg and Kafka,
# which otherwise run only when the pinned versions or their own files differ from tests/facts/proven.json. Other arguments go to pytest as
# they are.
set -euo pipefail
cd "$(dirname "$0")/.."

fast=no
arguments=()
for argument in "$@"; do
  case "$argument" in
    -fast | --fast) fast=yes ;;
    -slow | --slow) arguments+=("--slow") ;;
    -facts | --facts) arguments+=("--facts") ;;
    *) arguments+=("$argument") ;;
  esac
done

source tests/setup/machine.sh
exec </dev/null

python=$(find_python)
make_venv "$python" .venv
install_editable .venv "all,dev"
export PATH="$PWD/.venv/bin:$PATH"
ensure_postgres
ensure_chromium
command -v shellcheck >/dev/null || apt_install shellcheck

# The types take one core for half a minute; what follows mostly waits for the network and for short JVMs.
types=$(mktemp)
mypy >"$types" 2>&1 &
checking=$!
trap 'kill "$checking" 2>/dev/null || true; rm -f "$types"' EXIT

if [ "$fast" = no ]; then
  ensure_java .venv/bin/python
  say "Jars and the class-data archive (into the user's cache)"
  FLAREIAC_TEST_JARS=$(.venv/bin/python -m flareiac_spark.runtime.fetch --archive)
  export FLAREIAC_TEST_JARS
  ensure_maven
  say "Jars of catalogs: drivers, S3 and Iceberg's REST server (into the user's cache)"
  .venv/bin/python -m flareiac_spark.runtime.fetch \
    $(.venv/bin/python -c 'from flareiac.sdk.versions import *; print(ICEBERG_AWS, POSTGRESQL_JDBC)') >/dev/null
  .venv/bin/python -m tests.support.hadoop_jvm
  .venv/bin/python -m tests.support.rest_server >/dev/null
  say "Jars of Kafka: a broker, and Spark's connector with Avro and its class-data archives (into the user's cache)"
  .venv/bin/python -m tests.support.kafka_broker >/dev/null
  .venv/bin/python -m tests.support.kafka_connector >/dev/null
fi

say "Style, types, layers"
ruff check .
ruff format --check .
lint-imports
code=0
wait "$checking" || code=$?
cat "$types"
rm -f "$types"
trap - EXIT
[ "$code" = 0 ] || exit "$code"

say "Tests"
echo "Beside the quickstart, and without -slow: $(python -m tests.examples.turns)."
if [ "$fast" = yes ]; then
  exec pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not jvm" ${arguments[@]+"${arguments[@]}"}
fi
# Tests of one file share a Spark application, so a file stays on one worker. Tests of an application wait for a third of
# their time: three workers keep two cores busy.
# The order is that of tests/conftest.py: left to itself, xdist keeps files of few but long tests for the end.
# A worker that a hanging test ended (faulthandler_timeout) is replaced once: the next one begins with the same test again.
exec pytest -n 3 --dist loadfile --no-loadscope-reorder --max-worker-restart=1 ${arguments[@]+"${arguments[@]}"}
