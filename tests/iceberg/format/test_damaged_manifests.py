"""A manifest that is cut off anywhere is unreadable, never a shorter one; a wrong length ends no process."""

import pytest

from flareiac.kernel.diagnostics import Failure
from flareiac_iceberg.format.avro_decoder import AvroDecoder
from flareiac_iceberg.format.manifests import Manifest, read_entries, read_list
from tests.mutations.entrances.tables import recorded_files

FILES = recorded_files(".avro")
LIST = next(content for content in FILES if b"manifest_path" in content)
MANIFEST = next(content for content in FILES if b"manifest_path" not in content)
WHOLE = Manifest(location="m.avro", length=1, spec_id=0, deletes=False, sequence=1, live=1, partitions=())


def test_it_is_unreadable_wherever_it_is_cut() -> None:
    assert len(list(read_entries(WHOLE, MANIFEST))) > 0
    assert len(read_list("s.avro", LIST)) > 0
    mark = MANIFEST[-16:]
    for length in range(1, len(MANIFEST), 7):
        # One that ends with its header has no records, and no writer makes it.
        if not MANIFEST[:length].endswith(mark):
            with pytest.raises(Failure, match="without it"):
                list(read_entries(WHOLE, MANIFEST[:length]))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", EOFError),
        (b"\x80", EOFError),
        (b"\xff" * 11 + b"\x01", ValueError),
        (b"\x01abc", ValueError),
        (b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f", EOFError),
        (b"\x08ab", EOFError),
    ],
)
def test_a_length_is_not_believed(content: bytes, problem: type[Exception]) -> None:
    with pytest.raises(problem):
        AvroDecoder(content).read_bytes()


@pytest.mark.parametrize("number", [0, 1, -1, 63, 64, -65, 2**31, -(2**63), 2**63 - 1])
def test_numbers_are_read_as_they_are_written(number: int) -> None:
    left, found = (number << 1) ^ (number >> 63), bytearray()
    while left > 0x7F:
        found.append(left & 0x7F | 0x80)
        left >>= 7
    assert AvroDecoder(bytes([*found, left])).read_int() == number
