"""The offsets of a stream of a table in a checkpoint: a snapshot and a file in it. Any query can begin
there.
"""

from typing import Any

from flareiac.kernel.data import parse_json
from flareiac_spark.sources.offsets import CarryOver, Offsets, SourceOnDisk, Write
from flareiac_spark_runtime.storage import Place


class TableOffsets(Offsets):
    """See ``Offsets``."""

    carry_over = CarryOver.POSITION
    begins_at_times = True
    named = "tables"
    read_again = (
        "reads its table from the oldest snapshot that is left; rows appended by expired ones are not read"
    )

    def is_own(self, offset: Any) -> bool:
        match offset:
            case {"snapshot_id": int()}:
                return True
            case _:
                return False

    def is_own_log(self, log: Place) -> bool:
        return (log / "offsets").is_dir()

    def describe(self, source: SourceOnDisk, log: Place) -> str:
        offset = parse_json(super().describe(source, log))
        whole = ", with what was there before it" if offset.get("scan_all_files") else ""
        return f"up to file {offset.get('position')} of snapshot {offset['snapshot_id']}{whole}"

    def goes_on(self, source: SourceOnDisk) -> str:
        try:
            offset = parse_json(source.offset or "null")
            return f"table from snapshot {int(offset['snapshot_id'])} on (position {int(offset['position'])})"
        except (ValueError, KeyError, TypeError):
            return "a table of which nothing was read"

    def copy_log(self, old: Place, new: Place, offset: Any, write: Write) -> None:
        del offset
        first = old / "offsets" / "0"
        if first.exists():
            write(new / "offsets" / "0", first.read_text(encoding="utf-8"))

    def begin_at(self, log: Place, offset: str, write: Write) -> None:
        write(log / "offsets" / "0", offset)
