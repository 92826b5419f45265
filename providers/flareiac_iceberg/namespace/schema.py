"""The schema of the ``namespace`` block, and its canonical attributes."""

from typing import Final

from flareiac.kernel.codes import KNOWN_AFTER_APPLY
from flareiac.kernel.data import UNKNOWN, Attributes
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.types import STRING, MapType, RefType
from flareiac.sdk.changes import Relation, Usage
from flareiac.sdk.on_change import ChangeClass, OnChange
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.resource_type import Decoded
from flareiac.sdk.schema import Attribute, Block
from flareiac.sdk.secret_settings import refuse_secrets
from flareiac.sdk.validators import not_empty, one_of
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.names import check_names, check_namespace
from flareiac_iceberg.catalogs.resolve import chosen_catalog, place_of
from flareiac_iceberg.catalogs.secret_settings import IN_CLEAR

SCHEMA: Final = Block(
    description="A namespace of a catalog.",
    attributes={
        "catalog": Attribute(
            type=RefType(("catalog",)),
            description="The catalog of the namespace. Default: the only one declared.",
            on_change=OnChange(ChangeClass.REFUSED),
        ),
        "name": Attribute(
            type=STRING,
            description="Name of the namespace, levels separated by dots. Default: the label of the block.",
            validators=(not_empty,),
            on_change=OnChange(ChangeClass.REFUSED),
        ),
        "properties": Attribute(
            type=MapType(RefType(("secret",), or_string=True)),
            description="Properties of the namespace. They are stored in clear text, so neither secrets nor "
            "references to secrets are allowed.",
            on_change=OnChange(ChangeClass.METADATA_ONLY),
        ),
        "on_destroy": Attribute(
            type=STRING,
            description=(
                "What happens when the block is removed: retain (forget the namespace) or drop (if "
                "it is empty)."
            ),
            default="retain",
            validators=(one_of("retain", "drop"),),
            on_change=OnChange(ChangeClass.RECORDED),
        ),
    },
)


def canonical(
    decoded: Decoded, references: References, _project: Project, diagnostics: Diagnostics
) -> Attributes:
    """Canonical attributes of a namespace."""
    wanted = decoded.attributes
    name = wanted.get("name") or decoded.name
    if name is UNKNOWN:
        why = "name must be known when the plan is made. Write it out, or take it from a variable."
        diagnostics.error(KNOWN_AFTER_APPLY, why, attribute=("name",))
        name = decoded.name
    for key in wanted.get("properties") or {}:
        if key == "exists" or key.startswith("flareiac."):
            why = f'The property "{key}" cannot be set: it is kept for marks of FlareIaC and of the catalog.'
            diagnostics.error(codes.RESERVED_PROPERTY, why, attribute=("properties",))
    properties = wanted.get("properties")
    catalog = chosen_catalog(wanted.get("catalog"), references, diagnostics)
    check_names(catalog, references, diagnostics, name=name)
    return {
        "catalog": catalog,
        "name": check_namespace(name, ("name",), diagnostics),
        "properties": refuse_secrets(properties, ("properties",), IN_CLEAR, diagnostics),
        "on_destroy": wanted.get("on_destroy") or "retain",
    }


def usages(address: str, attributes: Attributes, references: References) -> tuple[Usage, ...]:
    """A namespace holds its name in its catalog."""
    catalog = references.get(attributes["catalog"].address)
    where = place_of(catalog) if catalog else str(attributes["catalog"])
    return (
        Usage(
            subject=f"namespace {attributes['name']} in {where}",
            holder=address,
            relation=Relation.REAL_NAME,
            reason="",
        ),
    )
