"""Laws of the grouping of files: what is forecast is what Iceberg's planner would take."""

from hypothesis import given
from hypothesis import strategies as st

from flareiac_iceberg.maintenance.rewrite_groups import Candidate, grouped, outputs, sizing

MB = 1024**2
LIMITS = sizing(target=512 * MB, least=None, most=None, min_input_files=5, max_group=100 * 1024 * MB)
FILES = st.lists(
    st.builds(Candidate, st.integers(1, 2000).map(lambda size: size * MB), st.booleans()), max_size=40
)


def small(count: int, size: int = MB) -> list[Candidate]:
    return [Candidate(size)] * count


def test_four_small_files_are_left_alone_and_five_are_not() -> None:
    assert grouped(small(4), LIMITS).files == 0
    found = grouped(small(5), LIMITS)
    assert (found.groups, found.files, found.bytes, found.outputs) == (1, 5, 5 * MB, 1)


def test_two_small_files_with_enough_in_them_are_taken() -> None:
    assert grouped(small(2, 300 * MB), LIMITS).files == 2


def test_one_large_file_is_split_and_one_worn_file_rewritten() -> None:
    assert grouped([Candidate(1000 * MB)], LIMITS).files == 1
    assert grouped([Candidate(1000 * MB)], LIMITS).outputs == 2
    assert grouped([Candidate(500 * MB, worn=True)], LIMITS).files == 1
    assert grouped([Candidate(500 * MB)], LIMITS).files == 0


def test_groups_end_where_they_are_full() -> None:
    limits = sizing(target=512 * MB, least=None, most=None, min_input_files=5, max_group=10 * MB)
    found = grouped(small(24), limits)
    assert (found.groups, found.files) == (2, 20)  # the last four are too few


def test_everything_is_taken_where_that_is_asked_for() -> None:
    limits = sizing(
        target=512 * MB, least=None, most=None, min_input_files=5, max_group=100 * 1024 * MB, everything=True
    )
    assert grouped([Candidate(512 * MB)], limits).files == 1


@given(FILES)
def test_what_is_taken_was_there_and_what_is_right_stays(files: list[Candidate]) -> None:
    found = grouped(files, LIMITS)
    wrong = [item for item in files if item.worn or not LIMITS.least <= item.size <= LIMITS.most]
    assert found.files <= len(wrong)
    assert found.bytes <= sum(item.size for item in wrong)
    assert (found.groups == 0) == (found.files == 0)
    if any(item.worn for item in files):
        assert found.files >= 1


@given(st.integers(1, 10**13))
def test_written_files_have_about_the_wanted_size(size: int) -> None:
    number = outputs(size, LIMITS)
    assert number >= 1
    assert size / number <= LIMITS.most
