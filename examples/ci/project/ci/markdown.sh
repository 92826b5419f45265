#!/usr/bin/env bash
# markdown.sh TITLE FILE: a printed text as Markdown, short enough for a comment.
set -euo pipefail
limit=60000
printf '### %s\n\n' "$1"
# A fence that no line of the text can close.
printf '````````````\n'
head -c "$limit" "$2" | iconv -c -f utf-8 -t utf-8
printf '\n````````````\n'
if [ "$(wc -c <"$2")" -gt "$limit" ]; then printf '\nCut here; all of it is in the artefact %s.\n' "$2"; fi
