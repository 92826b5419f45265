"""From a checkpoint block to canonical attributes."""

from datetime import datetime

from flareiac.kernel.data import UNKNOWN, Attributes, Data
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.records import encode
from flareiac.sdk.changes import Relation, Usage
from flareiac.sdk.declared import of_block
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.resource_type import Decoded
from flareiac_spark import codes
from flareiac_spark.checkpoint_files.layout import recorded_layout
from flareiac_spark.definition.checkpoint_conf import PROVIDERS
from flareiac_spark.definition.checkpoint_definition import CheckpointDefinition, StateStore
from flareiac_spark.places import place_of, recorded_location, short_name
from flareiac_spark.start_from import CARRY_OVER, EARLIEST, LATEST, OLDEST_SNAPSHOT


def canonical(
    decoded: Decoded, _references: References, project: Project, diagnostics: Diagnostics
) -> Attributes:
    """Defaults filled in; the location relative to the root where it lies below it."""
    wanted = decoded.attributes
    attributes: Attributes = encode(
        of_block(
            CheckpointDefinition,
            wanted,
            location=_location(
                wanted.get("location"), decoded.named_after or decoded.address, project, diagnostics
            ),
            start_from=_start_from(wanted.get("start_from"), diagnostics),
            state_store=_state_store(wanted.get("state_store"), diagnostics),
        )
    )
    return attributes


def usages(address: str, attributes: Attributes, _references: References) -> tuple[Usage, ...]:
    """A checkpoint owns its folder."""
    location, reason = (
        CheckpointDefinition.of(attributes).location,
        "Each checkpoint owns its folder.",
    )
    return (Usage(subject=location, holder=address, relation=Relation.OWNS_LOCATION, reason=reason),)


def places(attributes: Attributes, identity: Attributes, project: Project) -> tuple[str, ...]:
    """Its folder, and those that it was moved from: ``checkpoint gc`` alone deletes what is left there."""
    locations = (CheckpointDefinition.of(attributes).location, *recorded_layout(identity).left)
    return tuple(str(place_of(location, project)) for location in dict.fromkeys(locations))


def _location(location: Data, address: str, project: Project, diagnostics: Diagnostics) -> str:
    default = f".flareiac/checkpoints/{project.workspace}/{short_name(address)}"
    if location is None or location is UNKNOWN:
        return default
    place = recorded_location(str(location), project)
    if place is None:
        diagnostics.error(
            codes.CHECKPOINT_LOCATION_UNSUPPORTED,
            f"{location!r} cannot hold a checkpoint. Write a path, a file: URI, or s3://BUCKET/PREFIX: the "
            "name of the bucket in lower case, and a prefix without the parts . and ..",
            attribute=("location",),
        )
        return default
    return place


def _start_from(start: Data, diagnostics: Diagnostics) -> str | None:
    """None: not said, which means ``carry_over``."""
    if start is None or start is UNKNOWN:
        return None
    if start not in (CARRY_OVER, EARLIEST, OLDEST_SNAPSHOT, LATEST) and not _is_time(start):
        diagnostics.error(
            codes.INVALID_START,
            f'{start!r} is not a start. Write "carry_over", "earliest", "oldest_snapshot", "latest" or a '
            'time with offset, such as "2026-01-31T00:00:00Z".',
            attribute=("start_from",),
        )
    return str(start)


def _is_time(text: Data) -> bool:
    try:
        return datetime.fromisoformat(str(text)).tzinfo is not None
    except ValueError:
        return False


def _state_store(store: Data, diagnostics: Diagnostics) -> StateStore | None:
    if store is None or store is UNKNOWN:
        return None
    provider = store.get("provider")
    if provider is not None and provider not in PROVIDERS:
        known = " and ".join(sorted(PROVIDERS))
        diagnostics.error(
            codes.STATE_STORE_UNKNOWN,
            f"{provider!r} is not a state store. Known are {known}.",
            attribute=("state_store",),
        )
        provider = None
    if store.get("changelog") and provider != "rocksdb":
        why = 'Only rocksdb keeps a changelog. Write provider = "rocksdb" beside changelog = true.'
        diagnostics.error(codes.CHANGELOG_UNSUPPORTED, why, attribute=("state_store",))
    return StateStore(provider=provider, changelog=store.get("changelog"), partitions=store.get("partitions"))
