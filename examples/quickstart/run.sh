#!/usr/bin/env bash
# FlareIaC's main job on real data: the flights of 2013, from files through two streams into Iceberg tables.
#
#   bash examples/quickstart/run.sh [DIRECTORY]
#
# Needs Python 3.11 (and root or sudo where Java has to be installed). Everything it makes is in DIRECTORY (examples/quickstart/work).
# FLAREIAC_VENV is a virtual environment that has flareiac[spark] and requirements.txt installed, to be used as it is.
# QUICKSTART_PACE is the time between two landing days in seconds (0.4; there are 365).
set -euo pipefail
example=$(cd "$(dirname "$0")" && pwd)
source "$example/../../tests/setup/machine.sh"
source "$example/../../tests/setup/story.sh"
begin_spark "$example" "${1:-$example/work}"

step "1. Real data: a feeder lands the airlines, and the flights of 2013 as one file a day"
begin_flights
feed=(python "$example/feeder.py" "$archive" landing --pace "${QUICKSTART_PACE:-0.4}")
show "${feed[@]}" --days 330 "&"
"${feed[@]}" --days 330 &
feeder=$!
wait_until 60 "the first day" test -f landing/flights/2013-01-01.json
run ls landing/airlines landing/flights

step "2. From the declaration to running streams"
run flareiac init
run flareiac validate
run flareiac plan -out=plan.json
run flareiac apply plan.json

step "3. While data flows"
sleep 5
run flareiac status
flights=$(run_id job.flights)
delays=$(run_id job.delays)
expecting 0 flareiac plan -detailed-exitcode
run flareiac apply -auto-approve
same_run job.flights "$flights"
same_run job.delays "$delays"

step "4. An edit: a new column, its SQL, another trigger"
show diff -u flights.flare.hcl "$example/edited/flights.flare.hcl"
diff -u flights.flare.hcl "$example/edited/flights.flare.hcl" || true
run cp "$example/edited/flights.flare.hcl" flights.flare.hcl
expecting 2 flareiac plan -out=plan.json -detailed-exitcode
run flareiac apply plan.json
same_run job.delays "$delays"
if [ "$(run_id job.flights)" = "$flights" ]; then
  echo "error: job.flights was not restarted" >&2
  exit 1
fi
run flareiac status

step "5. A table is changed by hand, and the driver is killed"
run python "$example/tamper.py" . flights write.parquet.compression-codec gzip
pid=$(driver_pid)
is_driver "$pid"
run kill -9 "$pid"
expecting 3 flareiac drift
run flareiac apply -auto-approve
expecting 0 flareiac drift
show wait "# until the feeder has landed its 330 days"
wait "$feeder"
# The end of the year comes after the kill on purpose: a query that starts again closes windows with the next file, never without one.
run "${feed[@]}"
run python "$example/verify.py" "$archive" . --wait 300
run flareiac status

step "6. An edit that Spark would silently accept: sum becomes max, over state that is a sum"
show diff -u delays.flare.hcl "$example/edited/delays.flare.hcl"
diff -u delays.flare.hcl "$example/edited/delays.flare.hcl" || true
run cp "$example/edited/delays.flare.hcl" delays.flare.hcl
expecting 4 flareiac plan

step "7. One of the ways out, pasted: a new generation reads everything again into an emptied table"
show diff -u delays.flare.hcl "$example/edited/delays_rebuilt.flare.hcl"
diff -u delays.flare.hcl "$example/edited/delays_rebuilt.flare.hcl" || true
run cp "$example/edited/delays_rebuilt.flare.hcl" delays.flare.hcl
expecting 2 flareiac plan -out=plan.json -detailed-exitcode
flights=$(run_id job.flights)
run flareiac apply plan.json
same_run job.flights "$flights"
run python "$example/verify.py" "$archive" . --wait 300 --delay max
run flareiac checkpoint show checkpoint.delays
expecting 0 flareiac plan -detailed-exitcode

step "8. The end: jobs stop, tables stay"
run flareiac destroy -auto-approve
run flareiac state list
run python "$example/verify.py" "$archive" . --delay max

step "Done. The tables are in $project/lake"
