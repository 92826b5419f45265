#!/usr/bin/env bash
# An existing lake becomes configuration: import, look, adopt, and change it by review from then on.
#
#   bash examples/import-lake/run.sh [DIRECTORY]
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

python "$here/shop.py" .

printf '\n%s\n' '##### Write down what is there. Nothing is adopted yet.'
run flareiac import -from-catalog='lake.sales.*' -out=sales.flare.hcl
run cat sales.flare.hcl

printf '\n%s\n' '##### A plan that only imports: no table would be changed.'
run flareiac plan
run flareiac apply -auto-approve
run flareiac plan -detailed-exitcode # exits with 2 if there were anything to do
run flareiac status

printf '\n%s\n' '##### From now on a change of a table is a change of a file.'
sed -i 's/^  column "name" { type = "string" }/&\n  column "email" { type = "string" }/' sales.flare.hcl
run flareiac plan
run flareiac apply -auto-approve
run flareiac plan -detailed-exitcode
printf '\n%s\n' '##### Done.'
