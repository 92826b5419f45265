#!/usr/bin/env bash
# Change events of a PostgreSQL table, as Debezium writes them, from a real Kafka broker into an Iceberg table: a snapshot,
# updates and deletes, old changes that come late, a column that the source gets, and records that cannot be read.
#
#   bash examples/cdc/run.sh [DIRECTORY]
#
# Needs Python 3.11 (and root or sudo where Java or Maven have to be installed). Everything it makes is in DIRECTORY (examples/cdc/work).
# FLAREIAC_VENV is a virtual environment that has flareiac[kafka,spark] and requirements.txt installed, to be used as it is.
set -euo pipefail
extras=kafka,spark
example=$(cd "$(dirname "$0")" && pwd)
source "$example/../../tests/setup/machine.sh"
source "$example/../../tests/setup/story.sh"
begin_spark "$example" "${1:-$example/work}"

change() { run python "$example/source.py" "$FLAREIAC_VAR_bootstrap_servers" "$FLAREIAC_VAR_registry" "$@"; }
verify() { run python "$example/verify.py" . "$@" --wait 240; }

step "1. A broker, a registry, and a snapshot of the orders"
begin_kafka
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
