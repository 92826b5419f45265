"""Caches evaluated blocks that use no variables, keyed by the digest of their text: most blocks of most runs
have not changed. Touches the user's cache directory, and looks at the installed code.

A block is plain where its canonical attributes follow from its text and from the blocks that it names: no
variable, no loop, no function but the pure ones of providers, and a type that says so
(``Declaring.follows_from_text``). What is kept counts while the code is the same, and with it the blocks
that are named, and the connections among which one is chosen that is not named.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, Final, TypeAlias
from uuid import uuid4

from flareiac import __version__
from flareiac.kernel import user_cache
from flareiac.kernel.data import Attributes, digest, from_json, to_json
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.paths import Path
from flareiac.kernel.records import decode, encode
from flareiac.kernel.sources import Span
from flareiac.lang.syntax import (
    AttributeNode,
    BlockNode,
    Body,
    Call,
    GetAttribute,
    Label,
    Literal,
    Node,
    ObjectConstructor,
    ObjectItem,
    Parentheses,
    TupleConstructor,
    Variable,
    children,
)
from flareiac.model.relocation import BoundPlace
from flareiac.sdk.owner import Owner

FORMAT: Final = 4
"""The version of what is kept. With another one it is made again."""
_CODE: Final = (".py", ".pyc", ".lark")
_REPEATS: Final = ("count", "for_each")
_READ_EACH_TIME: Final = ("prevent_destroy", "ignore_changes")
_OUR_ROOMS: Final = ("kernel", "lang", "config", "model", "sdk")
_TRANSPARENT: Final = (Body, Label, TupleConstructor, ObjectConstructor, Parentheses, AttributeNode)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """The evaluated content of a plain block. ``start``: the addresses that it names or that are chosen for
    it; ``bound``: see ``model.relocation``; ``has_lifecycle``: whether it has a block of that name, which is
    read each time; ``owner``: the one that the block names itself.
    """

    start: tuple[str, ...]
    attributes: Attributes
    dependencies: tuple[str, ...]
    bound: tuple[BoundPlace, ...] = ()
    has_lifecycle: bool = False
    owner: Owner | None = None


Surroundings: TypeAlias = Callable[[str, tuple[str, ...]], str]
"""The function that digests what a block of a type sees that names these addresses."""


class KeptBlocks:
    """The kept meanings of one project. ``functions``: those that a plain block may call."""

    def __init__(self, root: FilePath, functions: Iterable[Callable[..., object]] = ()) -> None:
        self._name = f"blocks/{FORMAT}-{digest(str(root))}.json"
        self._packages = frozenset(map(_package_of, functions))
        cached = user_cache.read_json(self._name)
        self._old: dict[str, str] = cached if isinstance(cached, dict) else {}
        self._used: dict[str, str] = {}
        self._changed = False
        self._code: dict[str, str] = {}

    def find(
        self,
        block: BlockNode,
        address: str,
        canonical: Callable[..., object],
        surroundings: Surroundings,
    ) -> Meaning | None:
        """The meaning of a block of this text; None where it has to be evaluated."""
        key = f"{address} {block.origin.digest}"
        kept_text = self._old.get(key)
        if kept_text is None:
            return None
        try:
            # Each is a text of its own: thousands of meanings at once would be most of the memory of a plan.
            data = json.loads(kept_text)
            if not self._fits(data, block, canonical, surroundings):
                return None
            kept = _decode(data["meaning"])
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
            return None
        self._used[key] = kept_text
        return kept

    def add(
        self,
        block: BlockNode,
        address: str,
        canonical: Callable[..., object],
        meaning: Meaning,
        surroundings: Surroundings,
    ) -> None:
        """Keeps what was found out about a plain block."""
        if not block.origin.digest:
            return
        try:
            entry = {
                "code": self._code_of(canonical),
                "sees": surroundings(block.type, meaning.start),
                "meaning": _encode(meaning),
            }
            text = json.dumps(entry, separators=(",", ":"))
            comes_back = _decode(json.loads(text)["meaning"]) == meaning
        except (TypeError, ValueError, RecursionError):
            return
        if comes_back:
            self._used[f"{address} {block.origin.digest}"] = text
            self._changed = True

    def close(self) -> None:
        """Writes what is worth keeping, and holds it no longer."""
        if self._changed or len(self._used) < len(self._old):
            user_cache.keep_json(self._name, self._used)
        self._old, self._used = {}, {}

    def _fits(
        self, data: Any, block: BlockNode, canonical: Callable[..., object], surroundings: Surroundings
    ) -> bool:
        return bool(
            data["code"] == self._code_of(canonical)
            and data["sees"] == surroundings(block.type, tuple(data["meaning"]["start"]))
        )

    def _code_of(self, canonical: Callable[..., object]) -> str:
        package = _package_of(canonical)
        if package not in self._code:
            ours = FilePath(__file__).parents[1]
            places = [str(ours / room) for room in _OUR_ROOMS]
            for name in sorted({package, *self._packages}):
                module = sys.modules[name]
                places += map(str, getattr(module, "__path__", None) or [module.__file__])
            try:
                stamps = sorted(stamp for place in places for stamp in _stamps(place))
            except OSError:  # the code changes at this moment
                stamps = [[str(uuid4())]]
            self._code[package] = digest([sys.version, __version__, *stamps])
        return self._code[package]


class LaterSpans(Mapping[Path, Span]):
    """The spans of the parts of a block, computed on first access: for a cached block, hardly ever."""

    def __init__(self, find: Callable[[], Mapping[Path, Span]]) -> None:
        self._find = find
        self._found: Mapping[Path, Span] | None = None

    @property
    def _spans(self) -> Mapping[Path, Span]:
        if self._found is None:
            self._found = self._find()
        return self._found

    def __getitem__(self, path: Path) -> Span:
        return self._spans[path]

    def __iter__(self) -> Iterator[Path]:
        return iter(self._spans)

    def __len__(self) -> int:
        return len(self._spans)


def is_plain(block: BlockNode, functions: frozenset[str], is_block_type: Callable[[str], bool]) -> bool:
    """Returns True if a block mentions nothing but whole blocks, and calls nothing but these functions."""

    def plain(node: Node) -> bool:
        match node:
            case Literal():
                return True
            case GetAttribute(source=Variable(name=root)):
                return is_block_type(root)
            case Call(name=name):
                return name in functions and all(map(plain, children(node)))
            case ObjectItem(key=key, value=value):
                return (isinstance(key, Variable) or plain(key)) and plain(value)
            case BlockNode(type="lifecycle", body=body):
                # Two attributes are read each time; conditions and others are about more than the block
                return not body.blocks and all(each.name in _READ_EACH_TIME for each in body.attributes)
            case BlockNode(type=type_name):
                return type_name != "dynamic" and all(map(plain, children(node)))
            case AttributeNode(name=name) if name in _REPEATS:
                return False
            case _:
                return isinstance(node, _TRANSPARENT) and all(map(plain, children(node)))

    try:
        return plain(block)
    except RecursionError:
        return False


def _package_of(code: Callable[..., object]) -> str:
    return code.__module__.partition(".")[0]


def _stamps(place: str) -> Iterator[list[Any]]:
    """Name, size and time of each module below a folder, of one module, or of the archive that it is in."""
    if os.path.isdir(place):  # noqa: PTH112 - hundreds of modules, before each command
        with os.scandir(place) as entries:
            for entry in entries:
                if entry.name.endswith(_CODE) or (entry.is_dir() and entry.name != "__pycache__"):
                    yield from _stamps(entry.path)
    else:
        while not os.path.exists(place):  # noqa: PTH110 - see above
            place = os.path.dirname(place)  # noqa: PTH120 - see above
        about = os.stat(place)  # noqa: PTH116 - see above
        yield [place, about.st_size, about.st_mtime_ns]


def _encode(meaning: Meaning) -> Any:
    """As JSON; attributes without marks are written as they are, so that reading them costs nothing."""
    marked = {name: to_json(value) for name, value in meaning.attributes.items()}
    return {
        "start": list(meaning.start),
        "order": list(meaning.attributes),
        "plain": {name: value for name, value in meaning.attributes.items() if marked[name] == value},
        "marked": {name: value for name, value in marked.items() if value != meaning.attributes[name]},
        "dependencies": list(meaning.dependencies),
        "bound": encode(meaning.bound),
        "lifecycle": meaning.has_lifecycle,
        "owner": encode(meaning.owner) if meaning.owner is not None else None,
    }


def _decode(data: Any) -> Meaning:
    marked = {name: from_json(value) for name, value in data["marked"].items()}
    both = {**data["plain"], **marked}
    return Meaning(
        start=tuple(data["start"]),
        attributes={name: both[name] for name in data["order"]},
        dependencies=tuple(data["dependencies"]),
        bound=tuple(decode(BoundPlace, place) for place in data["bound"]) if data["bound"] else (),
        has_lifecycle=data["lifecycle"],
        owner=decode(Owner, data["owner"]) if data["owner"] is not None else None,
    )


def surroundings_of(named: Sequence[tuple[str, Attributes]], choices: Mapping[str, Sequence[str]]) -> str:
    """The digest of what a block sees: the blocks that it reaches, by address, and the connections of each
    type among which one is chosen.
    """
    return digest([[[address, digest(attributes)] for address, attributes in named], {**choices}])
