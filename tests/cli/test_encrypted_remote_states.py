"""Encrypted states at remote places, through the commands: nothing is readable there, an interrupted apply
goes on, and the passphrase is replaced and taken away.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import boto3
import pytest

from tests.state.remote_places import BUCKET, postgresql_server, s3_block, s3_server
from tests.support.command_line import Ended, flareiac

_VALUE: Final = "a value that no one may read"
_OLD: Final = 'encryption { env = "OLD_KEY" }'
_ROTATED: Final = 'encryption {\n    env = "NEW_KEY"\n    fallback { env = "OLD_KEY" }\n  }'
_NEW: Final = 'encryption { env = "NEW_KEY" }'
_ENDING: Final = 'encryption {\n    fallback { env = "NEW_KEY" }\n  }'


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """``content`` is all that the server holds."""

    root: Path
    backend: str
    content: Callable[[], list[bytes]]

    def declare(self, encryption: str, value: str = _VALUE) -> None:
        things = f'thing "a" {{ value = "{value}" }}\nthing "b" {{ value = "{_VALUE}" }}\n'
        (self.root / "main.flare.hcl").write_text(
            f"flareiac {{\n  {self.backend}\n  {encryption}\n}}\n{things}"
        )

    def run(self, *words: str, code: int = 0, **variables: str) -> Ended:
        done = flareiac(self.root, *words, **variables)
        assert done.code == code, done.text
        return done

    def pulled(self) -> object:
        return json.loads(self.run("state", "pull").out)["resources"]


def _s3(stack: ExitStack) -> tuple[str, Callable[[], list[bytes]]]:
    endpoint = stack.enter_context(s3_server())

    def content() -> list[bytes]:
        found = boto3.resource("s3", endpoint_url=endpoint).Bucket(BUCKET).objects.filter(Prefix="encrypted/")
        return [item.get()["Body"].read() for item in found]

    return s3_block(endpoint, "encrypted"), content


def _postgresql(stack: ExitStack, directory: Path) -> tuple[str, Callable[[], list[bytes]]]:
    server = stack.enter_context(postgresql_server(directory))

    def content() -> list[bytes]:
        rows = server.run("SELECT content FROM flareiac.state_log")
        return [bytes(row[0]) for row in rows]  # type: ignore[call-overload]

    return f'backend "postgresql" {{ connection = "{server.uri("postgres")}" }}', content


@pytest.fixture(params=[pytest.param("s3", marks=pytest.mark.slow), "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setenv("OLD_KEY", "the old passphrase")
    monkeypatch.setenv("NEW_KEY", "the new passphrase")
    with ExitStack() as stack:
        is_s3 = request.param == "s3"
        backend, content = _s3(stack) if is_s3 else _postgresql(stack, tmp_path / "server")
        root = tmp_path / "project"
        root.mkdir()
        yield Place(root=root, backend=backend, content=content)


def test_every_command_works_on_what_no_one_else_can_read(place: Place) -> None:
    place.declare(_OLD)
    place.run("init")
    place.run("apply", "-auto-approve")
    place.declare(_OLD, "another")
    place.run("apply", "-auto-approve", code=-9, FLAREIAC_KILL_AT="apply.result:1")
    assert "The last apply was interrupted" in place.run("plan").err
    place.run("apply", "-auto-approve")
    place.run("plan", "-detailed-exitcode")
    place.run("state", "mv", "thing.b", "thing.c")
    place.run("state", "mv", "thing.c", "thing.b")
    place.run("state", "rollback", "-auto-approve", "1")
    (place.root / "state.json").write_text(place.run("state", "pull").out)
    place.run("state", "push", "-force", "state.json")
    assert len(place.run("state", "history").out.splitlines()) > 4
    place.run("workspace", "new", "dev")
    place.run("workspace", "select", "default")
    known = place.pulled()
    assert not any(
        word in item for item in place.content() for word in (_VALUE.encode(), b"thing.", b"another")
    )

    before = place.content()
    place.declare(_NEW)
    assert "[FIS094]" in place.run("plan", code=1).err
    assert "[FIS094]" in place.run("apply", "-auto-approve", code=1).err
    place.declare("")
    assert "[FIS092]" in place.run("state", "list", code=1).err
    assert set(before) <= set(place.content()), "at most the lock was taken"

    place.declare(_ROTATED)
    place.run("state", "mv", "thing.b", "thing.c")
    place.run("state", "mv", "thing.c", "thing.b")
    place.declare(_NEW)
    assert place.pulled() == known
    assert "cannot be read for lack of the passphrase" in place.run("state", "history").out
    newest = json.loads(place.run("state", "history", "-json").out)["history"][0]["serial"]
    place.run("state", "rollback", "-auto-approve", str(newest))
    place.run("state", "mv", "thing.c", "thing.b")
    assert "[FIS094]" in place.run("state", "rollback", "-auto-approve", "1", code=1).err
    place.declare(_ROTATED)
    place.run("state", "rollback", "-auto-approve", "1")

    place.declare(_ENDING)
    place.run("state", "mv", "thing.b", "thing.c")
    place.declare("")
    assert any(_VALUE.encode() in item for item in place.content())
    assert "thing.c" in place.run("state", "list").out


def test_a_pushed_copy_takes_the_place_of_a_state_whose_passphrase_is_lost(place: Place) -> None:
    place.declare(_OLD)
    place.run("init")
    place.run("apply", "-auto-approve")
    (place.root / "state.json").write_text(place.run("state", "pull").out)
    place.declare(_NEW)
    assert "[FIS094]" in place.run("state", "push", "state.json", code=1).err
    place.run("state", "push", "-force", "state.json")
    place.run("plan", "-detailed-exitcode")
