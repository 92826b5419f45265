"""What users may write about a table's maintenance: the six blocks, and the engine that does the work."""

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
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or value < low
            or value != int(value)
        ):
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
    return (
        f'"{value}" is less than "24h". A writer that is at work has files that no snapshot names yet; '
        "younger files would be theirs."
    )


def _entries(**validators: Validator) -> Validator:
    """An object with these entries, none of them required. (A type would drop an entry that it does not know
    without a word.)
    """

    def check(value: Data) -> str | None:
        if not isinstance(value, dict):
            return f"It is an object with {' and '.join(validators)}."
        unknown = next((name for name in value if name not in validators), None)
        if unknown is not None:
            return (
                f'There is no "{unknown}" here: it takes '
                f"{' and '.join(validators)}.{did_you_mean(unknown, validators)}"
            )
        wrong = (
            f"{name}: {text}"
            for name, item in validators.items()
            if value.get(name) is not None and (text := item(value[name]))
        )
        return next(wrong, None)

    return check


def _duration(description: str, default: str | None = None, validator: Validator = is_duration) -> Attribute:
    return Attribute(
        type=STRING,
        description=description,
        default=default,
        validators=(validator,),
        effect=_NEXT,
        unit="duration",
    )


def _size(description: str, default: str | None = None) -> Attribute:
    return Attribute(
        type=STRING,
        description=description,
        default=default,
        validators=(_some_size,),
        effect=_NEXT,
        unit="size",
    )


def _number(description: str, default: int | None = None, low: int = 1) -> Attribute:
    return Attribute(
        type=NUMBER, description=description, default=default, validators=(_whole(low),), effect=_NEXT
    )


def _always(every: str | None = None) -> dict[str, Attribute]:
    return {
        "enabled": Attribute(
            type=BOOL, description="Whether this task is planned.", default=True, effect=_NEXT
        ),
        "every": _duration("Minimum time between two runs.", every, _some_time),
    }


def _partial(description: str, **entries: Validator) -> Attribute:
    return Attribute(type=ANY, description=description, validators=(_entries(**entries),), effect=_NEXT)


_OPTIONS: Final = Attribute(
    type=MapType(STRING),
    description="Additional options of Iceberg's action, by Iceberg's names.",
    effect=_NEXT,
)

COMPACTION: Final = Block(
    description="Rewrites small files, and files with many deleted rows, into files of the target size.",
    attributes={
        **_always(),
        "strategy": Attribute(
            type=STRING,
            description="How rows are arranged: binpack (unchanged), sort (by sort_by, otherwise by the "
            "order of the table) "
            "or zorder (by zorder_by).",
            default="binpack",
            validators=(one_of("binpack", "sort", "zorder"),),
            effect=_NEXT,
        ),
        "sort_by": Attribute(
            type=ANY, description='For strategy "sort": an order other than that of the table.', effect=_NEXT
        ),
        "zorder_by": Attribute(
            type=ListType(STRING),
            description='For strategy "zorder": the columns.',
            validators=(not_empty,),
            effect=_NEXT,
        ),
        "target_file_size": _size(
            "Target file size. Default: write.target-file-size-bytes of the table, otherwise 512MB."
        ),
        "min_file_size": _size(
            "Files below this size are candidates for a rewrite. Default: 75% of the target size."
        ),
        "max_file_size": _size("Files above this size are split. Default: 180% of the target size."),
        "min_input_files": _number(
            "Minimum number of small files in a partition that triggers a rewrite.", 5
        ),
        "where": Attribute(
            type=STRING,
            description="Spark SQL condition on columns of the table. Only files that may contain matching "
            "rows are "
            "rewritten, such as cold partitions of a table that merges write.",
            validators=(not_empty,),
            effect=_NEXT,
        ),
        "delete_ratio": Attribute(
            type=NUMBER,
            description="Rewrites a file when this fraction of its rows is deleted.",
            default=0.3,
            validators=(_ratio,),
            effect=_NEXT,
        ),
        "delete_file_threshold": _number(
            "Rewrites a file with at least this number of delete files. Default: no limit."
        ),
        "max_file_group_size": _size("Maximum size that is rewritten in one group.", "100GB"),
        "max_concurrent_groups": _number("Number of groups that are rewritten concurrently.", 5),
        "partial_progress": _partial(
            "Commits groups of files when they are ready instead of all in one commit: { max_commits = 10, "
            "max_failed_commits = 10 }.",
            max_commits=_whole(1),
            max_failed_commits=_whole(0),
        ),
        "rewrite_all": Attribute(
            type=BOOL,
            description="Rewrites every file regardless of size. Needs every.",
            default=False,
            effect=_NEXT,
        ),
        "run_if": Attribute(
            type=ANY,
            description="Due when any of these holds for files that need a rewrite: { small_files_over = 20, "
            'small_file_share_over = "30%" }. Default: { small_files_over = 20 }.',
            validators=(_entries(small_files_over=_whole(0), small_file_share_over=_is_share),),
            effect=_NEXT,
        ),
        "options": _OPTIONS,
    },
)
SNAPSHOT_EXPIRY: Final = Block(
    description="Expires old snapshots and deletes the files that only they need. Snapshots that a "
    "declared reader "
    "or writer still needs are kept.",
    attributes={
        **_always(),
        "older_than": _duration("Younger snapshots are kept.", "5d"),
        "retain_last": _number("Number of newest snapshots per branch that are kept regardless of age.", 1),
        "min_snapshots_to_expire": _number("Due when at least this number of snapshots can expire.", 1),
        "hold_readers_for": _duration(
            "A reader that holds snapshots and has not moved for this time causes a warning.", "7d"
        ),
    },
)
MANIFEST_REWRITE: Final = Block(
    description="Merges small manifests.",
    attributes={
        **_always(),
        "run_if": Attribute(
            type=ANY,
            description=(
                'Due when all of these hold. Default: { manifests_over = 50, mean_size_under = "1MB" }.'
            ),
            validators=(_entries(manifests_over=_whole(0), mean_size_under=_some_size),),
            effect=_NEXT,
        ),
    },
)
DELETE_REWRITE: Final = Block(
    description="Rewrites small position delete files and removes deletes of rows that no longer exist.",
    attributes={
        **_always(),
        "target_file_size": _size(
            "Target file size. Default: write.delete.target-file-size-bytes of the table, otherwise 64MB."
        ),
        "min_file_size": _size(
            "Files below this size are candidates for a rewrite. Default: 75% of the target size."
        ),
        "max_file_size": _size("Files above this size are split. Default: 180% of the target size."),
        "min_input_files": _number(
            "Minimum number of small delete files in a partition that triggers a rewrite.", 5
        ),
        "max_file_group_size": _size("Maximum size that is rewritten in one group.", "100GB"),
        "max_concurrent_groups": _number("Number of groups that are rewritten concurrently.", 5),
        "partial_progress": _partial(
            "Commits groups of files when they are ready instead of all in one commit: { max_commits = 10 }.",
            max_commits=_whole(1),
        ),
        "options": _OPTIONS,
    },
)
ORPHAN_REMOVAL: Final = Block(
    description="Deletes files below the location of the table that no snapshot names, if all of them are "
    "proven to "
    "be left by writers of this table.",
    attributes={
        **_always("7d"),
        "older_than": _duration(
            "Younger files are kept; at least 24h. Files of an open batch are kept, too.",
            "3d",
            _a_day_at_least,
        ),
        "dry_run": Attribute(
            type=BOOL, description="Counts orphans and deletes nothing.", default=False, effect=_NEXT
        ),
        "prefix_mismatch": Attribute(
            type=STRING,
            description="What happens if the same location has two prefixes (s3, s3a): error (stop), "
            "ignore (keep such "
            "files) or delete (them).",
            default="error",
            validators=(one_of("error", "ignore", "delete"),),
            effect=_NEXT,
        ),
    },
)
RETENTION: Final = Block(
    description="Deletes old rows, in whole partitions if the table is partitioned by time of the column.",
    attributes={
        **_always(),
        "column": Attribute(
            type=STRING,
            description="Column with the time of a row: timestamptz, timestamp_ntz (taken as UTC) or date.",
            required=True,
            effect=_NEXT,
        ),
        "keep": Attribute(
            type=STRING,
            description="Older rows are deleted, in whole partitions, otherwise in whole hours.",
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
    description="Engine that runs maintenance of the table. Default: the only one declared.",
    effect=_NEXT,
    only_with=NAMES,
)
