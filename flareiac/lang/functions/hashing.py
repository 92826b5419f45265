"""Hashes of texts: of their UTF-8 bytes."""

import base64
import hashlib

from flareiac.kernel.types import STRING
from flareiac.lang.functions.define import function, takes
from flareiac.lang.functions.signature import Builtin
from flareiac.lang.values import Value, string

_S = takes("text", STRING)


def _hex(algorithm: str) -> Builtin:
    def call(s: Value) -> Value:
        return string(hashlib.new(algorithm, s.raw.encode(), usedforsecurity=False).hexdigest())

    return function(
        algorithm, (_S,), STRING, call, f"The {algorithm.upper()} of a text in hexadecimal digits."
    )


def _base64(algorithm: str) -> Builtin:
    def call(s: Value) -> Value:
        return string(base64.b64encode(hashlib.new(algorithm, s.raw.encode()).digest()).decode())

    return function(
        f"base64{algorithm}", (_S,), STRING, call, f"The {algorithm.upper()} of a text in base64."
    )


FUNCTIONS = (
    *(_hex(name) for name in ("md5", "sha1", "sha256", "sha512")),
    _base64("sha256"),
    _base64("sha512"),
)
