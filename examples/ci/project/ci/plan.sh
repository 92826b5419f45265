#!/usr/bin/env bash
# Makes the plan that is reviewed: flareiac.plan (to be applied), plan.md (its report, for the comment), plan.html (the report
# as a page), plan.txt (the whole plan as text), plan.json (Terraform's format, for tools). Ends with 0 if it can be applied,
# also where nothing changes. Read-only credentials suffice. FLAREIAC_RULES is a folder with rules of the team: those of main,
# so that a branch cannot loosen the rules for its own plan.
set -euo pipefail
# shellcheck source=common.sh
source "$(dirname "$0")/common.sh"
code=0
rm -f flareiac.plan plan.html
# Maintenance has a job of its own: without it, no merge waits for Spark.
flareiac plan -input=false -no-color -detailed-exitcode -maintenance=exclude -out=flareiac.plan -json-into=plan.json \
  2>&1 | tee plan.txt || code=$?
if [ -f flareiac.plan ]; then
  flareiac report -max-chars=60000 ${named[@]+"${named[@]}"} flareiac.plan >plan.md
  flareiac report -format=html flareiac.plan >plan.html
else # planning failed: its errors are the comment
  { python "$ci/forge.py" marker flareiac-report && bash "$ci/markdown.sh" Plan plan.txt; } >plan.md
fi
if [ -z "${FLAREIAC_RULES:-}" ] && [ -n "${CI_MERGE_REQUEST_TARGET_BRANCH_NAME:-}" ]; then # GitLab
  top=$(git rev-parse --show-toplevel)
  git fetch -q origin "refs/heads/$CI_MERGE_REQUEST_TARGET_BRANCH_NAME"
  rm -rf "$top/.base" && git worktree prune && git worktree add -q --detach "$top/.base" FETCH_HEAD
  FLAREIAC_RULES=$top/.base/policy
fi
rules=${FLAREIAC_RULES:-policy}
if [ -f flareiac.plan ] && [ -d "$rules" ]; then
  refused=0
  flareiac policy check -no-color "-policy=$rules" flareiac.plan >policy.txt 2>&1 || refused=$?
  cat policy.txt
  flareiac policy check -format=junit "-policy=$rules" flareiac.plan >policy.xml 2>/dev/null || true
  if [ "$refused" != 0 ]; then
    head -c 3000 policy.txt >policy.part
    { # below the verdict, which does not know these rules
      head -n 2 plan.md && printf '\n**The rules of the team refuse this plan.**\n\n'
      bash "$ci/markdown.sh" "Rules of the team" policy.part && tail -n +3 plan.md
    } >plan.part
    mv plan.part plan.md && rm -f policy.part
    case $code in 0 | 2) code=$refused ;; esac
  fi
fi
cat plan.md >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
case $code in
  0 | 2) ;;
  *) exit "$code" ;; # 4: the plan holds a blocked action, or does not meet a rule
esac
