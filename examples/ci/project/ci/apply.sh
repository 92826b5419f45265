#!/usr/bin/env bash
# Carries out flareiac.plan: exactly that, or nothing. Needs read-write credentials. CI_APPROVED_BY says who approved the plan.
set -euo pipefail
# shellcheck source=common.sh
source "$(dirname "$0")/common.sh"
# supervised.py goes on in the place of this script, so that it is the one that is cancelled.
exec python "$ci/supervised.py" Apply apply.txt -- flareiac apply -input=false -no-color -lock-timeout=30m flareiac.plan
