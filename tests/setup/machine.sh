# Sourced by tests/run.sh and by the examples: what a bare machine needs. Everything that is installed is said first.

say() { printf '\n== %s\n' "$*"; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null; then sudo -n "$@"; else
    echo "error: \"$*\" needs root, and there is no sudo. Run it as root and start again." >&2
    return 1
  fi
}

apt_updated=no
apt_install() {
  if ! command -v apt-get >/dev/null; then
    echo "error: $* is needed, and there is no apt-get to install it with. Install it and start again." >&2
    return 1
  fi
  say "Installing $* with apt-get"
  if [ "$apt_updated" = no ]; then
    as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q
    apt_updated=yes
  fi
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@"
}

# Prints the path of a Python that is new enough.
find_python() {
  local name path
  for name in "${FLAREIAC_PYTHON:-}" python3.11 python3.12 python3.13 python3; do
    [ -n "$name" ] || continue
    path=$(command -v "$name") || continue
    if "$path" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$path"
      return
    fi
  done
  echo "error: no Python 3.11 or newer was found. Install one, or name it in FLAREIAC_PYTHON." >&2
  return 1
}

# make_venv PYTHON DIRECTORY: a virtual environment with pip; one that works is used again.
make_venv() {
  local python=$1 directory=$2
  if "$directory/bin/python" -m pip --version >/dev/null 2>&1; then return; fi
  say "Virtual environment in $directory"
  rm -rf "$directory"
  # Debian keeps ensurepip in a package of its own.
  if ! "$python" -c 'import ensurepip' 2>/dev/null; then
    apt_install "python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv"
  fi
  "$python" -m venv "$directory"
}

# user_environment DIRECTORY [REQUIREMENTS] [EXTRAS]: a virtual environment as a user makes it: the wheel of this tree with these extras (spark),
# and a file of requirements. It is made once at a time and used again while neither tree nor requirements change. The working directory is the repository.
user_environment() {
  local directory=$1 requirements=${2:-} extras=${3:-spark}
  # The lock is beside the environment itself, of which several names may be links.
  directory=$(readlink -m "$directory")
  mkdir -p "${directory%/*}"
  (
    flock 9
    make_venv "$(find_python)" "$directory"
    install_wheel "$directory" "$requirements" "$extras"
  ) 9>"$directory.lock"
}

install_wheel() {
  local directory=$1 requirements=$2 extras=$3 stamp
  stamp="wheel $extras $(cat pyproject.toml tests/constraints.txt ${requirements:+"$requirements"} | cksum) $(find flareiac providers state README.md -name __pycache__ -prune -o -type f -exec cksum {} + | sort | cksum)"
  if [ "$(cat "$directory/flareiac-installed" 2>/dev/null)" = "$stamp" ]; then return; fi
  say "Installing the wheel of '.[$extras]'${requirements:+ and $requirements} into $directory"
  "$directory/bin/python" -m pip install -q --disable-pip-version-check --progress-bar off \
    -c tests/constraints.txt "$PWD[$extras]" ${requirements:+-r "$requirements"}
  echo "$stamp" >"$directory/flareiac-installed"
}

# install_editable DIRECTORY EXTRAS: the project for its developers; skipped when pyproject.toml and the constraints
# have not changed since.
install_editable() {
  local directory=$1 extras=$2 stamp
  stamp="$extras $(cat pyproject.toml tests/constraints.txt | cksum) $PWD"
  if [ "$(cat "$directory/flareiac-installed" 2>/dev/null)" = "$stamp" ]; then return; fi
  say "Installing flareiac[$extras] into $directory"
  "$directory/bin/python" -m pip install -q --disable-pip-version-check --progress-bar off -c tests/constraints.txt -e ".[$extras]"
  echo "$stamp" >"$directory/flareiac-installed"
}

# ensure_postgres: the programs of a PostgreSQL server, which tests start by themselves; the one that the package starts is left alone.
ensure_postgres() {
  local found
  for found in /usr/lib/postgresql/*/bin "$(pg_config --bindir 2>/dev/null || true)"; do
    if [ -x "$found/initdb" ] && [ -x "$found/postgres" ]; then return; fi
  done
  apt_install postgresql
}

# ensure_chromium: the browser that reads the pages of reports.
ensure_chromium() {
  local name
  for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null; then return; fi
  done
  apt_install chromium
}

# ensure_maven: the client that resolves the many jars of Iceberg's REST server.
ensure_maven() {
  if ! command -v mvn >/dev/null; then apt_install maven; fi
}

# ensure_java PYTHON: a Java that Spark runs on, installed where there is none. PYTHON has the project installed.
ensure_java() {
  local look='from flareiac_spark.runtime.java import find_java; import sys; java = find_java(); print(java.home) if java else sys.exit(1)'
  if ! JAVA_HOME=$("$1" -c "$look"); then
    apt_install openjdk-17-jre-headless || apt_install openjdk-21-jre-headless
    JAVA_HOME=$("$1" -c "$look")
  fi
  export JAVA_HOME
  echo "Java: $JAVA_HOME"
}
