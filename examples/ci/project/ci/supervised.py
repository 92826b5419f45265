"""Runs a command that writes: shows and keeps what it prints, says what its exit code means, and passes on a
cancellation. A CI system signals the process of the step alone, and a shell does not pass that on: the
command would be killed seconds later, in the middle of its work and with the lock of the state.

    python ci/supervised.py TITLE FILE [-then=COMMAND] -- COMMAND...
"""

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType

NEXT = {
    1: "Nothing was applied, see the errors.",
    4: "The plan is blocked, or does not meet a rule of the team: nothing was applied.",
    5: "Another command holds the lock. Nothing was done: run this job again later.",
    6: 'Nothing was changed. The plan is stale, so a fresh one is needed: GitHub, the workflow "fresh plan" '
    "(apply.yml starts it); GitLab, a new pipeline of main.",
    7: "A part of it is applied and recorded. Mend the cause, then let a fresh plan do the rest.",
    8: "Cancelled: what ran was brought to an end and recorded, and the lock is released. A fresh plan does "
    "the rest.",
}


def main() -> int:
    """The exit code of the command; that of a shell where a signal ended it."""
    divider = sys.argv.index("--")
    (title, kept, *options), command = sys.argv[1:divider], sys.argv[divider + 1 :]
    asked: list[int] = []
    # A session of its own: a signal to the whole group would come twice, and the second one leaves at once.
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )

    def pass_on(number: int, _: FrameType | None) -> None:
        if not asked:
            asked.append(number)
            running.send_signal(signal.SIGTERM)

    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, pass_on)
    assert running.stdout is not None
    with Path(kept).open("wb") as file:
        for line in running.stdout:
            file.write(line)
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
    code = running.wait()
    code = code if code >= 0 else 128 - code
    for option in options:
        subprocess.run(shlex.split(option.removeprefix("-then=")), check=False)
    if code in NEXT:
        print(NEXT[code], flush=True)
    if "RESUME" in os.environ:
        print(f"::{os.environ['RESUME']}::", flush=True)
    _note("GITHUB_OUTPUT", f"code={code}\n")
    markdown = ["bash", str(Path(__file__).with_name("markdown.sh")), title, kept]
    _note("GITHUB_STEP_SUMMARY", subprocess.run(markdown, capture_output=True, text=True, check=False).stdout)
    _note("GITHUB_STEP_SUMMARY", f"\n{NEXT.get(code, '')}\n")
    return code


def _note(variable: str, text: str) -> None:
    """Appends to a file of GitHub's runner, if there is one."""
    if os.environ.get(variable):
        with Path(os.environ[variable]).open("a", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    sys.exit(main())
