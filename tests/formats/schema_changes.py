"""The changes between two schemas of a document that need a higher version of it. Pure.

A reader of the last release meets what this release writes, and this release what the last one wrote. Where
readers refuse unknown fields, a field may come without a higher version if it is left out while it is empty:
then only documents that use it are refused. For the same reason a union of records that are distinguished by
their ``kind`` may get one more: a reader refuses a kind that it does not know. Where readers pass over
unknown fields, a new field may also be written always, if it has a default for documents that lack it.
Everything else needs a higher version.
"""

import json
from collections.abc import Iterator

from tests.formats.record_schemas import Schema

_PARTS = frozenset(
    {"$ref", "$defs", "$schema", "title", "version", "anyOf", "items", "properties", "required"}
    | {"contentSchema"}
)
"""The keywords that are compared by their parts, or do not matter."""
_NULL = {"type": "null"}


def breaking_changes(old: Schema, new: Schema, *, passed_over: bool) -> list[str]:
    """The changes as sentences, each with the path of what changed; empty where the version may stay."""
    return list(_Comparison(old, new, passed_over=passed_over).changes(old, new, ""))


class _Comparison:
    def __init__(self, old: Schema, new: Schema, *, passed_over: bool) -> None:
        self._old, self._new, self._passed_over = old.get("$defs", {}), new.get("$defs", {}), passed_over
        self._seen: set[tuple[str, str]] = set()

    def changes(self, old: Schema, new: Schema, path: str) -> Iterator[str]:
        if "$ref" in old or "$ref" in new:
            names = (_name(old), _name(new))
            if names in self._seen:
                return
            self._seen.add(names)
            old, new = _resolved(old, self._old), _resolved(new, self._new)
        yield from self._properties(old, new, path)
        yield from self._alternatives(old.get("anyOf", []), new.get("anyOf", []), path)
        for keyword in sorted((old.keys() | new.keys()) - _PARTS):
            before, after = old.get(keyword), new.get(keyword)
            if keyword == "additionalProperties" and isinstance(before, dict) and isinstance(after, dict):
                yield from self.changes(before, after, f"{path}.*")
            elif json.dumps(before, sort_keys=True) != json.dumps(after, sort_keys=True):
                yield f"{path or 'it'}: {keyword} was {json.dumps(before)} and is {json.dumps(after)}."
        for keyword, step in (("items", "[]"), ("contentSchema", "")):
            if keyword in old and keyword in new:
                yield from self.changes(old[keyword], new[keyword], f"{path}{step}")

    def _properties(self, old: Schema, new: Schema, path: str) -> Iterator[str]:
        before, after = old.get("properties", {}), new.get("properties", {})
        was, is_now = set(old.get("required", ())), set(new.get("required", ()))
        for name in sorted(before.keys() - after.keys()):
            yield f"{path}.{name} is gone."
        for name in sorted(after.keys() - before.keys()):
            if name in is_now and not (self._passed_over and "default" in after[name]):
                yield f"{path}.{name} is new and always written."
        for name in sorted(before.keys() & after.keys()):
            if (name in was) != (name in is_now):
                yield f"{path}.{name} is {'now' if name in is_now else 'no longer'} always written."
            yield from self.changes(before[name], after[name], f"{path}.{name}")

    def _alternatives(self, old: list[Schema], new: list[Schema], path: str) -> Iterator[str]:
        gone = [part for part in old if part not in new]
        come = [part for part in new if part not in old and not self._is_one_more_kind(part, old)]
        for part in old:
            if part in new:
                yield from self.changes(part, part, path)
        if len(gone) == len(come) == 1:
            yield from self.changes(gone[0], come[0], path)
        elif gone or come:
            yield f"{path or 'it'} takes other values: {json.dumps(gone)} were, {json.dumps(come)} are new."

    def _is_one_more_kind(self, part: Schema, old: list[Schema]) -> bool:
        """True for a record whose ``kind`` is always written and is that of no record in the old union. Where
        unknown fields are passed over, the new kind would make readers refuse the rest of the document too.
        """
        if self._passed_over or not all("$ref" in other or other == _NULL for other in old):
            return False
        known = {kind for other in old for kind in _kinds(_resolved(other, self._old))}
        kinds = _kinds(_resolved(part, self._new))
        return bool(known and kinds) and known.isdisjoint(kinds)


def _kinds(schema: Schema) -> list[str]:
    """The values of ``kind`` in a record, none where it is not always written."""
    if "kind" not in schema.get("required", ()):
        return []
    return list(schema["properties"]["kind"].get("enum", ()))


def _name(schema: Schema) -> str:
    return str(schema.get("$ref", ""))


def _resolved(schema: Schema, definitions: Schema) -> Schema:
    """The schema that a reference means, with the keywords beside the reference."""
    if "$ref" not in schema:
        return schema
    beside = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
    return {**definitions[_name(schema).rpartition("/")[2]], **beside}
