"""The plan file: one self-contained JSON document, a line for each resource. Unknown format versions are
refused; equal plans have equal bytes.

Most attributes of a resource are the same ones several times: as desired, as planned, as observed, as others
see them. They are written once, as planned, and named in the other places.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from flareiac.kernel.data import Data, canonical, digest, read_json, to_json, write_json
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import Mismatch, decode, encode
from flareiac.model.damage import UNREADABLE, damage
from flareiac.model.plan import Plan, PlannedResource
from flareiac.model.relocation import BoundPlace, restored, stored
from flareiac.sdk.references import References, decode_references, encode_references
from flareiac.sdk.state import Damaged, WrittenByNewer

FORMAT_VERSION: Final = 4
"""2: places below the root module are relative to it. 3: attributes that are repeated are written once. 4: it
has the versions of types, and the places that they call sensitive.
"""
_READ: Final = (2, 3, 4)
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
        "bound": {"root": plan.made_in, "places": [encode(place) for place in plan.bound]},
    }
    # One resource after the other: the encoded data of all take many times the memory of their text.
    planned: dict[str, Data] = {}
    parts: dict[str, _Part] = {name: _part(value) for name, value in head.items()}
    parts[_RESOURCES] = _list_of(
        _part(_with_repeats_named(stored(encode(resource), root), planned)) for resource in plan.resources
    )
    parts[_REFERENCES] = _object_of(
        (address, _part(_as_planned(reference, planned.get(address))))
        for each in plan.references.items()
        for address, reference in stored(encode_references(dict([each])), root).items()
    )
    signed = hashlib.sha256()
    for piece in _object_of(parts.items()).canonical:
        signed.update(piece)
    parts["digest"] = _part(signed.hexdigest()[:32])
    return b"".join([*_object_of(parts.items()).text, b"\n"])


def decode_plan(content: bytes | str, where: str, root: str) -> Plan:
    """The inverse of ``encode_plan``, for the root module in ``root``. Raises ``Damaged`` for what is no
    plan, or one of another format.
    """
    try:
        document = read_json(content, repeats=True)
        del content  # nearly as large as what was read from it
        if document["kind"] != KIND:
            raise Damaged(where, "it is not a plan file")
        if (written := document["format_version"]) not in _READ:
            raise _of_another_format(where, written, document.get("flareiac_version"))
        if document.pop("digest") != _signature(document):
            raise Damaged(where, "it is not as FlareIaC wrote it: it was changed, or damaged on the way")
        bound = document.pop("bound")
        for name in ("format_version", "kind", "flareiac_version"):
            del document[name]
        resources, references = document[_RESOURCES], document[_REFERENCES]
        head = restored({**document, _RESOURCES: [], _REFERENCES: {}}, root)
        del document
        plan = decode(Plan, head, complete=True)
        places = tuple(decode(BoundPlace, place, complete=True) for place in bound["places"])
        planned = _planned(resources, root)
        return replace(
            plan,
            resources=planned,
            references=_references(references, planned, root),
            bound=places,
            made_in=_text(bound["root"]),
        )
    except UNREADABLE as problem:
        raise Damaged(where, damage(problem, "a FlareIaC plan file")) from problem


def _of_another_format(where: str, written: Any, release: Any) -> Damaged:
    reads = f"this FlareIaC reads the formats {_READ[0]} to {_READ[-1]}"
    writer = f"FlareIaC {release}" if isinstance(release, str) else "another FlareIaC"
    why = f"{writer} wrote it in plan format {written}; {reads}"
    if isinstance(written, int) and written > FORMAT_VERSION:
        newer = f"{writer} or a later one" if isinstance(release, str) else "a later release"
        way_out = f"Install {newer}, or make the plan again."
        return WrittenByNewer(where, why, way_out)
    return Damaged(where, why)


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


def _list_of(parts: Iterable[_Part]) -> _Part:
    listed = list(parts)
    return _Part(
        [b"[\n", *_between(b",\n", (part.text for part in listed)), b"\n]"],
        [b"[", *_between(b",", (part.canonical for part in listed)), b"]"],
    )


def _object_of(parts: Iterable[tuple[str, _Part]]) -> _Part:
    members = {name: (write_json(name, ensure_ascii=False).encode() + b":", part) for name, part in parts}
    return _Part(
        [b"{\n", *_between(b",\n", ([name, *part.text] for name, part in members.values())), b"\n}"],
        [
            b"{",
            *_between(b",", ([members[key][0], *members[key][1].canonical] for key in sorted(members))),
            b"}",
        ],
    )


def _between(separator: bytes, piece_lists: Iterable[list[bytes]]) -> Iterator[bytes]:
    for number, pieces in enumerate(piece_lists):
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


def _signature(document: Mapping[str, Any]) -> str:
    """The digest of a document, of which no more than one resource is a text at a time."""
    signed = hashlib.sha256()
    for number, name in enumerate(sorted(document)):
        signed.update(f"{',' if number else '{'}{canonical(name)}:".encode())
        value = document[name]
        parts = value if name == _RESOURCES and isinstance(value, list) else None
        if parts is None:
            signed.update(canonical(value).encode())
            continue
        signed.update(b"[")
        for at, part in enumerate(parts):
            signed.update(f"{',' if at else ''}{canonical(part)}".encode())
        signed.update(b"]")
    signed.update(b"}")
    return signed.hexdigest()[:32]


def _planned(resources: Any, root: str) -> tuple[PlannedResource, ...]:
    """The resources. What a document holds of one is let go once it is read, and attributes that repeat are
    one object: a plan of thousands of resources would take several times the memory.
    """
    if not isinstance(resources, list):
        raise TypeError(f"expected a list of resources, found {resources!r:.60}")
    planned = []
    for at, data in enumerate(resources):
        resources[at] = None
        repeats = [name for name in _REPEATING if data.get(name) == _AS_PLANNED]
        try:
            whole = decode(
                PlannedResource, restored({**data, **dict.fromkeys(repeats)}, root), "", complete=True
            )
        except Mismatch as mismatch:
            raise mismatch.within(f"Plan.{_RESOURCES}[{at}]") from None
        same = whole.proposal.planned
        planned.append(replace(whole, **dict.fromkeys(repeats, same)) if repeats else whole)
    return tuple(planned)


def _references(data: Any, planned: Iterable[PlannedResource], root: str) -> References:
    """The references, each of the planned attributes where it names them."""
    repeats = {address for address, each in data.items() if each["attributes"] == _AS_PLANNED}
    own = {
        address: {**each, "attributes": {}} if address in repeats else each for address, each in data.items()
    }
    references = dict(decode_references(restored(own, root)))
    known = {each.address: each.proposal.planned for each in planned if each.proposal.planned is not None}
    for address in repeats:
        references[address] = replace(references[address], attributes=known[address])
    return references


def _text(value: Data) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, found {value!r}")
    return value
