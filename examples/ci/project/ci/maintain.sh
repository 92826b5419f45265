#!/usr/bin/env bash
# Does the maintenance that is due. Needs read-write credentials and Java.
set -euo pipefail
code=0
flareiac init -input=false -no-color # the jars of .flareiac.lock.hcl
flareiac maintain -auto-approve -no-color -lock-timeout=30m 2>&1 | tee maintain.txt || code=$?
bash ci/markdown.sh Maintenance maintain.txt >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
flareiac stop engine.runner # Spark ends before the runner does
exit "$code"
