"""The readers of what a step changes, in words and as JSON."""

from collections.abc import Sequence

from flareiac.kernel.data import Json
from flareiac.sdk.changes import Reader
from flareiac.sdk.owner import Owner


def readers_text(readers: Sequence[Reader]) -> str:
    """``Read by consumer.bi (BI <#bi>): city; job.daily``; empty where there are none."""
    return f"Read by {'; '.join(map(reader_text, readers))}." if readers else ""


def reader_text(reader: Reader) -> str:
    """One of them: who it is, whom to ask, and the columns that it is known to read."""
    owner = f" ({reader.owner.text})" if reader.owner is not None else ""
    columns = f": {', '.join(reader.columns)}" if reader.columns else ""
    doubt = "" if reader.is_certain else ", perhaps not these columns"
    former = ", as declared until now" if reader.is_former else ""
    return f"{reader.address}{owner}{columns}{doubt}{former}"


def readers_json(readers: Sequence[Reader]) -> list[Json]:
    """With every key of each, so that those who read it need not ask."""
    return [
        {
            "address": reader.address,
            "owner": owner_json(reader.owner),
            "columns": list(reader.columns),
            "certain": reader.is_certain,
            "declared": not reader.is_former,
        }
        for reader in readers
    ]


def owner_json(owner: Owner | None) -> Json:
    """``name`` and ``contact``; null without an owner."""
    return None if owner is None else {"name": owner.name, "contact": owner.contact}
