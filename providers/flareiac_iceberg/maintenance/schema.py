"""What users may write about a table's upkeep: the six blocks, and the engine that does the work."""

import re
from typing import Final

from flareiac.kernel.data import Data
from flareiac.kernel.diagnostics import did_you_mean
from flareiac.kernel.types import ANY, BOOL, NUMBER, STRING, ListType, MapType, RefType
from flareiac.sdk.schema import Attribute, Block, NestedBlock, Nesting, Validator
from flareiac.sdk.validators import is_duration, is_size, not_empty, one_of, parse_duration, parse_size

_NEXT: Final = "takes effect with the next run"
_SHARE: Final = re.compile(r"(\d{1,3}(?:\.\d+)?)\s*%")
_MOST: Final = 2**31 - 1
DAY_MS: Final = 86_400_000


def parse_share(text: str) -> float | None:
    """``"30%"`` as 0.3, or None if the text is no share."""
    match = _SHARE.fullmatch(text.strip())
    value = float(match[1]) / 100 if match else None
    return value if value is not None and value <= 1 else None


def _is_share(value: Data) -> str | None:
    if isinstance(value, str) and parse_share(value) is not None:
        return None
    return f'{value!r} is not a share. Write a percentage from "0%" to "100%", such as "30%".'


def _whole(low: int) -> Validator:
    def check(value: Data) -> str | None:
        if isinstance(value, int | float) and value > _MOST:
            return f"{value} is more than {_MOST:,}."
        if isinstance(value, bool) or not isinstance(value, int | float) or value < low or value != int(value):
            return f"{value} is not a whole number from {low}."
        return None

    return check


def _ratio(value: Data) -> str | None:
    return None if 0 < value <= 1 else f"{value} is out of range: it must be above 0 and at most 1."


def _some_size(value: Data) -> str | None:
    return is_size(value) or (None if parse_size(value) else "It must be more than nothing.")


def _some_time(value: Data) -> str | None:
    return is_duration(value) or (None if parse_duration(value) else "It must be more than nothing.")


def _a_day_at_least(value: Data) -> str | None:
    wrong = is_duration(value)
    if wrong or (parse_duration(value) or 0) >= DAY_MS:
        return wrong
    return f'"{value}" is less than "24h". A writer that is at work has files that no snapshot names yet; younger files would be theirs.'


def _entries(**validators: Validator) -> Validator:
    """An object with these entries, none of them required. (A type would drop an entry that it does not know without a word.)"""

    def check(value: Data) -> str | None:
        if not isinstance(value, dict):
            return f"It is an object with {' and '.join(validators)}."
        unknown = next((name for name in value if name not in validators), None)
        if unknown is not None:
            return f'There is no "{unknown}" here: it takes {" and ".join(validators)}.{did_you_mean(unknown, validators)}'
        wrong = (f"{name}: {text}" for name, item in validators.items() if value.get(name) is not None and (text := item(value[name])))
        return next(wrong, None)

    return check


def _duration(description: str, default: str | None = None, validator: Validator = is_duration) -> Attribute:
    return Attribute(type=STRING, description=description, default=default, validators=(validator,), effect=_NEXT, unit="duration")


def _size(description: str, default: str | None = None) -> Attribute:
    return Attribute(type=STRING, description=description, default=default, validators=(_some_size,), effect=_NEXT, unit="size")


def _number(description: str, default: int | None = None, low: int = 1) -> Attribute:
    return Attribute(type=NUMBER, description=description, default=default, validators=(_whole(low),), effect=_NEXT)


def _always(every: str | None = None) -> dict[str, Attribute]:
    return {
        "enabled": Attribute(type=BOOL, description="Whether plans take notice of this block.", default=True, effect=_NEXT),
        "every": _duration("The least time between two runs.", every, _some_time),
    }


def _partial(description: str, **entries: Validator) -> Attribute:
    return Attribute(type=ANY, description=description, validators=(_entries(**entries),), effect=_NEXT)


_OPTIONS: Final = Attribute(type=MapType(STRING), description="Further options of Iceberg's action, by Iceberg's names.", effect=_NEXT)

COMPACTION: Final = Block(
    description="Rewrites small files, and files with many deleted rows, into files of the wanted size.",
    attributes={
        **_always(),
        "strategy": Attribute(
            type=STRING,
            description="binpack (as they come), sort (by the table's order or sort_by) or zorder (by zorder_by).",
            default="binpack",
            validators=(one_of("binpack", "sort", "zorder"),),
            effect=_NEXT,
        ),
        "sort_by": Attribute(type=ANY, description='With strategy "sort": an order other than the table\'s own.', effect=_NEXT),
        "zorder_by": Attribute(
            type=ListType(STRING), description='With strategy "zorder": the columns.', validators=(not_empty,), effect=_NEXT
        ),
        "target_file_size": _size("The wanted size. Default: the table's write.target-file-size-bytes, else 512MB."),
        "min_file_size": _size("Smaller files are small. Default: 75% of the wanted size."),
        "max_file_size": _size("Larger files are split. Default: 180% of the wanted size."),
        "min_input_files": _number("So many small files of one partition are worth a rewrite.", 5),
        "where": Attribute(
            type=STRING,
            description="Spark SQL over the table's columns: only files that may have such rows, such as cold partitions of a table that "
            "merges write.",
            validators=(not_empty,),
            effect=_NEXT,
        ),
        "delete_ratio": Attribute(
            type=NUMBER,
            description="A file of which this part of the rows is deleted is rewritten.",
            default=0.3,
            validators=(_ratio,),
            effect=_NEXT,
        ),
        "delete_file_threshold": _number("A file with so many delete files is rewritten. Default: not a reason."),
        "max_file_group_size": _size("The most that is rewritten in one piece.", "100GB"),
        "max_concurrent_groups": _number("Pieces that are rewritten at the same time.", 5),
        "partial_progress": _partial(
            "Commits groups of files as they get ready, instead of all in one: { max_commits = 10, max_failed_commits = 10 }.",
            max_commits=_whole(1),
            max_failed_commits=_whole(0),
        ),
        "rewrite_all": Attribute(
            type=BOOL, description="Rewrites every file, whatever its size; needs every.", default=False, effect=_NEXT
        ),
        "run_if": Attribute(
            type=ANY,
            description="Due when any of these is true of the small files (and of those with many deleted rows): "
            '{ small_files_over = 20, small_file_share_over = "30%" }. Default: the first of these.',
            validators=(_entries(small_files_over=_whole(0), small_file_share_over=_is_share),),
            effect=_NEXT,
        ),
        "options": _OPTIONS,
    },
)
SNAPSHOT_EXPIRY: Final = Block(
    description="Forgets old snapshots and deletes the files that only they need. What a declared reader or writer still needs stays.",
    attributes={
        **_always(),
        "older_than": _duration("Younger snapshots stay.", "5d"),
        "retain_last": _number("So many of the newest snapshots of each branch stay, whatever their age.", 1),
        "min_snapshots_to_expire": _number("Due when at least so many would go.", 1),
        "hold_readers_for": _duration("A reader that keeps snapshots and has not moved for longer is warned about.", "7d"),
    },
)
MANIFEST_REWRITE: Final = Block(
    description="Rewrites many small manifests into few.",
    attributes={
        **_always(),
        "run_if": Attribute(
            type=ANY,
            description='Due when all of these are true. Default: { manifests_over = 50, mean_size_under = "1MB" }.',
            validators=(_entries(manifests_over=_whole(0), mean_size_under=_some_size),),
            effect=_NEXT,
        ),
    },
)
DELETE_REWRITE: Final = Block(
    description="Rewrites small position delete files, and drops deletes of rows that are gone.",
    attributes={
        **_always(),
        "target_file_size": _size("The wanted size. Default: the table's write.delete.target-file-size-bytes, else 64MB."),
        "min_file_size": _size("Smaller files are small. Default: 75% of the wanted size."),
        "max_file_size": _size("Larger files are split. Default: 180% of the wanted size."),
        "min_input_files": _number("So many small delete files of one partition are worth a rewrite.", 5),
        "max_file_group_size": _size("The most that is rewritten in one piece.", "100GB"),
        "max_concurrent_groups": _number("Pieces that are rewritten at the same time.", 5),
        "partial_progress": _partial(
            "Commits groups of files as they get ready, instead of all in one: { max_commits = 10 }.", max_commits=_whole(1)
        ),
        "options": _OPTIONS,
    },
)
ORPHAN_REMOVAL: Final = Block(
    description="Deletes files below the table's location that no snapshot names, if all are proven to be left by writers of this table.",
    attributes={
        **_always("7d"),
        "older_than": _duration("Younger files stay; at least 24h. Files of a batch that is at work stay too.", "3d", _a_day_at_least),
        "dry_run": Attribute(type=BOOL, description="Counts them and deletes nothing.", default=False, effect=_NEXT),
        "prefix_mismatch": Attribute(
            type=STRING,
            description="Where a place is written in two ways (s3, s3a): error, ignore such files, or delete them.",
            default="error",
            validators=(one_of("error", "ignore", "delete"),),
            effect=_NEXT,
        ),
    },
)
RETENTION: Final = Block(
    description="Deletes old rows: by whole partitions where the table is partitioned by time of the column.",
    attributes={
        **_always(),
        "column": Attribute(
            type=STRING, description="When a row is from: timestamptz, timestamp_ntz (taken as UTC) or date.", required=True, effect=_NEXT
        ),
        "keep": Attribute(
            type=STRING,
            description="Rows that are older go, in whole partitions (without them in whole hours).",
            required=True,
            validators=(_some_time,),
            effect="loses data with the next run",
            unit="duration",
        ),
    },
)

BLOCKS: Final = {
    name: NestedBlock(nesting=Nesting.SINGLE, block=block)
    for name, block in {
        "compaction": COMPACTION,
        "snapshot_expiry": SNAPSHOT_EXPIRY,
        "manifest_rewrite": MANIFEST_REWRITE,
        "delete_rewrite": DELETE_REWRITE,
        "orphan_removal": ORPHAN_REMOVAL,
        "retention": RETENTION,
    }.items()
}
NAMES: Final = tuple(BLOCKS)
ENGINE: Final = Attribute(
    type=RefType(("engine",)),
    description="Where work on the table's data is done. Default: the only engine declared.",
    effect=_NEXT,
    only_with=NAMES,
)
