"""Encodings of texts and values."""

import base64
import binascii
import codecs
import uuid
import zlib
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote_plus

from flareiac.kernel.types import ANY, STRING
from flareiac.lang.functions.csv_text import from_csv
from flareiac.lang.functions.define import function, takes
from flareiac.lang.functions.json_text import from_json_text, json_text
from flareiac.lang.functions.signature import FunctionError
from flareiac.lang.functions.yaml_text import from_yaml
from flareiac.lang.functions.yaml_writer import yaml_text
from flareiac.lang.values import Value, string

_S = takes("text", STRING)
_ENCODING: Final = takes("encoding", STRING)
_OF_PYTHON: Final = frozenset(
    {
        "idna",
        "mbcs",
        "oem",
        "palmos",
        "punycode",
        "raw_unicode_escape",
        "undefined",
        "unicode_escape",
        "utf_8_sig",
    }
)
"""Codecs of texts that have no name in the registry of IANA."""
_NAMESPACES: Final[Mapping[str, uuid.UUID]] = {
    "dns": uuid.NAMESPACE_DNS,
    "url": uuid.NAMESPACE_URL,
    "oid": uuid.NAMESPACE_OID,
    "x500": uuid.NAMESPACE_X500,
}


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


def _gzip(text: Value) -> Value:
    content = text.raw.encode()
    deflate = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    body = deflate.compress(content) + deflate.flush()
    # Neither a time nor a file system in the header (RFC 1952), so that it is the same on each machine
    head = b"\x1f\x8b\x08" + bytes(6) + b"\xff"
    tail = zlib.crc32(content).to_bytes(4, "little") + (len(content) % 2**32).to_bytes(4, "little")
    return string(base64.b64encode(head + body + tail).decode())


def _codec(encoding: Value) -> str:
    try:
        codec = codecs.lookup(encoding.raw)
        "".encode(codec.name)
    except (LookupError, ValueError):
        raise FunctionError(f'"{encoding.raw}" is not an encoding of texts such as UTF-16LE', 1) from None
    name = codec.name.replace("-", "_")
    if name in _OF_PYTHON:
        raise FunctionError(f'"{encoding.raw}" is not an encoding that IANA lists', 1)
    return name


def _encode_text(text: Value, encoding: Value) -> Value:
    codec = _codec(encoding)
    try:
        encoded = text.raw.encode("utf_16_be" if codec == "utf_16" else codec)
    except UnicodeError:
        raise FunctionError(f"the text has characters that {encoding.raw} does not have", 0) from None
    # Python would take the order of this machine's bytes
    marked = codecs.BOM_UTF16_BE + encoded if codec == "utf_16" else encoded
    return string(base64.b64encode(marked).decode())


def _decode_text(text: Value, encoding: Value) -> Value:
    codec = _codec(encoding)
    try:
        content = base64.b64decode(text.raw, validate=True)
        marked = content.startswith((codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE))
        # Without a mark Python would take the order of this machine's bytes; RFC 2781 says the big end first
        return string(content.decode("utf_16_be" if codec == "utf_16" and not marked else codec))
    except UnicodeError:
        raise FunctionError(f"what the text encodes is not {encoding.raw}", 0) from None
    except (binascii.Error, ValueError):
        raise FunctionError("the text is not base64", 0) from None


def _uuid(namespace: Value, name: Value) -> Value:
    try:
        space = _NAMESPACES.get(namespace.raw) or uuid.UUID(namespace.raw)
    except ValueError:
        raise FunctionError(f'"{namespace.raw}" is not dns, url, oid, x500 or a UUID', 0) from None
    return string(str(uuid.uuid5(space, name.raw)))


FUNCTIONS = (
    function("base64decode", (_S,), STRING, _decode_base64, "The text that base64 encodes."),
    function(
        "base64encode",
        (_S,),
        STRING,
        lambda s: string(base64.b64encode(s.raw.encode()).decode()),
        "The text's bytes in base64.",
    ),
    function(
        "base64gzip",
        (_S,),
        STRING,
        _gzip,
        "The text's bytes, compressed with gzip, in base64. Another build of zlib may compress them to other "
        "bytes, as Terraform does.",
    ),
    function(
        "csvdecode",
        (_S,),
        ANY,
        lambda s: from_csv(s.raw),
        "The rows of a text in CSV, as objects with the names in its first line.",
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
        "textdecodebase64",
        (_S, _ENCODING),
        STRING,
        _decode_text,
        'The text that base64 encodes in an encoding such as "UTF-16LE".',
    ),
    function(
        "textencodebase64",
        (_S, _ENCODING),
        STRING,
        _encode_text,
        'The text\'s bytes in an encoding such as "UTF-16LE", in base64.',
    ),
    function(
        "urlencode",
        (_S,),
        STRING,
        lambda s: string(quote_plus(s.raw, safe="")),
        "The text as it stands in a query of a URL.",
    ),
    function(
        "uuidv5",
        (takes("namespace", STRING), takes("name", STRING)),
        STRING,
        _uuid,
        "The UUID of a name in a namespace: dns, url, oid, x500 or a UUID (RFC 9562, version 5).",
    ),
    function(
        "yamldecode",
        (_S,),
        ANY,
        lambda s: from_yaml(s.raw),
        "The value that one document in YAML spells, with its aliases and merges.",
    ),
    function(
        "yamlencode",
        (takes("value", null=True),),
        STRING,
        lambda v: string(yaml_text(v)),
        "The value as YAML, with names and texts in quotes.",
    ),
)
