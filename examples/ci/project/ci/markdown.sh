#!/usr/bin/env bash
# markdown.sh TITLE FILE: a printed text as Markdown, short enough for a comment.
set -euo pipefail
limit=60000
size=$(wc -c <"$2")
# A fence that no line of the text can close: one backtick more than any of them has.
fence=$(awk '{ gsub(/[^`]+/, " "); n = split($0, runs, " "); for (i = 1; i <= n; i++) if (length(runs[i]) > most) most = length(runs[i]) }
  END { if (most < 2) most = 2; for (i = 0; i <= most && i < 1000; i++) printf "`" }' "$2")
printf '### %s\n\n%s\n' "$1" "$fence"
if [ "$size" -gt "$limit" ]; then head -c "$limit" "$2" | sed '$d'; else cat "$2"; fi # whole lines, so whole characters
printf '%s\n' "$fence"
if [ "$size" -gt "$limit" ]; then printf '\nCut here; all of it is in the artefact, in %s.\n' "$2"; fi
