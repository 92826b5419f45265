"""Finds a part of an attribute's text in the source that the text was written in. Pure."""

from flareiac.kernel.sources import Source, Span
from flareiac.lang.json_text import is_json, json_string, places_in


def inner_span(source: Source, outer: Span, text: str, start: int, end: int) -> Span | None:
    """The place of ``text[start:end]``, where ``outer`` is that of the whole expression. None where it cannot
    be determined, as for a text that a function or a variable gives.

    A heredoc is read line by line, since its indentation and its interpolations are not in the text: where a
    line has an interpolation, the place is the whole line.
    """
    written = source.text[outer.start.offset : outer.end.offset]
    if written.startswith("<<"):
        return _in_heredoc(source, outer, written, text, start, end)
    if is_json(source.path):
        string = json_string(written)
        if string is None or string.text != text:
            return None
        places = places_in(written, string)
        return source.span(outer.start.offset + places[start], outer.start.offset + places[end])
    if written[:1] == '"' and written[1:-1] == text:
        first = outer.start.offset + 1
        return source.span(first + start, first + end)
    return None


def _in_heredoc(source: Source, outer: Span, written: str, text: str, start: int, end: int) -> Span | None:
    number = text.count("\n", 0, start)
    begin = text.rfind("\n", 0, start) + 1
    line = text[begin:].partition("\n")[0]
    lines = written.split("\n")[1:]
    same = [at for at, each in enumerate(lines) if each.rstrip("\r").endswith(line.rstrip("\r"))]
    if not line.strip() or not (number in same or len(same) == 1):
        return _whole_line(source, outer, lines, number) if len(lines) == text.count("\n") + 1 else None
    at = number if number in same else same[0]
    first = _offset(outer, written, at) + len(lines[at].rstrip("\r")) - len(line.rstrip("\r"))
    return source.span(first + start - begin, first + min(end - begin, len(line)))


def _whole_line(source: Source, outer: Span, lines: list[str], number: int) -> Span:
    written = source.text[outer.start.offset : outer.end.offset]
    first = _offset(outer, written, number)
    line = lines[number]
    return source.span(first + len(line) - len(line.lstrip()), first + len(line.rstrip()))


def _offset(outer: Span, written: str, number: int) -> int:
    """The offset at which a line of a heredoc begins in its source."""
    lines = written.split("\n")[: number + 1]
    return outer.start.offset + sum(len(line) + 1 for line in lines)
