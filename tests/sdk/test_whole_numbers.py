"""Counts are whole numbers, in every block: a fraction is refused where it is written."""

from collections.abc import Iterator

import pytest

from flareiac.app.discovery import installed
from flareiac.kernel.types import NUMBER, ObjectType
from flareiac.sdk.schema import Attribute, Block
from flareiac.sdk.validators import LARGEST_INT, whole

FRACTIONS = {"job.restart_nonce", "table.compaction.delete_ratio"}
"""Any number will do, or a share."""
BY_A_RULE = {
    "engine.pools",
    "job.health.max_bad_records",
    "job.health.max_late_rows",
    "job.step.stateful.state_version",
    "table.format_version",
    "table.tag.snapshot_id",
}
"""A rule of the resource refuses the fraction, with a code of its own."""


EQUAL_TO_ONE_OF_A_FEW = {"stream.files.reading"}


def numbers(path: str, block: Block) -> Iterator[tuple[str, Attribute, str]]:
    """Each attribute that is a number or has one in it, and the name of the field that has it."""
    for name, attribute in block.attributes.items():
        place = f"{path}.{name}"
        if attribute.type == NUMBER:
            yield place, attribute, ""
        elif isinstance(attribute.type, ObjectType):
            for field, kind in attribute.type.attributes.items():
                if kind == NUMBER:
                    yield f"{place}.{field}", attribute, field
    for name, nested in block.blocks.items():
        yield from numbers(f"{path}.{name}", nested.block)


FOUND = [each for name, kind in installed().registry.types.items() for each in numbers(name, kind.schema)]


@pytest.mark.parametrize(
    "number", [1.5, pytest.param(float("1.0000000000000000001"), id="a float that rounds it away")]
)
@pytest.mark.parametrize(("place", "attribute", "field"), FOUND, ids=[place for place, _, _ in FOUND])
def test_a_fraction_is_refused(place: str, attribute: Attribute, field: str, number: float) -> None:
    value = {field: number} if field else number
    said = [text for validator in attribute.validators if (text := validator(value))]
    if place not in FRACTIONS | BY_A_RULE | (EQUAL_TO_ONE_OF_A_FEW if number == 1 else set()):
        assert str(number) in "".join(said)
        assert "whole number" in "".join(said) or "is not one of" in "".join(said)


@pytest.mark.parametrize(
    ("value", "is_right"),
    [
        *((1, True), (LARGEST_INT, True), (3.0, False)),
        *((0, False), (-1, False), (1.5, False), (LARGEST_INT + 1, False), (10**400, False)),
        *((True, False), ("3", False), (float("inf"), False), (1e300, False)),
    ],
)
def test_whole_numbers_that_the_jvm_holds(value: object, is_right: bool) -> None:
    assert (whole()(value) is None) is is_right
