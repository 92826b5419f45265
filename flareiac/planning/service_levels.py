"""Compares how fresh tables and topics are with what readers outside of the project need. Pure."""

from collections.abc import Iterator
from typing import Final

from flareiac.kernel.elapsed import elapsed_text
from flareiac.model.applied_from import OutsideReader
from flareiac.model.service_levels import ReaderStatus, Verdict
from flareiac.sdk.freshness import Freshness, GroupLag
from flareiac.sdk.validators import duration_text

_AHEAD_MS: Final = 5 * 60 * 1000
"""Clocks of writers may differ by so much. Data that is dated further ahead would look fresh for as long."""


def status_of(reader: OutsideReader, answer: Freshness | str, now_ms: int) -> ReaderStatus:
    """``answer``: a text says why the subject could not be asked. ``now_ms`` since 1970, UTC."""
    level = reader.level
    lag = _lag(reader, answer)
    max_age = None if level is None else level.max_age_ms
    max_lag = None if level is None else level.max_lag
    findings = (
        *(() if max_age is None else _age_findings(answer, max_age, now_ms)),
        *(() if max_lag is None else _lag_findings(lag, max_lag)),
    )
    verdict = None
    if max_age is not None or max_lag is not None:
        verdict = Verdict.KEPT
        for each, _reason in findings:
            verdict = each if verdict is not Verdict.BROKEN else verdict
    return ReaderStatus(
        reader=reader.address,
        subject=reader.subject,
        group=reader.known_as,
        age_ms=_age(answer, now_ms),
        max_age_ms=max_age,
        lag=None if isinstance(lag, str) or lag is None else lag.lag,
        max_lag=max_lag,
        verdict=verdict,
        reasons=tuple(reason for _verdict, reason in findings),
    )


def _age(answer: Freshness | str, now_ms: int) -> int | None:
    if isinstance(answer, str) or answer.newest_ms is None or answer.newest_ms > now_ms + _AHEAD_MS:
        return None
    return max(0, now_ms - answer.newest_ms)


def _lag(reader: OutsideReader, answer: Freshness | str) -> GroupLag | str | None:
    """None where the reader has no group at this subject; a text says why the lag is not known."""
    if not reader.known_as:
        return None
    if isinstance(answer, str):
        return answer
    for each in answer.lags:
        if each.group == reader.known_as:
            return each
    return answer.why or "its cluster said nothing about the group"


def _age_findings(answer: Freshness | str, bound: int, now_ms: int) -> Iterator[tuple[Verdict, str]]:
    limit = f"max_age is {duration_text(bound)}"
    if isinstance(answer, str):
        yield Verdict.UNKNOWN, f"the age of its data is not known: {answer}"
        return
    if answer.is_empty:
        yield Verdict.BROKEN, f"it holds no data, and {limit}"
        return
    if answer.newest_ms is None:
        yield Verdict.UNKNOWN, f"the age of its data is not known: {answer.why}"
        return
    age = _age(answer, now_ms)
    if age is None:
        ahead = elapsed_text((answer.newest_ms - now_ms) / 1000)
        yield (
            Verdict.UNKNOWN,
            f"the age of its data is not known: the newest is dated {ahead} ahead of this machine's clock",
        )
    elif age > bound:
        older = "more than " if answer.is_older else ""
        yield Verdict.BROKEN, f"its newest data is {older}{elapsed_text(age / 1000)} old, and {limit}"
    elif answer.is_older:
        oldest = f"the oldest one left is {elapsed_text(age / 1000)} old"
        why = f"the snapshots that added rows have expired, and {oldest}"
        yield Verdict.UNKNOWN, f"the age of its data is not known: {why}"


def _lag_findings(lag: GroupLag | str | None, bound: int) -> Iterator[tuple[Verdict, str]]:
    if lag is None or isinstance(lag, str):
        yield Verdict.UNKNOWN, f"the lag of its group is not known: {lag or 'no group is declared'}"
        return
    if lag.lag is None:
        yield Verdict.UNKNOWN, f"the lag of its group {lag.group} is not known: {lag.why}"
        return
    if lag.lag > bound:
        note = f" ({lag.why})" if lag.why else ""
        yield (
            Verdict.BROKEN,
            f"its group {lag.group} is {lag.lag:,} records behind, and max_lag is {bound:,}{note}",
        )
    if lag.lost:
        yield (
            Verdict.BROKEN,
            f"{lag.lost:,} records were deleted before its group {lag.group} had read them",
        )
