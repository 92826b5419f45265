"""A blocker in few words, and as an error."""

from flareiac.kernel.codes import Code
from flareiac.sdk.changes import blocker

GONE = Code("TOY001", "The folder is gone")


def test_its_line_names_what_is_wrong() -> None:
    assert (
        blocker(GONE, "s3://a.b/c of job.x does not exist. Put it back.").line
        == "The folder is gone: s3://a.b/c of job.x does not exist"
    )
    assert blocker(GONE, "job.x needs it").line == "The folder is gone: job.x needs it"


def test_as_an_error_it_keeps_its_code() -> None:
    found = blocker(GONE, "job.x needs it.").as_error("Nothing was changed.", address="job.x")
    assert (found.code, found.summary, found.detail, found.address) == (
        "TOY001",
        GONE.title,
        "Nothing was changed.",
        "job.x",
    )
