#!/usr/bin/env bash
# GitHub: fetches the plan that the pull request of this commit was reviewed with. It was made by plan.yml of that pull
# request, from this repository, for exactly these files; anything else is refused.
set -euo pipefail
tree=$(git rev-parse 'HEAD^{tree}')
refuse() {
  echo "$1 Nothing was changed. Run the workflow \"fresh plan\", which plans main as it is and waits for approval." >&2
  exit 1
}
pulls="repos/$GITHUB_REPOSITORY/commits/$GITHUB_SHA/pulls"
head=$(gh api "$pulls" --jq '.[0].head.sha')
from=$(gh api "$pulls" --jq '.[0].head.repo.full_name')
if [ "$from" != "$GITHUB_REPOSITORY" ]; then
  refuse "$GITHUB_SHA is not the merge of a pull request of this repository."
fi
run=$(gh run list --workflow=plan.yml --event=pull_request --commit="$head" --status=success --limit=1 \
  --json=databaseId --jq='.[0].databaseId')
if [ -z "$run" ]; then refuse "There is no plan of $head."; fi
gh run download "$run" --name="plan-$tree" ||
  refuse "$head was not planned for these files: main has moved since, or the artefact has expired."
