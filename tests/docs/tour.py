"""The tours of a README, beside what an example really prints."""

from pathlib import Path

from tests.docs.fences import fences, missing, outline, shape
from tests.docs.pages import README


def assert_tour(name: str, printed: str, page: Path = README) -> None:
    """Each line of a tour (``tour NAME`` after the marks of its blocks) is in the output, in order."""
    tour = [
        line
        for fence in fences(page)
        if fence.language == "tour" and fence.argument == name
        for line in outline(fence.text)
    ]
    assert tour, name
    left = missing([shape(line) for line in tour], [shape(line) for line in outline(printed)])
    assert left is None, f"{left!r} is missing in:\n{printed}"
