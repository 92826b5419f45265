#!/usr/bin/env bash
# A stream writes into a branch, an auditor looks, and only what passes reaches those who read main.
#
#   bash examples/write-audit-publish/run.sh [DIRECTORY]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=${1:-$here/work}
if [ $# -eq 0 ]; then
  rm -rf "$work"
elif [ -e "$work" ]; then
  echo "error: $work exists already; name a directory that does not" >&2
  exit 64
fi
cp -r "$here/project" "$work"
cd "$work"
mkdir -p landing
exec </dev/null
trap 'flareiac stop job.orders >/dev/null 2>&1 || true' EXIT # also where an audit fails: nothing runs on
run() { printf '\n$ %s\n' "$*" && "$@"; }
say() { printf '\n##### %s\n' "$*"; }
audit() { printf '\n$ audit %s\n' "$*" && python "$here/audit.py" . "$@"; }
land() { printf '%s\n' "$2" >".$1" && mv ".$1" "landing/$1.json"; } # at once and whole

say 'The table with its branch, and a job that writes there.'
run flareiac init
run flareiac plan
run flareiac apply -auto-approve

say 'Write: orders arrive in the branch. Who reads main sees nothing of them.'
land one '{"order_id": 1, "amount": "10.00"}
{"order_id": 2, "amount": "7.50"}'
audit wait 2

say 'Audit and publish: they pass, so main moves to where the branch stands.'
audit publish

say 'A broken order arrives. It does not pass, and main stays as it was.'
land two '{"order_id": 3, "amount": "-1.00"}'
audit wait 3
if audit publish; then exit 1; fi
audit show

say 'Where main stands is data, not declaration: there is nothing to plan.'
run flareiac plan -detailed-exitcode
run flareiac stop job.orders
trap - EXIT
say 'Done.'
