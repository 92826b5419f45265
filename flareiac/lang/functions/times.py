"""Functions of points in time, as RFC 3339 writes them: ``2026-11-29T12:00:00Z``."""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Final

from flareiac.kernel.types import NUMBER, STRING
from flareiac.lang.functions.define import function, takes
from flareiac.lang.functions.signature import FunctionError
from flareiac.lang.values import Value, number, string

_TIME: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|([+-])(\d\d):(\d\d))", re.ASCII
)
_PARTS: Final = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_NANOSECONDS: Final[Mapping[str, int]] = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_LONGEST_NS: Final = 2**63 - 1
"""Go's durations, whose form this is, are 64 bits: about 292 years."""
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_PIECES: Final = re.compile(r"''|'((?:[^']|'')+)'|([A-Za-z])\2*|[^A-Za-z']+|'", re.ASCII)


def _time(text: Value, at: int) -> tuple[datetime, int]:
    """The second, in the offset that it is written in, and the nanoseconds after it."""
    match = _TIME.fullmatch(text.raw)
    if match is None:
        why = f'"{text.raw}" is not a time such as 2026-11-29T12:00:00Z (RFC 3339)'
        raise FunctionError(why, at)
    *numbers, fraction, sign, hours, minutes = match.groups()
    try:
        offset = timedelta(hours=int(hours or 0), minutes=_minutes(minutes))
        zone = timezone(-offset if sign == "-" else offset)
        moment = datetime(*map(int, numbers), tzinfo=zone)  # type: ignore[arg-type, misc] # six of them
    except ValueError as problem:
        raise FunctionError(f'"{text.raw}" is not a time: {problem}', at) from None
    return moment, int((fraction or "0")[:9].ljust(9, "0"))


def _minutes(text: str | None) -> int:
    minutes = int(text or 0)
    if minutes >= 60:
        raise ValueError("an offset has less than 60 minutes")
    return minutes


def _duration(text: Value, at: int) -> int:
    """Nanoseconds."""
    sign, body = (text.raw[:1], text.raw[1:]) if text.raw[:1] in ("+", "-") else ("", text.raw)
    if body == "0":
        return 0
    if not body or _PARTS.sub("", body):
        raise FunctionError(
            f'"{text.raw}" is not a duration such as 1h30m or -10s; the units are ns, us, ms, s, m and h', at
        )
    total = sum(int(Decimal(count) * _NANOSECONDS[unit]) for count, unit in _PARTS.findall(body))
    if total > _LONGEST_NS:
        raise FunctionError(f'"{text.raw}" is longer than 292 years', at)
    return -total if sign == "-" else total


def _add(timestamp: Value, duration: Value) -> Value:
    moment, nanoseconds = _time(timestamp, 0)
    seconds = (nanoseconds + _duration(duration, 1)) // _NANOSECONDS["s"]
    try:
        later = moment + timedelta(seconds=seconds)
    except OverflowError:
        raise FunctionError("the result is before the year 1 or after the year 9999") from None
    return string(f"{later.year:04}-{later:%m-%dT%H:%M:%S}{_offset(later, colon=True, utc='Z')}")


def _compare(left: Value, right: Value) -> Value:
    one, other = _time(left, 0), _time(right, 1)
    return number((one > other) - (one < other))


def _offset(moment: datetime, *, colon: bool, utc: str) -> str:
    offset = moment.utcoffset() or timedelta()
    if not offset and utc:
        return utc
    minutes = abs(offset) // timedelta(minutes=1)
    sign = "-" if offset < timedelta() else "+"
    return f"{sign}{minutes // 60:02}{':' if colon else ''}{minutes % 60:02}"


_VERBS: Final[Mapping[str, Callable[[datetime], str]]] = {
    "YYYY": lambda t: f"{t.year:04}",
    "YY": lambda t: f"{t.year % 100:02}",
    "MMMM": lambda t: _MONTHS[t.month - 1],
    "MMM": lambda t: _MONTHS[t.month - 1][:3],
    "MM": lambda t: f"{t.month:02}",
    "M": lambda t: str(t.month),
    "DD": lambda t: f"{t.day:02}",
    "D": lambda t: str(t.day),
    "EEEE": lambda t: _DAYS[t.weekday()],
    "EEE": lambda t: _DAYS[t.weekday()][:3],
    "hh": lambda t: f"{t.hour:02}",
    "h": lambda t: str(t.hour),
    "HH": lambda t: f"{(t.hour - 1) % 12 + 1:02}",
    "H": lambda t: str((t.hour - 1) % 12 + 1),
    "AA": lambda t: "AM" if t.hour < 12 else "PM",
    "aa": lambda t: "am" if t.hour < 12 else "pm",
    "mm": lambda t: f"{t.minute:02}",
    "m": lambda t: str(t.minute),
    "ss": lambda t: f"{t.second:02}",
    "s": lambda t: str(t.second),
    "ZZZZZ": lambda t: _offset(t, colon=True, utc=""),
    "ZZZZ": lambda t: _offset(t, colon=False, utc=""),
    "ZZZ": lambda t: _offset(t, colon=False, utc="UTC"),
    "Z": lambda t: _offset(t, colon=True, utc="Z"),
}
"""Each sequence of a letter that stands for a part of a time, as ``formatdate`` of Terraform has them."""


def _format(form: Value, timestamp: Value) -> Value:
    moment, _ = _time(timestamp, 1)
    return string("".join(_formatted(form.raw, moment)))


def _formatted(form: str, moment: datetime) -> Iterator[str]:
    for match in _PIECES.finditer(form):
        piece, quoted, letter = match[0], match[1], match[2]
        if piece == "''":
            yield "'"
        elif quoted is not None:
            yield quoted.replace("''", "'")
        elif letter is not None:
            if piece not in _VERBS:
                known = ", ".join(verb for verb in _VERBS if verb[0] == letter)
                hint = f"Write {known}" if known else "Text of its own stands between single quotes"
                raise FunctionError(f'the format has no sequence "{piece}". {hint}', 0)
            yield _VERBS[piece](moment)
        elif piece == "'":
            raise FunctionError("the format has a single quote that is not closed", 0)
        else:
            yield piece


_T = takes("timestamp", STRING)
FUNCTIONS = (
    function(
        "formatdate",
        (takes("format", STRING), _T),
        STRING,
        _format,
        'A time in another form, such as "DD MMM YYYY hh:mm ZZZ". Text stands between single quotes.',
    ),
    function(
        "timeadd",
        (_T, takes("duration", STRING)),
        STRING,
        _add,
        'A time and a duration after it, such as "1h30m" or "-10s".',
    ),
    function(
        "timecmp",
        (takes("first", STRING), takes("second", STRING)),
        NUMBER,
        _compare,
        "-1, 0 or 1: the first time is before, the same as or after the second.",
    ),
)
