"""Compares a task's result with its forecast. Pure.

A forecast and its result are equal when every number of the forecast that the result has is the same. Numbers
of a forecast are exact for one snapshot: a run that began on a later one (``snapshot_before`` differs) is
reported as such and is not measured by them. What is only estimated (written files) is no part of a forecast.
What must be true whatever was forecast, the kind says.
"""

from collections.abc import Mapping
from typing import Any, Final

from flareiac.kernel.data import Data
from flareiac.sdk.maintenance import Judgement, MaintenanceTask
from flareiac_iceberg.maintenance.humanize import count, size
from flareiac_iceberg.maintenance.kind import Kind
from flareiac_iceberg.maintenance.registry import KINDS

_BYTES: Final = "_bytes"
"""Ends the name of a number that is a size."""


def judge(task: MaintenanceTask, result: Mapping[str, Data]) -> Judgement:
    """The result of a task, in words, beside the forecast; complaints where it is wrong."""
    kind = next(kind for kind in KINDS if kind.name == task.name)
    done = ", ".join(
        _figure(kind, name, result[name])
        for name in kind.words
        if isinstance(result.get(name), int) and (result[name] or name in task.forecast)
    )
    messages = [f"{task.name}: {done or 'nothing was left to do'}"]
    if task.forecast:
        messages.append(f"{task.name}: {_compared(kind, task.forecast, result)}")
    return Judgement(messages=tuple(messages), diagnostics=tuple(kind.complaints(task, result)))


def _figure(kind: Kind[Any, Any], name: str, number: int) -> str:
    words = kind.words[name]
    if name.endswith(_BYTES):
        return f"{size(number)} {words}"
    thing, _, rest = words.partition("|")
    return f"{count(number, thing)} {rest}"


def _compared(kind: Kind[Any, Any], forecast: Mapping[str, int], result: Mapping[str, Data]) -> str:
    began, meant = result.get("snapshot_before"), forecast.get("snapshot_before")
    other = [
        name
        for name, number in forecast.items()
        if name in kind.words and name in result and result[name] != number
    ]
    if not other:
        return "as forecast"
    texts = ", ".join(
        f"{_figure(kind, name, forecast[name])} expected and {_figure(kind, name, result[name])}"
        for name in other
    )
    moved = began is not None and meant is not None and began != meant
    return (
        f"other than forecast, because the table was written meanwhile: {texts}"
        if moved
        else f"other than forecast: {texts}"
    )
