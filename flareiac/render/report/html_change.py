"""One change of a report as an entry of its page, and the changes that are alike with it. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import field
from itertools import groupby
from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.render.report.content import Change, Interruption, Reader
from flareiac.render.report.escaping import LABEL, line, seen
from flareiac.render.report.html_filters import ACTIONS, Answers
from flareiac.render.report.markup import Html, anchor, element, joined, link_to
from flareiac.render.report.words import STATES, doubts, downtime, replayed
from flareiac.render.sections import DESTRUCTIVE, INTERRUPTING, Section
from flareiac.sdk.changes import Blocker, Effect

MOST_DETAILS: Final = 3_000_000
"""Characters of differences in one page."""
_LONGEST_PROSE: Final = 2_000
_LONGEST_LINE: Final = 2_000
_LONGEST_WAY: Final = 20_000
_MOST_LINES: Final = 1_000
_MOST_READERS: Final = 50
_MOST_REPLAYS: Final = 10
_MOST_DRIFT: Final = 3
_NAMED_OF_GRAVE: Final = 20
_NAMED: Final = 3
_SIGNS: Final = {"+": "ins", "-": "del"}


@dataclass(slots=True, kw_only=True)
class Details:
    """The room that a page still has for differences. The most urgent changes come first, so the least
    urgent ones go without.
    """

    left: int = field(default=MOST_DETAILS)

    def take(self, size: int) -> bool:
        """Returns True where there is room for so many characters, which it takes."""
        fits = size <= self.left
        if fits:
            self.left -= size
        return fits


def change_card(
    change: Change, addresses: Sequence[str], answers: Answers, details: Details, *, opened: bool
) -> Html:
    """The entry of the changes of ``addresses``, of which ``change`` is the first."""
    alone = len(addresses) == 1
    inside = joined(
        element("ul", *map(_member, addresses), class_="addresses") if not alone else None,
        _inside(change, details),
    )
    return element(
        "details",
        element("summary", *_summary(change, addresses)),
        element("div", inside, class_="inside"),
        id=anchor(change.address) if alone else None,
        class_="card",
        open=opened,
        **answers.attributes(),
    )


def prose(text: str) -> Html:
    """A sentence that may quote users, in which the labels of effects stand out."""
    pieces = LABEL.split(line(text, _LONGEST_PROSE))
    return element("bdi", *(_label(each[1:-1]) if at % 2 else each for at, each in enumerate(pieces)))


def named_reader(reader: Reader) -> Html:
    """A reader with its columns and its owner."""
    columns = joined(*(element("code", name) for name in reader.columns), between=", ")
    beside = [
        *([columns] if reader.columns else []),
        *([element("b", reader.owner)] if reader.owner else []),
        *(element("span", doubt) for doubt in doubts(reader)),
    ]
    name = element("code", reader.address)
    return joined(name, " (", joined(*beside, between="; "), ")") if beside else name


def _member(address: str) -> Html:
    name = element("code", address)
    return element("li", element("a", name, href=link_to(address)), id=anchor(address))


def _label(effect: str) -> Html:
    if effect in DESTRUCTIVE:
        return element("span", effect, class_="label grave")
    look = "stop" if effect in INTERRUPTING else "minor" if effect == Effect.METADATA else "calm"
    return element("span", effect, class_=f"label {look}")


def _summary(change: Change, addresses: Sequence[str]) -> Iterator[Html]:
    count = len(addresses)
    most = _NAMED_OF_GRAVE if change.section in (Section.DESTRUCTIVE, Section.BLOCKED) else _NAMED
    if count > 1:
        yield element("span", f"{count:,} {change.type}s ", class_="name")
    names = joined(*(element("code", each) for each in addresses[:most]), between=", ")
    yield element("span", names, class_="name") if count == 1 else names
    yield joined(f" and {count - most:,} more" if count > most else None, ": ")
    yield prose(change.what)
    if change.blockers:
        yield joined(" ", element("span", "blocked", class_="label blocked"))
    if change.owner:
        yield element("span", "owner: ", element("b", change.owner), class_="by owner")
    for text in change.drift[:_MOST_DRIFT]:
        yield element("span", "drift: ", prose(text), class_="by")
    if change.interruption is not None:
        yield _stop(change.interruption)
    if change.readers:
        named = joined(*map(named_reader, change.readers[:_MOST_READERS]), between=", ")
        left = len(change.readers) - _MOST_READERS
        yield element("span", "read by ", named, f" and {left:,} more" if left > 0 else None, class_="hit")


def _stop(stop: Interruption) -> Html:
    state = (
        element("b", part.text, class_="grave") if part.grave else element("span", part.text)
        for part in STATES[stop.state]
    )
    return element(
        "span",
        *("expected downtime: ", downtime(stop), "; replayed batch: ", replayed(stop, _MOST_REPLAYS)),
        *("; state: ", *state),
        class_="by",
    )


def _inside(change: Change, details: Details) -> Html:
    steps = [
        element("li", prose(step.text), " ", _label(step.effect.value), _why(step.why))
        for step in change.steps
    ]
    notes = [element("li", prose(note)) for note in change.notes if note not in change.drift]
    return joined(
        *map(_blocker, change.blockers),
        element("p", f"Action: {ACTIONS[change.action]}. Reason: ", element("code", change.reason)),
        element("ul", *steps) if steps else None,
        element("ul", *notes) if notes else None,
        _difference(change.diff, details),
    )


def _why(text: str) -> Html | None:
    return joined(": ", prose(text)) if text else None


def _blocker(blocker: Blocker) -> Html:
    ways = []
    for way in blocker.ways_out:
        first, _, rest = way.partition("\n")
        code = element("pre", seen(rest, _LONGEST_WAY)) if rest.strip() else None
        ways.append(element("li", prose(first), code))
    return joined(
        element("p", element("b", prose(blocker.summary)), " [", element("code", blocker.code), "]: "),
        element("p", prose(blocker.why)),
        element("p", "Ways out:") if ways else None,
        element("ul", *ways) if ways else None,
    )


def _difference(diff: Sequence[str], details: Details) -> Html | None:
    """The lines of a difference; neighbours with one sign are one element."""
    if not diff:
        return None
    if not details.take(sum(map(len, diff))):
        said = f"The difference of {len(diff):,} lines is left out: the page has no room. "
        return element("p", said, element("code", "flareiac show PLAN"), " shows it.", class_="quiet")
    blocks = [
        element(_SIGNS.get(sign, "span"), "\n".join(map(_cut, group)))
        for sign, group in groupby(diff[:_MOST_LINES], key=lambda text: text[:1])
    ]
    left = len(diff) - _MOST_LINES
    more = element("span", f"({left:,} more lines)") if left > 0 else None
    return element("pre", *blocks, more)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_LINE else seen(text, _LONGEST_LINE)
