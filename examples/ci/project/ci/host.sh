#!/usr/bin/env bash
# host.sh drift|maintain, for cron and systemd: one at a time, and silent where there is no news. FLAREIAC_ISSUE is the file of
# the findings that were told. Ends as the script does: 3 for drift that is new.
set -euo pipefail
case "${1:-}" in drift | maintain) ;; *) echo "host.sh drift|maintain" >&2 && exit 64 ;; esac
here=$(cd "$(dirname "$0")" && pwd)
umask 077
exec 9<"$here/$1.sh"
if ! flock -n 9; then exit 0; fi # the last run is still at work
said=$(mktemp)
code=0
bash "$here/$1.sh" >"$said" 2>&1 9>&- &
running=$!
asked=no
trap 'asked=yes; kill -s TERM "$running" 2>/dev/null || true' INT TERM
wait "$running" || code=$?
if [ "$asked" = yes ]; then code=0 && wait "$running" || code=$?; fi # a signal ends the first wait before the script
if [ "$code" != 0 ]; then cat "$said"; fi
rm -f "$said"
exit "$code"
