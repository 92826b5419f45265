#!/usr/bin/env bash
# Carries out flareiac.plan: exactly that, or nothing. Needs read-write credentials.
set -euo pipefail
code=0
flareiac apply -input=false -no-color -lock-timeout=30m flareiac.plan 2>&1 | tee apply.txt || code=$?
bash ci/markdown.sh Apply apply.txt >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
if [ "$code" = 6 ]; then
  echo 'Nothing was changed. A fresh plan: GitHub, the workflow "fresh plan"; GitLab, a new pipeline of main.' >&2
fi
exit "$code"
