"""Names of datasets, as OpenLineage's integration with Spark gives them."""

import pytest

from flareiac.sdk.dataset_names import DatasetName, files_dataset, plain_uri, table_dataset, topic_dataset


@pytest.mark.parametrize(
    ("place", "namespace", "name"),
    [
        ("/data/in", "file", "/data/in"),
        ("/data/in/", "file", "/data/in"),
        ("file:///data/in", "file", "/data/in"),
        ("/data/in/dt=*/*.json", "file", "/data/in"),
        ("/", "file", "/"),
        ("s3a://bucket/some/key/", "s3://bucket", "some/key"),
        ("s3://bucket", "s3://bucket", "/"),
        ("gs://bucket/key", "gs://bucket", "key"),
        ("hdfs://name-node:8020/data", "hdfs://name-node:8020", "/data"),
        ("abfss://box@account.dfs.core.windows.net/a", "abfss://box@account.dfs.core.windows.net", "/a"),
        ("hdfs://user:secret@name-node:8020/data", "hdfs://name-node:8020", "/data"),
    ],
)
def test_files(place: str, namespace: str, name: str) -> None:
    assert files_dataset(place) == DatasetName(namespace=namespace, name=name)


@pytest.mark.parametrize(
    ("servers", "namespace"),
    [
        ("a:9092,b:9092", "kafka://a:9092"),
        ("SASL_SSL://a:9093", "kafka://a:9093"),
        ("a", "kafka://a:9092"),
        ("[::1]:9092", "kafka://[::1]:9092"),
    ],
)
def test_topics(servers: str, namespace: str) -> None:
    assert topic_dataset(servers, "orders") == DatasetName(namespace=namespace, name="orders")


@pytest.mark.parametrize(
    ("conf", "location", "name", "known_as"),
    [
        (
            {
                "type": "jdbc",
                "uri": "jdbc:postgresql://u:secret@db/lake?password=secret",
                "warehouse": "s3://b/w",
            },
            None,
            ("s3://b", "w/a/b/orders"),
            ("postgres://db:5432", "lake.a.b.orders"),
        ),
        (
            {"type": "rest", "uri": "https://u:secret@host/api?token=secret", "warehouse": "s3://b/w"},
            None,
            ("https://host/api", "a.b.orders"),
            None,
        ),
        (
            {"type": "rest", "uri": "https://host/api"},
            "s3://b/elsewhere",
            ("s3://b", "elsewhere"),
            ("https://host/api", "a.b.orders"),
        ),
        (
            {"type": "hive", "uri": "thrift://meta:9083", "warehouse": "/w"},
            None,
            ("file", "/w/a/b/orders"),
            ("hive://meta:9083", "a.b.orders"),
        ),
        (
            {"type": "glue", "client.region": "eu-west-1", "glue.id": "123", "warehouse": "s3://b/w"},
            None,
            ("arn:aws:glue:eu-west-1:123", "table/a/b/orders"),
            None,
        ),
        ({"type": "glue", "warehouse": "s3://b/w"}, None, ("lake", "a.b.orders"), None),
        (
            {"type": "hadoop", "warehouse": "s3a://b/w"},
            None,
            ("s3://b", "w/a/b/orders"),
            ("s3://b/w", "a.b.orders"),
        ),
        ({}, None, ("lake", "a.b.orders"), None),
    ],
)
def test_tables(
    conf: dict[str, str], location: str | None, name: tuple[str, str], known_as: tuple[str, str] | None
) -> None:
    settings = {f"spark.sql.catalog.lake.{key}": value for key, value in conf.items()}
    names = table_dataset(("lake", "a", "b", "orders"), settings, location)
    assert names.name == DatasetName(namespace=name[0], name=name[1])
    assert names.known_as == (
        None if known_as is None else DatasetName(namespace=known_as[0], name=known_as[1])
    )
    assert "secret" not in f"{names}"


def test_an_address_keeps_neither_login_nor_parameters() -> None:
    assert plain_uri("jdbc:postgresql://u:p@h:1/d?password=p") == "jdbc:postgresql://h:1/d"
    assert plain_uri("jdbc:sqlite:/a/b.db?x=p") == "jdbc:sqlite:/a/b.db"
    assert plain_uri("https://u:p@h/a;p?q#f") == "https://h/a"
