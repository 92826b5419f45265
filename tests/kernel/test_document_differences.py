"""Two documents differ at the places that are listed, and nowhere else."""

from hypothesis import given
from hypothesis import strategies as st

from flareiac.kernel.data import Data, canonical
from flareiac.kernel.document_differences import ABSENT, document_differences
from flareiac.kernel.paths import Path

_SCALARS = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "a", "b.c", 'x"y', "true"])
_NAMES = st.sampled_from(["a", "b", "a.b", "0", "x y", "root['a']", "'", '"'])
_DOCUMENTS = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3),
    max_leaves=8,
)


def _at(document: Data, path: Path) -> str:
    value = document
    for step in path:
        match value:
            case dict() if step in value:
                value = value[str(step)]
            case list() if isinstance(step, int) and step < len(value):
                value = value[step]
            case _:
                return ABSENT
    return canonical(value)


@given(_DOCUMENTS, _DOCUMENTS)
def test_there_is_a_place_exactly_where_the_documents_differ(before: Data, after: Data) -> None:
    differences = document_differences(before, after)
    assert bool(differences) == (canonical(before) != canonical(after))
    for each in differences:
        assert (_at(before, each.path), _at(after, each.path)) == (each.before, each.after)
        assert each.before != each.after
    assert len({each.path for each in differences}) == len(differences)


def test_a_place_is_written_as_in_hcl() -> None:
    before: Data = {"column": {"id": {"type": "int"}}, "properties": {"write.x": "1"}, "keys": ["a", False]}
    after: Data = {"column": {"id": {"type": "long"}}, "properties": {}, "keys": ["a", 0]}
    assert [(each.place, each.before, each.after) for each in document_differences(before, after)] == [
        ("column.id.type", '"int"', '"long"'),
        ("keys[1]", "false", "0"),
        ('properties["write.x"]', '"1"', ABSENT),
    ]
    assert [each.place for each in document_differences(1, "1")] == [""]
