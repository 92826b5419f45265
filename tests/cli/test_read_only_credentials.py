"""The permissions in flareiac/docs/state.md, proven: with those listed for them, commands that write and
commands that only read work; with those of reading, the others are refused and change nothing.
"""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from flareiac.model import journal
from flareiac.model.emergency import EmergencyHeader, encode_header, encode_lines
from flareiac.sdk.state import StateStore
from flareiac_state.postgresql import PostgresqlBackend
from flareiac_state.s3 import S3Backend
from tests.state.conformance import ignore_wait
from tests.state.remote_places import BUCKET, postgresql_server, s3_block, s3_server
from tests.support.command_line import Ended, flareiac
from tests.support.faulty_proxy import Answer, FaultyProxy, Pass, Request, error_answer, faulty_proxy
from tests.support.postgres import PASSWORD, Postgres

_DOCUMENT: Final = Path(__file__).parents[2] / "flareiac" / "docs" / "state.md"
_THINGS: Final = """
thing "a" {{
  name  = flareiac.workspace
  value = "{value}"
}}
thing "b" {{ value = "b" }}
output "said" {{ value = thing.a.value }}
"""
_PREFIX, _ANOTHER = "read-only", "no-delete"
READERS: Final = (
    "plan",
    "plan -detailed-exitcode",
    "plan -refresh=full",
    "plan -out=other.plan",
    "show saved.plan",
    "drift",
    "show",
    "show -json",
    "status",
    "output",
    "output -raw said",
    "doctor",
    "validate",
    "state list",
    "state show thing.a",
    "state pull",
    "state history",
    "lock status",
    "workspace list",
    "workspace show",
)
WRITERS: Final = (
    "init",
    "apply -auto-approve",
    "apply saved.plan",
    "destroy -auto-approve",
    "maintain -auto-approve",
    "state mv thing.a thing.z",
    "state rm thing.a",
    "state push edited.json",
    "state push -force edited.json",
    "state rollback -auto-approve 1",
    "workspace new other",
    "workspace delete dev",
    "state recover lost.journal",
    "thing polish thing.a",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A project with a state of three serials and a change to make, and credentials that only read.

    ``content`` is all that the server holds; ``refused`` are the requests that it has refused since asked
    last; ``open`` is the state with all permissions.
    """

    root: Path
    content: Callable[[], object]
    refused: Callable[[], list[str]]
    open: Callable[[], StateStore]

    def unchanged(self) -> object:
        """The parts that no command may change: the state, the world and the name of the workspace at work.
        The record of what this checkout has seen, backend.json, grows by reading.
        """
        files = [*(self.root / ".toy").rglob("*.json"), *(self.root / ".flareiac").glob("[!b]*")]
        return (self.content(), {path: path.read_bytes() for path in files})


def run(root: Path, command: str, code: int = 0) -> Ended:
    done = flareiac(root, *command.split())
    assert done.code == code, f"{command}: {done.text}"
    return done


def write_history(root: Path) -> None:
    """Commands that write, with the permissions that they need and no others."""
    block = (root / "main.flare.hcl").read_text()
    for value in ("1", "2"):
        (root / "main.flare.hcl").write_text(block + _THINGS.format(value=value))
        run(root, "apply -auto-approve")
    run(root, "state mv thing.b thing.c")
    run(root, "state mv thing.c thing.b")
    run(root, "state rollback -auto-approve 2")
    for command in ("workspace new gone", "workspace new dev", "workspace select default"):
        run(root, command)
    run(root, "workspace delete gone")
    (root / "main.flare.hcl").write_text(block + _THINGS.format(value="3"))
    run(root, "plan -out=saved.plan")
    state = json.loads(run(root, "state pull").out)
    edited = {name: value for name, value in {**state, "serial": 99}.items() if name != "digest"}
    (root / "edited.json").write_text(json.dumps(edited))
    header = EmergencyHeader(lineage=state["lineage"], serial=state["serial"], after=0, apply="x")
    begun = journal.Begun(apply="x", plan="p", time=0.0, lineage=state["lineage"])
    ended = journal.Ended(apply="x")
    records = (encode_header(header), journal.encode_entry(begun), journal.encode_entry(ended))
    (root / "lost.journal").write_bytes(encode_lines(records)[0])


# S3


def _permission(request: Request) -> str:
    """The permission that S3 asks of the caller for a request to the bucket's keys below the prefix."""
    path, _, query = request.path.partition("?")
    is_key = path.startswith((f"/{BUCKET}/{_PREFIX}/", f"/{BUCKET}/{_ANOTHER}/"))
    match request.method:
        case "GET" if path == f"/{BUCKET}" and "list-type=2" in query:
            return "s3:ListBucket"
        case "GET" | "HEAD" if is_key:
            return "s3:GetObject"
        case "PUT" if is_key and not query:
            return "s3:PutObject"
        case "POST" if path == f"/{BUCKET}" and query == "delete":
            return "s3:DeleteObject"
        case _:
            return f"{request.method} {request.path}"


def _documented(role: str) -> set[str]:
    """The permissions of S3 that the document lists for commands that write, or only read."""
    _, _, text = _DOCUMENT.read_text().partition(f"Commands that {role}")
    line = next(line for line in text.split("\n- ") if line.startswith("S3:"))
    return set(re.findall(r"s3:\w+", line))


def _only(proxy: FaultyProxy, permitted: set[str], refused: list[str]) -> None:
    def rule(request: Request, go_on: Pass) -> Answer:
        if _permission(request) in permitted:
            return go_on(request)
        refused.append(_permission(request))
        return error_answer(403, "AccessDenied")

    proxy.rule = rule


def _on_s3(stack: ExitStack, root: Path) -> Place:
    server = stack.enter_context(s3_server())
    proxy = stack.enter_context(faulty_proxy(server))
    refused: list[str] = []
    (root / "main.flare.hcl").write_text(f"flareiac {{\n  {s3_block(proxy.address, _PREFIX)}\n}}\n")
    _only(proxy, _documented("write the state"), refused)
    run(root, "init")
    write_history(root)
    assert refused == []
    _only(proxy, _documented("only read it"), refused)

    def open_directly() -> StateStore:
        settings = {"bucket": BUCKET, "prefix": _PREFIX, "endpoint": server, "path_style": True}
        return S3Backend().open(settings, root=".", workspace="default", environment={})

    def content() -> object:
        import boto3

        bucket = boto3.resource("s3", endpoint_url=server).Bucket(BUCKET)
        return {item.key: item.get()["Body"].read() for item in bucket.objects.all()}

    return Place(root=root, content=content, refused=_taker(refused), open=open_directly)


def _taker(items: list[str]) -> Callable[[], list[str]]:
    def take() -> list[str]:
        found = list(items)
        items.clear()
        return found

    return take


# PostgreSQL


def _grants() -> list[str]:
    """The statements of the document."""
    block = _DOCUMENT.read_text().partition("```sql\n")[2].partition("```")[0]
    return [statement for statement in block.split(";\n") if statement.strip()]


def _on_postgresql(stack: ExitStack, root: Path, patch: pytest.MonkeyPatch) -> Place:
    server: Postgres = stack.enter_context(postgresql_server(root.parent / "server"))
    log = root.parent / "server" / "server.log"
    where = f"127.0.0.1:{server.port}/postgres"
    (root / "main.flare.hcl").write_text(
        f'flareiac {{\n  backend "postgresql" {{ connection = "postgresql://{where}" }}\n}}\n'
    )
    patch.setenv("PGUSER", "flare")
    run(root, "init")
    for role in ("ci_apply", "ci_plan"):
        server.run(f"CREATE ROLE {role} LOGIN PASSWORD '{PASSWORD}'")
    for statement in _grants():
        server.run(statement)
    patch.setenv("PGUSER", "ci_apply")
    write_history(root)
    patch.setenv("PGUSER", "ci_plan")
    read = len(log.read_bytes())

    def refused() -> list[str]:
        nonlocal read
        lines = log.read_bytes()[read:].decode().splitlines()
        read = len(log.read_bytes())
        return [line for line in lines if "ERROR:" in line]

    def open_directly() -> StateStore:
        settings = {"connection": f"postgresql://flare@{where}"}
        return PostgresqlBackend().open(settings, root=".", workspace="default", environment={})

    def content() -> object:
        tables = ("state_log", "state_beat")
        return [server.run(f"SELECT t::text FROM flareiac.{table} t ORDER BY 1") for table in tables]

    assert not any("permission denied" in line for line in log.read_text().splitlines())
    return Place(root=root, content=content, refused=refused, open=open_directly)


@pytest.fixture(scope="module", params=["s3", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    root = tmp_path_factory.mktemp("read_only") / "project"
    root.mkdir()
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        yield _on_s3(stack, root) if request.param == "s3" else _on_postgresql(stack, root, patch)


def plain(text: str) -> str:
    return " ".join(text.replace("│", " ").split())


@pytest.mark.parametrize("command", READERS)
def test_what_only_reads_works_and_asks_for_no_more(place: Place, command: str) -> None:
    before = place.unchanged()
    run(place.root, command, code=2 if "detailed" in command else 0)
    assert place.refused() == []
    assert place.unchanged() == before


@pytest.mark.parametrize("command", WRITERS)
def test_what_writes_is_refused_and_nothing_is_half_done(place: Place, command: str) -> None:
    before = place.unchanged()
    said = plain(run(place.root, command, code=1).err)
    assert "[FIS00" in said
    assert "permission" in said
    assert "room" not in said
    assert "Nothing was changed" in said
    assert place.refused()
    assert place.unchanged() == before


def test_a_state_that_may_only_be_read_does_not_move(place: Place, tmp_path: Path) -> None:
    before, copy = place.unchanged(), tmp_path / "project"
    shutil.copytree(place.root, copy)
    (copy / "main.flare.hcl").write_text(_THINGS.format(value="3"))
    said = plain(run(copy, "init -migrate-state", code=1).err)
    assert "permission" in said
    assert place.unchanged() == before
    assert not list((copy / ".flareiac").rglob("snapshot.json"))
    place.refused()


def test_a_held_lock_is_shown_and_stays_held(place: Place) -> None:
    lease = place.open().lock("apply", timeout=0, on_wait=ignore_wait)
    try:
        assert lease.info.id in run(place.root, "lock status", code=5).out
        run(place.root, "plan")
        assert place.refused() == []
        said = plain(run(place.root, f"lock release {lease.info.id}", code=1).err)
        assert "permission" in said
        assert "Nothing was changed" in said
        place.refused()
        lease.check()
    finally:
        lease.release()


def test_the_document_lists_commands_that_only_read() -> None:
    named = _DOCUMENT.read_text().partition("Commands that only read it (")[2].partition(")")[0]
    listed = set(re.findall(r"`(.*?)`", named))
    assert {"plan", "drift", "state list"} <= listed
    assert listed <= {
        " ".join(command.split()[: name.count(" ") + 1]) for command in READERS for name in listed
    }


def test_without_the_permission_to_delete_old_records_stay_and_all_works(tmp_path: Path) -> None:
    refused: list[str] = []
    with s3_server() as server, faulty_proxy(server) as proxy:
        block = s3_block(proxy.address, _ANOTHER)
        (tmp_path / "main.flare.hcl").write_text(f"flareiac {{\n  {block}\n}}\n")
        _only(proxy, _documented("write the state") - {"s3:DeleteObject"}, refused)
        run(tmp_path, "init")
        write_history(tmp_path)
        assert run(tmp_path, "workspace list").out.split() == ["*", "default", "dev"]
    assert set(refused) == {"s3:DeleteObject"}


def test_a_fresh_checkout_reads_without_init(place: Place, tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text((place.root / "main.flare.hcl").read_text())
    assert run(tmp_path, "state list").out.split() == ["thing.a", "thing.b"]
    assert "thing.a" in run(tmp_path, "plan").out
    assert run(tmp_path, "output -raw said").out.strip() == "2"
    run(tmp_path, "drift", code=3)  # the things of this world are in the other checkout
    assert place.refused() == []
