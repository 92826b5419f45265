"""Names of datasets in OpenLineage: a namespace, which is where the data are kept, and a name in it. They are
those that OpenLineage's own integration with Spark gives, so that the lineage of other programs meets ours.

A name never holds a login: users and passwords of a URI, and its parameters, are left out. Pure; travels with
the driver.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import SplitResult, urlsplit

from flareiac.kernel.lazy_dataclass import dataclass

_ALIASES: Final = {"s3a": "s3", "s3n": "s3", "wasb": "wasbs"}
"""Schemes of one kind of storage by that which OpenLineage gives it."""
_OBJECT_STORAGE: Final = frozenset({"s3", "gs", "wasbs"})
"""Storage whose names are keys, without a slash in front."""
_KAFKA_PORT: Final = 9092
_PATTERN: Final = re.compile(r"[*?\[{]")
_JDBC_HOSTS: Final = {"postgresql": ("postgres", 5432), "mysql": ("mysql", 3306)}
"""The scheme of a database in OpenLineage and its usual port, by the scheme of its JDBC URI."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetName:
    """The identity of a dataset."""

    namespace: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableNames:
    """``name`` is that of the table's files where their place is known, else that in the catalog.
    ``known_as`` is the one in the catalog where it is not ``name``; None where the catalog has no address of
    its own.
    """

    name: DatasetName
    known_as: DatasetName | None = None


def files_dataset(place: str) -> DatasetName:
    """The dataset of a folder, a file or a pattern of files: that of a pattern is its fixed folder. ``place``
    is an absolute path or a URI.
    """
    uri = urlsplit(place) if re.match(r"[A-Za-z][\w+.-]*:", place) else SplitResult("file", "", place, "", "")
    scheme = _ALIASES.get(uri.scheme, uri.scheme)
    path = _fixed(uri.path).rstrip("/")
    if scheme == "file":
        return DatasetName(namespace="file", name=path or "/")
    host = uri.netloc if scheme in ("abfss", "abfs", "wasbs") else _without_login(uri.netloc)
    name = path.lstrip("/") if scheme in _OBJECT_STORAGE else path
    return DatasetName(namespace=f"{scheme}://{host}", name=name or "/")


def topic_dataset(servers: str, topic: str) -> DatasetName:
    """The dataset of a topic. ``servers``: the addresses of brokers as Kafka's clients take them, of which
    the first one names the cluster; ``topic`` may be a pattern of names.
    """
    first = servers.split(",")[0].strip().rpartition("://")[2]
    host = first if re.search(r":\d+$", first) else f"{first}:{_KAFKA_PORT}"
    return DatasetName(namespace=f"kafka://{host}", name=topic)


def table_dataset(
    identifier: Sequence[str], spark_conf: Mapping[str, str], location: str | None = None
) -> TableNames:
    """The names of an Iceberg table. ``identifier``: catalog, namespaces and name, as Spark names the table;
    ``spark_conf``: Spark's settings, those of the catalog among them; ``location``: where its files are, None
    where that is not known. They are then looked for where a catalog that has a warehouse puts them.
    """
    catalog, *inside = identifier
    prefix = f"spark.sql.catalog.{catalog}."
    conf = {name.removeprefix(prefix): text for name, text in spark_conf.items() if name.startswith(prefix)}
    known_as = _in_catalog(conf, inside)
    warehouse = conf.get("warehouse", "")
    is_place = conf.get("type") not in ("rest", "glue") and re.match(r"/|[A-Za-z][\w+.-]*:", warehouse)
    if location is None and is_place:
        location = "/".join([warehouse.rstrip("/"), *inside])
    if location is not None:
        return TableNames(name=files_dataset(location), known_as=known_as)
    otherwise = DatasetName(namespace=catalog, name=".".join(inside))
    return TableNames(name=known_as or otherwise)


def plain_uri(text: str) -> str:
    """A URI without login, parameters and fragment."""
    prefix, rest = ("jdbc:", text.removeprefix("jdbc:")) if text.startswith("jdbc:") else ("", text)
    uri = urlsplit(rest)
    if not uri.netloc:
        return prefix + rest.partition("?")[0].partition(";")[0]
    return f"{prefix}{uri.scheme}://{_without_login(uri.netloc)}{uri.path.partition(';')[0]}"


def _in_catalog(conf: Mapping[str, str], inside: Sequence[str]) -> DatasetName | None:
    name, uri = ".".join(inside), conf.get("uri", "")
    match conf.get("type"):
        case "rest" if uri:
            return DatasetName(namespace=plain_uri(uri), name=name)
        case "hive" if uri:
            return DatasetName(namespace=f"hive://{_without_login(urlsplit(uri).netloc)}", name=name)
        case "glue":
            return _in_glue(conf, inside)
        case "jdbc" if uri:
            return _in_database(uri, name)
        case "hadoop" if "warehouse" in conf:
            place = files_dataset(conf["warehouse"])
            namespace = place.namespace if place.namespace != "file" else "file:"
            return DatasetName(namespace=f"{namespace}/{place.name.lstrip('/')}", name=name)
        case _:
            return None


def _in_glue(conf: Mapping[str, str], inside: Sequence[str]) -> DatasetName | None:
    """None where settings do not name region and account: only AWS knows them then."""
    region, account = conf.get("client.region"), conf.get("glue.id")
    if not region or not account:
        return None
    return DatasetName(namespace=f"arn:aws:glue:{region}:{account}", name="/".join(["table", *inside]))


def _in_database(uri: str, name: str) -> DatasetName:
    plain = plain_uri(uri).removeprefix("jdbc:")
    parts = urlsplit(plain)
    if parts.scheme not in _JDBC_HOSTS or not parts.netloc:
        return DatasetName(namespace=plain, name=name)
    scheme, port = _JDBC_HOSTS[parts.scheme]
    host = parts.netloc if re.search(r":\d+$", parts.netloc) else f"{parts.netloc}:{port}"
    return DatasetName(namespace=f"{scheme}://{host}", name=f"{parts.path.strip('/')}.{name}")


def _without_login(netloc: str) -> str:
    return netloc.rpartition("@")[2]


def _fixed(path: str) -> str:
    """The folders of a path in front of its first pattern."""
    folders = path.split("/")
    kept = next((at for at, folder in enumerate(folders) if _PATTERN.search(folder)), len(folders))
    return "/".join(folders[:kept])
