"""The plan file: one self-contained JSON document, a line for each resource. Unknown format versions are
refused; equal plans have equal bytes.

Most attributes of a resource are the same ones several times: as desired, as planned, as observed, as others
see them. They are written once, as planned, and named in the other places.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from flareiac.kernel.data import Data, canonical, digest, read_json, to_json, write_json
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import decode, encode
from flareiac.model.damage import UNREADABLE, damage
from flareiac.model.plan import Plan
from flareiac.model.relocation import BoundPlace, restored, stored
from flareiac.sdk.references import encode_references
from flareiac.sdk.state import Damaged

FORMAT_VERSION: Final = 3
"""2: places below the root module are relative to it. 3: attributes that are repeated are written once."""
_READ: Final = (2, 3)
KIND: Final = "flareiac-plan"
_RESOURCES, _REFERENCES = "resources", "references"
_REPEATING: Final = ("desired", "recorded", "observed")
_AS_PLANNED: Final = "planned"
"""In place of attributes that are the planned ones."""


def encode_plan(plan: Plan, *, tool_version: str, root: str) -> bytes:
    """The plan's bytes, with what lies below the root module in ``root`` relative to it."""
    whole = replace(plan, resources=(), references={}, outputs=dict(sorted(plan.outputs.items())))
    head: dict[str, Any] = {
        "format_version": FORMAT_VERSION,
        "kind": KIND,
        "flareiac_version": tool_version,
        **stored(encode(whole), root),
        "bound": {"root": plan.made_in, "places": [encode(item) for item in plan.bound]},
    }
    # One resource after the other: the encoded data of all take many times the memory of their text.
    planned: dict[str, Data] = {}
    parts: dict[str, _Part] = {name: _part(value) for name, value in head.items()}
    parts[_RESOURCES] = _list_of(
        _part(_with_repeats_named(stored(encode(resource), root), planned)) for resource in plan.resources
    )
    parts[_REFERENCES] = _object_of(
        (address, _part(_as_planned(item, planned.get(address))))
        for each in plan.references.items()
        for address, item in stored(encode_references(dict([each])), root).items()
    )
    signed = hashlib.sha256()
    for piece in _object_of(parts.items()).canonical:
        signed.update(piece)
    parts["digest"] = _part(signed.hexdigest()[:32])
    return b"".join([*_object_of(parts.items()).text, b"\n"])


def decode_plan(content: bytes, where: str, root: str) -> Plan:
    """The inverse of ``encode_plan``, for the root module in ``root``. Raises ``Damaged`` for what is no
    plan, or one of another format.
    """
    try:
        document = read_json(content)
        if document["kind"] != KIND:
            raise Damaged(where, "it is not a plan file")
        if document["format_version"] not in _READ:
            raise Damaged(
                where,
                f"it has plan format {document['format_version']}; this FlareIaC reads the formats "
                f"{' and '.join(map(str, _READ))}",
            )
        if document.pop("digest") != digest(document):
            raise Damaged(where, "it is not as FlareIaC wrote it: it was changed, or damaged on the way")
        bound = document.pop("bound")
        for name in ("format_version", "kind", "flareiac_version"):
            del document[name]
        _repeat(document[_RESOURCES], document[_REFERENCES])
        plan = decode(Plan, restored(document, root), complete=True)
        places = tuple(decode(BoundPlace, item, complete=True) for item in bound["places"])
        return replace(plan, bound=places, made_in=_text(bound["root"]))
    except UNREADABLE as problem:
        raise Damaged(where, damage(problem, "a FlareIaC plan file")) from problem


def plan_digest(plan: Plan) -> str:
    """Returns a digest that tells one plan from another: of everything that apply would execute, and when it
    was made.
    """
    return digest(
        [
            plan.lineage,
            plan.time,
            [encode(operation) for operation in plan.operations],
            [
                [resource.address, to_json(resource.proposal.payload), to_json(resource.proposal.planned)]
                for resource in plan.resources
            ],
        ]
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the document in pieces: as it is written, and as it is digested (see
    ``kernel.data.canonical``).
    """

    text: list[bytes]
    canonical: list[bytes]


def _part(value: Any) -> _Part:
    text = write_json(value, compact=True, ensure_ascii=False)
    return _Part([text.encode()], [canonical(value).encode()])


def _list_of(items: Iterable[_Part]) -> _Part:
    found = list(items)
    return _Part(
        [b"[\n", *_between(b",\n", (item.text for item in found)), b"\n]"],
        [b"[", *_between(b",", (item.canonical for item in found)), b"]"],
    )


def _object_of(items: Iterable[tuple[str, _Part]]) -> _Part:
    found = {name: (write_json(name, ensure_ascii=False).encode() + b":", item) for name, item in items}
    return _Part(
        [b"{\n", *_between(b",\n", ([name, *item.text] for name, item in found.values())), b"\n}"],
        [b"{", *_between(b",", ([found[key][0], *found[key][1].canonical] for key in sorted(found))), b"}"],
    )


def _between(separator: bytes, items: Iterable[list[bytes]]) -> Iterator[bytes]:
    for number, pieces in enumerate(items):
        if number:
            yield separator
        yield from pieces


def _with_repeats_named(resource: Any, planned: dict[str, Data]) -> Any:
    attributes = resource["proposal"]["planned"]
    if attributes is None:
        return resource
    planned[resource["address"]] = attributes
    return {
        name: _AS_PLANNED if name in _REPEATING and _is_same(value, attributes) else value
        for name, value in resource.items()
    }


def _as_planned(reference: Any, attributes: Data) -> Any:
    repeats = attributes is not None and _is_same(reference["attributes"], attributes)
    return {**reference, "attributes": _AS_PLANNED} if repeats else reference


def _is_same(value: Any, other: Any) -> bool:
    """Also in what Python takes for equal: 1 and True, and the order of keys."""
    return bool(value == other) and write_json(value) == write_json(other)


def _repeat(resources: Any, references: Any) -> None:
    """Puts attributes in all their places again."""
    planned = {}
    for resource in resources:
        attributes = resource["proposal"]["planned"]
        if attributes is not None:
            planned[resource["address"]] = attributes
        resource.update({name: attributes for name in _REPEATING if resource.get(name) == _AS_PLANNED})
    for address, reference in references.items():
        if reference["attributes"] == _AS_PLANNED:
            reference["attributes"] = planned[address]


def _text(value: Data) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, found {value!r}")
    return value
