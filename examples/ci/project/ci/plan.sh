#!/usr/bin/env bash
# Makes the plan that is reviewed: flareiac.plan (to be applied), plan.md (its report, for the comment), plan.html (the report
# as a page), plan.txt (the whole plan as text), plan.json (Terraform's format, for tools). Ends with 0 if it can be applied, also where nothing changes. Read-only credentials suffice.
set -euo pipefail
code=0
rm -f flareiac.plan plan.html
# Maintenance has a job of its own: without it, no merge waits for Spark.
flareiac plan -input=false -no-color -detailed-exitcode -maintenance=exclude -out=flareiac.plan -json-into=plan.json \
  2>&1 | tee plan.txt || code=$?
if [ -f flareiac.plan ]; then
  flareiac report flareiac.plan >plan.md
  flareiac report -format=html flareiac.plan >plan.html
else # planning failed: its errors are the comment
  bash ci/markdown.sh Plan plan.txt >plan.md
fi
cat plan.md >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
case $code in
  0 | 2) ;;
  *) exit "$code" ;; # 4: the plan holds a blocked action
esac
