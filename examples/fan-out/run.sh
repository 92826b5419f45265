#!/usr/bin/env bash
# Orders of a topic of a real Kafka broker into two Iceberg tables and another topic, in one micro-batch: kills of the
# driver, and records that cannot be read.
#
#   bash examples/fan-out/run.sh [DIRECTORY]
#
# Needs Python 3.11 (and root or sudo where Java or Maven have to be installed). Everything it makes is in DIRECTORY (examples/fan-out/work).
# FLAREIAC_VENV is a virtual environment that has flareiac[kafka,spark] and requirements.txt installed, to be used as it is.
set -euo pipefail
extras=kafka,spark
example=$(cd "$(dirname "$0")" && pwd)
source "$example/../../tests/setup/machine.sh"
source "$example/../../tests/setup/story.sh"
begin_spark "$example" "${1:-$example/work}"
produce() { run python "$example/produce.py" "$FLAREIAC_VAR_bootstrap_servers" "$@"; }
verify() { run python "$example/verify.py" . "$FLAREIAC_VAR_bootstrap_servers" --wait 300 "$@"; }
driver_gone() { ! is_driver "$(driver_pid)"; }

step "1. A broker; topics, tables and the job in one plan"
begin_kafka
run flareiac init
run flareiac plan -out=plan.json
run flareiac apply plan.json
produce --count 3000 --bad 5
verify --orders 3000 --bad 5

step "2. The driver is killed while orders arrive: after a batch was written, before Spark knows of it"
show kill -9 "the driver"
kill -9 "$(driver_pid)"
FLAREIAC_KILL_AT=driver.after-output-write@orders:1 flareiac apply -auto-approve >/dev/null 2>&1 || true
produce --first 3001 --count 3000 --bad 5
wait_until 120 "the end of the driver between its two tables" driver_gone
expecting 3 flareiac drift
run flareiac apply -auto-approve
produce --first 6001 --count 3000
verify --orders 9000 --bad 10
expecting 0 flareiac plan -detailed-exitcode

step "Done."
