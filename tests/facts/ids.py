"""Names of facts. Each rule of the product cites one, and each stands in exactly the test that measures it.

``@fact(...)`` marks a test; tables of a module make one row a test with the id in front. Ids are
``AREA.WORDS-WITH-DASHES``.
"""

import re
from pathlib import Path
from typing import Final

import pytest

AREAS: Final = (
    *("avro", "carry", "change", "checkpoint", "csv", "driver", "json", "kafka", "marks"),
    *("pinned", "sink", "source", "table"),
)
_CITED: Final = re.compile(r'\b(?:fact|row)\(\s*"([^"]+)"')


def fact(name: str) -> pytest.MarkDecorator:
    """The mark of a test that measures a fact."""
    return pytest.mark.fact(name)


def measured() -> list[str]:
    """Every id that a test of this folder measures, sorted, as often as it stands there. Read from the text:
    no JVM, no collection.
    """
    return sorted(
        found for file in Path(__file__).parent.glob("*.py") for found in _CITED.findall(file.read_text())
    )
