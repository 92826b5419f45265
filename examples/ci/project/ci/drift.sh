#!/usr/bin/env bash
# Looks for what changed outside of FlareIaC, and keeps one issue about it: opened with the first finding, a comment for each
# new one, closed when the drift is gone. Read-only credentials suffice. Ends with 0: there is none, or the issue has it.
# 3: there is some and no place for an issue. 1: that could not be found out.
set -euo pipefail
# shellcheck source=common.sh
source "$(dirname "$0")/common.sh"
code=0
flareiac drift -input=false -no-color "-lock-timeout=${DRIFT_WAIT:-10m}" -format=markdown ${named[@]+"${named[@]}"} \
  >drift.md || code=$?
cat drift.md
cat drift.md >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
case $code in
  0 | 3) python "$ci/forge.py" drift "$code" drift.md ;;
  5) echo 'An apply is at work (exit code 5), so nothing was compared. The next run looks again.' ;;
  *) exit "$code" ;;
esac
