"""One process that has an apply lose its state at each journal record in turn; run by ``test_emergency_file``
as ``python emergency_law.py FOLDER MODE``, because the toy provider is not installed in its own process.

Record N and all that come later fail. ``refused``: record N is not there; ``unanswered``: it is there, and
the answer was lost. The mode is that of the first record, and changes from one to the next.
"""

import contextlib
import io
import json
import shutil
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from flareiac.cli.main import run
from flareiac.sdk.state import Lease
from flareiac_state.local import LocalStore

BEFORE = """
thing "a" { value = "1" }
thing "b" {
  value  = "2"
  needs  = [thing.a]
  stages = ["one"]
}
thing "old" {
  value = "3"
  needs = [thing.b]
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
WRITTEN = ["thing.a", "thing.a", "thing.b", "thing.b", "thing.new", "thing.old"]
MODES = ("refused", "unanswered")
_append = LocalStore.append_journal


def command(root: Path, *words: str) -> tuple[int, str, str]:
    """Runs a command: its exit code and what it printed."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([f"-chdir={root}", *words])
    return code, out.getvalue(), err.getvalue()


def failing_apply(root: Path, first: int, mode: str) -> tuple[int, str, str]:
    """An apply whose state takes no record from this one on."""
    count = 0

    def append(self: LocalStore, records: Sequence[bytes], lease: Lease) -> None:
        nonlocal count
        last = first if mode == "unanswered" else first - 1
        _append(self, records[: max(0, last - count)], lease)
        count += len(records)
        if count >= first:
            raise OSError(5, "Input/output error")

    LocalStore.append_journal = append  # type: ignore[method-assign]
    try:
        return command(root, "apply", "-auto-approve")
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
    assert err.splitlines()[-1] == name, ended
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    content = file.read_bytes()
    for _ in range(2):  # the second time as after a kill before the file was removed
        file.write_bytes(content)
        code, _, err = command(root, "state", "recover", name)
        assert code == 0, err
        assert recorded(root) == world(root)
        assert not file.exists()


def check(root: Path, first: int, mode: str) -> bool:
    """The law at one record; whether that record was reached."""
    (root / "main.flare.hcl").write_text(AFTER)
    ended = failing_apply(root, first, mode)
    # Of three in a row, one is brought in by the next apply itself.
    for file in (root / ".flareiac").glob("emergency-*.journal") if first % 3 else ():
        check_recovery(root, file, ended)
    code, _, err = command(root, "apply", "-auto-approve")
    assert code == 0, err
    assert recorded(root) == world(root)
    code, out, err = command(root, "plan", "-detailed-exitcode")
    assert code == 0, out + err
    assert command(root, "output", "-raw", "a_value")[1].strip() == "11"
    log = (root / ".toy" / "writes.log").read_text().splitlines()
    assert sorted(line.split()[0] for line in log) == WRITTEN, log
    return ended[0] != 0


def main(folder: Path, mode: str) -> None:
    """The law at every record."""
    base = folder / "base"
    base.mkdir()
    (base / "main.flare.hcl").write_text(BEFORE)
    assert command(base, "apply", "-auto-approve")[0] == 0
    first = 1
    while True:
        root = folder / str(first)
        shutil.copytree(base, root)
        if not check(root, first, MODES[(MODES.index(mode) + first + 1) % 2]):
            break
        first += 1
    assert first > 12, "an apply of two updates, a creation and a deletion writes more records"


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
