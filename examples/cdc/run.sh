#!/usr/bin/env bash
# Change events of a PostgreSQL table, as Debezium writes them, from a real Kafka broker into an Iceberg table: a snapshot,
# updates and deletes, old changes that come late, a column that the source gets, and records that cannot be read.
#
#   bash examples/cdc/run.sh
#
# Needs Python 3.11 (and root or sudo where Java or Maven have to be installed). Everything it makes is in examples/cdc/work. Settings by environment:
#   FLAREIAC_VENV  a virtual environment that has flareiac[spark] installed, to be used as it is
#   CDC_WORK       another directory to work in
set -euo pipefail
cd "$(dirname "$0")/../.."
example=$PWD/examples/cdc
work=${CDC_WORK:-$example/work}
project=$work/project
control=$project/runtime # the engine's runtime_location
mkdir -p "$work"
exec </dev/null
source tests/setup/machine.sh
source tests/setup/story.sh
story_venv "$work"
ensure_maven
export PYTHONPATH=$PWD

services=
stop_all() {
  stop_driver
  if [ -n "$services" ] && kill "$services" 2>/dev/null; then wait "$services" 2>/dev/null || true; fi
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
rm -rf "$project" "$work/services"
mkdir -p "$project" "$work/services"
cp "$example"/project/*.flare.hcl "$project"
cd "$project"

change() { run python "$example/source.py" "$FLAREIAC_VAR_bootstrap_servers" "$FLAREIAC_VAR_registry" "$@"; }
verify() { run python "$example/verify.py" . "$@" --wait 240; }

step "1. A broker, a registry, and a snapshot of the orders"
python "$example/services.py" "$work/services" >"$work/services.log" 2>&1 &
services=$!
wait_until 240 "the broker and the registry (see $work/services.log)" test -s "$work/services/registry"
export FLAREIAC_VAR_bootstrap_servers FLAREIAC_VAR_registry
FLAREIAC_VAR_bootstrap_servers=$(cat "$work/services/bootstrap")
FLAREIAC_VAR_registry=$(cat "$work/services/registry")
run flareiac init
run flareiac apply -auto-approve
change snapshot
verify snapshot

step "2. Updates, deletes and inserts: the table is what the source has"
change changes
verify changes

step "3. Old changes once more, in other partitions: no newer row is overwritten, no deleted order comes back"
change late
change unreadable
verify changes --unreadable 2

step "4. The source gets a column"
change column
verify column --unreadable 2
run flareiac plan
show sed -i "'s/column \"placed_at\" .*/&\\n  column \"note\" { type = \"string\" }/; s/placed_at, change_op/placed_at, note, change_op/'" orders.flare.hcl
sed -i 's/column "placed_at" .*/&\n  column "note" { type = "string" }/; s/placed_at, change_op/placed_at, note, change_op/' orders.flare.hcl
run flareiac apply -auto-approve
change again
verify again --unreadable 2 --notes

step "Done."
