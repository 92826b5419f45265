"""From a catalog block to canonical attributes, and from those to the typed record that adapters use."""

import os.path
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from flareiac.kernel.data import UNKNOWN, Attributes, Data
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.sdk.provider import Decoded, Project
from flareiac.sdk.references import References

SPARK_EXTENSIONS: Final = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
PACKAGES: Final = ("org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0", "org.xerial:sqlite-jdbc:3.54.1.0")
BUSY_TIMEOUT_MS: Final = 15_000
"""How long a writer waits for another one's lock on the SQLite file. With 0, most commits beside a busy neighbour fail (measured)."""

_LATER: Final = {"rest": "REST", "glue": "Glue", "hive": "Hive", "jdbc": "JDBC", "dynamodb": "DynamoDB", "hadoop": "Hadoop"}
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogSpec:
    """A catalog on SQLite: its name, the database file, and the warehouse as an absolute ``file:`` URI."""

    address: str
    name: str
    database: Path
    warehouse: str

    @property
    def label(self) -> str:
        """The block's label: the first part of import ids."""
        return self.address.rpartition(".")[2]


def canonical(decoded: Decoded, _references: References, project: Project, diagnostics: Diagnostics) -> Attributes:
    """Absolute places and everything that Spark needs to open the same catalog."""
    wanted = decoded.attributes
    _check_type(wanted.get("type") or "sql", diagnostics)
    name = wanted.get("name") or decoded.name
    if name is UNKNOWN or not _NAME.fullmatch(name):
        diagnostics.error(
            "FII003",
            f"{name!r} can not be a catalog's name",
            "Spark SQL and the catalog share this name: letters, digits, - and _, not starting with a digit.",
            attribute=("name",),
        )
        name = decoded.name
    lake = project.data_dir / "lake" / project.workspace
    database = _database(wanted.get("uri"), lake, project.root, diagnostics)
    warehouse = _warehouse(wanted.get("warehouse"), lake, project.root, diagnostics)
    properties = dict(sorted((wanted.get("properties") or {}).items()))
    return {
        "type": "sql",
        "name": name,
        "uri": f"sqlite:///{database}",
        "warehouse": warehouse,
        "properties": properties,
        "spark_conf": spark_conf(name, database, warehouse, properties),
        "packages": list(PACKAGES),
        "spark_extensions": [SPARK_EXTENSIONS],
    }


def spark_conf(name: str, database: Path, warehouse: str, properties: dict[str, Data]) -> dict[str, str]:
    """Spark's settings for the same catalog: both sides find the same rows only under the same catalog name."""
    prefix = f"spark.sql.catalog.{name}"
    conf = {
        prefix: "org.apache.iceberg.spark.SparkCatalog",
        f"{prefix}.type": "jdbc",
        f"{prefix}.uri": f"jdbc:sqlite:{database}?journal_mode=WAL&busy_timeout={BUSY_TIMEOUT_MS}",
        f"{prefix}.jdbc.schema-version": "V1",
        f"{prefix}.warehouse": warehouse,
        f"{prefix}.cache-enabled": "false",
    }
    return conf | {f"{prefix}.{key}": str(value) for key, value in properties.items()}


def spec_of(address: str, attributes: Attributes) -> CatalogSpec:
    """The typed record of canonical attributes."""
    return CatalogSpec(
        address=address,
        name=attributes["name"],
        database=Path(str(attributes["uri"]).removeprefix("sqlite:///")),
        warehouse=attributes["warehouse"],
    )


def local_path(location: str) -> Path | None:
    """The local path of a location (``/a``, ``file:/a``, ``file:///a``), or None if it is somewhere else."""
    if location.startswith("/"):
        return Path(location)
    if location.startswith("file:/"):
        return Path("/" + location.removeprefix("file:").lstrip("/"))
    return None


def _check_type(kind: Data, diagnostics: Diagnostics) -> None:
    if kind == "sql":
        return
    what = f"{_LATER[kind]} catalogs are" if kind in _LATER else f"{kind!r} is"
    diagnostics.error(
        "FII001",
        f"{what} not supported yet",
        'This version knows catalogs on SQLite: write type = "sql", or leave it out.',
        attribute=("type",),
    )


def _database(uri: Data, lake: Path, root: Path, diagnostics: Diagnostics) -> Path:
    default = lake / "catalog.db"
    if uri is None:
        return default.absolute()
    match = re.fullmatch(r"sqlite:///([^?]+)", uri) if isinstance(uri, str) else None
    if match and ":memory:" not in uri:
        return Path(os.path.normpath((root / match[1]).absolute()))
    postgres = isinstance(uri, str) and uri.startswith("postgres")
    diagnostics.error(
        "FII002",
        "PostgreSQL catalogs are not supported yet" if postgres else f"{uri!r} is not the URI of a SQLite file",
        'Write "sqlite:///folder/catalog.db" (relative to the root module) or "sqlite:////folder/catalog.db" (absolute), without options.',
        attribute=("uri",),
    )
    return default.absolute()


def _warehouse(value: Data, lake: Path, root: Path, diagnostics: Diagnostics) -> str:
    text = str(lake / "warehouse") if value is None else value
    place = absolute_location(text, root) if isinstance(text, str) and text else None
    if place is None:
        diagnostics.error(
            "FII004",
            f"{value!r} can not be a warehouse yet",
            'This version keeps tables in local or mounted folders: write a path or "file:///folder".',
            attribute=("warehouse",),
        )
        return absolute_location(str(lake / "warehouse"), root) or ""
    return place


def absolute_location(text: str, root: Path) -> str | None:
    """A path or ``file:`` URI as an absolute ``file:///`` URI, or None for another scheme."""
    parts = urlsplit(text)
    if parts.scheme and not text.startswith("file:"):
        return None
    path = local_path(text) or root / text.removeprefix("file:")
    return f"file://{os.path.normpath(path.absolute())}"


def plain_text(location: str) -> str:
    """A location for people and for comparing: local ones as a path."""
    path = local_path(location)
    return str(path) if path else location.rstrip("/")
