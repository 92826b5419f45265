"""Decodes Avro's binary form from bytes, and never past their end. Pure.

The library's compiled decoder trusts every length that a file has: on a damaged one it ends the process, or
returns what lies beside the bytes in memory.
"""

import struct
from typing import Final

_FLOAT: Final = struct.Struct("<f")
_DOUBLE: Final = struct.Struct("<d")
_LONGEST: Final = 70
"""Bits of a number of ten bytes, which is the longest that Avro writes."""


class AvroDecoder:
    """The methods of the library's own ``BinaryDecoder`` that its readers call. Every method raises
    ``EOFError`` where the bytes end too early, and ``ValueError`` for what is no Avro.
    """

    __slots__ = ("_at", "_content")

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def tell(self) -> int:
        """The number of bytes that have been read."""
        return self._at

    def read(self, n: int) -> bytes:
        start = self._at
        self.skip(n)
        return self._content[start : self._at]

    def skip(self, n: int) -> None:
        end = self._at + n
        if n < 0:
            raise ValueError(f"a length of {n} bytes")
        if end > len(self._content):
            raise EOFError(f"it ends {end - len(self._content)} bytes too early")
        self._at = end

    def read_int(self) -> int:
        content, at, number, shift = self._content, self._at, 0, 0
        try:
            while (part := content[at]) & 0x80:
                number |= (part & 0x7F) << shift
                shift += 7
                at += 1
        except IndexError:
            raise EOFError("it ends within a number") from None
        if shift >= _LONGEST:
            raise ValueError("a number of more than ten bytes")
        number |= part << shift
        self._at = at + 1
        return (number >> 1) ^ -(number & 1)

    def read_ints(self, n: int) -> tuple[int, ...]:
        return tuple(self.read_int() for _ in range(n))

    def read_int_bytes_dict(self, n: int, dest: dict[int, bytes]) -> None:
        for _ in range(n):
            key = self.read_int()
            dest[key] = self.read_bytes()

    def read_boolean(self) -> bool:
        return self.read(1) == b"\x01"

    def read_float(self) -> float:
        return float(_FLOAT.unpack(self.read(4))[0])

    def read_double(self) -> float:
        return float(_DOUBLE.unpack(self.read(8))[0])

    def read_bytes(self) -> bytes:
        return self.read(self.read_int())

    def read_utf8(self) -> str:
        return self.read_bytes().decode()

    def skip_int(self) -> None:
        self.read_int()

    def skip_boolean(self) -> None:
        self.skip(1)

    def skip_float(self) -> None:
        self.skip(4)

    def skip_double(self) -> None:
        self.skip(8)

    def skip_bytes(self) -> None:
        self.skip(self.read_int())

    def skip_utf8(self) -> None:
        self.skip_bytes()
