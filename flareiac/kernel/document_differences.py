"""The places at which two documents differ, for every text that shows them to a person: two states, a plan
and the world that it was made for. deepdiff finds the places; values are compared as their canonical JSON is,
so that 0 is not false. Pure.
"""

from typing import Final

from flareiac.kernel.data import Data, Json, canonical, read_json, to_json
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.paths import Path, render_path

ABSENT: Final = "(absent)"
"""The text of a value that only the other document has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentDifference:
    """One place, with the values of both documents as canonical JSON, or ``ABSENT``."""

    path: Path
    before: str
    after: str

    @property
    def place(self) -> str:
        """The path as a person would write it in HCL; empty for the document as a whole."""
        return render_path(self.path)


def document_differences(before: Data, after: Data) -> tuple[DocumentDifference, ...]:
    """Every place at which two documents differ, in order of path; the deepest places that tell them
    apart.
    """
    old, new = to_json(before), to_json(after)
    if canonical(old) == canonical(new):
        return ()
    # Only for a difference: finding the places costs more than knowing that there is one.
    from deepdiff import DeepDiff
    from deepdiff.helper import notpresent

    diff = DeepDiff(
        _with_leaves(old),
        _with_leaves(new),
        view="tree",
        threshold_to_diff_deeper=0,
        zip_ordered_iterables=True,
    )
    differences = [
        DocumentDifference(
            path=tuple(place.path(output_format="list")),
            before=ABSENT if place.t1 is notpresent else _text(place.t1),
            after=ABSENT if place.t2 is notpresent else _text(place.t2),
        )
        for kind in diff.values()
        for place in kind
    ]
    return tuple(sorted(differences, key=lambda each: [(isinstance(step, str), step) for step in each.path]))


class _Leaf(str):
    """A scalar by its canonical JSON. To Python, False is 0 and True is 1; JSON tells them apart."""

    __slots__ = ()


def _with_leaves(value: Json) -> object:
    match value:
        case dict():
            return {name: _with_leaves(part) for name, part in value.items()}
        case list():
            return [_with_leaves(part) for part in value]
        case _:
            return _Leaf(canonical(value))


def _text(value: object) -> str:
    """The canonical JSON of a part of a document with leaves."""
    return canonical(_plain(value))


def _plain(value: object) -> Data:
    match value:
        case _Leaf():
            return read_json(value)
        case dict():
            return {name: _plain(part) for name, part in value.items()}
        case list():
            return [_plain(part) for part in value]
        case _:
            raise AssertionError("a document holds scalars, lists and objects")
