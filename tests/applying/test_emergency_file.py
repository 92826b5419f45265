"""The state dies in the middle of an apply: what was done comes back with ``state recover``."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from flareiac.kernel.records import decode
from flareiac.model.emergency import EmergencyHeader, encode_header, encode_lines
from flareiac.model.journal import Begun, Ended, Result, encode_entry
from flareiac.model.snapshot import ResourceRecord
from tests.applying import emergency_law
from tests.support.command_line import environment, flareiac


@pytest.mark.parametrize("mode", ["refused", pytest.param("unanswered", marks=pytest.mark.slow)])
@pytest.mark.parametrize("what", sorted(emergency_law.CHECKS))
def test_what_was_done_is_recovered_at_every_record(tmp_path: Path, what: str, mode: str) -> None:
    words = [sys.executable, "-W", "ignore", emergency_law.__file__, str(tmp_path), mode, what]
    done = subprocess.run(
        words, env=environment(), capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A state with one thing."""
    (tmp_path / "main.flare.hcl").write_text('thing "a" { value = "1" }\n')
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    return tmp_path


def write(project: Path, **changes: object) -> None:
    """An emergency file that says that the thing has another value."""
    state = json.loads(flareiac(project, "state", "pull").out)
    header = {"lineage": state["lineage"], "serial": state["serial"], "after": 0, "apply": "x", **changes}
    (there,) = state["resources"]
    record = decode(ResourceRecord, {**there, "attributes": {**there["attributes"], "value": "2"}})
    entries = (
        Begun(apply="x", plan="p", time=0.0, lineage=state["lineage"]),
        Result(apply="x", id="update:thing.a", address="thing.a", record=record),
        Ended(apply="x"),
    )
    lines = [encode_header(EmergencyHeader(**header)), *map(encode_entry, entries)]  # type: ignore[arg-type]
    (project / "lost.journal").write_bytes(encode_lines(lines)[0])


def recovered(project: Path) -> tuple[int, str]:
    done = flareiac(project, "state", "recover", "lost.journal")
    return done.code, " ".join(done.text.replace("│", " ").split())


def test_a_file_that_fits_is_brought_in(project: Path) -> None:
    write(project)
    code, said = recovered(project)
    assert code == 0, said
    assert "3 of 3 records were added" in said
    assert '"value": "2"' in flareiac(project, "state", "show", "-json", "thing.a").out


def lines_of(project: Path) -> list[bytes]:
    return (project / "lost.journal").read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize("order", [(0, 1, 3), (0, 1, 1, 2, 3), (0, 2, 1, 3), (1, 2, 3), (0, 1, 2, 3, 3)])
def test_lines_that_are_not_in_their_places_are_refused(project: Path, order: tuple[int, ...]) -> None:
    write(project)
    lines = lines_of(project)
    (project / "lost.journal").write_bytes(b"".join(lines[at] for at in order))
    code, said = recovered(project)
    assert (code, "not in its place" in said or "not an emergency file" in said) == (1, True), said
    assert (project / "lost.journal").exists()


def test_a_file_of_an_early_version_is_brought_in(project: Path) -> None:
    """It has a checksum of each line by itself."""
    write(project)
    payloads = [line.partition(b" ")[2] for line in lines_of(project)]
    alone = [hashlib.sha256(payload[:-1]).hexdigest()[:16].encode() + b" " + payload for payload in payloads]
    (project / "lost.journal").write_bytes(b"".join(alone))
    code, said = recovered(project)
    assert code == 0, said


_KILLS = ("recover.appended", "recover.before-snapshot", "recover.snapshot", "recover.before-removal")


def check_completed(project: Path, serial: int) -> None:
    """Asked again, the command has brought the file in, once."""
    code, said = recovered(project)
    assert code == 0, said
    assert not (project / "lost.journal").exists()
    state = json.loads(flareiac(project, "state", "pull").out)
    assert (state["serial"], state["resources"][0]["attributes"]["value"]) == (serial + 1, "2")
    assert f"{serial + 1} and 1 resource" in flareiac(project, "state", "history").out


@pytest.mark.parametrize("point", _KILLS)
def test_a_recovery_that_is_killed_is_completed_by_the_next(project: Path, point: str) -> None:
    write(project)
    serial = json.loads(flareiac(project, "state", "pull").out)["serial"]
    killed = flareiac(project, "state", "recover", "lost.journal", FLAREIAC_KILL_AT=point)
    assert killed.killed, killed.text
    assert (project / "lost.journal").exists()
    check_completed(project, serial)


def test_a_recovery_that_is_cut_off_while_it_appends_is_completed_by_the_next(project: Path) -> None:
    write(project)
    content, state = (project / "lost.journal").read_bytes(), project / ".flareiac" / "state" / "default"
    serial = json.loads((state / "snapshot.json").read_bytes())["serial"]
    before = (state / "snapshot.json").read_bytes()
    killed = flareiac(project, "state", "recover", "lost.journal", FLAREIAC_KILL_AT="recover.appended")
    assert killed.killed, killed.text
    journal = (state / "journal.jsonl").read_bytes()
    for cut in range(1, len(journal), len(journal) // 7):
        (project / "lost.journal").write_bytes(content)
        (state / "snapshot.json").write_bytes(before)
        (state / "journal.jsonl").write_bytes(journal[:cut])
        check_completed(project, serial)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"lineage": "another"}, "It belongs to the state another"),
        ({"serial": 0}, "something else of thing.a"),
    ],
    ids=["lineage", "moved on"],
)
def test_a_file_that_contradicts_the_state_is_refused(
    project: Path, changes: dict[str, object], why: str
) -> None:
    write(project, **changes)
    before = flareiac(project, "state", "pull").out
    code, said = recovered(project)
    assert (code, "FIS083" in said, why in said) == (1, True, True), said
    assert flareiac(project, "state", "pull").out == before


def test_a_damaged_file_is_refused_and_a_cut_one_is_not(project: Path) -> None:
    assert "No such file" in recovered(project)[1]
    write(project)
    content = (project / "lost.journal").read_bytes()
    (project / "lost.journal").write_bytes(content.replace(b"thing.a", b"thing.b"))
    code, said = recovered(project)
    assert (code, "line 3 is not what was written" in said) == (1, True), said
    header = content.index(b"\n") + 1
    for cut in (content[:header], content[: header + 9], content[: header - 9]):
        (project / "lost.journal").write_bytes(cut)
        code, said = recovered(project)
        assert (code, "FIS082" in said) == (1, True), said
        assert (project / "lost.journal").read_bytes() == cut
    (project / "lost.journal").write_bytes(content[:-9])
    code, said = recovered(project)
    assert (code, "was cut off" in said) == (0, True), said


def _left(project: Path) -> Path:
    """The emergency file where an apply leaves it."""
    return (project / "lost.journal").rename(project / ".flareiac" / "emergency-x.journal")


def test_a_file_that_was_brought_in_elsewhere_is_removed_by_the_next_apply(project: Path) -> None:
    write(project)
    content = (project / "lost.journal").read_bytes()
    assert recovered(project)[0] == 0
    assert flareiac(project, "apply", "-auto-approve").code == 0  # writes another value
    assert '"value": "1"' in flareiac(project, "state", "show", "-json", "thing.a").out
    (project / "lost.journal").write_bytes(content)
    left = _left(project)
    done = flareiac(project, "apply", "-auto-approve")
    assert done.code == 0, done.text
    assert "emergency-x.journal: all of its records were added" in done.text
    assert not left.exists()


def test_a_file_that_no_state_holds_is_kept_with_a_warning(project: Path) -> None:
    write(project, serial=0)
    left = _left(project)
    other = left.with_name("emergency-y.journal")
    write(project, lineage="another")
    (project / "lost.journal").rename(other)
    third = left.with_name("emergency-z.journal")
    third.write_bytes(b"nonsense")
    done = flareiac(project, "apply", "-auto-approve")
    assert done.code == 0, done.text
    said = " ".join(done.text.split())
    assert (
        "Warning: .flareiac/emergency-x.journal holds results of an earlier apply that no kept state" in said
    )
    assert "emergency-y" not in said
    assert "emergency-z.journal is of an earlier apply and cannot be read" in said
    assert left.exists()
    assert other.exists()
    assert third.exists()
