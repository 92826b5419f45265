#!/usr/bin/env bash
# Makes the plan that is reviewed: flareiac.plan (to be applied), plan.txt and plan.md (for people), plan.json (Terraform's
# format, for tools). Ends with 0 if it can be applied, also where nothing changes. Read-only credentials suffice.
set -euo pipefail
code=0
# Maintenance has a job of its own: without it, no merge waits for Spark.
flareiac plan -input=false -no-color -detailed-exitcode -maintenance=exclude -out=flareiac.plan -json-into=plan.json \
  2>&1 | tee plan.txt || code=$?
bash ci/markdown.sh Plan plan.txt >plan.md
cat plan.md >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
case $code in
  0 | 2) ;;
  *) exit "$code" ;; # 4: the plan holds a blocked action
esac
