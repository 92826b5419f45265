"""From a catalog block to canonical attributes. Pure."""

import os.path
import re
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, quote, urlsplit

from flareiac.kernel.codes import KNOWN_AFTER_APPLY
from flareiac.kernel.data import UNKNOWN, Attributes, Data
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.resource_type import Decoded
from flareiac.sdk.secret_settings import holds_secret
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.base import SPARK_EXTENSIONS, packages, spark_conf
from flareiac_iceberg.catalogs.postgres.spec import PARAMETERS
from flareiac_iceberg.catalogs.secret_settings import checked_properties, referred, refuse_secret
from flareiac_iceberg.catalogs.spec import spec_of
from flareiac_iceberg.format.locations import absolute_location

KINDS: Final = ("sql", "rest", "glue")
_LATER: Final = {
    "hive": "Hive",
    "dynamodb": "DynamoDB",
    "hadoop": "Hadoop",
    "nessie": "Nessie",
    "bigquery": "BigQuery",
}
_OTHERS: Final = {"jdbc": "sql", "postgres": "sql", "postgresql": "sql", "sqlite": "sql"}
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_BUCKET: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_ONLY_FOR: Final = {
    "uri": ("sql", "rest"),
    "credential": ("sql", "rest"),
    "prefix": ("rest",),
    "token": ("rest",),
}
_UNUSABLE: Final = {
    "rest.sigv4-enabled": "requests cannot be signed for AWS yet: use a catalog with tokens, or glue",
    "auth": "write token or credential",
    "rest.auth.type": "write token or credential",
    "glue.access-key-id": (
        "Spark's Glue client takes keys from AWS's own chain only: set AWS_ACCESS_KEY_ID, a profile or a role"
    ),
    "glue.secret-access-key": (
        "Spark's Glue client takes keys from AWS's own chain only: set "
        "AWS_SECRET_ACCESS_KEY, a profile or a role"
    ),
    "glue.session-token": (
        "Spark's Glue client takes keys from AWS's own chain only: set AWS_SESSION_TOKEN, a profile or a role"
    ),
    "glue.profile-name": "Spark's Glue client does not know it: set AWS_PROFILE",
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
    kind = _kind(wanted.get("type") or "sql", diagnostics)
    _check_fit(kind, wanted, diagnostics)
    properties = checked_properties(wanted.get("properties"), references, diagnostics)
    for name in sorted(_UNUSABLE.keys() & properties.keys()):
        # Another one, perhaps on the same line, that is not to be shown
        refused = len(properties) < len(wanted["properties"])
        at = () if refused else ("properties", name)
        diagnostics.error(codes.UNUSABLE_CATALOG_PROPERTY, f"{name}: {_UNUSABLE[name]}.", attribute=at)
    name = _name(wanted.get("name") or decoded.name, decoded.name, diagnostics)
    lake = project.data_dir / "lake" / project.workspace
    uri = _uri(kind, wanted.get("uri"), lake, project.root, diagnostics)
    found: Attributes = {
        "type": kind,
        "name": name,
        "uri": uri,
        "warehouse": _warehouse(kind, wanted.get("warehouse"), lake, project.root, diagnostics),
        "properties": properties,
    }
    if kind == "rest":
        found |= {
            "prefix": wanted.get("prefix"),
            "token": referred(wanted.get("token"), ("token",), references, diagnostics),
        }
    if wanted.get("credential") is not None:
        found["credential"] = referred(wanted["credential"], ("credential",), references, diagnostics)
    if kind == "rest" and found.get("credential") and found["token"]:
        diagnostics.error(
            codes.TOKEN_AND_CREDENTIAL,
            "A credential is exchanged for a token, so only one of them is used. Leave out the other.",
        )
    found["place"] = _place(found)
    spec = spec_of(decoded.address, found)
    return found | {
        "spark_conf": spark_conf(spec),
        "packages": list(packages(spec)),
        "spark_extensions": [SPARK_EXTENSIONS],
    }


def _kind(kind: Data, diagnostics: Diagnostics) -> str:
    if kind in KINDS:
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
    return "sql"


def _check_fit(kind: str, wanted: Attributes, diagnostics: Diagnostics) -> None:
    for name, kinds in _ONLY_FOR.items():
        if wanted.get(name) is not None and kind not in kinds:
            why = (
                f"A {kind} catalog has no {name}; only {' and '.join(kinds)} catalogs have one. Leave it out."
            )
            at = () if _may_show_secret(wanted[name], name) else (name,)
            diagnostics.error(codes.ATTRIBUTE_OF_OTHER_CATALOGS, why, attribute=at)
    for name in ("uri", "warehouse"):
        if wanted.get(name) is UNKNOWN:
            why = f"{name} of a catalog must be known when the plan is made. Write it out."
            diagnostics.error(KNOWN_AFTER_APPLY, why, attribute=(name,))


def _may_show_secret(value: Data, name: str) -> bool:
    """Whether the line that an attribute stands in is better not shown."""
    return isinstance(value, str) and (name in ("credential", "token") or holds_secret(value))


def _name(name: Data, label: str, diagnostics: Diagnostics) -> str:
    if name is not UNKNOWN and _NAME.fullmatch(name):
        return str(name)
    diagnostics.error(
        codes.INVALID_CATALOG_NAME,
        f"{name!r} cannot be the name of a catalog. Spark SQL and the catalog share this name: letters, "
        "digits, - and _, not starting with a digit.",
        attribute=("name",),
    )
    return label


def _uri(kind: str, uri: Data, lake: Path, root: Path, diagnostics: Diagnostics) -> str | None:
    if kind != "glue" and refuse_secret(
        "uri", uri, ("token",) if kind == "rest" else ("credential",), diagnostics
    ):
        return ""
    match kind:
        case "glue":
            return None
        case "rest":
            return _server(uri, diagnostics)
        case _ if isinstance(uri, str) and re.match(r"postgres(ql)?(\+\w+)?:", uri):
            return _postgres(uri, diagnostics)
        case _:
            return f"sqlite:///{_database(uri, lake, root, diagnostics)}"


def _database(uri: Data, lake: Path, root: Path, diagnostics: Diagnostics) -> Path:
    default = lake / "catalog.db"
    if uri is None:
        return default.absolute()
    match = re.fullmatch(r"sqlite:///([^?]+)", uri) if isinstance(uri, str) else None
    if match and ":memory:" not in uri:
        return Path(os.path.normpath((root / match[1]).absolute()))
    diagnostics.error(
        codes.INVALID_CATALOG_URI,
        f"{uri!r} is not the URI of a SQLite file or a PostgreSQL database. Write "
        '"sqlite:///folder/catalog.db" (relative to the root module) or "sqlite:////folder/catalog.db" '
        "(absolute), without options, or "
        '"postgresql://user@host:5432/database".',
        attribute=("uri",),
    )
    return default.absolute()


def _postgres(uri: str, diagnostics: Diagnostics) -> str:
    """``postgresql://user@host:port/database?sslmode=...`` in one spelling."""
    try:
        parts = urlsplit(uri)
        host, port, database = parts.hostname, parts.port or 5432, parts.path.strip("/")
    except ValueError:
        host, port, database, parts = None, 0, "", urlsplit("")
    parameters = parse_qsl(parts.query)
    strange = [name for name, _ in parameters if name not in PARAMETERS]
    if not host or not database or "/" in database or strange:
        why = (
            f"Of its parameters, {' and '.join(PARAMETERS)} mean the same to all who use it; {strange[0]} "
            "does not. "
            if strange
            else ""
        )
        advice = (
            f"It is not the URI of a PostgreSQL database. {why}Write "
            '"postgresql://user@host:5432/database", and the password as '
            "credential = secret.NAME."
        )
        diagnostics.error(codes.INVALID_CATALOG_URI, advice, attribute=("uri",))
    user = f"{parts.username}@" if parts.username else ""
    query = "&".join(f"{name}={quote(value, safe='/')}" for name, value in parameters)
    return f"postgresql://{user}{_bracketed(host or 'localhost')}:{port}/{database}" + (
        f"?{query}" if query else ""
    )


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _server(uri: Data, diagnostics: Diagnostics) -> str:
    text = uri if isinstance(uri, str) else ""
    try:
        parts = urlsplit(text)
        fine = (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and not parts.query
            and not parts.fragment
            and parts.port != 0
        )
    except ValueError:
        fine = False
    if not fine:
        diagnostics.error(
            codes.NO_CATALOG_SERVER,
            f"{'There is no uri' if uri is None else f'{text!r} is not the address of a server'}. "
            'Write uri = "https://host/path": what stands before /v1/config, without parameters.',
            attribute=("uri",),
        )
    return text.rstrip("/")


def _warehouse(kind: str, value: Data, lake: Path, root: Path, diagnostics: Diagnostics) -> str | None:
    if refuse_secret("warehouse", value, ("properties", "s3.secret-access-key"), diagnostics):
        return absolute_location(str(lake / "warehouse"), root)
    if kind == "rest":
        return None if value is None or value is UNKNOWN else str(value)
    text = str(lake / "warehouse") if value is None and kind == "sql" else value
    place = absolute_location(text, root) if isinstance(text, str) and text else None
    bucket = (
        place.removeprefix("s3://").partition("/")[0]
        if place is not None and place.startswith("s3://")
        else None
    )
    if (
        place is not None
        and (bucket is None or _BUCKET.fullmatch(bucket))
        and (kind == "sql" or bucket is not None)
    ):
        return place
    what = (
        "A glue catalog needs a warehouse"
        if value is None
        else f"{value!r} cannot be a warehouse" + ("" if bucket else " yet")
    )
    advice = 'a path, "file:///folder" or "s3://bucket/folder"' if kind == "sql" else '"s3://bucket/folder"'
    diagnostics.error(
        codes.INVALID_WAREHOUSE,
        f"{what}. Tables are kept below it: write {advice}.",
        attribute=("warehouse",),
    )
    return absolute_location(str(lake / "warehouse"), root)


def _place(found: Attributes) -> str:
    """Which catalog it is, whatever it is called here; a sql catalog keeps several, distinguished by name."""
    match found["type"]:
        case "rest":
            return f"{found['uri']}#{found['warehouse'] or ''}#{found['prefix'] or ''}"
        case "glue":
            known = found["properties"]
            where = (
                known.get("glue.endpoint")
                or known.get("client.region")
                or known.get("glue.region")
                or "the region of AWS's own settings"
            )
            return f"glue {known.get('glue.id', '')}".strip() + f" in {where}"
        case _:
            return f"{found['uri']}#{found['name']}"
