"""Lets something happen to the repository, and runs what the CI files do then.

    python -m examples.ci.runner github pull_request 1      the plan of a pull request
    python -m examples.ci.runner github merge 1             merges it: what runs on main
    python -m examples.ci.runner github schedule
    python -m examples.ci.runner github workflow_dispatch fresh-plan.yml     -approve: a reviewer approves
    python -m examples.ci.runner forge issues               the issues, with what was written there
    python -m examples.ci.runner gitlab merge_request 1
    python -m examples.ci.runner gitlab merge 1             -start=apply: a person starts the manual job
    python -m examples.ci.runner gitlab schedule

Ends with the exit code of the first step that failed. The repository is ``origin.git`` in the folder
$RUNNER_STORE; a branch ``pull/N`` in it is a request.
"""

import argparse
import os
import sys
from pathlib import Path

from examples.ci.runner import github, gitlab
from examples.ci.runner.forge import Forge
from examples.ci.runner.machine import Machine, Refused
from examples.ci.runner.settings import REPOSITORY


def main() -> int:
    """Runs what the command line asks for."""
    parser = argparse.ArgumentParser(prog="runner")
    parser.add_argument("system", choices=("forge", "github", "gitlab"))
    parser.add_argument("event")
    parser.add_argument("which", nargs="?", default="")
    parser.add_argument("-approve", action="store_true")
    parser.add_argument("-start", default="")
    parser.add_argument("-fork", action="store_true")
    given = parser.parse_args()
    number = int(given.which) if given.which.isdecimal() else 0
    machine = Machine(store=Path(os.environ["RUNNER_STORE"]))
    event: str = given.event
    if given.system == "forge":
        return _show(Forge(machine.store))
    if given.approve:
        Forge(machine.store).add("approvals", state="approved", user={"login": "grace"})
    if number:
        head = machine.git("rev-parse", f"pull/{number}")
        machine.git("update-ref", f"refs/pull/{number}/head", head)
    if event == "merge":
        _merge(machine, number)
        event = "push"
    if given.system == "github":
        source = "stranger/lake" if given.fork else REPOSITORY
        return github.run_event(
            machine,
            github.pull_event(machine, number, source)
            if event == "pull_request"
            else github.main_event(machine, event, approved=given.approve),
            "" if number else given.which,
        )
    commit = machine.git("rev-parse", f"pull/{number}" if event == "merge_request" else "main")
    return gitlab.run_pipeline(
        machine,
        gitlab.Pipeline(
            source="merge_request_event" if event == "merge_request" else event,
            commit=commit,
            merge_request=number if event == "merge_request" else None,
            source_project="99" if given.fork else "17",
            manual=tuple(given.start.split(",")),
        ),
    )


def _show(forge: Forge) -> int:
    for issue in forge.entries("issues"):
        print(f"#{issue['id']} {issue['title']} ({issue['state']})")
        for entry in (issue, *(it for it in forge.entries("comments") if it["on"] == issue["id"])):
            print(
                "\n".join(f"  {line}" for line in entry["body"].splitlines() if not line.startswith("<!--"))
            )
    return 0


def _merge(machine: Machine, number: int) -> None:
    head = machine.git("rev-parse", f"refs/pull/{number}/head")
    commit = machine.merge(head, "refs/heads/main", f"Request {number}", squash=True)
    github.record_merge(machine, number, commit, head)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Refused as refused:
        print(f"error: {refused}", file=sys.stderr)
        sys.exit(64)
