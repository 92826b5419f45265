"""From a catalog block to canonical attributes. Pure."""

import re
from typing import Final

from flareiac.kernel.articles import with_article
from flareiac.kernel.codes import KNOWN_AFTER_APPLY
from flareiac.kernel.data import UNKNOWN, Attributes, Data
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.sdk.definitions import definition_of
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.resource_type import Decoded
from flareiac.sdk.secret_settings import holds_secret
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.base import SPARK_EXTENSIONS, packages, spark_conf
from flareiac_iceberg.catalogs.block import CatalogBlock, CatalogDefinition
from flareiac_iceberg.catalogs.kinds import DEFAULT_TYPE, KINDS, kind_of
from flareiac_iceberg.catalogs.secret_settings import checked_properties

_LATER: Final = {
    "hive": "Hive",
    "dynamodb": "DynamoDB",
    "hadoop": "Hadoop",
    "nessie": "Nessie",
    "bigquery": "BigQuery",
}
_OTHERS: Final = {"jdbc": "sql", "postgres": "sql", "postgresql": "sql", "sqlite": "sql"}
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,254}")
_UNUSABLE: Final = {
    "credential": "write it as an attribute of the block",
    "token": "write it as an attribute of the block",
    "prefix": "write it as an attribute of the block",
    "uri": "write it as an attribute of the block",
    "warehouse": "write it as an attribute of the block",
    "type": "write it as an attribute of the block",
    "catalog-impl": "write type instead",
}
"""Properties that would reach one side only, or speak against an attribute, with what to do instead."""


def canonical(
    decoded: Decoded, references: References, project: Project, diagnostics: Diagnostics
) -> Attributes:
    """Absolute places, references to secrets, and everything that Spark needs to open the same catalog."""
    wanted = decoded.attributes
    known = _type(wanted.get("type") or DEFAULT_TYPE, diagnostics)
    type_name = known or DEFAULT_TYPE
    _check_fit(known, wanted, diagnostics)
    properties = _properties(wanted.get("properties"), references, diagnostics)
    name = _name(wanted.get("name") or decoded.name, decoded.name, diagnostics)
    block = CatalogBlock(
        attributes=wanted,
        type=type_name,
        lake=project.data_dir / "lake" / project.workspace,
        root=project.root,
        references=references,
        # Of a type that is not known, it is not known how the rest of the block is to be read.
        diagnostics=diagnostics if known is not None else Diagnostics(),
    )
    kind = kind_of(type_name, wanted.get("uri"))
    attributes: Attributes = {"type": type_name, "name": name, "uri": None, "warehouse": None}
    attributes |= {"properties": properties, **kind.read(block)}
    if wanted.get("credential") is not None:
        attributes["credential"] = block.secret("credential")
    if attributes.get("credential") and attributes.get("token"):
        diagnostics.error(
            codes.TOKEN_AND_CREDENTIAL,
            "A credential is exchanged for a token, so only one of them is used. Leave out the other.",
        )
    attributes["place"] = kind.place_of(attributes)
    spec = kind.of(decoded.address, definition_of(CatalogDefinition, attributes))
    return attributes | {
        "spark_conf": spark_conf(spec),
        "packages": list(packages(spec)),
        "spark_extensions": [SPARK_EXTENSIONS],
    }


def _properties(written: Data, references: References, diagnostics: Diagnostics) -> dict[str, str]:
    properties = checked_properties(written, references, diagnostics)
    unusable = _UNUSABLE | {name: why for kind in KINDS for name, why in kind.unusable.items()}
    for name in sorted(unusable.keys() & properties.keys()):
        # One that was refused, perhaps on the same line, is not to be shown
        at = () if len(properties) < len(written) else ("properties", name)
        diagnostics.error(codes.UNUSABLE_CATALOG_PROPERTY, f"{name}: {unusable[name]}.", attribute=at)
    return properties


def _type(kind: Data, diagnostics: Diagnostics) -> str | None:
    """The type of a block; None for one that is not known, which is reported."""
    if any(kind == known.type for known in KINDS):
        return str(kind)
    what = (
        f"{_LATER[kind]} catalogs are not supported yet." if kind in _LATER else f"{kind!r} is not supported."
    )
    meant = f'Write type = "{_OTHERS[kind]}". ' if kind in _OTHERS else ""
    diagnostics.error(
        codes.UNSUPPORTED_CATALOG,
        f"{what} {meant}This version knows sql (on SQLite or PostgreSQL), rest and glue; left out, it is "
        "sql on SQLite.",
        attribute=("type",),
    )
    return None


def _check_fit(type_name: str | None, wanted: Attributes, diagnostics: Diagnostics) -> None:
    """Reports what only other types have; of a type that is not known, nothing is known of that."""
    for name in dict.fromkeys(name for kind in KINDS for name in kind.attributes):
        types = list(dict.fromkeys(kind.type for kind in KINDS if name in kind.attributes))
        if type_name is not None and wanted.get(name) is not None and type_name not in types:
            why = (
                f"{with_article(type_name, capital=True)} catalog has no {name}; only {' and '.join(types)} "
                "catalogs have one. Leave it out."
            )
            at = () if _may_show_secret(wanted[name], name) else (name,)
            diagnostics.error(codes.ATTRIBUTE_OF_OTHER_CATALOGS, why, attribute=at)
    for name in ("uri", "warehouse"):
        if wanted.get(name) is UNKNOWN:
            why = f"{name} of a catalog must be known when the plan is made. Write it out."
            diagnostics.error(KNOWN_AFTER_APPLY, why, attribute=(name,))


def _may_show_secret(value: Data, name: str) -> bool:
    """Returns True if the line that an attribute stands in is better not shown."""
    return isinstance(value, str) and (name in ("credential", "token") or holds_secret(value))


def _name(name: Data, label: str, diagnostics: Diagnostics) -> str:
    if name is not UNKNOWN and _NAME.fullmatch(name):
        return str(name)
    diagnostics.error(
        codes.INVALID_CATALOG_NAME,
        f"{name!r} cannot be the name of a catalog. Spark SQL and the catalog share this name: letters, "
        "digits, - and _, not starting with a digit, at most 255.",
        attribute=("name",),
    )
    return label
