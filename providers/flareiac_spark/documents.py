"""The topics of the documentation: the measured rules of Spark, and the settings that keep every value.
Pure.
"""

from collections.abc import Iterator
from typing import Final

from flareiac.sdk.documents import Topic
from flareiac_spark.change.spark_compatibility import ABOVE_STATE, RULES, Rule, Verdict
from flareiac_spark.settings import OUTPUT_OPTIONS, READER_OPTIONS, SETTINGS
from flareiac_spark.sources.source import kinds

_CONSEQUENCES: Final = {
    Verdict.TAKES: "restart",
    Verdict.MIXES: "acceptance or new generation",
    Verdict.REFUSES: "new generation",
    Verdict.IGNORES: "no effect",
}
_ABOVE: Final = "by output mode"
_TABLES: Final = {
    "Settings of an engine or a job (`conf`)": SETTINGS,
    "Attributes of a stream": tuple(
        dict.fromkeys(harmless for _name, kind in kinds() for harmless in kind.harmless)
    ),
    "Options of a file reader (`options` of a stream)": READER_OPTIONS,
    "Options of an output (`options`)": OUTPUT_OPTIONS,
}


def topics() -> tuple[Topic, ...]:
    """Rules by the part of a definition that changes, then settings by where they are written."""
    return (*map(_rule, RULES), *_settings())


def _rule(rule: Rule) -> Topic:
    return Topic(
        name=rule.fact,
        kind="rule",
        page="changes",
        subject=rule.subject,
        title=rule.change,
        text=f"Spark {rule.what}.",
        consequence=_ABOVE if rule.fact in ABOVE_STATE else _CONSEQUENCES[rule.verdict],
        measured_on=f"Spark {rule.spark}",
    )


def _settings() -> Iterator[Topic]:
    for subject, table in _TABLES.items():
        for harmless in table:
            name = f"{harmless.name}*" if harmless.name.endswith(".") else harmless.name
            yield Topic(
                name=name,
                kind="setting",
                page="settings",
                subject=subject,
                title=harmless.what,
                text=f"It only decides {harmless.what}.",
                consequence="restart",
            )
