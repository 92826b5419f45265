#!/usr/bin/env bash
# A project that keeps tables which other tools fill: nothing but maintenance is declared.
#
#   bash examples/maintenance-only/run.sh [DIRECTORY]
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
say() { printf '\n##### %s\n' "$*"; }
plant() { printf '\n$ plant %s\n' "$*" && python "$here/plant.py" . "$@"; }

say 'Somebody else makes a table and fills it file by file.'
plant make
plant add 12

say 'The project adopts it. What is due is shown beside what changes, and is no change itself.'
run flareiac init
run flareiac plan
run flareiac apply -auto-approve -maintenance=exclude

say 'The nightly job: only what is due.'
run flareiac maintain -auto-approve
plant look

say 'Nothing is due any more, and plan says how far it is from being so.'
run flareiac plan -detail=full
run flareiac status
plant add 3
run flareiac plan -detailed-exitcode # what others write is no change
say 'Done.'
