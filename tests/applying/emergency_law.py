"""One process that has a command lose its state at each journal record in turn; run by
``test_emergency_file`` as ``python emergency_law.py FOLDER MODE WHAT``, because the toy provider is not
installed in its own process.

Record N and all that come later fail. ``refused``: record N is not there; ``unanswered``: it is there, and
the answer was lost; ``lost``: another command has the lock. The mode is that of the first record, and changes
from one to the next.
"""

import contextlib
import io
import json
import os
import shutil
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from flareiac.cli.main import run
from flareiac.sdk.state import Lease, LockLost
from flareiac_state.local import LocalStore

BEFORE = """
thing "a" { value = "1" }
thing "b" {
  value  = "2"
  needs  = [thing.a]
  stages = ["one"]
}
thing "old" {
  value      = "3"
  needs      = [thing.b]
  on_destroy = "drop"
}
output "a_value" { value = thing.a.value }
"""
AFTER = """
thing "a" { value = "11" }
thing "b" {
  value  = "22"
  needs  = [thing.a]
  stages = ["one"]
}
thing "new" { value = "4" }
output "a_value" { value = thing.a.value }
"""
ENCRYPTION = 'flareiac {\n  encryption { env = "LAW_PASSPHRASE" }\n}\n'
WRITTEN = ["thing.a", "thing.a", "thing.b", "thing.b", "thing.new", "thing.old"]
MODES = ("refused", "unanswered", "lost")
_append = LocalStore.append_journal


def command(root: Path, *words: str) -> tuple[int, str, str]:
    """Runs a command: its exit code and what it printed."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([f"-chdir={root}", *words])
    return code, out.getvalue(), err.getvalue()


def failing(root: Path, first: int, mode: str, *words: str) -> tuple[int, str, str]:
    """A command whose state takes no record from this one on."""
    count = 0

    def append(self: LocalStore, records: Sequence[bytes], lease: Lease) -> None:
        nonlocal count
        last = first if mode == "unanswered" else first - 1
        _append(self, records[: max(0, last - count)], lease)
        count += len(records)
        if count >= first:
            raise LockLost("taken over") if mode == "lost" else OSError(5, "Input/output error")

    LocalStore.append_journal = append  # type: ignore[method-assign]
    try:
        return command(root, *words)
    finally:
        LocalStore.append_journal = _append  # type: ignore[method-assign]


def world(root: Path) -> dict[str, object]:
    """The things that are there, by address."""
    found = {
        f"thing.{path.stem}": json.loads(path.read_text()) for path in sorted((root / ".toy").glob("*.json"))
    }
    return {address: (item["attributes"], item["key"]) for address, item in found.items()}


def recorded(root: Path) -> dict[str, object]:
    """The things that the state knows, as in the world."""
    code, out, err = command(root, "state", "pull")
    assert code == 0, err
    resources = json.loads(out)["resources"]
    return {item["address"]: (item["attributes"], item["identity"]["id"]) for item in resources}


def check_recovery(root: Path, file: Path, ended: tuple[int, str, str]) -> None:
    """The file is named and private, and brings in what was done, however often."""
    code, _, err = ended
    name = str(file.relative_to(root))
    assert code in {1, 7}, ended
    assert f"flareiac state recover {name}" in " ".join(err.replace("│", " ").split()), ended
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    content = file.read_bytes()
    assert (b"lineage" in content) != (root / "settings.flare.hcl").exists()
    for _ in range(2):  # the second time as after a kill before the file was removed
        file.write_bytes(content)
        code, _, err = command(root, "state", "recover", name)
        assert code == 0, err
        assert recorded(root) == world(root)
        assert not file.exists()


def check_way_out(root: Path, first: int, ended: tuple[int, str, str]) -> None:
    """Whatever was done is recorded, and nothing is left to do."""
    # Of three in a row, one is brought in by the next apply itself.
    for file in (root / ".flareiac").glob("emergency-*.journal") if first % 3 else ():
        check_recovery(root, file, ended)
    code, _, err = command(root, "apply", "-auto-approve")
    assert code == 0, err
    assert recorded(root) == world(root)
    code, out, err = command(root, "plan", "-detailed-exitcode")
    assert code == 0, out + err


def check_apply(root: Path, first: int, mode: str) -> bool:
    """The law at one record; whether that record was reached."""
    (root / "main.flare.hcl").write_text(AFTER)
    ended = failing(root, first, mode, "apply", "-auto-approve")
    for file in (root / ".flareiac").glob("emergency-*.journal"):
        assert ended[2].splitlines()[-1] == str(file.relative_to(root)), ended
    check_way_out(root, first, ended)
    assert command(root, "output", "-raw", "a_value")[1].strip() == "11"
    log = (root / ".toy" / "writes.log").read_text().splitlines()
    assert sorted(line.split()[0] for line in log) == WRITTEN, log
    return ended[0] != 0


def check_polish(root: Path, first: int, mode: str) -> bool:
    """The law for an operation that no plan holds."""
    ended = failing(root, first, mode, "thing", "polish", "thing.a")
    steps = _steps(root)
    assert steps in (0, 1)
    check_way_out(root, first, ended)
    assert _steps(root) == steps, "it is not done again"
    code, out, err = command(root, "thing", "polish", "thing.a")
    assert (code, out.strip()) == (0, f"thing.a shines at {steps + 1}"), err
    return ended[0] != 0


def check_undrop(root: Path, first: int, mode: str) -> bool:
    """As it, for what is brought back."""
    before = json.loads((root / ".toy" / "old.dropped").read_text())["key"]
    ended = failing(root, first, mode, "undrop", "thing.old")
    is_back = not (root / ".toy" / "old.dropped").exists()
    check_way_out(root, first, ended)
    assert (json.loads((root / ".toy" / "old.json").read_text())["key"] == before) == is_back
    return ended[0] != 0


def _steps(root: Path) -> int:
    path = root / ".toy" / "a.shine"
    return len(path.read_text().splitlines()) if path.exists() else 0


CHECKS = {
    "apply": (check_apply, 12),
    "encrypted": (check_polish, 4),
    "polish": (check_polish, 4),
    "undrop": (check_undrop, 4),
}
"""By what is done: the law, and how many records are written at least."""


def main(folder: Path, mode: str, what: str) -> None:
    """The law at every record."""
    base = folder / "base"
    base.mkdir()
    (base / "main.flare.hcl").write_text(BEFORE)
    if what == "encrypted":
        (base / "settings.flare.hcl").write_text(ENCRYPTION)
        os.environ["LAW_PASSPHRASE"] = "what no one else knows"
    assert command(base, "apply", "-auto-approve")[0] == 0
    if what == "undrop":
        (base / "main.flare.hcl").write_text(BEFORE.partition('thing "old"')[0])
        assert command(base, "apply", "-auto-approve")[0] == 0
        (base / "main.flare.hcl").write_text(BEFORE)
    check, least = CHECKS[what]
    first = 1
    while True:
        root = folder / str(first)
        shutil.copytree(base, root)
        if not check(root, first, MODES[(MODES.index(mode) + first + 1) % len(MODES)]):
            break
        first += 1
    assert first > least, "more records are written"


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
