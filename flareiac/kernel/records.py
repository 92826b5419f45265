"""Records as JSON and back: one strict codec, driven by the records' own types. Pure.

A field's JSON name is its own, or the one that ``named`` gives where Python reserves the word. A union of
records is distinguished by the ``kind`` field of its members (``Literal``). A type whose JSON is not made of
its parts is annotated with a ``Form``. Unknown fields are refused, but for ``Foreign`` records: a reader
that skips part of a job would run another job. Imports the standard library alone: it travels to clusters as
a file.
"""

import dataclasses
import types
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from functools import cache, partial
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NamedTuple,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

R = TypeVar("R")
_OFTEN: Final = 40
"""The greatest number of records of a kind that a short command has."""
_LEAVES: Final[frozenset[type]] = frozenset({str, int, float, bool, types.NoneType})
"""The types of values that are written as they are."""
Metadata: TypeAlias = dict[str, Any]

UNSTORED: Final[Metadata] = {"unstored": True}
"""Metadata of a field that lives in memory alone; it has a default."""
SPARSE: Final[Metadata] = {"sparse": True}
"""Metadata of a field that is left out while it is empty; its default is empty."""
OPTIONAL: Final[Metadata] = {"optional": True}
"""Metadata of a field that is left out while it is None; its default is None."""
IMPLIED: Final[Metadata] = {"implied": True}
"""Metadata of the ``kind`` of the one member of a union that is written without its kind, because it was the
only one once.
"""


def named(json_name: str) -> Metadata:
    """Metadata of a field that has another name in JSON."""
    return {"json": json_name}


class Form(NamedTuple):
    """The written form of an annotated type's values, in both directions; ``decode`` raises ``ValueError`` or
    ``TypeError`` for anything else. ``written`` is a type whose values have the same JSON, for schemas of
    stored documents.
    """

    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]
    written: Any = Any


def by_kind(find: Callable[[str], type | None]) -> Form:
    """The form of records that are distinguished by their ``kind``, where the kinds are not a closed union:
    ``find`` names the record of a kind, None for one that is not known.
    """
    return Form(encode, partial(_decode_member, find, _Rules(complete=False, lenient=False)))


class Mismatch(ValueError):
    """The data does not fit the record: ``path`` says where, ``why`` what is wrong there."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path} {why}")
        self.path, self.why = path, why

    def within(self, outer: str) -> "Mismatch":
        """The same, seen from what holds the part."""
        return type(self)(f"{outer}{self.path}", self.why)


class MissingField(Mismatch):
    """A field that must be there is not."""


class Foreign:
    """Base of records of another program's JSON: what they do not name is passed over."""

    __slots__ = ()


def encode(value: object) -> Any:
    """A record as JSON's own types."""
    kind: Any = type(value)
    return _encoder(kind)(value)


@overload
def decode(
    kind: type[R], data: object, where: str | None = ..., *, complete: bool = ..., lenient: bool = ...
) -> R: ...
@overload
def decode(
    kind: types.UnionType,
    data: object,
    where: str | None = ...,
    *,
    complete: bool = ...,
    lenient: bool = ...,
) -> Any: ...
def decode(
    kind: Any, data: object, where: str | None = None, *, complete: bool = False, lenient: bool = False
) -> Any:
    """The record (or member of a union of records) that JSON data spells. Raises ``Mismatch``, and what a
    ``Form`` raises.

    ``where`` begins the path that a mismatch tells; by default it is the record's name. A ``Form`` passes
    what leads to its part. ``complete``: a field may be missing only where it is sparse; otherwise wherever
    it has a default, as in what an older version wrote. ``lenient``: unknown fields are passed over, as in
    what a newer version wrote.
    """
    try:
        return _decoder(kind, _Rules(complete=complete, lenient=lenient))(data)
    except Mismatch as mismatch:
        raise mismatch.within(getattr(kind, "__name__", "") if where is None else where) from None


class _Rules(NamedTuple):
    """The rules for reading data: which fields may be missing, and whether there may be others."""

    complete: bool
    lenient: bool


class StoredField(NamedTuple):
    """One field of a record as it is stored. ``required``: it has no default."""

    name: str
    json_name: str
    sparse: bool
    optional: bool
    implied: bool
    required: bool
    kind: Any

    @property
    def is_always_written(self) -> bool:
        """True if no value of it is left out."""
        return not (self.sparse or self.optional or self.implied)

    def is_left_out(self, value: object) -> bool:
        if self.implied:
            return True
        return value is None if self.optional else self.sparse and not value


@cache
def stored_fields(record: Any) -> Mapping[str, StoredField]:
    """The stored fields of a record, by their JSON names."""
    hints, stored = get_type_hints(record, include_extras=True), dict[str, StoredField]()
    for field in dataclasses.fields(record):
        if not field.metadata.get("unstored"):
            name = field.metadata.get("json", field.name)
            required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
            stored[name] = StoredField(
                name=field.name,
                json_name=name,
                sparse=field.metadata.get("sparse", False),
                optional=field.metadata.get("optional", False),
                implied=field.metadata.get("implied", False),
                required=required,
                kind=hints[field.name],
            )
    return stored


@cache
def _encoder(kind: Any) -> Callable[[Any], Any]:
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        form: Form = parts[1]
        return form.encode
    if origin in (Union, types.UnionType):
        rest = [part for part in parts if part is not types.NoneType]
        return partial(_encode_optional, _encoder(rest[0]) if len(rest) == 1 else _encode_plain)
    if origin is tuple:
        return partial(_encode_items, _encoder(parts[0]))
    if origin is not None and origin is not Literal and issubclass(origin, Mapping):
        return partial(_encode_values, _encoder(parts[1]))
    if dataclasses.is_dataclass(kind):
        return _often(partial(_encode_record, kind), partial(_compiled_encoder, kind))
    return _encode_plain


def _encode_optional(inner: Callable[[Any], Any], value: object) -> Any:
    return None if value is None else inner(value)


def _encode_items(inner: Callable[[Any], Any], value: Iterable[object]) -> list[Any]:
    return [inner(element) for element in value]


def _encode_values(inner: Callable[[Any], Any], value: Mapping[str, Any]) -> dict[str, Any]:
    return {key: inner(member) for key, member in value.items()}


def _encode_record(record: Any, value: object) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for field, encoder in _field_encoders(record):
        part = getattr(value, field.name)
        if not field.is_left_out(part):
            data[field.json_name] = encoder(part)
    return data


@cache
def _field_encoders(record: Any) -> tuple[tuple[StoredField, Callable[[Any], Any]], ...]:
    return tuple((field, _encoder(field.kind)) for field in stored_fields(record).values())


def _encode_plain(value: object) -> Any:
    """A value whose type says nothing of its parts: the value itself does."""
    if dataclasses.is_dataclass(value):
        return encode(value)
    if isinstance(value, Mapping):
        return _encode_values(_encode_plain, value)
    if isinstance(value, list | tuple):
        return _encode_items(_encode_plain, value)
    return value.value if isinstance(value, Enum) else value


@cache
def _decoder(kind: Any, rules: _Rules) -> Callable[[Any], Any]:
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        form: Form = parts[1]
        return form.decode
    if kind is Any:
        return _as_it_is
    if origin in (Union, types.UnionType):
        return _union_decoder(parts, rules)
    if origin is Literal:
        return partial(_decode_literal, parts)
    if origin is tuple:
        return partial(_decode_items, _decoder(parts[0], rules))
    if _is_map(kind):
        return partial(_decode_values, _decoder(parts[1], rules))
    if dataclasses.is_dataclass(kind):
        return _often(partial(_decode_record, kind, rules), partial(_compiled_decoder, kind, rules))
    return partial(_decode_enum, kind) if issubclass(kind, Enum) else _leaf_decoder((kind,))


def _is_map(kind: Any) -> bool:
    origin = get_origin(kind)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _as_it_is(data: object) -> Any:
    return data


def _union_decoder(parts: tuple[Any, ...], rules: _Rules) -> Callable[[Any], Any]:
    rest = tuple(part for part in parts if part is not types.NoneType)
    if len(rest) == 1:
        inner: Callable[[Any], Any] = _decoder(rest[0], rules)
    elif dataclasses.is_dataclass(rest[0]):
        kinds = {name: member for member in rest for name in get_args(stored_fields(member)["kind"].kind)}
        implied = next(
            (name for name, member in kinds.items() if stored_fields(member)["kind"].implied), None
        )
        inner = partial(_decode_member, kinds.get, rules, implied=implied)
    elif maps := [member for member in rest if _is_map(member)]:
        leaves = tuple(member for member in rest if not _is_map(member))
        inner = partial(_decode_map_or_leaf, _decoder(maps[0], rules), _leaf_decoder(leaves))
    else:
        inner = _leaf_decoder(rest)
    return inner if len(rest) == len(parts) else partial(_encode_optional, inner)


def _decode_member(
    find: Callable[[str], type | None], rules: _Rules, data: object, *, implied: str | None = None
) -> Any:
    kind = _object(data).get("kind", implied)
    member = find(kind) if isinstance(kind, str) else None
    if member is None:
        raise Mismatch(".kind", f"is {kind!r}, which is not known")
    return _decoder(member, rules)(data)


def _decode_literal(allowed: tuple[Any, ...], data: object) -> Any:
    if data in allowed:
        return data
    raise Mismatch("", f"is {data!r}, expected one of {', '.join(map(repr, allowed))}")


def _decode_items(inner: Callable[[Any], Any], data: object) -> tuple[Any, ...]:
    if not isinstance(data, list):
        raise _misfit("a list", data)
    elements = []
    for at, element in enumerate(data):
        try:
            elements.append(inner(element))
        except Mismatch as mismatch:
            raise mismatch.within(f"[{at}]") from None
    return tuple(elements)


def _decode_values(inner: Callable[[Any], Any], data: object) -> dict[str, Any]:
    members = {}
    for key, member in _object(data).items():
        try:
            members[key] = inner(member)
        except Mismatch as mismatch:
            raise mismatch.within(f".{key}") from None
    return members


def _decode_record(record: Any, rules: _Rules, data: object) -> Any:
    decoders, values = _field_decoders(record, rules), dict[str, Any]()
    for name, member in (given := _object(data)).items():
        if name not in decoders:
            if rules.lenient or issubclass(record, Foreign):
                continue
            raise Mismatch(f".{name}", "is not known")
        field_name, decoder = decoders[name]
        try:
            values[field_name] = decoder(member)
        except Mismatch as mismatch:
            raise mismatch.within(f".{name}") from None
    if len(values) < len(decoders):
        _expect_required(record, rules, given)
    return record(**values)


def _expect_required(record: Any, rules: _Rules, data: Mapping[str, Any]) -> None:
    for field in stored_fields(record).values():
        if field.json_name not in data and (field.required or (rules.complete and field.is_always_written)):
            raise MissingField(f".{field.json_name}", "is missing")


@cache
def _field_decoders(record: Any, rules: _Rules) -> Mapping[str, tuple[str, Callable[[Any], Any]]]:
    """The names of fields and the decoders of their values, by their JSON names."""
    return {name: (field.name, _decoder(field.kind, rules)) for name, field in stored_fields(record).items()}


def _often(
    exact: Callable[[Any], Any], compiled: Callable[[Callable[[Any], Any]], Callable[[Any], Any]]
) -> Callable[[Any], Any]:
    """``exact``, until it has been called so often that a function for this record alone is worth its
    making: that is three times as fast.
    """
    calls, fast = 0, None

    def run(value: Any) -> Any:
        nonlocal calls, fast
        if fast is not None:
            return fast(value)
        calls += 1
        if calls == _OFTEN:
            fast = compiled(exact)
        return exact(value)

    return run


# The functions below write Python for one record: a line or two for each field, by its flags. ``required``
# and ``rules.complete`` decide what a missing field is; ``implied`` (the kind that is not written),
# ``sparse`` and ``optional`` what is left out. They only ever take the short way: whatever is unusual (a
# field that is missing or not known, a value that is no leaf) goes back to ``exact``, which has the one
# account of what is wrong.


def _compiled_encoder(record: Any, _exact: Callable[[Any], Any]) -> Callable[[Any], Any]:
    places: dict[str, Any] = {"leaves": _LEAVES}
    lines = ["data = {}"]
    for at, (field, encoder) in enumerate(_field_encoders(record)):
        places[f"encode{at}"] = encoder
        if field.implied:
            continue
        lines.append(f"part = value.{field.name}")
        encoded = f"encode{at}(part)"
        if _fits(field.kind) is not None:
            encoded = f"part if part.__class__ in leaves else {encoded}"
        condition = "if part is not None: " if field.optional else "if part: " if field.sparse else ""
        lines.append(f"{condition}data[{field.json_name!r}] = {encoded}")
    return _function("encode(value)", [*lines, "return data"], places)


def _compiled_decoder(record: Any, rules: _Rules, exact: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Compiles a decoder; for data that does not fit, ``exact`` says what is wrong."""
    places: dict[str, Any] = {"exact": exact, "record": record, "gone": object()}
    lines = ["if data.__class__ is not dict: return exact(data)", "try:", " found, get = 0, data.get"]
    defaults = {field.name: field for field in dataclasses.fields(record)}
    for at, (name, field) in enumerate(stored_fields(record).items()):
        places[f"decode{at}"] = _decoder(field.kind, rules)
        lines += [f" part{at} = get({name!r}, gone)", f" if part{at} is gone:"]
        default = defaults[field.name]
        if field.required or (rules.complete and field.is_always_written):
            lines.append("  return exact(data)")
        elif default.default_factory is not dataclasses.MISSING:
            places[f"make{at}"] = default.default_factory
            lines.append(f"  part{at} = make{at}()")
        else:
            places[f"default{at}"] = default.default
            lines.append(f"  part{at} = default{at}")
        decoded = f"part{at} = decode{at}(part{at})"
        fits = _fits(field.kind)
        if fits is not None:
            places[f"kinds{at}"] = fits
            decoded = f"if part{at}.__class__ not in kinds{at}: {decoded}"
        lines += [" else:", "  found += 1", f"  {decoded}"]
    given = ", ".join(f"{field.name}=part{at}" for at, field in enumerate(stored_fields(record).values()))
    lines += [
        " if found == len(data):",
        f"  return record({given})",
        "except (ValueError, TypeError): pass",
        "return exact(data)",
    ]
    return _function("decode(data)", lines, places)


def _fits(kind: Any) -> frozenset[type] | None:
    """The classes of the values that are what a leaf reads; None for other kinds."""
    kinds = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
    return frozenset(kinds) if _LEAVES.issuperset(kinds) else None


def _function(signature: str, lines: Iterable[str], places: dict[str, Any]) -> Callable[[Any], Any]:
    text = f"def {signature}:\n" + "\n".join(f"    {line}" for line in lines)
    exec(text, places)  # noqa: S102 - of names of fields and nothing else, as ``dataclasses`` does
    function: Callable[[Any], Any] = places[signature.partition("(")[0]]
    return function


def _decode_enum(kind: type[Enum], data: object) -> Enum:
    try:
        return kind(data)
    except (ValueError, TypeError):
        raise Mismatch(
            "", f"is {data!r:.60}, expected one of {', '.join(repr(member.value) for member in kind)}"
        ) from None


def _leaf_decoder(kinds: tuple[type, ...]) -> Callable[[Any], Any]:
    what = f"a value of type {' or '.join(kind.__name__ for kind in kinds)}"
    accepted = (*kinds, int) if float in kinds else kinds
    return partial(_decode_leaf, accepted, bool in kinds, what)


def _decode_leaf(accepted: tuple[type, ...], with_bool: bool, what: str, data: object) -> Any:
    if not isinstance(data, accepted) or (isinstance(data, bool) and not with_bool):
        raise _misfit(what, data)
    return data


def _decode_map_or_leaf(of_map: Callable[[Any], Any], of_leaf: Callable[[Any], Any], data: object) -> Any:
    return of_map(data) if isinstance(data, dict) else of_leaf(data)


def _object(data: object) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise _misfit("an object", data)
    return data


def _misfit(what: str, data: object) -> Mismatch:
    return Mismatch("", f"is {data!r:.60}, expected {what}")
