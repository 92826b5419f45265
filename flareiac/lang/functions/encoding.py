"""Encodings of texts and values."""

import base64
import binascii
from urllib.parse import quote_plus

from flareiac.kernel.types import ANY, STRING
from flareiac.lang.functions.define import function, takes
from flareiac.lang.functions.json_text import from_json_text, json_text
from flareiac.lang.functions.signature import FunctionError
from flareiac.lang.values import Value, string

_S = takes("text", STRING)


def _decode_base64(text: Value) -> Value:
    try:
        return string(base64.b64decode(text.raw, validate=True).decode())
    except (binascii.Error, ValueError) as error:
        reason = (
            "what it encodes is no UTF-8 text"
            if isinstance(error, UnicodeDecodeError)
            else "it is not base64"
        )
        raise FunctionError(f"the text cannot be decoded: {reason}", 0) from None


FUNCTIONS = (
    function("base64decode", (_S,), STRING, _decode_base64, "The text that base64 encodes."),
    function(
        "base64encode",
        (_S,),
        STRING,
        lambda s: string(base64.b64encode(s.raw.encode()).decode()),
        "The text's bytes in base64.",
    ),
    function("jsondecode", (_S,), ANY, lambda s: from_json_text(s.raw), "The value that JSON text spells."),
    function(
        "jsonencode",
        (takes("value", null=True),),
        STRING,
        lambda v: string(json_text(v)),
        "The value as JSON text.",
    ),
    function(
        "urlencode",
        (_S,),
        STRING,
        lambda s: string(quote_plus(s.raw, safe="")),
        "The text as it stands in a query of a URL.",
    ),
)
