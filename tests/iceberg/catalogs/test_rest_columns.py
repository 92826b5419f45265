"""A change that cannot send a REST catalog all keys of a column is refused: it would erase the others."""

import pytest

from flareiac.kernel.diagnostics import Failure
from flareiac_iceberg.catalogs.requests import TableCommit
from flareiac_iceberg.catalogs.rest.spec import RestCatalog
from flareiac_iceberg.catalogs.rest.writer import RestWriter
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.format.metadata import TableFile


class Silent(RestWriter):
    """Asks no server."""

    def _open(self) -> None:
        self.catalog = None  # type: ignore[assignment]  # no request may be made


@pytest.mark.parametrize("nested", [False, True])
def test_keys_of_a_column_that_are_not_known_stop_the_change(nested: bool) -> None:
    spec = RestCatalog(
        address="catalog.r", name="r", place="p", warehouse="", properties=(), uri="http://127.0.0.1:1"
    )
    column = {"id": 1, "name": "a", "required": False, "type": "int", "future": 1}
    fields = [
        {"id": 2, "name": "s", "required": False, "type": {"type": "struct", "fields": [column]}}
        if nested
        else column
    ]
    schema = {"type": "struct", "schema-id": 1, "fields": fields, "identifier-field-ids": []}
    change = TableCommit(
        base=TableFile("x", {}),
        updates=[{"action": "add-schema", "schema": schema, "last-column-id": 2}],
        needs=[],
    )
    with pytest.raises(Failure) as failure:
        Silent(spec).commit(Target(catalog=spec, namespace="n", name="t"), change)
    assert failure.value.diagnostics[0].code == "FII018"
    assert ": future." in failure.value.diagnostics[0].detail
