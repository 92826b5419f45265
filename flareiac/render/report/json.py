"""A report as JSON: the content as it is. Pure."""

from flareiac.kernel.data import Json
from flareiac.kernel.records import encode
from flareiac.render.report.content import Report


def report_json(report: Report) -> dict[str, Json]:
    """The whole report as JSON data; ``flareiac/docs/formats/report.json`` is its schema."""
    document: dict[str, Json] = encode(report)
    return document
