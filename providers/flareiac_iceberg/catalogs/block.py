"""A ``catalog`` block as its kind reads it, and as it is recorded. Pure."""

import re
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Final

from flareiac.kernel.articles import with_article
from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.paths import Path as AttributePath
from flareiac.kernel.records import OPTIONAL
from flareiac.sdk.definitions import Plain
from flareiac.sdk.references import References
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.secret_settings import referred, refuse_secret
from flareiac_iceberg.format.locations import absolute_location

_BUCKET: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogBlock:
    """``attributes`` as they are written. ``lake`` is the folder for catalogs and tables whose place is not
    written, ``root`` the root module's.
    """

    attributes: Attributes
    type: str
    lake: Path
    root: Path
    references: References
    diagnostics: Diagnostics

    def written(self, name: str) -> Data:
        """An attribute, None where it is not written."""
        return self.attributes.get(name)

    def secret(self, name: str) -> str | None:
        """The text that stands for the secret which an attribute names."""
        return referred(self.written(name), (name,), self.references, self.diagnostics)

    def holds_secret(self, name: str, instead: AttributePath) -> bool:
        """Returns True if an attribute is a URI with a secret in it, which is reported."""
        return refuse_secret(name, self.written(name), instead, self.diagnostics)

    def holds_secret_in_warehouse(self) -> bool:
        """The same for where tables are kept."""
        return self.holds_secret("warehouse", ("properties", "s3.secret-access-key"))

    def warehouse(self, *, local: bool) -> str | None:
        """The place where tables are kept, None where none is named that can be used (and that is reported).
        ``local``: paths are places too, and one is the default.
        """
        value, default = self.written("warehouse"), absolute_location(str(self.lake / "warehouse"), self.root)
        if self.holds_secret_in_warehouse() or (value is None and local):
            return default
        place = absolute_location(value, self.root) if isinstance(value, str) and value else None
        bucket = place.split("/")[2] if place is not None and place.startswith("s3://") else None
        if place is not None and (local if bucket is None else _BUCKET.fullmatch(bucket)):
            return place
        what = (
            f"{with_article(self.type, capital=True)} catalog needs a warehouse"
            if value is None
            else f"{value!r} cannot be a warehouse{_why(value, bucket)}"
        )
        advice = 'a path, "file:///folder" or "s3://bucket/folder"' if local else '"s3://bucket/folder"'
        self.diagnostics.error(
            codes.INVALID_WAREHOUSE,
            f"{what}. Tables are kept below it: write {advice}.",
            attribute=("warehouse",),
        )
        return default


def _why(value: Data, bucket: str | None) -> str:
    if isinstance(value, str) and value[:7].lower() == "file://":
        return f": {value[7:].partition('/')[0]!r} would be a host"
    return "" if bucket else " yet"


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogDefinition:
    """A ``catalog`` block as it is recorded: what all kinds have, and what only some have.

    ``place`` was not recorded by the first versions. What Spark needs follows from the rest, and is there for
    engines.
    """

    type: str
    name: str
    uri: str | None
    warehouse: str | None
    properties: Mapping[str, str] = field(default_factory=dict)
    place: str | None = None
    prefix: str | None = field(default=None, metadata=OPTIONAL)
    token: str | None = field(default=None, metadata=OPTIONAL)
    credential: str | None = field(default=None, metadata=OPTIONAL)
    spark_conf: Plain = None
    packages: Plain = None
    spark_extensions: Plain = None

    def common(self, address: str) -> dict[str, Any]:
        """The fields of a ``CatalogSpec`` of any kind."""
        return {
            "address": address,
            "name": self.name,
            "place": self.place or f"{self.uri or ''}#{self.name}",
            "warehouse": self.warehouse or "",
            "properties": tuple(sorted(self.properties.items())),
        }
