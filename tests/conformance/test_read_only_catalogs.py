"""Plans, drift and checks with credentials that only read, on each kind of catalog: the server refuses
writes. What an apply is refused is named, nothing is half done, and with the permissions it goes on.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from tests.support.catalog_kinds import VARIABLES, Servers
from tests.support.command_line import Ended, flareiac
from tests.support.faulty_proxy import Answer, FaultyProxy, Pass, Request, error_answer, faulty_proxy
from tests.support.moto_server import aws_keys, make_bucket
from tests.support.postgres import PASSWORD

_SECRETS: Final = """
secret "password" { env = "LAKE_PASSWORD" }
secret "files"    { env = "LAKE_KEY" }
secret "login"    { env = "LAKE_LOGIN" }
"""
_FILES: Final = """
  warehouse  = "s3://BUCKET/lake"
  properties = {
    "s3.endpoint"          = "PROXY"
    "s3.region"            = "us-east-1"
    "s3.access-key-id"     = "testing"
    "s3.secret-access-key" = secret.files
    "glue.endpoint"        = "PROXY"
  }
"""
_READING: Final = {f"AWSGlue.{name}" for name in ("GetDatabase", "GetDatabases", "GetTables")}
"""As flareiac/docs/catalogs.md lists them."""


@dataclass(slots=True)
class Restricted:
    """A project whose catalog can be made to refuse writes; ``refused`` are those, and
    ``files`` all that the warehouse holds.
    """

    root: Path
    catalog: str
    proxy: FaultyProxy
    restrict: Callable[[bool], None]
    files: Callable[[], set[str]]
    refused: list[str] = field(default_factory=list)

    def declare(self, *tables: str) -> None:
        """``NAMESPACE`` is one of its own: the server of a catalog serves many tests."""
        text = (_SECRETS + self.catalog + "".join(tables)).replace("NAMESPACE", f"n{abs(hash(self.root))}")
        (self.root / "main.flare.hcl").write_text(text)

    def run(self, *words: str, code: int = 0) -> Ended:
        done = flareiac(self.root, *words)
        assert done.code == code, done.text
        return done

    def only_reads(self, is_restricted: bool, *, but_files: bool = False) -> None:
        """``but_files``: files may be written, tables may not."""

        def rule(request: Request, go_on: Pass) -> Answer:
            if not is_restricted or _reads(request) or (but_files and request.path.startswith("/lake-")):
                return go_on(request)
            self.refused.append(f"{request.method} {request.path}")
            return _refusal(request)

        self.proxy.rule = rule
        self.restrict(is_restricted)


def _reads(request: Request) -> bool:
    target = request.headers.get("X-Amz-Target", "")
    return request.method in ("GET", "HEAD") or target in _READING or request.path.endswith("/oauth/tokens")


def _refusal(request: Request) -> Answer:
    if request.headers.get("X-Amz-Target"):
        body = json.dumps({"__type": "AccessDeniedException", "Message": "not permitted to write"})
        return Answer(status=400, headers={"Content-Type": "application/x-amz-json-1.1"}, body=body.encode())
    if "/v1/" in request.path:
        why = {"message": "not permitted to write", "type": "ForbiddenException", "code": 403}
        body = json.dumps({"error": why})
        return Answer(status=403, headers={"Content-Type": "application/json"}, body=body.encode())
    return error_answer(403, "AccessDenied")


def table(name: str, *columns: str, more: str = "") -> str:
    lines = "".join(f'  column "{column}" {{ type = "long" }}\n' for column in columns)
    return f'table "{name}" {{\n  catalog   = catalog.lake\n  namespace = "NAMESPACE"\n{lines}{more}}}\n'


def _bucket(tmp_path: Path, servers: Servers) -> str:
    name = f"lake-{abs(hash(str(tmp_path)))}"
    make_bucket(servers.aws(), name)
    return name


@pytest.fixture(params=["postgres_s3", "glue", pytest.param("rest", marks=[pytest.mark.jvm])])
def project(
    request: pytest.FixtureRequest, tmp_path: Path, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Restricted]:
    for name, value in {**VARIABLES, "LAKE_PASSWORD": PASSWORD}.items():
        monkeypatch.setenv(name, value)
    is_rest = request.param == "rest"
    target = servers.rest(request.getfixturevalue("java_home")) if is_rest else servers.aws()
    with aws_keys(), faulty_proxy(target) as proxy:
        restrict: Callable[[bool], None] = _by_the_proxy_alone
        if is_rest:
            block = f'  type       = "rest"\n  uri        = "{proxy.address}"\n  credential = secret.login\n'
        else:
            bucket = _bucket(tmp_path, servers)
            block = _FILES.replace("BUCKET", bucket).replace("PROXY", proxy.address)
        if request.param == "glue":
            block = '  type = "glue"\n' + block
        if request.param == "postgres_s3":
            server = servers.postgres()
            uri = server.create(bucket).replace("flare@", "")
            block = f'  uri        = "{uri}"\n  credential = secret.password\n' + block
            restrict = _reader(servers, bucket, monkeypatch)
        files = _no_files if is_rest else _files_in(servers, bucket)
        made = Restricted(tmp_path, f'catalog "lake" {{\n{block}}}\n', proxy, restrict, files)
        made.only_reads(False)
        yield made


def _files_in(servers: Servers, bucket: str) -> Callable[[], set[str]]:
    def files() -> set[str]:
        import boto3

        return {
            item.key for item in boto3.resource("s3", endpoint_url=servers.aws()).Bucket(bucket).objects.all()
        }

    return files


def _no_files() -> set[str]:
    """The server itself writes them."""
    return set()


def _by_the_proxy_alone(_is_restricted: bool) -> None:
    """The catalog is behind the proxy, as the files are."""


def _reader(servers: Servers, database: str, patch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Switches between the owner of the tables and a role with SELECT."""
    server = servers.postgres()
    role = f"reader_{abs(hash(database))}"
    server.run(f"CREATE ROLE {role} LOGIN PASSWORD '{PASSWORD}'")
    patch.setenv("PGUSER", "flare")

    def restrict(is_restricted: bool) -> None:
        if is_restricted:
            server.run(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}", database)
        patch.setenv("PGUSER", role if is_restricted else "flare")

    return restrict


def test_plan_and_drift_need_no_more_than_reading(project: Restricted) -> None:
    project.declare(table("rides", "id"))
    project.run("init")
    project.run("apply", "-auto-approve")
    project.only_reads(True)
    project.run("plan", "-detailed-exitcode")
    for words in (["plan", "-refresh=full"], ["drift"], ["status"], ["show"], ["doctor"]):
        project.run(*words)
    project.declare(table("rides", "id", "fare"), table("new", "id"))
    planned = "Plan: 1 to add, 1 to change, 0 to destroy."
    assert planned in project.run("plan", "-out=saved.plan").out
    assert project.refused == []

    before, files = project.run("state", "pull").out, project.files()
    for but_files in (False, True):
        project.only_reads(True, but_files=but_files)
        said = project.run("apply", "-auto-approve", code=1).text
        assert said.count("The catalog cannot be written [FII011]") in (1, 2)  # one cause, said once
        assert {"table.new", "table.rides"} <= set(re.findall(r"table\.\w+", said.partition("Error:")[2]))
        assert "Nothing of this change took effect" in " ".join(said.replace("│", " ").split())
        assert json.loads(project.run("state", "pull").out)["resources"] == json.loads(before)["resources"]
        # A metadata file that no entry names is left for the removal of orphan files.
        assert but_files or project.files() == files
        assert planned in project.run("plan").out

    project.only_reads(False)
    project.run("apply", "-auto-approve")
    project.only_reads(True)
    project.run("plan", "-detailed-exitcode")


def test_a_warehouse_that_refuses_to_be_read_is_not_called_damaged(project: Restricted) -> None:
    """An earlier metadata file in the place of one that is whole would take commits back."""
    if project.files is _no_files:
        pytest.skip("the server of this catalog hands out the metadata")
    project.declare(table("rides", "id"))
    project.run("apply", "-auto-approve")
    project.declare(table("rides", "id", "fare"))
    project.proxy.rule = lambda request, go_on: (
        error_answer(400, "ExpiredToken") if request.path.startswith("/lake-") else go_on(request)
    )
    for words in (["plan"], ["apply", "-auto-approve"], ["drift"]):
        said = " ".join(project.run(*words, code=1).text.replace("│", " ").split())
        assert "FII012" in said
        assert "S3 answers ExpiredToken" in said
        assert "Restore access to the place of the file" in said
        assert "register" not in said
    project.only_reads(False)
    project.run("apply", "-auto-approve")
    project.run("plan", "-detailed-exitcode")
