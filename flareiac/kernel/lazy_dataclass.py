"""Classes of data, as ``dataclasses`` has them, that are cheap to define: a program that imports hundreds
uses a few. Pure.

``dataclasses`` compiles the methods of each class when it is defined, which takes a third of the time of a
short command. Here each is compiled when it is called first. ``fields``, ``replace`` and ``asdict`` of
``dataclasses`` work on both. Imports the standard library alone: it travels to clusters as a file.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, field
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(field_specifiers=(field,))
def dataclass(
    *, frozen: bool = False, slots: bool = False, kw_only: bool = False, eq: bool = True
) -> Callable[[type[T]], type[T]]:
    """As ``dataclasses.dataclass`` with the same arguments."""

    def made(cls: type[T]) -> type[T]:
        own = {name for name, value in cls.__dict__.items() if (name, value) != ("__hash__", None)}
        if not cls.__doc__:
            # Else its signature is written there, which takes as long as all the rest.
            cls.__doc__ = cls.__name__
        record_class = dataclasses.dataclass(
            init=False, repr=False, eq=False, slots=slots, kw_only=kw_only, frozen=frozen and _has_frozen(cls)
        )(cls)
        record_class.__dataclass_params__.frozen = frozen  # type: ignore[attr-defined]  # what its heirs are asked for
        _later(record_class, "__init__", _init)
        if "__repr__" not in own:
            record_class.__repr__ = _repr  # type: ignore[method-assign]  # of all records
        if eq and "__eq__" not in own:
            _later(record_class, "__eq__", _eq)
        if eq and "__hash__" not in own:
            if frozen:
                _later(record_class, "__hash__", _hash)
            else:
                record_class.__hash__ = None  # type: ignore[assignment]  # as for each class with an ``__eq__`` alone
        if frozen:
            record_class.__setattr__, record_class.__delattr__ = _refuse_set, _refuse_delete  # type: ignore[method-assign]  # of all frozen records
            if slots and "__getstate__" not in own:
                record_class.__getstate__, record_class.__setstate__ = _state, _set_state  # type: ignore[attr-defined, method-assign]  # of all frozen records
        return record_class

    return made


def _has_frozen(cls: type) -> bool:
    """Returns True if the class inherits from a frozen one, and so has to be defined as one."""
    params = (getattr(base, "__dataclass_params__", None) for base in cls.__mro__[1:])
    return any(parameters is not None and parameters.frozen for parameters in params)


def _later(cls: type, name: str, make: Callable[[type], Callable[..., Any]]) -> None:
    """A method that is made when it is called first."""

    def first(self: Any, /, *args: Any, **named: Any) -> Any:
        method = make(cls)
        setattr(cls, name, method)
        return method(self, *args, **named)

    first.__name__, first.__qualname__ = name, f"{cls.__qualname__}.{name}"
    setattr(cls, name, first)


def _init(cls: type) -> Callable[..., Any]:
    places: dict[str, Any] = {"_set": object.__setattr__, "_MISSING": MISSING}
    positional, named, lines = list[str](), list[str](), list[str]()
    for at, record_field in enumerate(_fields(cls)):
        value = record_field.name
        if record_field.default_factory is not MISSING:
            places[f"_made{at}"] = record_field.default_factory
            value = (
                f"_made{at}() if {record_field.name} is _MISSING else {record_field.name}"
                if record_field.init
                else f"_made{at}()"
            )
        if record_field.default is not MISSING:
            places[f"_default{at}"] = record_field.default
            value = value if record_field.init else f"_default{at}"
        if record_field.init:
            default = "_MISSING" if record_field.default_factory is not MISSING else f"_default{at}"
            has_default = record_field.default is not MISSING or record_field.default_factory is not MISSING
            (named if record_field.kw_only else positional).append(
                f"{record_field.name}={default}" if has_default else record_field.name
            )
        elif value == record_field.name:
            continue
        lines.append(_assignment(cls, record_field.name, at, value, places))
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    arguments = ["self", *positional, *(["*", *named] if named else [])]
    return _compiled(cls, "__init__", arguments, lines or ["pass"], places)


def _default(record_field: Field[Any], at: int, places: dict[str, Any]) -> tuple[str, str]:
    """Returns the text after the argument in the signature, and the value that the field takes then."""
    if record_field.default_factory is not MISSING:
        places[f"_default{at}"] = record_field.default_factory
        return "=_MISSING", f"_default{at}() if {record_field.name} is _MISSING else {record_field.name}"
    if record_field.default is not MISSING:
        places[f"_default{at}"] = record_field.default
        return f"=_default{at}", record_field.name
    return "", record_field.name


def _assignment(cls: type, name: str, at: int, value: str, places: dict[str, Any]) -> str:
    """Through the slot itself where there is one: that is fastest, and passes by what refuses it."""
    place: Any = getattr(cls, name, None)
    if type(place).__name__ == "member_descriptor":
        places[f"_slot{at}"] = place.__set__
        return f"_slot{at}(self, {value})"
    return f"_set(self, {name!r}, {value})"


def _eq(cls: type) -> Callable[..., Any]:
    names = [record_field.name for record_field in _fields(cls) if record_field.compare]
    both = [f"({''.join(f'{of}.{name},' for name in names)})" for of in ("self", "other")]
    lines = [
        "if other.__class__ is self.__class__:",
        f" return {both[0]} == {both[1]}",
        "return NotImplemented",
    ]
    return _compiled(cls, "__eq__", ["self", "other"], lines, {})


def _hash(cls: type) -> Callable[..., Any]:
    names = [
        record_field.name
        for record_field in _fields(cls)
        if (record_field.compare if record_field.hash is None else record_field.hash)
    ]
    return _compiled(
        cls, "__hash__", ["self"], [f"return hash(({''.join(f'self.{name},' for name in names)}))"], {}
    )


def _compiled(
    cls: type, name: str, arguments: list[str], lines: list[str], places: dict[str, Any]
) -> Callable[..., Any]:
    body = "\n".join(f"  {line}" for line in lines)
    text = f"def {name}({', '.join(arguments)}):\n{body}"
    exec(text, places)  # noqa: S102 - as ``dataclasses`` does: names of fields and nothing else
    method: Callable[..., Any] = places[name]
    method.__qualname__ = f"{cls.__qualname__}.{name}"
    return method


def _fields(cls: type) -> tuple[Field[Any], ...]:
    return dataclasses.fields(cls)


def _repr(self: Any) -> str:
    shown = (
        f"{record_field.name}={getattr(self, record_field.name)!r}"
        for record_field in _fields(type(self))
        if record_field.repr
    )
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse_set(self: Any, name: str, value: object) -> None:
    if _is_its_own(self, name):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _refuse_delete(self: Any, name: str) -> None:
    if _is_its_own(self, name):
        raise FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _is_its_own(self: Any, name: str) -> bool:
    """An heir that is no record may have attributes beside the fields."""
    return "__dataclass_fields__" in type(self).__dict__ or name in self.__dataclass_fields__


def _state(self: Any) -> list[Any]:
    return [getattr(self, record_field.name) for record_field in _fields(type(self))]


def _set_state(self: Any, state: list[Any]) -> None:
    for record_field, value in zip(_fields(type(self)), state, strict=True):
        object.__setattr__(self, record_field.name, value)
