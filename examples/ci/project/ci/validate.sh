#!/usr/bin/env bash
# Checks the files alone, without secrets and without asking any system: also those of a fork. Writes validate.sarif.
set -euo pipefail
# shellcheck source=common.sh
source "$(dirname "$0")/common.sh"
code=0
# A fork has no variables: what is checked does not depend on the place of the catalog.
export FLAREIAC_VAR_catalog_uri=${FLAREIAC_VAR_catalog_uri:-sqlite:///nowhere.db}
flareiac validate -sarif >validate.sarif || true
flareiac validate -no-color 2>&1 | tee validate.txt || code=$?
bash "$ci/markdown.sh" Validate validate.txt >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
if [ "${FROM_FORK:-false}" = true ]; then
  echo 'This is the pull request of a fork: it has no credentials, so it was validated and not planned. A member pushes its
branch to this repository for a plan.' | tee -a "${GITHUB_STEP_SUMMARY:-/dev/null}"
fi
exit "$code"
