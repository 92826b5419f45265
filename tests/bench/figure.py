"""A measured number, the bar it is held to, and its line of JSON."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Better(StrEnum):
    LOWER = "lower"
    HIGHER = "higher"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """``value`` against ``bar`` (None: measured only for the record); ``detail`` holds what the value was
    made from.
    """

    name: str
    value: float
    unit: str
    bar: float | None = None
    better: Better = Better.LOWER
    detail: Mapping[str, object] = field(default_factory=dict)

    @property
    def met(self) -> bool | None:
        if self.bar is None:
            return None
        return self.value <= self.bar if self.better is Better.LOWER else self.value >= self.bar

    def line(self) -> str:
        """One line of JSON."""
        data = {
            "figure": self.name,
            "value": _rounded(self.value),
            "unit": self.unit,
            "bar": self.bar,
            "met": self.met,
            **self.detail,
        }
        return json.dumps(data)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotMeasured:
    """A figure that this machine cannot measure, and why."""

    name: str
    reason: str

    def line(self) -> str:
        return json.dumps({"figure": self.name, "skipped": self.reason})


def remark(text: str) -> None:
    """Tells the person in front of it what is going on (results go to standard output, this does not)."""
    sys.stderr.write(f"# {text}\n")
    sys.stderr.flush()


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")
