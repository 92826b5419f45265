#!/usr/bin/env bash
# A project that keeps tables which other tools fill: nothing but maintenance is declared.
#
#   bash examples/maintenance-only/run.sh [DIRECTORY]
#
# Needs Python 3.11 (and root or sudo where Java has to be installed). Everything it makes is in DIRECTORY (examples/maintenance-only/work).
# FLAREIAC_VENV is a virtual environment that has flareiac[spark] and requirements.txt installed, to be used as it is.
set -euo pipefail
example=$(cd "$(dirname "$0")" && pwd)
source "$example/../../tests/setup/machine.sh"
source "$example/../../tests/setup/story.sh"
begin_spark "$example" "${1:-$example/work}"
plant() { printf '\n$ plant %s\n' "$*" && python "$example/plant.py" . "$@"; }

step 'Somebody else makes a table and fills it file by file.'
plant make
plant add 12

step 'The project adopts it. What is due is shown beside what changes, and is no change itself.'
run flareiac init
run flareiac plan
run flareiac apply -auto-approve -maintenance=exclude

step 'The nightly job: only what is due.'
run flareiac maintain -auto-approve
plant look

step 'Nothing is due any more, and plan says how far it is from being so.'
run flareiac plan -detail=full
run flareiac status
plant add 3
run flareiac plan -detailed-exitcode # what others write is no change
step 'Done.'
