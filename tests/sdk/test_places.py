"""Whose files are where: quick answers are those of comparing every place with every other."""

from hypothesis import given
from hypothesis import strategies as st

from flareiac.sdk.locations import LocationIndex, is_within, outermost

PLACES = st.builds(
    lambda start, levels: start + "/".join(levels) or "/",
    st.sampled_from(["/", "s3://a/", "s3://"]),
    st.lists(st.sampled_from(["a", "b", "a-b", "ab"]), max_size=4),
)


@given(st.lists(PLACES, max_size=8), PLACES)
def test_sharing_finds_what_is_inside_and_around(places: list[str], place: str) -> None:
    found = LocationIndex((item, number) for number, item in enumerate(places)).sharing(place)
    expected = {
        (item, number)
        for number, item in enumerate(places)
        if is_within(item, place) or is_within(place, item)
    }
    listed = list(found)
    assert set(listed) == expected
    assert len(listed) == len(expected)


@given(st.lists(PLACES, max_size=8))
def test_the_outermost_places_hold_all_others(places: list[str]) -> None:
    found = outermost(places)
    assert all(any(is_within(item, place) for place in found) for item in places)
    assert not any(is_within(one, other) for one in found for other in found if one != other)
    assert all(is_within(place, place) for place in found)


def test_a_name_that_begins_the_same_is_another_place() -> None:
    assert is_within("/lake/t", "/lake")
    assert not is_within("/lake-old/t", "/lake")
