"""The content of a manifest list, made by Iceberg's library without its access to files: that would need
pyarrow.
"""

from io import BytesIO
from typing import Literal

from pyiceberg.io import InputFile, OutputFile, OutputStream
from pyiceberg.manifest import write_manifest_list


class _Kept(BytesIO):
    """Bytes that can still be read after the library has closed what it wrote to."""

    def close(self) -> None:
        pass


class _Memory(OutputFile):
    """One file in memory."""

    def __init__(self) -> None:
        super().__init__("memory")
        self.stream = _Kept()

    def __len__(self) -> int:
        return len(self.stream.getvalue())

    def exists(self) -> bool:
        return False

    def to_input_file(self) -> InputFile:
        raise NotImplementedError("the library only writes this file")

    def create(self, overwrite: bool = False) -> OutputStream:
        del overwrite
        return self.stream


def no_manifests(snapshot_id: int, sequence: int, version: Literal[1, 2]) -> bytes:
    """The manifest list of a snapshot without files, in this version of the format."""
    output = _Memory()
    with write_manifest_list(version, output, snapshot_id, None, sequence, "null"):
        pass
    return output.stream.getvalue()
