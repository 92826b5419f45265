#!/usr/bin/env bash
# Looks for what changed outside of FlareIaC. Ends with 3 if there is some, and with 1 if that could not be found out.
# Read-only credentials suffice.
set -euo pipefail
code=0
flareiac drift -input=false -no-color 2>&1 | tee drift.txt || code=$?
bash ci/markdown.sh Drift drift.txt >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
exit "$code"
