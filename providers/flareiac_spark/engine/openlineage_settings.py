"""The target of an engine's events of OpenLineage, as users write it and as it is kept. Pure."""

from collections.abc import Mapping
from dataclasses import field
from typing import Final
from urllib.parse import urlsplit

from flareiac.kernel.data import Data
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import SPARSE, Foreign, decode
from flareiac.kernel.types import STRING, ObjectType, RefType, Type
from flareiac.sdk.definitions import Number, Plain, Text
from flareiac.sdk.references import References
from flareiac.sdk.secret_settings import checked_settings
from flareiac.sdk.validators import is_duration, parse_duration
from flareiac_spark.engine.monitoring_settings import is_absolute_path

ENDPOINT: Final = "api/v1/lineage"
_TIMEOUT: Final = "5s"
_PARTS: Final[Mapping[str, Type]] = {
    "url": STRING,
    "endpoint": STRING,
    "api_key": RefType(("secret",), or_string=True),
    "timeout": STRING,
    "file": STRING,
    "namespace": STRING,
}
TYPE: Final = ObjectType(_PARTS, frozenset(_PARTS))


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenLineageBlock(Foreign):
    """The attribute as it is written; ``api_key`` may be a reference to a secret."""

    url: Text | None = None
    endpoint: Text | None = None
    api_key: Plain = None
    timeout: Text | None = None
    file: Text | None = None
    namespace: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenLineageDefinition:
    """``url`` with the end point, and ``file``: at most one of them, empty for none. ``api_key``: the text
    that stands for the secret, empty for none. ``namespace`` of the jobs, empty for that of the workspace.
    """

    url: Text = field(default="", metadata=SPARSE)
    api_key: Text = field(default="", metadata=SPARSE)
    timeout_ms: Number = field(default=0, metadata=SPARSE)
    file: Text = field(default="", metadata=SPARSE)
    namespace: Text = field(default="", metadata=SPARSE)


def is_openlineage(value: Data) -> str | None:
    """Returns the complaint about values that do not fit each other or are no places, None for none."""
    if not isinstance(value, dict):
        return None
    block = decode(OpenLineageBlock, value)
    if block.url is not None and block.file is not None:
        return "Events go to one place. Write url or file."
    if block.url is None:
        of_url = {"endpoint": block.endpoint, "api_key": block.api_key, "timeout": block.timeout}
        alone = [name for name, part in of_url.items() if part is not None]
        if alone:
            return f"{alone[0]} needs url."
    if isinstance(block.url, str) and not _is_server(block.url):
        return 'url is not the address of a server. Write one as "http://marquez:5000".'
    if isinstance(block.timeout, str) and (why := is_duration(block.timeout)):
        return why
    return is_absolute_path(block.file) if isinstance(block.file, str) else None


def openlineage_of(
    block: OpenLineageBlock | None, references: References, diagnostics: Diagnostics
) -> OpenLineageDefinition | None:
    """The definition; a secret that is written out is refused."""
    if block is None:
        return None
    given = {"url": block.url, "api_key": block.api_key}
    checked = checked_settings(given, ("openlineage",), references, diagnostics)
    safe = decode(OpenLineageBlock, checked)
    url, endpoint = (safe.url or "").rstrip("/"), (block.endpoint or ENDPOINT).lstrip("/")
    return OpenLineageDefinition(
        url=f"{url}/{endpoint}" if url else "",
        api_key=str(safe.api_key or ""),
        timeout_ms=(parse_duration(block.timeout or _TIMEOUT) or 0) if url else 0,
        file=block.file or "",
        namespace=block.namespace or "",
    )


def _is_server(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)
