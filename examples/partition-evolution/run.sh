#!/usr/bin/env bash
# A table gets another layout: one metadata commit, no file is rewritten, all rows stay readable.
#
#   bash examples/partition-evolution/run.sh [DIRECTORY]
#
# Needs Python 3.11, no Java. Everything it makes is in DIRECTORY (examples/partition-evolution/work). FLAREIAC_VENV is a virtual
# environment that has flareiac and requirements.txt installed, to be used as it is.
set -euo pipefail
example=$(cd "$(dirname "$0")" && pwd)
source "$example/../../tests/setup/machine.sh"
source "$example/../../tests/setup/story.sh"
begin_story "$example" "${1:-$example/work}"

step 'By day at first.'
run flareiac apply -auto-approve
run python "$example/visits.py" . write 2026-03-01
run python "$example/visits.py" . files

step 'By hour and by visitor from now on. The plan says what that does to what is there.'
sed -i 's/partition_by = .*/partition_by = [hour("ts"), bucket(2, "visitor")]/' lake.flare.hcl
run flareiac plan
run flareiac apply -auto-approve
run flareiac plan -detailed-exitcode # exits with 2 if there were anything left to do

step 'Old files as they were, new ones in the new layout, one table for who reads.'
run python "$example/visits.py" . write 2026-03-02
run python "$example/visits.py" . files
run flareiac table snapshots table.visits
step 'Done.'
