"""Complaints as a person reads them (a box with the place, the lines, the values, the reason) and as
Terraform's JSON has them.
"""

import textwrap
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate

from flareiac.kernel.data import Json
from flareiac.kernel.diagnostics import Diagnostic, Related, Severity
from flareiac.kernel.paths import render_path
from flareiac.kernel.sources import Position, Source, Span, line_starts
from flareiac.render.control_characters import printable
from flareiac.render.snippet import enclosing_block, shown_lines, without_secrets
from flareiac.render.style import Style, Tone

_NAMES = {Severity.ERROR: "Error", Severity.WARNING: "Warning"}
_TONES = {Severity.ERROR: Tone.BLOCKED, Severity.WARNING: Tone.CHANGE}
_NARROWEST = 40
_NAMED = 4
"""The number of other places that are named for the same message."""


def text(
    diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source], *, width: int, colour: bool
) -> str:
    """One box each, warnings first so that errors stand where the eye is when it ends; ``sources`` by the
    path that spans name. Resources of which the same is said share a box: it has one cause.
    """
    style = Style(colour)
    ordered = sorted(diagnostics, key=lambda diagnostic: diagnostic.severity is Severity.ERROR)
    return "".join(
        _box(diagnostic, also, sources, max(width, _NARROWEST), style)
        for diagnostic, also in _together(ordered)
    )


def _together(diagnostics: Iterable[Diagnostic]) -> Iterator[tuple[Diagnostic, Sequence[str]]]:
    """Each complaint with the addresses of the other resources that it is about."""
    groups: dict[Hashable, tuple[Diagnostic, list[str]]] = {}
    for number, diagnostic in enumerate(diagnostics):
        alike = not diagnostic.attribute and (diagnostic.address is not None or diagnostic.subject is None)
        key = (
            (diagnostic.severity, diagnostic.code, diagnostic.detail, diagnostic.values, diagnostic.related)
            if alike
            else number
        )
        groups.setdefault(key, (diagnostic, []))[1].append(diagnostic.address or "")
    for first, addresses in groups.values():
        yield first, [address for address in addresses[1:] if address != first.address]


def page_hint(code: str) -> str:
    """The sentence that names the page about a code."""
    return f"Run flareiac explain {code} to read more."


def as_json(diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source]) -> list[Json]:
    """Diagnostics in Terraform's shape, with our ``code``, ``attribute`` and ``related`` beside it."""
    return [diagnostic_json(diagnostic, sources) for diagnostic in diagnostics]


def validate_json(diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source]) -> Json:
    """Builds the output of ``validate -json``."""
    complaints = list(diagnostics)
    errors = sum(diagnostic.severity is Severity.ERROR for diagnostic in complaints)
    return {
        "format_version": "1.0",
        "valid": errors == 0,
        "error_count": errors,
        "warning_count": len(complaints) - errors,
        "diagnostics": as_json(complaints, sources),
    }


def diagnostic_json(diagnostic: Diagnostic, sources: Mapping[str, Source]) -> Json:
    """One diagnostic in Terraform's shape."""
    rendered: dict[str, Json] = {
        "severity": diagnostic.severity.value,
        "summary": diagnostic.summary,
        "detail": diagnostic.detail,
        "code": diagnostic.code,
    }
    if diagnostic.address:
        rendered["address"] = diagnostic.address
    if diagnostic.attribute:
        rendered["attribute"] = render_path(diagnostic.attribute)
    if diagnostic.subject:
        source = sources.get(diagnostic.subject.path)
        rendered["range"] = range_json(diagnostic.subject, source)
        if source and not diagnostic.hide_source:
            rendered["snippet"] = _snippet_json(diagnostic, diagnostic.subject, source)
    if diagnostic.related:
        rendered["related"] = [
            {"message": other.message, "range": range_json(other.span, sources.get(other.span.path))}
            for other in diagnostic.related
        ]
    return rendered


def range_json(span: Span, source: Source | None) -> Json:
    """A span in Terraform's shape: bytes count from 0 in UTF-8 (characters where the source is not at
    hand).
    """
    return {
        "filename": span.path,
        "start": _position_json(span.start, source),
        "end": _position_json(span.end, source),
    }


def _position_json(position: Position, source: Source | None) -> Json:
    byte = _bytes_before(source, position) if source else position.offset
    return {"line": position.line, "column": position.column, "byte": byte}


def _bytes_before(source: Source, position: Position) -> int:
    starts = line_starts(source.text)
    line = min(position.line, len(starts)) - 1
    return _byte_starts(source.text)[line] + _size(source.text[starts[line] : position.offset])


@lru_cache(maxsize=16)
def _byte_starts(text: str) -> Sequence[int]:
    """The byte at which each line begins."""
    return [0, *accumulate(_size(line) + 1 for line in text.split("\n"))]


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))


def _snippet_json(diagnostic: Diagnostic, subject: Span, source: Source) -> Json:
    shown = diagnostic.context or subject
    begin = source.text.rfind("\n", 0, min(shown.start.offset, subject.start.offset)) + 1
    end = source.text.find("\n", max(shown.end.offset, subject.end.offset))
    code = source.text[begin : len(source.text) if end < 0 else end]
    return {
        "context": enclosing_block(source, subject),
        "code": without_secrets(code),
        "start_line": source.position(begin).line,
        "highlight_start_offset": min(subject.start.offset - begin, len(code)),
        "highlight_end_offset": min(subject.end.offset - begin, len(code)),
        "values": [{"traversal": name, "statement": f"is {value}"} for name, value in diagnostic.values],
    }


def _box(
    diagnostic: Diagnostic, also: Sequence[str], sources: Mapping[str, Source], width: int, style: Style
) -> str:
    tone = _TONES[diagnostic.severity]
    head = (
        f"{style.paint(f'{_NAMES[diagnostic.severity]}:', tone)} "
        f"{style.strong(printable(diagnostic.summary))} {style.quiet(f'[{diagnostic.code}]')}"
    )
    lines = [head, *_place(diagnostic, also, sources, width, style), *_reason(diagnostic.detail, width)]
    bar = style.paint("│", tone)
    body = [f"{bar} {line}".rstrip() for line in lines]
    return "\n".join([style.paint("╷", tone), *body, style.paint("╵", tone)]) + "\n"


def _place(
    diagnostic: Diagnostic, also: Sequence[str], sources: Mapping[str, Source], width: int, style: Style
) -> list[str]:
    lines: list[str] = []
    if diagnostic.address:
        attribute = (
            f", attribute {printable(render_path(diagnostic.attribute))}" if diagnostic.attribute else ""
        )
        named = ", ".join(map(printable, (diagnostic.address, *also[:_NAMED])))
        more = f" and {len(also) - _NAMED} more" if len(also) > _NAMED else ""
        lines.append(f"  with {named}{more}{attribute}{',' if diagnostic.subject else ''}")
    if diagnostic.subject:
        lines += _at(diagnostic, diagnostic.subject, sources, width, style)
    if diagnostic.values:
        lines += [
            "    ├────────────────",
            *(f"    │ {printable(name)} is {printable(value)}" for name, value in diagnostic.values),
        ]
    for other in diagnostic.related:
        lines += _related(other, sources, width, style)
    return ["", *lines] if lines else []


def _at(
    diagnostic: Diagnostic, span: Span, sources: Mapping[str, Source], width: int, style: Style
) -> list[str]:
    source = sources.get(span.path)
    if source is None:
        return [f"  on {printable(span.path)} line {span.start.line}"]
    block = enclosing_block(source, span)
    inside = f", in {printable(block)}" if block else ""
    place = f"  on {printable(span.path)} line {span.start.line}{inside}"
    return (
        [place]
        if diagnostic.hide_source
        else [f"{place}:", *_code(source, span, diagnostic.context, width, style)]
    )


def _related(other: Related, sources: Mapping[str, Source], width: int, style: Style) -> list[str]:
    source = sources.get(other.span.path)
    head = f"  and {printable(other.span.path)} line {other.span.start.line}: {printable(other.message)}"
    return [head, *(_code(source, other.span, None, width, style) if source else [])]


def _code(source: Source, span: Span, context: Span | None, width: int, style: Style) -> list[str]:
    lines: list[str] = []
    for shown in shown_lines(source, span, context, width - 9):
        lines.append(f"{shown.number:>4}: {shown.text}".rstrip())
        if shown.carets:
            lines.append(f"      {style.paint(shown.carets, Tone.BLOCKED)}")
    return lines


def _reason(detail: str, width: int) -> list[str]:
    """The detail, broken to the width; lines that begin with a space (commands, lists, code) stay as they
    are.
    """
    if not detail:
        return []
    lines: list[str] = []
    for line in printable(detail).rstrip("\n").split("\n"):
        if not line or line.startswith((" ", "\t")):
            lines.append(line.replace("\t", "    "))
        else:
            lines += textwrap.wrap(line, width - 2, break_long_words=False, break_on_hyphens=False)
    return ["", *lines]
