"""What is asked of an application once, and what came of it? Operations are idempotent by id."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from flareiac_spark.control.records import named


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """``analyse``: would these jobs (specs as JSON, with planned columns) be understood by Spark? Touches no system."""

    id: str
    kind: Literal["analyse"] = "analyse"
    jobs: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """``step`` is the step's name, or ``inputs.NAME`` or ``outputs.NAME``; empty when the whole job is meant."""

    address: str
    step: str
    message: str
    error_class: str = field(metadata=named("class"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysed:
    """Per output name: the columns that its source view gives, name to type as Spark spells it."""

    output_columns: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """``failed`` means that the operation itself could not be done; ``findings`` are its outcome, not its failure."""

    id: str
    status: Literal["done", "failed"]
    findings: tuple[Finding, ...] = ()
    analysed: Mapping[str, Analysed] = field(default_factory=dict)
    error: str | None = None
