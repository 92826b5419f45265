# Sourced by the examples that play a story, after machine.sh: what the story is told with. $control is the engine's runtime_location.

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
is_driver() { [ -n "${1:-}" ] && tr '\0' ' ' <"/proc/$1/cmdline" 2>/dev/null | grep -q 'flareiac_spark[.]driver'; }

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

# story_venv WORK: puts a virtual environment with flareiac on PATH, FLAREIAC_VENV or one below WORK, and a Java.
story_venv() {
  local venv=${FLAREIAC_VENV:-}
  if [ -z "$venv" ]; then
    venv=$1/venv
    make_venv "$(find_python)" "$venv"
    install_project "$venv" spark
  fi
  export PATH="$venv/bin:$PATH"
  ensure_java python
}
