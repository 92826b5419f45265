#!/usr/bin/env bash
# Does the maintenance that is due. Needs read-write credentials and Java.
set -euo pipefail
# shellcheck source=common.sh
source "$(dirname "$0")/common.sh"
flareiac init -input=false -no-color # the jars of .flareiac.lock.hcl
# supervised.py goes on in the place of this script, so that it is the one that is cancelled.
# Spark ends before the runner does.
exec python "$ci/supervised.py" Maintenance maintain.txt "-then=flareiac stop engine.runner -reason=maintained" -- \
  flareiac maintain -auto-approve -no-color -lock-timeout=30m
