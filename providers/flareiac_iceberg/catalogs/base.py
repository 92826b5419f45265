"""The parts that catalogs of every kind have in common: the typed record, bounds on patience, Spark's
settings. Pure.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Final, Self

from flareiac.kernel.addresses import instance_label
from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.secrets import resolve_all
from flareiac.sdk.versions import ICEBERG_AWS, ICEBERG_RUNTIME
from flareiac_iceberg.catalogs.block import CatalogBlock, CatalogDefinition

CONNECT_SECONDS: Final = 10
ANSWER_SECONDS: Final = 20
"""The time in seconds that a server may take to accept a connection, and to answer one question."""
SPARK_EXTENSIONS: Final = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
_S3_FILES: Final = "org.apache.iceberg.aws.s3.S3FileIO"


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogSpec(ABC):
    """A catalog of some kind. A kind is a package with this record in ``spec``, listed in ``kinds``, and its
    reader and writer, which ``opening`` opens.

    ``warehouse`` is an absolute ``file:`` or ``s3:`` URI. ``properties`` are the user's, with references
    where secrets are meant. ``place`` says which catalog it is: two blocks with the same one see the same
    tables.
    """

    type: ClassVar[str]
    """The ``type`` of its block."""
    attributes: ClassVar[tuple[str, ...]] = ()
    """The attributes of the block that not every type has."""
    unusable: ClassVar[Mapping[str, str]] = {}
    """Properties that would reach one side only, with what to do instead."""
    names: ClassVar[re.Pattern[str]] = re.compile(".*", re.DOTALL)
    name_rule: ClassVar[str] = ""
    """The names of Iceberg's that it keeps as they are, and the same in words."""
    longest_name: ClassVar[int | None] = None
    """The maximum length of the name of a table or of a namespace, in characters; None where its server
    decides.
    """
    can_rename: ClassVar[bool] = True
    spark_packages: ClassVar[tuple[str, ...]] = ()
    """Maven coordinates that Spark needs beside Iceberg's runtime."""
    uses_aws: ClassVar[bool] = False
    """True if it is AWS's own, wherever its warehouse is."""
    is_server: ClassVar[bool] = False
    """True if a server of Iceberg's protocol owns the metadata files: it writes, checks and deletes them
    itself, decides where they are and who may read them, and answers about one table at a time.
    """
    is_database: ClassVar[bool] = False
    """True if one database holds all of it: where one namespace cannot be read, no other is asked for."""
    is_made_by_opening: ClassVar[bool] = False
    """True if opening it for writing makes it where it does not exist."""
    advice: ClassVar[str]
    """The places to check where it cannot be read."""

    address: str
    name: str
    place: str
    warehouse: str
    properties: tuple[tuple[str, str], ...] = ()

    @property
    def label(self) -> str:
        """The block's label: the first part of import ids."""
        return instance_label(self.address)

    @property
    def shown(self) -> str:
        """The place of the catalog, for people."""
        return self.place.partition("#")[0]

    def settings(self) -> dict[str, str]:
        """The user's properties with their secrets. Raises ``Failure``."""
        return resolve_all(dict(self.properties))

    @classmethod
    def takes(cls, uri: object) -> bool:
        """Returns True if it is the kind for this URI, among those of its type."""
        del uri
        return True

    @classmethod
    @abstractmethod
    def read(cls, block: CatalogBlock) -> Attributes:
        """``uri``, ``warehouse`` and what only this kind has, canonical; complains about the rest."""

    @classmethod
    @abstractmethod
    def place_of(cls, attributes: Attributes) -> str:
        """The catalog that canonical attributes mean, whatever it is called here."""

    @classmethod
    @abstractmethod
    def of(cls, address: str, definition: CatalogDefinition) -> Self:
        """The record of what is recorded."""

    @property
    def folder(self) -> Path | None:
        """The local folder of the catalog itself."""
        return None

    @property
    def home(self) -> str:
        """The place that exists or not as a whole; it may keep several catalogs, distinguished by their
        names.
        """
        return self.place

    @abstractmethod
    def spark_settings(self) -> dict[str, str]:
        """The settings by which Spark opens this catalog, with references where secrets are meant; files and
        properties left out.
        """


def spark_conf(catalog: CatalogSpec) -> dict[str, str]:
    """Spark's settings: in a sql catalog both sides find the same rows only under the same catalog name."""
    prefix = f"spark.sql.catalog.{catalog.name}"
    files = {"io-impl": _S3_FILES} if catalog.warehouse.startswith("s3://") and not catalog.is_server else {}
    settings = {
        **catalog.spark_settings(),
        **files,
        "cache-enabled": "false",
        **_java_names(dict(catalog.properties)),
    }
    return {prefix: "org.apache.iceberg.spark.SparkCatalog"} | {
        f"{prefix}.{name}": value for name, value in settings.items()
    }


def packages(catalog: CatalogSpec) -> tuple[str, ...]:
    """The Maven coordinates that a Spark application needs for this catalog and its warehouse."""
    named = any(
        name.startswith(("s3.", "client.", "glue.")) or ".aws." in value for name, value in catalog.properties
    )
    needs_aws = named or catalog.uses_aws or catalog.warehouse.startswith(("s3://", "s3a://"))
    return (ICEBERG_RUNTIME, *catalog.spark_packages, *((ICEBERG_AWS,) if needs_aws else ()))


def _java_names(properties: Mapping[str, str]) -> dict[str, str]:
    """The user's properties by the names of Iceberg's Java side, which knows one region for all of AWS."""
    java_properties = dict(properties)
    region = java_properties.pop("glue.region", None)
    if region is not None:
        java_properties.setdefault("client.region", region)
    return s3_settings(java_properties)


def s3_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings for object stores that are not AWS's, too, where clients guess the region and the addressing
    of buckets differently.
    """
    if "s3.endpoint" in settings:
        settings = {"s3.path-style-access": "true", **settings}
    region = (
        settings.get("s3.region")
        or settings.get("client.region")
        or ("us-east-1" if "s3.endpoint" in settings else "")
    )
    return (
        {**settings, "s3.region": region, "client.region": settings.get("client.region") or region}
        if region
        else dict(settings)
    )


def present(settings: Mapping[str, str | None]) -> dict[str, str]:
    """The settings that have a value."""
    return {name: value for name, value in settings.items() if value is not None}
