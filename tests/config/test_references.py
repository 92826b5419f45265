"""Every attribute that the reference calls a reference takes one: no validator and no resource type stumbles
over it.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from flareiac.app.discovery import installed
from flareiac.config.files import ModuleFiles
from flareiac.config.load import Configuration, load
from flareiac.config.variables import Inputs
from flareiac.kernel.data import Data, Reference
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.types import RefType
from flareiac.model.snapshot import new_snapshot
from flareiac.render.diagnostics import text
from flareiac.sdk.project import Project
from flareiac.sdk.schema import Block

WORLD = """
secret "s" { env = "S" }
engine "e" {}
catalog "lake" {}
namespace "web" { catalog = catalog.lake }
table "src" {
  catalog   = catalog.lake
  namespace = "n"
  column "id" { type = "long" }
}
stream "rows" {
  rate {}
}
checkpoint "c" {}
"""
_REST = 'catalog "r" {\n  type = "rest"\n  uri = "http://h"\n  warehouse = "s3://b/w"\n  %s = secret.s\n}'
_TABLE = 'table "t" {\n  column "id" { type = "long" }\n  %s\n}'
_IN_LAKE = "catalog = catalog.lake\n  "
_JOB = (
    'job "j" {\n  mode = "%s"\n  %s\n  input "i" { %s }\n  step "s" { sql = "SELECT 1L AS id FROM i" }\n'
    '  output "o" { table = table.src }\n}'
)
_FROM_KAFKA = '\nstream "k" {\n  kafka {\n    %s\n    format = "text"\n  }\n}'
_STREAM_JOB = ("stream", "checkpoint = checkpoint.c", "stream = stream.rows")
_KAFKA = 'kafka "k" {\n  bootstrap_servers = "h:9092"\n  %s\n}'
_TO_KAFKA = (
    '\njob "k" {\n  mode = "stream"\n  checkpoint = checkpoint.c\n  input "i" { stream = stream.rows }\n'
    '  step "s" { sql = "SELECT CAST(value AS STRING) AS value FROM i" }\n'
    '  output "o" {\n    from = "s"\n    kafka {\n      %s\n      format = "text"\n    }\n  }\n}'
)
CASES = {
    ("stream", "kafka.topic"): _KAFKA % "" + '\ntopic "o" {}\n' + _FROM_KAFKA % "topic = topic.o",
    ("stream", "kafka.connection"): _KAFKA % "" + _FROM_KAFKA % 'topic = "o"\n    connection = kafka.k',
    ("job", "output.kafka.topic"): _KAFKA % "" + '\ntopic "o" {}\n' + _TO_KAFKA % "topic = topic.o",
    ("job", "output.kafka.connection"): _KAFKA % "" + _TO_KAFKA % 'topic = "o"\n      connection = kafka.k',
    ("topic", "kafka"): _KAFKA % "" + '\ntopic "t" {\n  kafka = kafka.k\n}',
    ("catalog", "credential"): _REST % "credential",
    ("catalog", "token"): _REST % "token",
    ("namespace", "catalog"): 'namespace "n" { catalog = catalog.lake }',
    ("table", "catalog"): _TABLE % (_IN_LAKE + 'namespace = "n"'),
    ("table", "namespace"): _TABLE % "namespace = namespace.web",
    ("table", "engine"): _TABLE % (_IN_LAKE + 'namespace = "n"\n  engine = engine.e\n  compaction {}'),
    ("data.table", "catalog"): 'data "table" "d" {\n  catalog = catalog.lake\n  namespace = "n"\n}',
    ("data.table", "namespace"): 'data "table" "d" {\n  namespace = namespace.web\n}',
    ("stream", "table.table"): 'stream "t" {\n  table { table = table.src }\n}',
    ("job", "engine"): _JOB
    % ("stream", "checkpoint = checkpoint.c\n  engine = engine.e", "stream = stream.rows"),
    ("job", "checkpoint"): _JOB % _STREAM_JOB,
    ("job", "input.stream"): _JOB % _STREAM_JOB,
    ("job", "input.table"): _JOB % ("batch", "", "table = table.src"),
    ("job", "output.table"): _JOB % _STREAM_JOB,
}
"""By block type and path of the attribute; each is written beside ``WORLD``."""


def references_of(block: Block, path: tuple[str, ...] = ()) -> Iterator[str]:
    for name, attribute in block.attributes.items():
        if isinstance(attribute.type, RefType):
            yield ".".join((*path, name))
    for name, nested in block.blocks.items():
        yield from references_of(nested.block, (*path, name))


def test_every_reference_has_a_case() -> None:
    declared = {
        (kind, path)
        for kind, schema in installed().registry.schemas.items()
        for path in references_of(schema)
    }
    assert declared == set(CASES)


@pytest.mark.parametrize(("kind", "path"), CASES, ids=lambda item: item)
def test_a_reference_is_taken(kind: str, path: str, tmp_path: Path) -> None:
    found, diagnostics = _loaded(WORLD + CASES[kind, path], tmp_path)
    assert not diagnostics.has_errors, text(list(diagnostics), found.sources, width=120, colour=False)


def test_a_tables_namespace_is_the_one_that_is_named(tmp_path: Path) -> None:
    found, _ = _loaded(
        WORLD + 'namespace "deep" { name = "a.b" }\n' + _TABLE % "namespace = namespace.deep", tmp_path
    )
    table = found.desired.resources["table.t"]
    assert table.attributes["namespace"] == "a.b"
    assert "namespace.deep" in table.dependencies


TWO = 'catalog "one" {}\ncatalog "two" { warehouse = "w2" }\nnamespace "n" { catalog = catalog.two }\n'


def test_a_tables_catalog_is_that_of_the_namespace_that_it_names(tmp_path: Path) -> None:
    found, diagnostics = _loaded(TWO + _TABLE % "namespace = namespace.n", tmp_path)
    assert not diagnostics.has_errors
    catalog: Data = found.desired.resources["table.t"].attributes["catalog"]
    assert catalog == Reference("catalog.two")


def test_a_namespace_of_another_catalog_is_refused(tmp_path: Path) -> None:
    _, diagnostics = _loaded(TWO + _TABLE % "catalog = catalog.one\n  namespace = namespace.n", tmp_path)
    assert [item.code for item in diagnostics] == ["FII114"]


def _loaded(hcl: str, root: Path) -> tuple[Configuration, Diagnostics]:
    (root / "main.flare.hcl").write_text(hcl, encoding="utf-8")
    diagnostics = Diagnostics()

    def inputs(_files: ModuleFiles) -> Inputs:
        return Inputs(environment={})

    project = Project(root=root, lineage="00000000-0000-0000-0000-000000000000")
    return load(project, installed().registry, inputs, new_snapshot(), diagnostics), diagnostics
