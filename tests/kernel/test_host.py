"""A process that cannot be looked for is called gone only where its machine was certainly booted since."""

from dataclasses import replace

import pytest

from flareiac.kernel.host import Host, Sight, booted_at, has_clock_of_here, sight, this_host

FIRST = "pid:[4026531836]"
HERE = Host(name="a", machine="m-1", boot="b-2", namespace=FIRST)
BOOTED = 1000.0


@pytest.mark.parametrize(
    ("other", "last_sign", "expected"),
    [
        (HERE, 1500.0, Sight.HERE),
        (replace(HERE, name="renamed"), 1500.0, Sight.HERE),
        (
            replace(HERE, namespace="pid:[1]"),
            900.0,
            Sight.ELSEWHERE,
        ),  # a container that was given the name of its host
        (replace(HERE, boot="b-1"), 900.0, Sight.BOOTED_SINCE),
        (replace(HERE, boot="b-1"), 1001.0, Sight.ELSEWHERE),  # a copy of this machine, which lives beside it
        (replace(HERE, boot="b-1", machine="m-2"), 900.0, Sight.ELSEWHERE),
        (replace(HERE, boot="b-1", machine=""), 900.0, Sight.ELSEWHERE),
        (replace(HERE, boot="b-1", name="b"), 900.0, Sight.ELSEWHERE),
        (replace(HERE, boot="b-1", namespace="pid:[1]"), 900.0, Sight.ELSEWHERE),
        (Host(name="a"), 900.0, Sight.HERE),
        (Host(name="b"), 900.0, Sight.ELSEWHERE),
    ],
)
def test_what_can_be_said_of_a_place(other: Host, last_sign: float, expected: Sight) -> None:
    assert sight(other, last_sign, here=HERE, booted=BOOTED) is expected


def test_two_containers_of_one_name_and_machine_prove_nothing() -> None:
    inside = replace(HERE, namespace="pid:[1]")
    assert sight(replace(inside, boot="b-1"), 900.0, here=inside, booted=BOOTED) is Sight.ELSEWHERE
    nameless = replace(HERE, machine="")
    assert sight(replace(nameless, boot="b-1"), 900.0, here=nameless, booted=BOOTED) is Sight.ELSEWHERE


def test_this_process_is_here() -> None:
    assert sight(this_host(), booted_at() + 1) is Sight.HERE


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (HERE, True),
        (replace(HERE, name="c", namespace="pid:[1]"), True),  # a container of this machine
        (replace(HERE, boot="b-1"), False),  # a copy of this machine
        (replace(HERE, name="b", machine="m-2", boot="b-1"), False),
        (Host(name="a"), True),
        (Host(name="b"), False),
    ],
)
def test_whose_clock_is_the_one_of_this_machine(other: Host, expected: bool) -> None:
    assert has_clock_of_here(other, here=HERE) is expected
