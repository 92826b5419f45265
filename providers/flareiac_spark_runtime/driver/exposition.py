"""Prometheus' text format, version 0.0.4. Pure; knows no metric."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Final, Literal, TypeAlias

from flareiac.kernel.lazy_dataclass import dataclass

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
Kind: TypeAlias = Literal["counter", "gauge"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One value; labels in the order in which they are written."""

    value: float
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A metric with all its samples, no two of which have the same labels."""

    name: str
    kind: Kind
    help: str
    samples: tuple[Sample, ...]


def exposition(families: Iterable[Family]) -> str:
    """The page that Prometheus scrapes. A metric without a sample is left out."""
    return "".join(f"{line}\n" for family in families if family.samples for line in _lines(family))


def _lines(family: Family) -> Iterator[str]:
    yield f"# HELP {family.name} {_escaped(family.help)}"
    yield f"# TYPE {family.name} {family.kind}"
    for sample in family.samples:
        yield f"{family.name}{_labels(sample.labels)} {_number(sample.value)}"


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    pairs = (
        f'{name}="{_escaped(value).replace(chr(34), chr(92) + chr(34))}"' for name, value in labels.items()
    )
    return f"{{{','.join(pairs)}}}"


def _escaped(text: str) -> str:
    """Escapes the characters that would end a line. A lone surrogate has no UTF-8, and some readers end a
    line at a carriage return, for which the format has no escape: both are replaced.
    """
    whole = text.encode("utf-8", "replace").decode("utf-8").replace("\r", "\N{REPLACEMENT CHARACTER}")
    return whole.replace("\\", "\\\\").replace("\n", "\\n")


def _number(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(float(value))
