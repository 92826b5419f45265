# shellcheck shell=bash disable=SC2034
# Sourced by the other scripts. FLAREIAC_PROJECT is the folder of the project, where a repository has several; it also tells
# their comments and issues apart.
ci=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "${FLAREIAC_PROJECT:-.}" || exit
named=()
if [ -n "${FLAREIAC_PROJECT:-}" ]; then named=("-project=$FLAREIAC_PROJECT"); fi
export ci
# GitHub takes a printed line with :: or ##[ for a command to the runner, and names and comments of tables are printed here.
if [ "${GITHUB_ACTIONS:-}" = true ]; then
  RESUME=$(python -c 'import secrets; print(secrets.token_hex(16))')
  export RESUME # supervised.py prints it where it goes on in the place of a script
  echo "::stop-commands::$RESUME"
  trap 'echo "::$RESUME::"' EXIT
fi
