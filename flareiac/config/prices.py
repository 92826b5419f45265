"""A file of prices: attributes of HCL with plain values. Pure."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.kernel.sources import Source
from flareiac.lang.evaluate import evaluate
from flareiac.lang.parse import parse_file
from flareiac.lang.scope import Scope
from flareiac.lang.syntax import AttributeNode, literal_text
from flareiac.model.costs import Prices

_CURRENCY: Final = "currency"
_NUMBERS: Final = ("storage_gib_month", "requests_1000", "core_hour")
_CORES: Final = "cores"
_TAKES: Final = (_CURRENCY, *_NUMBERS, _CORES)
_LONGEST_CURRENCY: Final = 16
_LARGEST: Final = Decimal(10) ** 12
_MOST_PLACES: Final = 12


def prices_in(source: Source, diagnostics: Diagnostics) -> Prices | None:
    """The prices of a file; None where something in it is wrong, which has then been reported."""
    wrong = Diagnostics()
    body = parse_file(source, wrong, cache=False)
    attributes = {attribute.name: attribute for attribute in body.attributes}
    for block in body.blocks:
        why = "A file of prices holds no blocks. Write name = value, one on a line."
        wrong.error(codes.INVALID_PRICES, why, subject=block.header_span)
    for attribute in body.attributes:
        if attribute.name not in _TAKES:
            guess = did_you_mean(attribute.name, _TAKES)
            why = f'There is no price "{attribute.name}". A file of prices takes {", ".join(_TAKES)}.{guess}'
            wrong.error(codes.INVALID_PRICES, why, subject=attribute.name_span)
    if not wrong.has_errors:
        for name in (_CURRENCY, *_NUMBERS):
            if name not in attributes:
                wrong.error(
                    codes.INVALID_PRICES, f"{source.path} has no {name}. Write 0 for what costs nothing."
                )
    known = {name: attribute for name, attribute in attributes.items() if name in _TAKES}
    currency = _text(known[_CURRENCY], wrong) if _CURRENCY in known else ""
    numbers = {name: _number(known[name], wrong) for name in (*_NUMBERS, _CORES) if name in known}
    diagnostics.extend(wrong)
    if wrong.has_errors:
        return None
    return Prices(
        currency=currency,
        storage=numbers["storage_gib_month"],
        requests=numbers["requests_1000"],
        core_hour=numbers["core_hour"],
        cores=numbers.get(_CORES),
    )


def _text(attribute: AttributeNode, wrong: Diagnostics) -> str:
    text = literal_text(attribute.expr)
    if text is None or not text.strip() or len(text) > _LONGEST_CURRENCY or not text.isprintable():
        why = f'{attribute.name} takes a plain text of at most {_LONGEST_CURRENCY} characters, such as "EUR".'
        wrong.error(codes.INVALID_PRICES, why, subject=attribute.expr.span)
        return ""
    return text


def _number(attribute: AttributeNode, wrong: Diagnostics) -> Decimal:
    complaints = Diagnostics()
    value = evaluate(attribute.expr, Scope(), complaints).raw
    if complaints.has_errors:
        wrong.extend(complaints)
        return Decimal(0)
    for why in _complaints(attribute.name, value):
        wrong.error(codes.INVALID_PRICES, why, subject=attribute.expr.span)
        return Decimal(0)
    number: Decimal = value
    return number


def _complaints(name: str, value: object) -> Iterator[str]:
    if not isinstance(value, Decimal):
        quoted = " A number is written without quotes." if isinstance(value, str) else ""
        yield f"{name} takes a number.{quoted}"
    elif value < 0:
        yield f"{name} must not be negative."
    elif name == _CORES and value == 0:
        yield "cores must be more than 0; leave it out where it is not known."
    elif value > _LARGEST or -int(value.as_tuple().exponent) > _MOST_PLACES:
        yield f"{name} has at most 12 digits before its point and {_MOST_PLACES} behind it."
