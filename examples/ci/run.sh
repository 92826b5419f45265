#!/usr/bin/env bash
# A team's repository in CI: the workflows of GitHub Actions and the pipeline of GitLab in project/ are run as they stand, job by
# job, each in a fresh checkout. State and warehouse are on S3 (moto's server), the catalog on PostgreSQL.
#
#   bash examples/ci/run.sh [DIRECTORY]
#
# Needs Python 3.11, git (and root or sudo where Java or PostgreSQL have to be installed). Everything it makes is in DIRECTORY
# (examples/ci/work). FLAREIAC_VENV is a virtual environment that has flareiac[spark,dev] installed, to be used as it is.
set -euo pipefail
example=$(cd "$(dirname "$0")" && pwd)
source "$example/../../tests/setup/machine.sh"
source "$example/../../tests/setup/story.sh"
begin_story "$example" "${1:-$example/work}" spark,dev
ensure_postgres
command -v git >/dev/null || apt_install git

github() { python -m examples.ci.runner github "$@"; }
gitlab() { python -m examples.ci.runner gitlab "$@"; }
others() { show "others $*" && python "$example/others.py" "$@"; }
# request NUMBER MESSAGE: the files of the working directory as a branch of the repository
request() {
  git checkout -q -b "pull/$1" origin/main
  git add -A
  git -c user.name=Ada -c user.email=ada@company.example commit -q -m "$2"
  git push -q origin "pull/$1"
  echo "Request $1: $2"
}
pull() { git fetch -q origin && git checkout -q --detach origin/main; }

step "1. A bucket server, a database, and the repository of a team"
export PYTHONPATH=$repository RUNNER_STORE=$work/ci GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
rm -rf "$RUNNER_STORE" "$work/servers"
mkdir -p "$RUNNER_STORE" "$work/servers"
python "$example/servers.py" "$work/servers" >"$work/servers.log" 2>&1 &
wait_until 120 "the servers (see $work/servers.log)" test -s "$work/servers/variables"
source "$work/servers/variables"
git init -q --bare -b main "$RUNNER_STORE/origin.git"
git init -q -b main .
git remote add origin "$RUNNER_STORE/origin.git"
cp -r "$example/project/." .
# What the administrator has once: the jars are locked, and the state's place is tried.
AWS_ACCESS_KEY_ID=testing AWS_SECRET_ACCESS_KEY=testing FLAREIAC_VAR_catalog_uri=$LAKE_CATALOG_URI run flareiac init -no-color
git add .gitignore .github .gitlab-ci.yml .flareiac.lock.hcl ci lake.flare.hcl requirements.txt
git -c user.name=Ada -c user.email=ada@company.example commit -q -m "The lake, and its CI"
git push -q origin main
git ls-files

step "2. GitHub: a pull request is planned with read-only credentials; its merge applies exactly that plan in another checkout"
request 1 "The table of orders"
run github pull_request 1
run github merge 1
others look

step "3. Every night: no drift, and the maintenance that is due"
others load 12
run github schedule
others look

step "4. A colleague changes a table without a pull request: the nightly job fails and names it"
others set write.parquet.compression-codec gzip
expecting 3 github schedule

step "5. A pull request repairs it. Before it is merged, the table is changed once more: the reviewed plan is stale"
pull
sed -i 's/^  column "amount".*/&\n  column "currency"   { type = "string" }/' orders.flare.hcl
request 2 "Orders have a currency"
run github pull_request 2
others add note
expecting 6 github merge 2
others look

step "6. A fresh plan of main is made, looked at, and approved"
run github workflow_dispatch fresh-plan.yml -approve

step "7. The same project in GitLab"
pull
sed -i 's/^  column "currency".*/&\n  column "country"    { type = "string" }/' orders.flare.hcl
request 3 "Orders have a country"
run gitlab merge_request 3
run gitlab merge 3 -start=apply
run gitlab schedule
others look

printf '\n##### Done.\n'
