#!/usr/bin/env bash
# Orders of a topic of a real Kafka broker into two Iceberg tables and another topic, in one micro-batch: kills of the
# driver, and records that cannot be read.
#
#   bash examples/fan-out/run.sh
#
# Needs Python 3.11 (and root or sudo where Java or Maven have to be installed). Everything it makes is in examples/fan-out/work. Settings by environment:
#   FLAREIAC_VENV  a virtual environment that has flareiac[spark] installed, to be used as it is
#   FAN_OUT_WORK   another directory to work in
set -euo pipefail
cd "$(dirname "$0")/../.."
example=$PWD/examples/fan-out
work=${FAN_OUT_WORK:-$example/work}
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
produce() { run python "$example/produce.py" "$FLAREIAC_VAR_bootstrap_servers" "$@"; }
verify() { run python "$example/verify.py" . "$FLAREIAC_VAR_bootstrap_servers" --wait 300 "$@"; }
driver_gone() { ! is_driver "$(driver_pid)"; }

step "1. A broker; topics, tables and the job in one plan"
python "$example/../kafka/broker.py" "$work/broker" >"$work/broker.log" 2>&1 &
service=$!
wait_until 240 "the broker (see $work/broker.log)" test -s "$work/broker/pid"
export FLAREIAC_VAR_bootstrap_servers
FLAREIAC_VAR_bootstrap_servers=$(cat "$work/broker/bootstrap")
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
