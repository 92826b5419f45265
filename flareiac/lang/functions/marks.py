"""The sensitive mark: set, removed, asked for."""

from dataclasses import replace

from flareiac.kernel.types import ANY, BOOL
from flareiac.lang.functions.define import function, takes
from flareiac.lang.values import Value, boolean

_VALUE = takes("value", null=True, raw=True)


def _plain(value: Value) -> Value:
    return replace(value, sensitive=False)


FUNCTIONS = (
    function(
        "ephemeralasnull",
        (_VALUE,),
        ANY,
        lambda v: v,
        "The value with null in place of what is ephemeral.",
    ),
    function(
        "issensitive",
        (_VALUE,),
        BOOL,
        lambda v: boolean(v.sensitive),
        "Whether a value is marked as sensitive.",
    ),
    function(
        "nonsensitive",
        (_VALUE,),
        ANY,
        _plain,
        "The value without the sensitive mark: it may be shown from here on.",
    ),
    function(
        "sensitive",
        (_VALUE,),
        ANY,
        lambda v: v.with_sensitive(),
        "The value marked as sensitive: it is never shown.",
    ),
)
