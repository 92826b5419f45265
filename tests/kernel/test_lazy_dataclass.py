"""Records that are cheap to define behave as those of ``dataclasses`` do."""

import copy
import dataclasses
import inspect
import itertools
import pickle
import sys
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import partial
from types import new_class
from typing import Any

import pytest

from flareiac.kernel.lazy_dataclass import dataclass

Body = Mapping[str, Any]


def _doubled(self: Any) -> None:
    object.__setattr__(self, "a", self.a * 2)


BODIES: tuple[Body, ...] = (
    {"__annotations__": {}},
    {"__annotations__": {"a": int, "b": str}},
    {"__annotations__": {"a": int, "b": str}, "b": "x"},
    {"__annotations__": {"a": int, "b": list[int]}, "b": field(default_factory=list)},
    {"__annotations__": {"a": int, "b": int}, "b": field(default=3, kw_only=True, repr=False)},
    {"__annotations__": {"a": int, "b": int}, "b": field(default=3, init=False, compare=False)},
    {"__annotations__": {"a": int, "b": list[int]}, "b": field(default_factory=list, init=False)},
    {"__annotations__": {"a": int, "b": int}, "b": field(default=3, hash=False)},
    {"__annotations__": {"a": int}, "__post_init__": _doubled},
    {"__annotations__": {"a": int}, "__repr__": lambda self: "mine"},
    {"__annotations__": {"a": int}, "__eq__": lambda self, other: True},
    {"__annotations__": {"a": int}, "__hash__": lambda self: 7},
    {"__annotations__": {"a": int}, "__doc__": "Said."},
)
CALLS: tuple[tuple[tuple[Any, ...], Body], ...] = (
    ((), {}),
    ((1,), {}),
    ((1, "y"), {}),
    ((), {"a": 1}),
    ((), {"a": 1, "b": 5}),
    ((), {"a": 2, "b": [4]}),
    ((), {"c": 1}),
    ((1, 2, 3), {}),
)
READS: tuple[Callable[[Any], Any], ...] = (
    lambda make: make(),
    lambda make: make() == make(),
    lambda make: make() != make(),
    lambda make: make() == 5,
    lambda make: hash(make()) == hash(make()),
    lambda make: dataclasses.replace(make(), a=9),
    lambda make: dataclasses.asdict(make()),
    lambda make: pickle.loads(pickle.dumps(make())),
    lambda make: copy.deepcopy(make()),
)
WRITES: tuple[Callable[[Any], Any], ...] = (
    lambda make: setattr(make(), "a", 5),
    lambda make: delattr(make(), "a"),
    lambda make: setattr(make(), "other", 5),
)
REFUSED = (AttributeError, TypeError)
"""The errors of a frozen record with slots: ``dataclasses`` raises either."""


def made(make: Callable[..., Any], body: Body, arguments: Body, base: type | None = None) -> Any:
    """A class of this module, so that it can be pickled."""
    copied = {key: copy.copy(value) for key, value in body.items()}
    bases = () if base is None else (base,)
    cls = new_class("Made", bases, {}, lambda names: names.update(copied, __module__=__name__))
    return make(**arguments)(cls)


def outcome(act: Callable[[], Any]) -> Any:
    """The result of the call; of an error its type."""
    try:
        found = act()
    except dataclasses.FrozenInstanceError:
        return AttributeError  # which it is
    except Exception as failure:  # noqa: BLE001 - which one is what is compared
        return type(failure)
    return found if isinstance(found, (str, int, tuple, list, dict, bool, type(None))) else repr(found)


def behaviour(cls: Any) -> list[Any]:
    """The behaviour of the class that a user could see."""
    sys.modules[__name__].__dict__["Made"] = cls
    seen: list[Any] = [
        [(item.name, item.init, item.compare, item.kw_only) for item in dataclasses.fields(cls)],
        dataclasses.is_dataclass(cls),
        cls.__match_args__,
        cls.__dict__.get("__slots__"),
    ]
    for positional, named in CALLS:
        make = partial(cls, *positional, **named)
        seen += [outcome(partial(act, make)) for act in READS]
        seen += [outcome(partial(act, make)) in REFUSED for act in WRITES]
    return seen


@pytest.mark.parametrize("body", BODIES)
def test_a_record_does_what_a_dataclass_does(body: Body) -> None:
    for frozen, slots, kw_only, eq in itertools.product((True, False), repeat=4):
        arguments = {"frozen": frozen, "slots": slots, "kw_only": kw_only, "eq": eq}
        ours, theirs = (made(make, body, arguments) for make in (dataclass, dataclasses.dataclass))
        assert behaviour(ours) == behaviour(theirs), arguments
        more: Body = {"__annotations__": {"z": int}, "z": 4}
        heirs = [
            made(make, more, arguments, base)
            for make, base in (
                (dataclass, ours),
                (dataclasses.dataclass, theirs),
                (dataclasses.dataclass, ours),
                (dataclass, theirs),
            )
        ]
        expected = behaviour(heirs[1])
        assert [behaviour(heir) == expected for heir in heirs] == [True] * 4, arguments


def test_methods_are_those_of_the_class_that_is_called_first_or_later() -> None:
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Base:
        a: int = 1

    class Plain(Base):
        pass

    assert repr(Plain(a=2)).endswith("Plain(a=2)")
    assert Base() == Base()
    assert Plain() != Base()
    assert list(inspect.signature(Base.__init__).parameters) == ["self", "a"]
