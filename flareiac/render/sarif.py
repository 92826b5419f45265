"""SARIF 2.1.0, the format in which code scanning takes findings. Pure."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Final
from urllib.parse import quote

from flareiac.kernel.data import Json
from flareiac.kernel.diagnostics import Diagnostic, Severity
from flareiac.kernel.sources import Source, Span
from flareiac.render.report.escaping import seen

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning"}
_ROOT: Final = "."
"""The place of a finding that has none: code scanning takes no result without a location."""


def document(
    rules: Sequence[Mapping[str, Json]], results: Iterable[Mapping[str, Json]], *, tool_version: str
) -> dict[str, Json]:
    """The log of one run."""
    driver: dict[str, Json] = {"name": "FlareIaC", "version": tool_version, "rules": [dict(r) for r in rules]}
    run: dict[str, Json] = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [dict(result) for result in results],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def location(path: str, region: Mapping[str, Json] | None = None) -> dict[str, Json]:
    """A place in a file, whose path is relative to the root of the project or absolute. Lines and columns
    count from 1.
    """
    pure = PurePath(path)
    uri = pure.as_uri() if pure.is_absolute() else quote(pure.as_posix())
    physical: dict[str, Json] = {"artifactLocation": {"uri": uri}}
    if region is not None:
        physical["region"] = dict(region)
    return {"physicalLocation": physical}


def fingerprint(*parts: str) -> dict[str, Json]:
    """By this code scanning knows a finding again when its line has moved."""
    return {"flareiac/v1": hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()}


def diagnostics_sarif(
    diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source], *, tool_version: str
) -> dict[str, Json]:
    """The output of ``validate -sarif``: a rule for each code."""
    listed = list(diagnostics)
    titles = {diagnostic.code: diagnostic.summary for diagnostic in listed}
    numbers = {code: number for number, code in enumerate(titles)}
    rules: list[dict[str, Json]] = [
        {
            "id": code,
            "shortDescription": {"text": title},
            "help": {"text": f"Run flareiac explain {code} to read more."},
        }
        for code, title in titles.items()
    ]
    results = [_result(diagnostic, numbers[diagnostic.code], sources) for diagnostic in listed]
    return document(rules, results, tool_version=tool_version)


def _result(diagnostic: Diagnostic, number: int, sources: Mapping[str, Source]) -> dict[str, Json]:
    span = diagnostic.subject
    at = location(_ROOT) if span is None else location(span.path, _region(span))
    address: dict[str, Json] = {}
    if diagnostic.address:
        address["logicalLocations"] = [{"fullyQualifiedName": diagnostic.address}]
    return {
        "ruleId": diagnostic.code,
        "ruleIndex": number,
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": seen(diagnostic.line)},
        "locations": [{**at, **address}],
        "relatedLocations": [
            {**location(other.span.path, _region(other.span)), "message": {"text": seen(other.message)}}
            for other in diagnostic.related
        ],
        "partialFingerprints": fingerprint(diagnostic.code, diagnostic.address or "", *_text(span, sources)),
    }


def _region(span: Span) -> dict[str, Json]:
    return {
        "startLine": span.start.line,
        "startColumn": span.start.column,
        "endLine": span.end.line,
        "endColumn": span.end.column,
    }


def _text(span: Span | None, sources: Mapping[str, Source]) -> tuple[str, ...]:
    """The file and what is written at a place; never its line, which changes with what stands above."""
    if span is None:
        return ()
    source = sources.get(span.path)
    return (span.path, "" if source is None else source.text[span.start.offset : span.end.offset])
