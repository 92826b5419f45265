#!/usr/bin/env bash
# An existing lake becomes configuration: import, look, adopt, and change it by review from then on.
#
#   bash examples/import-lake/run.sh [DIRECTORY]
#
# Needs Python 3.11, no Java. Everything it makes is in DIRECTORY (examples/import-lake/work). FLAREIAC_VENV is a virtual
# environment that has flareiac and requirements.txt installed, to be used as it is.
set -euo pipefail
example=$(cd "$(dirname "$0")" && pwd)
source "$example/../../tests/setup/machine.sh"
source "$example/../../tests/setup/story.sh"
begin_story "$example" "${1:-$example/work}"

python "$example/shop.py" .

step 'Write down what is there. Nothing is adopted yet.'
run flareiac import -from-catalog='lake.sales.*' -out=sales.flare.hcl
run cat sales.flare.hcl

step 'A plan that only imports: no table would be changed.'
run flareiac plan
run flareiac apply -auto-approve
run flareiac plan -detailed-exitcode # exits with 2 if there were anything to do
run flareiac status

step 'From now on a change of a table is a change of a file.'
sed -i 's/^  column "name" { type = "string" }/&\n  column "email" { type = "string" }/' sales.flare.hcl
run flareiac plan
run flareiac apply -auto-approve
run flareiac plan -detailed-exitcode
step 'Done.'
