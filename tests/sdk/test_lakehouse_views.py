"""The types of this repository keep what the views promise to other providers."""

import ast
from dataclasses import replace
from pathlib import Path

from flareiac.kernel.data import Reference
from flareiac.sdk.lakehouse_views import ConnectionView, TableView, TopicView
from tests.spark.declared import LAKE, loaded

KAFKA = """
catalog "lake" {
  type      = "sql"
  uri       = "sqlite:///lake.db"
  warehouse = "lake"
}
kafka "main" { bootstrap_servers = "h:9092" }
topic "events" {
  name       = "the.events"
  partitions = 1
}
"""
_SPARK = Path(__file__).parents[2] / "providers/flareiac_spark"


def test_a_table_a_catalog_and_a_topic_are_read_as_their_types_declare_them(tmp_path: Path) -> None:
    project = loaded(LAKE + KAFKA, tmp_path)
    assert project.codes == []
    references = project.references()
    table = TableView.at(Reference("table.orders"), references)
    assert table is not None
    assert (table.identifier, table.uuid, table.column_order) == (
        ("lake", "demo", "orders"),
        None,
        ("id", "region"),
    )
    assert table.columns["id"]["type"] == "long"
    applied = replace(references["table.orders"], identity={"uuid": "u"})
    assert TableView.of(applied, references).uuid == "u"
    assert TableView.of(applied, {}).identifier is None
    catalog = ConnectionView.of(references["catalog.lake"])
    assert catalog.spark_conf["spark.sql.catalog.lake"] == "org.apache.iceberg.spark.SparkCatalog"
    assert any(name.startswith("org.apache.iceberg:") for name in catalog.packages)
    references = project.references()
    topic = TopicView.at(Reference("topic.events"), references)
    assert topic == TopicView(name="the.events", id=None, connection=Reference("kafka.main"))
    assert ConnectionView.of(references["kafka.main"]).client["bootstrap.servers"] == "h:9092"


def test_the_spark_provider_reads_no_attribute_of_another_provider_by_its_key() -> None:
    keys = {"namespace", "columns", "column_order", "spark_conf", "spark_extensions", "client", "kafka"}
    read = {
        f"{path.relative_to(_SPARK)}: {word}"
        for path in _SPARK.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for word in _of_attributes(node)
        if word in keys
    }
    assert read == set()


def _of_attributes(node: ast.AST) -> list[str]:
    """The key that an expression reads of something called ``attributes``."""
    match node:
        case ast.Subscript(value=ast.Attribute(attr="attributes"), slice=ast.Constant(value=str(word))):
            return [word]
        case ast.Call(
            func=ast.Attribute(value=ast.Attribute(attr="attributes"), attr="get"),
            args=[ast.Constant(value=str(word)), *_],
        ):
            return [word]
        case _:
            return []
