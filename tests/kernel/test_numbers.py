"""Numbers keep all of their digits through documents; those of earlier versions stay what they were."""

import json
import random
from decimal import Decimal
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flareiac.kernel.data import canonical, digest, read_json, write_json
from flareiac.kernel.numbers import Number, exact_number, number_text, read_number

TEXTS: Final = st.from_regex(
    r"-?(0|[1-9][0-9]{0,40})\.[0-9]{1,40}(e(-[0-9]{1,3}|[0-9]{1,2}))?", fullmatch=True
)
STYLES: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"indent": 2},
    {"compact": True},
    {"compact": True, "ensure_ascii": False},
)


def is_same(left: Number, right: Number) -> bool:
    return type(left) is type(right) and left == right


@given(TEXTS.map(Decimal), st.sampled_from(STYLES))
def test_a_number_comes_back_from_a_document(value: Decimal, style: dict[str, Any]) -> None:
    number = exact_number(value)
    whole = {"a": [number, {"b": number}], "é": f"{number}"}
    found = read_json(write_json(whole, **style))
    assert found == whole
    assert is_same(found["a"][0], number)
    assert Decimal(number_text(number)) == value


@given(TEXTS)
def test_equal_numbers_have_one_text_however_they_are_written(text: str) -> None:
    value = Decimal(text)
    longer = Decimal(f"{value:f}" + ("0" * 30 if "." in f"{value:f}" else ".000"))
    assert longer == value
    assert canonical(exact_number(longer)) == canonical(exact_number(value))
    assert is_same(exact_number(Decimal(str(read_number(text)))), exact_number(value))


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(STYLES))
def test_what_earlier_versions_wrote_is_the_same_float_with_the_same_digest(
    number: float, style: dict[str, Any]
) -> None:
    written = json.dumps({"at": number})
    found = read_json(written)
    assert is_same(found["at"], number)
    assert write_json(found) == written
    assert digest(found) == digest({"at": number})


def test_short_texts_are_floats_only_where_no_digit_is_lost() -> None:
    random_ = random.Random(30)
    for _ in range(20_000):
        digits = "".join(random_.choices("0123456789", k=random_.randint(1, 9)))
        text = f"{random_.choice(('', '-'))}{random_.randint(0, 9)}.{digits}e{random_.randint(-400, 300)}"
        number = read_number(text)
        assert Decimal(str(number)) == Decimal(text), text


@pytest.mark.parametrize(
    "text",
    [
        *("NaN", "Infinity", "-Infinity", "1e999", "1.5e999", "1e999999999999999999999", "1e-999999999"),
        *("1.5e-999999999999999999999", "0." + "1" * 20_000, "1.0e-5000"),
    ],
)
def test_what_no_document_of_ours_holds_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="number"):
        read_number(text)


def test_a_text_that_looks_like_a_number_stays_a_text() -> None:
    whole = [Decimal("0.1000000000000000000001"), "0.1000000000000000000001", '"', "\\"]
    assert write_json(whole, compact=True) == (
        '[0.1000000000000000000001,"0.1000000000000000000001","\\"","\\\\"]'
    )


def test_what_has_no_form_is_refused() -> None:
    with pytest.raises(TypeError, match="set is no plain data"):
        write_json({"a": {1}})
