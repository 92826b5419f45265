#!/usr/bin/env bash
# A team on a cluster: flights stream through Kafka into Iceberg on S3, on a standalone cluster of Spark. The operators run the driver,
# three checkouts plan, apply and watch. A worker and the host of the driver are lost, and an aggregate is changed.
# After each step every flight is there once, and at the end nothing that anybody needs is on a local disk.
#
#   bash examples/team/run.sh [DIRECTORY]
#
# Needs Python 3.11 (and root or sudo where Java, Maven or PostgreSQL have to be installed). Everything it makes is in DIRECTORY
# (examples/team/work). FLIGHTS is how many flights there are, in three portions. FLAREIAC_VENV is a virtual environment that has
# flareiac[aws,kafka,postgres,spark] and requirements.txt installed, to be used as it is.
set -euo pipefail
extras=aws,kafka,postgres,spark
example=$(cd "$(dirname "$0")" && pwd)
source "$example/../../tests/setup/machine.sh"
source "$example/../../tests/setup/story.sh"
declare -A hosts=()

# What the operators do. host NAME: a host with a driver and its supervisor; it has no checkout.
host() {
  rm -rf "$work/hosts/$1" && mkdir -p "$work/hosts/$1"
  cache "$1"
  show "flareiac driver -wait $runtime # on $1, started again whenever it ends"
  (cd "$work/hosts/$1" && exec setsid env "${writer[@]}" XDG_CACHE_HOME="$work/caches/$1" SPARK_LOCAL_IP=127.0.0.1 \
    "${apart[@]}" bash "$example/host.sh" "$1" "$runtime" ${apart[0]:+apart}) >"$work/hosts/$1.log" 2>&1 &
  hosts[$1]=$!
  disown # bash need not say that it was killed
}
# lose_host NAME: all its processes at once, as with a machine that fails
lose_host() {
  show "# $1 is gone, with its driver, its supervisor and its disk"
  kill -9 -- "-${hosts[$1]}"
  wait_until 60 "the end of $1" is_lost "$1"
  rm -rf "$work/hosts/$1" "$work/caches/$1"
}
is_lost() { ! kill -0 -- "-${hosts[$1]}" 2>/dev/null; }
# end_host NAME: in order, so that the driver finishes its batches and releases its lease
end_host() {
  # A driver with process numbers of its own is below unshare, which passes its own end on.
  if [ ${#apart[@]} = 0 ]; then kill "${hosts[$1]}"; else kill -9 "${hosts[$1]}"; fi
  wait_until 180 "the end of $1" is_lost "$1"
}
stop_driver() {
  local name
  for name in "${!hosts[@]}"; do
    if ! is_lost "$name"; then kill -9 -- "-${hosts[$name]}" 2>/dev/null || true; fi
  done
}
# What the team does. checkout NAME: a copy of the repository and a cache of its own.
checkout() {
  rm -rf "${work:?}/$1" && mkdir -p "$work/$1"
  cp "$project"/*.hcl "$project/.flareiac.lock.hcl" "$work/$1"
  cache "$1"
}
# cache NAME: a cache directory of a user of its own. Only the jars, which everybody downloads, are those of this machine.
cache() {
  local part
  rm -rf "$work/caches/$1" && mkdir -p "$work/caches/$1/flareiac"
  for part in jars class-archives; do
    mkdir -p "$machine_cache/$part"
    ln -s "$machine_cache/$part" "$work/caches/$1/flareiac/$part"
  done
}
at() { cd "$work/$1" && export XDG_CACHE_HOME=$work/caches/$1; }
arrive() { # arrive FIRST LAST: these flights
  run python "$repository/examples/kafka/produce.py" "$archive" "$FLAREIAC_VAR_bootstrap_servers" --first "$1" --count $(($2 - $1 + 1))
}
verify() { as_writer run python "$repository/examples/ci/flights.py" verify "$archive" "$1" 600 "${@:2}"; }

begin_spark "$example" "${1:-$example/work}"
all=${FLIGHTS:-336776}
third=$((all / 3)) two_thirds=$((all / 3 * 2))
runtime=s3://company-flareiac/runtime/default
machine_cache=${XDG_CACHE_HOME:-$HOME/.cache}/flareiac
apart=()
for user in "" "--user --map-root-user"; do
  # shellcheck disable=SC2206
  tried=(unshare $user --uts --pid --mount-proc --kill-child=TERM)
  if "${tried[@]}" bash -c 'hostname other && mount --bind /etc/hosts /etc/hosts' 2>/dev/null; then
    apart=("${tried[@]}")
    break
  fi
done

step "1. S3, PostgreSQL, Kafka, a cluster of Spark, and the flights of 2013"
begin_lake
begin_kafka
begin_flights
export AWS_REGION=eu-central-1 FLAREIAC_VAR_catalog_uri=$LAKE_CATALOG_URI FLAREIAC_VAR_master
rm -rf "$work"/{A,B,C,D,caches,hosts,cluster} && mkdir -p "$work/cluster"
# Workers have keys; where S3 is, the driver tells them.
env -u AWS_ENDPOINT_URL -u AWS_REGION "${writer[@]}" python "$example/cluster.py" "$work/cluster" >"$work/cluster.log" 2>&1 &
wait_until 240 "the cluster (see $work/cluster.log)" test -s "$work/cluster/master"
FLAREIAC_VAR_master=$(cat "$work/cluster/master")
if [ ${#apart[@]} = 0 ]; then
  echo "This machine permits no namespaces (unshare): the hosts of the drivers have its name and its processes."
fi

step "2. The repository of the team, and the host of the operators, which waits for a first apply"
as_writer run flareiac init -no-color
for name in A B C; do checkout $name; done
host host-1

step "3. Checkout A plans with credentials that only read, B applies exactly that, C watches"
at A
as_reader expecting 2 flareiac plan -out=plan.json -detailed-exitcode
cp plan.json "$work/B"
at B
as_writer run flareiac apply plan.json
arrive 1 $third
verify $third
at C
as_reader run flareiac drift
as_reader run flareiac status
as_reader run flareiac logs job.carriers

step "4. While flights arrive, a worker and the host of the driver are lost: another one takes over, without any command"
arrive $((third + 1)) $two_thirds
host host-2
show "kill -9 WORKER"
kill -9 "$(cat "$work/cluster/worker-0.pid")"
lose_host host-1
verify $two_thirds
as_writer run python "$repository/examples/ci/flights.py" host
at C
as_reader run flareiac drift

step "5. A change: the greatest distance of each carrier instead of the sum. A new generation reads all flights again"
sed -i 's/sum(CAST/max(CAST/; s|^  location = .*carriers"|&\n  generation = 2\n  start_from = "earliest"|' "$project/flights.flare.hcl"
for name in A B C; do cp "$project"/*.hcl "$work/$name"; done
at A
as_reader expecting 2 flareiac plan -out=plan.json -detailed-exitcode
cp plan.json "$work/B"
at B
as_writer run flareiac apply plan.json
arrive $((two_thirds + 1)) "$all"
verify "$all" max

step "6. Nothing that anybody needs was there: checkouts and caches are removed, a fresh checkout finds everything as it is"
run rm -rf "$work"/{A,B,C} "$work"/caches/{A,B,C}
checkout D
at D
as_reader expecting 0 flareiac plan -detailed-exitcode
as_reader run flareiac status
show "# host-2 ends in order, and gives its lease back"
end_host host-2
as_reader expecting 3 flareiac drift
verify "$all" max

printf '\n##### Done.\n'
