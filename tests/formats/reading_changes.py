"""The changes between two schemas of recorded attributes after which a state of the earlier one cannot be
read, or is read as something else. Pure.

Only this direction counts: that an earlier release reads what a later one records is not promised (FIS001).
"""

from collections.abc import Iterator
from typing import Final

from tests.formats.record_schemas import Schema

_ANYTHING: Final = ("type", "enum", "properties", "anyOf", "$ref")
"""A schema without these keywords takes every value."""
_WIDER: Final = {("integer", "number")}


def unreadable_changes(old: Schema, new: Schema) -> list[str]:
    """The changes as sentences, each with the path of what changed; empty where the version may stay."""
    return list(_Reading(old, new).changes(old, new, ""))


class _Reading:
    def __init__(self, old: Schema, new: Schema) -> None:
        self._old, self._new = old.get("$defs", {}), new.get("$defs", {})
        self._open: list[tuple[str, str]] = []

    def changes(self, old: Schema, new: Schema, path: str) -> Iterator[str]:
        """Each form that a value could have must still be one of those that are read."""
        for before in old.get("anyOf", [old]):
            forms = new.get("anyOf", [new])
            found = [list(self._of_form(before, form, path)) for form in forms]
            if all(found):
                alike = [changes for changes, form in zip(found, forms, strict=True) if _alike(before, form)]
                yield from min(alike or found, key=len)

    def _of_form(self, old: Schema, new: Schema, path: str) -> Iterator[str]:
        names = (str(old.get("$ref", "")), str(new.get("$ref", "")))
        if not any(names):
            yield from self._resolved(old, new, path)
        elif names not in self._open:
            self._open.append(names)
            yield from self._resolved(_resolved(old, self._old), _resolved(new, self._new), path)
            self._open.pop()

    def _resolved(self, old: Schema, new: Schema, path: str) -> Iterator[str]:
        if not any(keyword in new for keyword in _ANYTHING):
            return
        if "enum" in old or "enum" in new:
            yield from _values(old, new, path)
            return
        kinds = (old.get("type"), new.get("type"))
        if kinds[0] != kinds[1] and kinds not in _WIDER:
            yield f"{path} was of type {kinds[0] or 'any'} and is of type {kinds[1] or 'any'}."
        elif ("properties" in old) != ("properties" in new):
            yield f"{path} was {_kind_of_object(old)} and is {_kind_of_object(new)}."
        else:
            yield from self._properties(old, new, path)
            for keyword, step in (("items", "[]"), ("additionalProperties", ".*")):
                parts = (old.get(keyword), new.get(keyword))
                if isinstance(parts[0], dict) and isinstance(parts[1], dict):
                    yield from self.changes(parts[0], parts[1], path + step)

    def _properties(self, old: Schema, new: Schema, path: str) -> Iterator[str]:
        before, after = old.get("properties", {}), new.get("properties", {})
        always = set(old.get("required", ()))
        for name in sorted(before.keys() - after.keys()):
            yield f"{path}.{name} is gone."
        for name in sorted(after.keys() - before.keys()):
            if "default" not in after[name]:
                yield f"{path}.{name} is new and has no default."
        for name in sorted(before.keys() & after.keys()):
            was, is_now = before[name], after[name]
            if "default" in was and "default" not in is_now:
                yield f"{path}.{name} has no default any more."
            elif name not in always and was.get("default") != is_now.get("default"):
                # What is always recorded needs its default no more.
                yield f"{path}.{name} is left out for {was.get('default')!r}, and its default is another one."
            yield from self.changes(was, is_now, f"{path}.{name}")


def _values(old: Schema, new: Schema, path: str) -> Iterator[str]:
    """An enumeration may get more values, and may become any text."""
    values = old.get("enum", [])
    if "enum" not in new and new.get("type") == "string" and all(isinstance(each, str) for each in values):
        return
    gone = [each for each in values if each not in new.get("enum", [])]
    if gone or "enum" not in old:
        yield f"{path} took {values or 'any value'}, and takes {new.get('enum', new.get('type'))}."


def _alike(old: Schema, new: Schema) -> bool:
    """True where the changes between two forms say more than that they are different."""
    return ("$ref" in old and "$ref" in new) or ("type" in old and old["type"] == new.get("type"))


def _kind_of_object(schema: Schema) -> str:
    return "a record" if "properties" in schema else "a map"


def _resolved(schema: Schema, definitions: Schema) -> Schema:
    reference = schema.get("$ref")
    return schema if reference is None else definitions[str(reference).rpartition("/")[2]]
