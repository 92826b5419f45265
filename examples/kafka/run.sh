#!/usr/bin/env bash
# Flights of 2013 through a topic of a real Kafka broker into Iceberg tables: kills, records that cannot be read, more
# partitions, a new generation, and a topic that somebody creates again.
#
#   bash examples/kafka/run.sh [DIRECTORY]
#
# Needs Python 3.11 (and root or sudo where Java or Maven have to be installed). Everything it makes is in DIRECTORY (examples/kafka/work).
# FLAREIAC_VENV is a virtual environment that has flareiac[kafka,spark] and requirements.txt installed, to be used as it is.
set -euo pipefail
extras=kafka,spark
example=$(cd "$(dirname "$0")" && pwd)
source "$example/../../tests/setup/machine.sh"
source "$example/../../tests/setup/story.sh"
begin_spark "$example" "${1:-$example/work}"

produce() { run python "$example/produce.py" "$archive" "$FLAREIAC_VAR_bootstrap_servers" "$@"; }
verify() { run python "$example/verify.py" . --wait 300 "$@"; }

step "1. A broker, and the flights of 2013"
begin_kafka
begin_flights

step "2. From the declaration to a running stream: topic, tables and job in one plan"
run flareiac init
run flareiac validate
run flareiac plan -out=plan.json
run flareiac apply plan.json
produce --count 20000
verify --flights 20000 --bad 0
run flareiac status
expecting 0 flareiac plan -detailed-exitcode

step "3. Records that cannot be read go to a table of their own; driver and broker are killed while data arrives"
produce --first 20001 --count 20000 --bad 30
pid=$(driver_pid)
is_driver "$pid"
run kill -9 "$pid"
run kill -9 "$(cat "$kafka/pid")"
produce --first 40001 --count 20000
expecting 3 flareiac drift
run flareiac apply -auto-approve
verify --flights 60000 --bad 30

step "4. More partitions: the plan says what moves"
show sed -i "'s/partitions         = 3/partitions         = 6/'" flights.flare.hcl
sed -i 's/partitions         = 3/partitions         = 6/' flights.flare.hcl
expecting 2 flareiac plan -out=plan.json -detailed-exitcode
run flareiac apply plan.json
produce --first 60001 --count 20000
verify --flights 80000 --bad 30

step "5. A new generation goes on where the last one stands"
show sed -i "'s/checkpoint \"flights\" {}/checkpoint \"flights\" { generation = 2 }/'" flights.flare.hcl
sed -i 's/checkpoint "flights" {}/checkpoint "flights" { generation = 2 }/' flights.flare.hcl
expecting 2 flareiac plan -out=plan.json -detailed-exitcode
run flareiac apply plan.json
produce --first 80001 --count 10000
verify --flights 90000 --bad 30
run flareiac checkpoint show checkpoint.flights

step "6. Somebody deletes the topic and creates it again: same name, other records"
run flareiac stop job.flights
run python "$example/recreate.py" "$FLAREIAC_VAR_bootstrap_servers"
expecting 3 flareiac drift
expecting 4 flareiac plan -detailed-exitcode

step "Done."
