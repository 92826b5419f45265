"""Edits of a text, written as a reader of a diff knows them. Text in, text out; an edit that does not fit is
an error.

A hunk starts with ``@@`` and the beginning of the block that it changes. Each of its lines begins with a
blank (stays), ``-`` (goes) or ``+`` (comes); an empty line is an empty line that stays. The lines that stay
and go must start in exactly one place of that block::

    @@ job "hourly"
       input "events" { stream = stream.events }
    +  accept_result_change = "0123456789ab"
    -  output "hourly" { table = table.hourly }
    +  output "hourly" { table = table.other }
"""

from collections.abc import Iterator, Sequence


class DoesNotFit(ValueError):
    """An edit that is not written as one, or that does not fit its base."""


def edited(base: str, edit: str) -> str:
    """The base with the hunks applied, which stand in the order of their places. Raises ``DoesNotFit``."""
    lines = base.split("\n")
    result: list[str] = []
    done = 0
    for block, hunk in _hunks(edit):
        old = [line[1:] for line in hunk if not line.startswith("+")]
        new = [line[1:] for line in hunk if not line.startswith("-")]
        at = _place(lines, block, old)
        if at < done:
            raise DoesNotFit(f"the hunk of {block!r} stands behind one of a later place, or overlaps it")
        result += [*lines[done:at], *new]
        done = at + len(old)
    return "\n".join([*result, *lines[done:]])


def _hunks(edit: str) -> Iterator[tuple[str, Sequence[str]]]:
    before, *hunks = ("\n" + edit.removesuffix("\n")).split("\n@@ ")
    if before or not hunks:
        raise DoesNotFit("an edit begins with a line @@ and the block that it changes")
    for hunk in hunks:
        block, *lines = hunk.split("\n")
        if any(line and line[0] not in " -+" for line in lines):
            raise DoesNotFit(f"a line of the hunk of {block!r} begins with neither a blank nor - nor +")
        if not any(line.startswith(("-", "+")) for line in lines):
            raise DoesNotFit(f"the hunk of {block!r} changes nothing")
        yield block, lines


def _place(lines: Sequence[str], block: str, old: Sequence[str]) -> int:
    """The line at which the old lines stand. Without any, no place is named: new lines need a neighbour that
    stays.
    """
    starts = [number for number, line in enumerate(lines) if line.startswith(block)]
    if len(starts) != 1 or not block:
        raise DoesNotFit(f"{len(starts)} lines begin with {block!r}, one is expected")
    places = [at for at in _block(lines, starts[0]) if old and lines[at : at + len(old)] == old]
    if len(places) != 1:
        raise DoesNotFit(
            f"the old lines of the hunk of {block!r} start in {len(places)} places of it, one is expected"
        )
    return places[0]


def _block(lines: Sequence[str], start: int) -> range:
    """The lines of a block, up to its closing brace in the first column."""
    if not lines[start].endswith("{"):
        return range(start, start + 1)
    return range(start, lines.index("}", start) + 1)
