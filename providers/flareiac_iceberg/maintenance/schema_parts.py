"""The schema parts that the blocks of several kinds of maintenance share. Pure."""

import re
from typing import Final

from flareiac.kernel.data import Data
from flareiac.kernel.diagnostics import did_you_mean
from flareiac.kernel.types import ANY, BOOL, NUMBER, STRING, MapType
from flareiac.sdk.on_change import ChangeClass, OnChange
from flareiac.sdk.schema import Attribute, Validator
from flareiac.sdk.validators import fields, is_duration, is_size, parse_duration, parse_size, whole

NEXT: Final = OnChange(ChangeClass.NEXT_RUN)
_SHARE: Final = re.compile(r"(\d{1,3}(?:\.\d+)?)\s*%")
DAY_MS: Final = 86_400_000


def parse_share(text: str) -> float | None:
    """``"30%"`` as 0.3, or None if the text is no share."""
    match = _SHARE.fullmatch(text.strip())
    value = float(match[1]) / 100 if match else None
    return value if value is not None and value <= 1 else None


def is_share(value: Data) -> str | None:
    if isinstance(value, str) and parse_share(value) is not None:
        return None
    return f'{value!r} is not a share. Write a percentage from "0%" to "100%", such as "30%".'


def some_size(value: Data) -> str | None:
    return is_size(value) or (None if parse_size(value) else "It must be more than nothing.")


def some_time(value: Data) -> str | None:
    return is_duration(value) or (None if parse_duration(value) else "It must be more than nothing.")


def entries(**validators: Validator) -> Validator:
    """An object with these entries, none of them required. (A type would silently drop an entry that it
    does not know.)
    """

    given = fields(**validators)

    def check(value: Data) -> str | None:
        if not isinstance(value, dict):
            return f"It is an object with {' and '.join(validators)}."
        unknown = next((name for name in value if name not in validators), None)
        if unknown is not None:
            return (
                f'There is no "{unknown}" here: it takes '
                f"{' and '.join(validators)}.{did_you_mean(unknown, validators)}"
            )
        return given(value)

    return check


def duration(description: str, default: str | None = None, validator: Validator = is_duration) -> Attribute:
    return Attribute(
        type=STRING,
        description=description,
        default=default,
        validators=(validator,),
        on_change=NEXT,
        unit="duration",
    )


def size(description: str, default: str | None = None) -> Attribute:
    return Attribute(
        type=STRING,
        description=description,
        default=default,
        validators=(some_size,),
        on_change=NEXT,
        unit="size",
    )


def number(description: str, default: int | None = None, low: int = 1) -> Attribute:
    return Attribute(
        type=NUMBER, description=description, default=default, validators=(whole(low),), on_change=NEXT
    )


def always(every: str | None = None) -> dict[str, Attribute]:
    return {
        "enabled": Attribute(
            type=BOOL, description="Whether this task is planned.", default=True, on_change=NEXT
        ),
        "every": duration("Minimum time between two runs.", every, some_time),
    }


def partial(description: str, **bounds: Validator) -> Attribute:
    return Attribute(type=ANY, description=description, validators=(entries(**bounds),), on_change=NEXT)


OPTIONS: Final = Attribute(
    type=MapType(STRING),
    description="Additional options of Iceberg's action, by Iceberg's names.",
    on_change=NEXT,
)
