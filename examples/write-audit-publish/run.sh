#!/usr/bin/env bash
# A stream writes into a branch, an auditor looks, and only what passes reaches those who read main.
#
#   bash examples/write-audit-publish/run.sh [DIRECTORY]
#
# Needs Python 3.11 (and root or sudo where Java has to be installed). Everything it makes is in DIRECTORY (examples/write-audit-publish/work).
# FLAREIAC_VENV is a virtual environment that has flareiac[spark] and requirements.txt installed, to be used as it is.
set -euo pipefail
example=$(cd "$(dirname "$0")" && pwd)
source "$example/../../tests/setup/machine.sh"
source "$example/../../tests/setup/story.sh"
begin_spark "$example" "${1:-$example/work}"
mkdir -p landing
audit() { printf '\n$ audit %s\n' "$*" && python "$example/audit.py" . "$@"; }
land() { printf '%s\n' "$2" >".$1" && mv ".$1" "landing/$1.json"; } # at once and whole

step 'The table with its branch, and a job that writes there.'
run flareiac init
run flareiac plan
run flareiac apply -auto-approve

step 'Write: orders arrive in the branch. Who reads main sees nothing of them.'
land one '{"order_id": 1, "amount": "10.00"}
{"order_id": 2, "amount": "7.50"}'
audit wait 2

step 'Audit and publish: they pass, so main moves to where the branch stands.'
audit publish

step 'A broken order arrives. It does not pass, and main stays as it was.'
land two '{"order_id": 3, "amount": "-1.00"}'
audit wait 3
if audit publish; then exit 1; fi
audit show

step 'Where main stands is data, not declaration: there is nothing to plan.'
run flareiac plan -detailed-exitcode
run flareiac stop job.orders
step 'Done.'
