"""Damage to JSON documents, at any path of them, with or without a digest that fits again. Pure but for the
chance it is given.
"""

import copy
import json
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from flareiac.kernel.data import digest
from tests.mutations.hostile import JSON

Place = tuple[Any, Any]
"""A container and the key or index of a part of it."""


def damaged_document(
    content: bytes, choose: random.Random, others: Sequence[bytes], *, sealed: bool
) -> tuple[tuple[str, ...], bytes]:
    """The names of the damages, and the document; ``sealed``: with a digest that fits it again, else without
    any.
    """
    document = json.loads(content)
    document.pop("digest", None)
    names = damage_document(document, choose, [json.loads(other) for other in others])
    if sealed:
        try:
            document["digest"] = digest(document)
        except (ValueError, RecursionError):  # a half of a surrogate pair has no bytes to make a digest of
            document["digest"] = "0" * 32
    return names, json.dumps(document).encode(errors="surrogatepass")


def damage_document(document: Any, choose: random.Random, others: Sequence[Any]) -> tuple[str, ...]:
    """Damages a document in place, once to three times; the names of what was done."""
    names = []
    for _ in range(choose.choice((1, 1, 1, 2, 3))):
        places = list(_places(document))
        if not places:
            break
        name = choose.choice(list(DAMAGES))
        DAMAGES[name](choose.choice(places), places, choose, others)
        names.append(name)
    return tuple(names)


def _places(document: Any) -> Iterator[Place]:
    keys = (
        list(document)
        if isinstance(document, dict)
        else range(len(document))
        if isinstance(document, list)
        else ()
    )
    for key in keys:
        yield document, key
        yield from _places(document[key])


def _away(place: Place, _places: list[Place], _choose: random.Random, _others: Sequence[Any]) -> None:
    del place[0][place[1]]


def _junk(place: Place, _places: list[Place], choose: random.Random, _others: Sequence[Any]) -> None:
    place[0][place[1]] = copy.deepcopy(choose.choice(JSON))


def _other_type(place: Place, _places: list[Place], choose: random.Random, _others: Sequence[Any]) -> None:
    """The same content, as another type would hold it."""
    value = place[0][place[1]]
    forms: list[Any] = [[value], {"x": value}, str(value), None, not value]
    match value:
        case bool():
            forms += [int(value), str(value).lower()]
        case int() | float():
            forms += [float(value) + 0.5, -value, value * 10**18]
        case str():
            forms += [list(value[:50]), len(value), value.encode(errors="surrogatepass").hex()[:50]]
        case list():
            forms += [{str(at): str(each) for at, each in enumerate(value[:20])}, len(value)]
        case dict():
            forms += [list(value), list(value.values()), [[key, item] for key, item in value.items()]]
        case _:
            pass
    place[0][place[1]] = choose.choice(forms)


def _renamed(place: Place, _places: list[Place], choose: random.Random, _others: Sequence[Any]) -> None:
    holder, key = place
    if isinstance(holder, dict):
        new = choose.choice(
            (
                str(key)[1:],
                f"{key}s",
                str(key).upper(),
                "",
                "\x1b[31m",
                *list(holder),
                *(str(item) for item in JSON[14:20]),
            )
        )
        holder[new] = holder.pop(key)
    else:
        holder.reverse()


def _twice(place: Place, _places: list[Place], choose: random.Random, _others: Sequence[Any]) -> None:
    holder, key = place
    if isinstance(holder, list):
        holder.insert(choose.randrange(len(holder) + 1), copy.deepcopy(holder[key]))
    else:
        holder[f"{key}2"] = copy.deepcopy(holder[key])


def _swapped(place: Place, places: list[Place], choose: random.Random, _others: Sequence[Any]) -> None:
    other = choose.choice(places)
    mine, theirs = copy.deepcopy(place[0][place[1]]), copy.deepcopy(other[0][other[1]])
    place[0][place[1]] = theirs
    if choose.random() < 0.5:
        other[0][other[1]] = mine


def _deep(place: Place, _places: list[Place], choose: random.Random, _others: Sequence[Any]) -> None:
    value = place[0][place[1]]
    for _ in range(choose.choice((2, 20, 150, 400))):
        value = [value] if choose.random() < 0.5 else {"x": value}
    place[0][place[1]] = value


def _crossed(place: Place, _mine: list[Place], choose: random.Random, others: Sequence[Any]) -> None:
    """A part of another document, from under the same name where there is one."""
    found = list(_places(choose.choice(others))) if others else []
    same = [item for item in found if item[1] == place[1]]
    if found:
        holder, key = choose.choice(same or found)
        place[0][place[1]] = copy.deepcopy(holder[key])


def _within(place: Place, _places: list[Place], choose: random.Random, _others: Sequence[Any]) -> None:
    """Something inside a text, or a number that is a little off."""
    value = place[0][place[1]]
    if isinstance(value, str):
        at = choose.randrange(len(value) + 1)
        texts = (
            "\x1b]0;x\x07",
            "\x00",
            "\ud800",
            "\u202e",
            "..",
            "/",
            '"',
            "'",
            "[",
            "${x}",
            "\n",
            " ",
            "é",
            "$root",
        )
        place[0][place[1]] = value[:at] + choose.choice(texts) + value[at + choose.randrange(2) :]
    elif isinstance(value, int | float) and not isinstance(value, bool):
        place[0][place[1]] = value + choose.choice((1, -1, 0.5, 2**64))
    else:
        place[0][place[1]] = choose.choice(JSON)


DAMAGES: dict[str, Callable[[Place, list[Place], random.Random, Sequence[Any]], None]] = {
    "away": _away,
    "junk": _junk,
    "junk again": _junk,
    "other type": _other_type,
    "renamed": _renamed,
    "twice": _twice,
    "swapped": _swapped,
    "nested": _deep,
    "crossed": _crossed,
    "within": _within,
}
