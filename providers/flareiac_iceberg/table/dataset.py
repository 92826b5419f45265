"""A table as the dataset that it is to other programs. Pure."""

from collections.abc import Mapping, Sequence

from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import Foreign
from flareiac.sdk.dataset_names import DatasetName, plain_uri, table_dataset
from flareiac.sdk.definitions import Plain, Ref, definition_of
from flareiac.sdk.lakehouse_views import ConnectionView, TableView, catalog_name
from flareiac.sdk.lineage import Dataset, Field
from flareiac.sdk.project import Project
from flareiac.sdk.references import References, Resolved
from flareiac_iceberg.format.locations import absolute_location
from flareiac_iceberg.format.spec import Column


@dataclass(frozen=True, slots=True, kw_only=True)
class _Described(Foreign):
    """A table block, or one of a table that others own, which has a place alone."""

    catalog: Ref
    columns: Mapping[str, Column] | None = None
    column_order: tuple[str, ...] | None = None
    comment: Plain = None
    location: str | None = None


def dataset(attributes: Attributes, references: References, project: Project) -> Dataset | None:
    """None where its catalog is not declared. Its place is the declared one, or that where its catalog puts
    it: a server alone decides about its own.
    """
    table = definition_of(_Described, attributes)
    catalog = references.get(table.catalog.address)
    view = TableView.of(Resolved(address="", type="", attributes=attributes), references)
    if catalog is None or view.identifier is None:
        return None
    conf, place = ConnectionView.of(catalog).spark_conf, table.location
    if place is not None:
        place = absolute_location(place, project.root) or place
    names, name = table_dataset(view.identifier, conf, place), catalog_name(catalog)
    known = conf.get(f"spark.sql.catalog.{name}.uri") or conf.get(f"spark.sql.catalog.{name}.warehouse", "")
    return Dataset(
        name=names.name,
        known_as=names.known_as,
        source=DatasetName(namespace=plain_uri(known) or name, name=name),
        fields=_fields(table.columns or {}, table.column_order or (), ""),
        description=str(table.comment or ""),
        storage="iceberg",
    )


def _fields(columns: Mapping[str, Column], order: Sequence[str], prefix: str) -> tuple[Field, ...]:
    """The columns directly below a path, which ends in a dot."""
    return tuple(
        Field(
            name=path.removeprefix(prefix),
            type=columns[path].type,
            description=columns[path].comment or "",
            fields=_fields(columns, order, f"{path}."),
        )
        for path in order
        if path.startswith(prefix) and "." not in path[len(prefix) :]
    )
