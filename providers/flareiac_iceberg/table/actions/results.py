"""The results that the actions on tables share. Pure."""

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.kernel.records import encode
from flareiac.sdk.results import Applied, NotApplied
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.format.metadata import TableFile


def applied(planned: Attributes, table_file: TableFile, *messages: str) -> Applied:
    """The planned attributes hold, and ``table_file`` is the table."""
    return Applied(attributes=planned, identity=encode(table_file.read()[1]), messages=messages)


def not_applied(failure: Failure, address: str) -> NotApplied:
    """Nothing was done for the reasons of a failure, which concern the table at an address."""
    return NotApplied(diagnostics=tuple(diagnostic.at(address=address) for diagnostic in failure.diagnostics))


def moved(target: Target, what: str) -> Diagnostic:
    """Complains that the table is not the one of the plan; ``what`` says why."""
    return error(
        codes.TABLE_CHANGED_MEANWHILE,
        f"The table {target.full_name} is not what the plan was made for: {what}. Nothing of this change "
        "took effect. Make a new plan and review it.",
    )
