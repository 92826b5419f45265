#!/usr/bin/env bash
# A team's repository in CI: the workflows of GitHub Actions and the pipeline of GitLab in project/ are run as they stand, job by
# job, each in a fresh checkout. State and warehouse are on S3 (moto's server), the catalog on PostgreSQL. Then a project with
# streams (streams/) of which nothing is on a local disk: 200,000 flights, exact after the driver and every command were killed.
#
#   bash examples/ci/run.sh [DIRECTORY]
#
# Needs Python 3.11, git (and root or sudo where Java or PostgreSQL have to be installed). Everything it makes is in DIRECTORY
# (examples/ci/work). FLIGHTS is how many flights there are, FLIGHTS_PACE the seconds between two files of them. FLAREIAC_VENV is a
# virtual environment that has flareiac[aws,postgres,spark] and requirements.txt installed, to be used as it is.
set -euo pipefail
extras=aws,postgres,spark
example=$(cd "$(dirname "$0")" && pwd)
source "$example/../../tests/setup/machine.sh"
source "$example/../../tests/setup/story.sh"
begin_spark "$example" "${1:-$example/work}"
command -v git >/dev/null || apt_install git

github() { python -m examples.ci.runner github "$@"; }
gitlab() { python -m examples.ci.runner gitlab "$@"; }
forge() { python -m examples.ci.runner forge "$@"; }
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
export RUNNER_STORE=$work/ci GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
rm -rf "$RUNNER_STORE"
mkdir -p "$RUNNER_STORE"
begin_lake
git init -q --bare -b main "$RUNNER_STORE/origin.git"
git init -q -b main .
git remote add origin "$RUNNER_STORE/origin.git"
cp -r "$example/project/." .
# What the administrator has once: the jars are locked, and the state's place is tried.
AWS_ACCESS_KEY_ID=testing AWS_SECRET_ACCESS_KEY=testing FLAREIAC_VAR_catalog_uri=$LAKE_CATALOG_URI run flareiac init -no-color
git add .gitignore .github .gitlab-ci.yml .flareiac.lock.hcl ci lake.flare.hcl policy requirements.txt
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

step "4. A colleague changes a table without a pull request: the nightly job opens an issue"
others set write.parquet.compression-codec gzip
run github schedule
run forge issues

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

step "7. The next night finds no drift any more, and closes the issue"
run github schedule
run forge issues

step "8. The same project in GitLab"
pull
sed -i 's/^  column "currency".*/&\n  column "country"    { type = "string" }/' orders.flare.hcl
request 3 "Orders have a country"
run gitlab merge_request 3
run gitlab merge 3 -start=apply
run gitlab schedule
others look

step "9. A project with streams: state, control directory, checkpoints and warehouse in S3, the catalog in PostgreSQL"
begin_flights
count=${FLIGHTS:-200000} pace=${FLIGHTS_PACE:-0.5}
export FLAREIAC_VAR_catalog_uri=$LAKE_CATALOG_URI FLAREIAC_VAR_landing=$work/landing AWS_REGION=eu-central-1
rm -rf "$work"/{A,B,C,landing} && mkdir -p "$work"/{A,B,C,landing}
# Who plans and looks may only read; who applies may write. Each has a checkout of its own, and no folder in common but the source.
driver() { as_writer python "$example/flights.py" driver; }
stop_driver() {
  local pid
  pid=$(driver 2>/dev/null) || return 0
  if [ -d "/proc/$pid" ] && is_driver "$pid"; then kill -9 "$pid"; fi
}
feed=(python "$example/flights.py" land "$archive" "$work/landing" "$count" "$pace")
cp "$example"/streams/*.hcl "$work/B"
cd "$work/B"
as_writer run flareiac init -no-color
for checkout in A C; do cp ./*.hcl .flareiac.lock.hcl "$work/$checkout"; done

step "10. Checkout A plans with credentials that only read; checkout B applies exactly that"
cd "$work/A"
as_reader expecting 2 flareiac plan -out=plan.json -detailed-exitcode
cp plan.json "$work/B"
cd "$work/B"
"${feed[@]}" &
feeder=$!
as_writer run flareiac apply plan.json

step "11. While data flow, the driver is killed twice, and every command once"
for round in 1 2; do
  sleep "${FLIGHTS_KILL_AFTER:-8}"
  show "kill -9 DRIVER"
  kill -9 "$(driver)"
  cd "$work/C"
  as_reader expecting 3 flareiac drift
  cd "$work/B"
  as_writer run flareiac apply -auto-approve
done
owner=0
for point in apply.intent apply.before-result apply.result apply.before-snapshot apply.snapshot; do
  owner=$((owner + 1))
  sed -i "s/\"team-[0-9]*\"/\"team-$owner\"/" ./*.hcl
  show "flareiac apply -auto-approve # killed at $point"
  as_writer env FLAREIAC_KILL_AT=$point flareiac apply -auto-approve >/dev/null 2>&1 || echo "(exit code $?)"
done
for command in plan drift maintain; do
  show "flareiac $command # killed after a second"
  options=() && if [ $command = maintain ]; then options=(-auto-approve); fi
  as_writer timeout -s KILL 1 flareiac $command ${options[@]+"${options[@]}"} >/dev/null 2>&1 || echo "(exit code $?)"
done
as_writer run flareiac apply -auto-approve
show wait "# until all flights have landed"
wait "$feeder"
as_writer run python "$example/flights.py" verify "$archive" "$count" 600

step "12. Checkout C looks with credentials that only read; what is due is done; nothing changes any more"
cp "$work"/B/*.hcl "$work/C"
cd "$work/C"
as_reader run flareiac drift
as_reader run flareiac status
as_reader run flareiac checkpoint show checkpoint.carriers
cd "$work/B"
as_writer run flareiac maintain -auto-approve
as_writer run python "$example/flights.py" verify "$archive" "$count" 60
as_writer expecting 0 flareiac plan -detailed-exitcode

step "13. Every local folder of B is removed; a fresh checkout goes on, and ends the streams"
pid=$(driver)
rm -rf "$work/B" && mkdir "$work/B" && cd "$work/B"
cp "$work"/C/*.hcl "$work/C/.flareiac.lock.hcl" .
as_writer expecting 0 flareiac plan -detailed-exitcode
as_writer run flareiac stop engine.streams
wait_until 120 "the end of the driver" test ! -d "/proc/$pid"

printf '\n##### Done.\n'
