"""The entrances of Iceberg's own files: metadata, lists of manifests and manifests, as Spark wrote them."""

import json
import random
import tarfile
from functools import cache
from pathlib import Path
from typing import Final

from flareiac_iceberg.catalogs.metadata_files import load
from flareiac_iceberg.format.age import made_ms
from flareiac_iceberg.format.manifests import Manifest, read_entries, read_list
from flareiac_iceberg.format.metadata import TableFile
from flareiac_iceberg.format.snapshots import live
from tests.compatibility.recording import ARCHIVES, RUNNING
from tests.mutations.documents import damage_document
from tests.mutations.entrances.entrance import Entrance, Gate, answer
from tests.mutations.mutate import ANY_TEXT, damaged


@cache
def recorded_files(end: str) -> tuple[bytes, ...]:
    """The files of the recorded project with names that end so."""
    (archive,) = ARCHIVES.glob(f"*-{RUNNING}.tar.xz")
    with tarfile.open(archive) as packed:
        found = [item for item in packed.getmembers() if item.name.endswith(end) and item.isfile()]
        return tuple(packed.extractfile(item).read() for item in found)  # type: ignore[union-attr]  # files alone


def bits(content: bytes, choose: random.Random) -> bytes:
    """A binary file with other bytes in it, a part left out or doubled, or cut."""
    found = bytearray(content)
    for _ in range(choose.choice((1, 1, 1, 3, 20))):
        at = choose.randrange(len(found))
        match choose.randrange(5):
            case 0:
                del found[at : at + choose.choice((1, 2, 30))]
            case 1:
                found[at:at] = found[at : at + choose.choice((1, 2, 30))]
            case 2:
                found[at : at + 1] = choose.choice((b"\xff" * 9 + b"\x01", b"\x01", b"\x00", b"\x80" * 20))
            case _:
                found[at] = choose.randrange(256)
        if not found:
            return b""
    return bytes(found[: choose.randrange(len(found))] if choose.random() < 0.1 else found)


def _open_metadata(root: Path) -> Gate:
    known = recorded_files(".metadata.json")
    documents = [json.loads(content) for content in known]
    place = root / "00001-x.metadata.json"

    def make(choose: random.Random) -> bytes:
        if choose.random() < 0.3:
            return damaged(choose.choice(known), choose, choose.sample(known, 2), ANY_TEXT)[1]
        document = json.loads(choose.choice(known))
        damage_document(document, choose, documents)
        return json.dumps(document).encode(errors="surrogatepass")

    def enter(content: bytes) -> None:
        place.write_bytes(content)
        location = f"file://{place}"
        metadata = answer(lambda: load(location))
        if metadata is not None:
            file = TableFile(location, metadata)
            file.read()
            made_ms(location, metadata)
            live(metadata)

    return Gate(make=make, enter=enter)


def _open_manifests(_root: Path) -> Gate:
    lists, manifests = _split(recorded_files(".avro"))
    whole = Manifest(
        location="file:///m.avro", length=1, spec_id=0, deletes=False, sequence=1, live=1, partitions=()
    )

    def make(choose: random.Random) -> tuple[bool, bytes]:
        is_list = choose.random() < 0.3
        return is_list, bits(choose.choice(lists if is_list else manifests), choose)

    def enter(given: tuple[bool, bytes]) -> None:
        is_list, content = given
        if is_list:
            answer(lambda: read_list("file:///snap.avro", content))
        else:
            answer(lambda: list(read_entries(whole, content)))

    return Gate(make=make, enter=enter)


def _split(files: tuple[bytes, ...]) -> tuple[list[bytes], list[bytes]]:
    lists = [content for content in files if b"manifest_path" in content]
    return lists, [content for content in files if content not in lists]


ENTRANCES: Final = (
    Entrance(name="metadata-files", share=80_000, open=_open_metadata),
    Entrance(name="manifest-files", share=100_000, open=_open_manifests),
)
