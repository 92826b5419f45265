"""Renders the content of the state, for people as HCL-like text and for machines in the shape of Terraform's
state JSON.
"""

from collections.abc import Mapping

from flareiac.kernel.addresses import parse_address
from flareiac.kernel.data import Json
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.render.control_characters import printable
from flareiac.render.json_values import (
    TERRAFORM_VERSION,
    module_tree,
    place,
    plain,
    provider_name,
    sensitive_mask,
)
from flareiac.render.output_text import outputs_json, outputs_text
from flareiac.render.readers_text import owner_json
from flareiac.render.redaction import Schemas, hide_attributes
from flareiac.render.value_text import body, inline, quoted, without_nulls
from flareiac.sdk.schema import sensitive_paths
from flareiac.sdk.statistics import Statistics

__all__ = ["outputs_json", "outputs_text", "record_text", "show_json", "state_text"]

FORMAT_VERSION = "1.0"
"""The version of the format under ``flareiac``."""


def state_text(
    snapshot: Snapshot,
    *,
    schemas: Schemas | None = None,
    width: int = 100,
    statistics: Mapping[str, Statistics] | None = None,
) -> str:
    """Every recorded resource by address, then the outputs. ``statistics`` tells how much there is of
    some.
    """
    if not snapshot.resources and not snapshot.outputs:
        return "The state is empty: nothing was applied yet.\n"
    parts = [
        record_text(record, schemas=schemas, width=width, statistics=(statistics or {}).get(address))
        for address, record in sorted(snapshot.resources.items())
    ]
    if snapshot.outputs:
        parts.append(f"Outputs:\n\n{outputs_text(snapshot.outputs, width=width)}")
    return "\n".join(parts)


def record_text(
    record: ResourceRecord,
    *,
    schemas: Schemas | None = None,
    width: int = 100,
    statistics: Statistics | None = None,
) -> str:
    """One recorded resource: the attributes of the last apply, and what the world answered then as
    comments.
    """
    patterns = sensitive_paths((schemas or {}).get(record.type))
    parts = parse_address(record.address)
    lines = [f"# {record.address}", f"{record.type} {quoted(parts.name if parts else record.address)} {{"]
    lines.extend(
        f"    {line}".rstrip()
        for line in body(without_nulls(hide_attributes(record.attributes, patterns)), width - 4)
    )
    if record.identity:
        lines.extend(
            [
                "",
                *(
                    f"    # {printable(key)} = {inline(value)}"
                    for key, value in sorted(record.identity.items())
                ),
            ]
        )
    if statistics is not None:
        lines.extend(["", *(f"    # {printable(line)}" for line in statistics.lines)])
    return "\n".join([*lines, "}"]) + "\n"


def show_json(
    snapshot: Snapshot, *, schemas: Schemas | None = None, statistics: Mapping[str, Statistics] | None = None
) -> dict[str, Json]:
    """The state as JSON data."""
    resources = [
        (record.address, _resource(record, schemas or {}, (statistics or {}).get(address)))
        for address, record in sorted(snapshot.resources.items())
    ]
    return {
        "format_version": "1.0",
        "terraform_version": TERRAFORM_VERSION,
        "values": {"outputs": outputs_json(snapshot.outputs), "root_module": module_tree(resources)},
        "flareiac": {
            "format_version": FORMAT_VERSION,
            "lineage": snapshot.lineage,
            "serial": snapshot.serial,
        },
    }


def _resource(record: ResourceRecord, schemas: Schemas, statistics: Statistics | None) -> dict[str, Json]:
    patterns = sensitive_paths(schemas.get(record.type))
    fields = place(record.address)
    fields.pop("module_address", None)
    return {
        **fields,
        "provider_name": provider_name(record.provider),
        "schema_version": record.schema_version,
        "values": plain(hide_attributes(record.attributes, patterns)),
        "sensitive_values": sensitive_mask(record.attributes, patterns),
        "depends_on": list(record.dependencies),
        "flareiac": {
            "identity": plain(record.identity),
            "protected": record.protected,
            **({"owner": owner_json(record.owner)} if record.owner is not None else {}),
            **({"survey": plain(statistics.figures)} if statistics is not None else {}),
        },
    }
