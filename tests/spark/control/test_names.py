"""A job keeps its name among what should run when its address changes, and never gets that of another one."""

from flareiac_spark_runtime.control import Desired, DesiredJob


def desired(**addresses: str) -> Desired:
    """Jobs by name, each with the address in its spec; its digest is its name in capitals."""
    jobs = {name: DesiredJob(digest=name.upper(), spec={"address": at}) for name, at in addresses.items()}
    return Desired(lineage="l", workspace="w", jobs=jobs)


def test_the_first_name_of_a_job_is_its_address() -> None:
    assert desired().name_of("a") == "a"
    assert desired(a="a").name_of("a") == "a"


def test_a_renamed_job_is_found_under_its_old_name() -> None:
    assert desired(a="b").name_of("b", "a", "A") == "a"
    assert desired(a="a").name_of("b", "a", "A") == "a"  # as the state is written and the file is not
    assert desired(a="b").name_of("a", "", "A") == "a"  # and the other way round


def test_a_new_job_at_an_address_that_was_left_gets_a_name_of_its_own() -> None:
    assert desired(a="b").name_of("a") == "a~2"
    both = {"a": "b", "a~2": "a"}
    assert desired(**both).name_of("a", "a~2") == "a~2"
    assert desired(**both).name_of("b", "a", "A") == "a"
    assert desired(**both, b="c").name_of("b") == "b~2"


def test_a_job_whose_name_was_taken_while_it_was_away_takes_another() -> None:
    """As after the control directory was lost."""
    assert desired(a="a").name_of("b", "a", "B") == "b"
    assert desired().name_of("b", "a", "B") == "a"
