#!/usr/bin/env bash
# A table gets another layout: one metadata commit, no file is rewritten, all rows stay readable.
#
#   bash examples/partition-evolution/run.sh [DIRECTORY]
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
exec </dev/null
run() { printf '\n$ %s\n' "$*" && "$@"; }

printf '\n%s\n' '##### By day at first.'
run flareiac apply -auto-approve
run python "$here/visits.py" . write 2026-03-01
run python "$here/visits.py" . files

printf '\n%s\n' '##### By hour and by visitor from now on. The plan says what that does to what is there.'
sed -i 's/partition_by = .*/partition_by = [hour("ts"), bucket(2, "visitor")]/' lake.flare.hcl
run flareiac plan
run flareiac apply -auto-approve
run flareiac plan -detailed-exitcode # exits with 2 if there were anything left to do

printf '\n%s\n' '##### Old files as they were, new ones in the new layout, one table for who reads.'
run python "$here/visits.py" . write 2026-03-02
run python "$here/visits.py" . files
run flareiac table snapshots table.visits
printf '\n%s\n' '##### Done.'
