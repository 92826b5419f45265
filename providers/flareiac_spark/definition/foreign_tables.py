"""Warns about tables of other owners that a job streams. Pure."""

from flareiac.kernel.addresses import block_type
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.sdk.project import Project
from flareiac_spark import codes
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.streamed_tables import streamed_tables
from flareiac_spark.places import place_of


def warn_of_expiry(name: str, job: JobDefinition, project: Project, diagnostics: Diagnostics) -> None:
    """A table that is only read here expires by the rules of its owner, who does not know of this reader."""
    if job.mode == "batch" or job.checkpoint_location is None:
        return
    place = place_of(job.checkpoint_location, project)
    for table in dict.fromkeys(
        streamed_table.table
        for streamed_table in streamed_tables(job)
        if block_type(streamed_table.table).startswith("data.")
    ):
        diagnostics.warning(
            codes.SOURCE_OWNER_EXPIRES,
            f"The job reads {table}. It continues after the snapshot that it read last, and cannot start "
            "again once that one has expired. "
            "This project does not own the table, so nothing here holds it. Ask its owner to name the "
            "reader in the table block:\n  "
            f'reader "{name}" {{\n'
            f'    checkpoint = "{place}"\n  }}\nor, where its owner cannot read that folder:\n  reader '
            f'"{name}" {{\n    hold = "10d"\n  }}',
            attribute=("input",),
        )
