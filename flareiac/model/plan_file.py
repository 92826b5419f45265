"""The plan file: one self-contained JSON document. Unknown format versions are refused; equal plans have
equal bytes.
"""

import json
from dataclasses import replace

from flareiac.kernel.data import Data, digest, read_json, to_json
from flareiac.kernel.records import decode, encode
from flareiac.model.damage import UNREADABLE, damage
from flareiac.model.plan import Plan
from flareiac.model.relocation import BoundPlace, restored, stored
from flareiac.sdk.state import Damaged

FORMAT_VERSION = 2
"""2: places below the root module are relative to it."""


def encode_plan(plan: Plan, *, tool_version: str, root: str) -> bytes:
    """The plan's bytes, with what lies below the root module in ``root`` relative to it."""
    document: dict[str, Data] = {
        "format_version": FORMAT_VERSION,
        "kind": "flareiac-plan",
        "flareiac_version": tool_version,
        **encode(replace(plan, outputs=dict(sorted(plan.outputs.items())))),
    }
    document = stored(document, root)
    document["bound"] = {"root": plan.made_in, "places": [encode(item) for item in plan.bound]}
    document["digest"] = digest(document)
    return json.dumps(document, indent=1, ensure_ascii=False).encode() + b"\n"


def decode_plan(content: bytes, where: str, root: str) -> Plan:
    """The inverse of ``encode_plan``, for the root module in ``root``. Raises ``Damaged`` for what is no
    plan, or one of another format.
    """
    try:
        document = read_json(content)
        if document["kind"] != "flareiac-plan":
            raise Damaged(where, "it is not a plan file")
        if document["format_version"] != FORMAT_VERSION:
            raise Damaged(
                where,
                f"it has plan format {document['format_version']}; this FlareIaC reads format "
                f"{FORMAT_VERSION}",
            )
        if document.pop("digest") != digest(document):
            raise Damaged(where, "it is not as FlareIaC wrote it: it was changed, or damaged on the way")
        bound = document.pop("bound")
        for name in ("format_version", "kind", "flareiac_version"):
            del document[name]
        plan = decode(Plan, restored(document, root), complete=True)
        places = tuple(decode(BoundPlace, item, complete=True) for item in bound["places"])
        return replace(plan, bound=places, made_in=_text(bound["root"]))
    except UNREADABLE as problem:
        raise Damaged(where, damage(problem, "a FlareIaC plan file")) from problem


def plan_digest(plan: Plan) -> str:
    """What tells one plan from another: everything that apply would execute, and when it was made."""
    return digest(
        [
            plan.lineage,
            plan.time,
            [encode(item) for item in plan.operations],
            [
                [item.address, to_json(item.proposal.payload), to_json(item.proposal.planned)]
                for item in plan.resources
            ],
        ]
    )


def _text(value: Data) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, found {value!r}")
    return value
