"""Blocks of some types of a root module, read without the rest of its configuration: a command that only
looks at the state needs to know where it is, and works whatever else is wrong. Touches the file system.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from flareiac.config.configuration_form import ConfigurationForm
from flareiac.config.files import is_configuration, read
from flareiac.config.own_blocks import OWN_BLOCKS
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Source
from flareiac.lang.json_text import is_json
from flareiac.lang.parse import parse_blocks, parse_file
from flareiac.lang.syntax import BlockNode

WORD: Final = "flareiac"


@dataclass(frozen=True, slots=True, kw_only=True)
class TopBlocks:
    """The blocks of some types, and the texts that they stand in, by name."""

    blocks: tuple[BlockNode, ...]
    sources: Mapping[str, Source]


def settings_blocks(root: Path, diagnostics: Diagnostics) -> TopBlocks:
    """All ``flareiac`` blocks in the files of ``root``. Complains only where one of them cannot be read, or
    might be hidden by something that cannot be read.
    """
    return top_blocks(root, (WORD,), diagnostics)


def top_blocks(root: Path, words: Sequence[str], diagnostics: Diagnostics) -> TopBlocks:
    """As ``settings_blocks``, of these types."""
    blocks: list[BlockNode] = []
    sources: dict[str, Source] = {}
    unread = Diagnostics()
    for path in _files(root):
        source = read(path, path.name, unread)
        for word in words if source is not None else ():
            if source is not None and _may_have(source, word):
                sources[source.path] = source
                blocks.extend(_blocks(source, word, diagnostics))
    if not blocks:
        diagnostics.extend(unread)
    return TopBlocks(blocks=tuple(blocks), sources=sources)


def _may_have(source: Source, word: str) -> bool:
    if is_json(source.path):
        return word in source.text or "\\u" in source.text
    return _begins(word).search(source.text) is not None


@cache
def _begins(word: str) -> re.Pattern[str]:
    """The beginning of a block of a type, with a label or without one."""
    return re.compile(rf'^[ \t\ufeff]*{word}[ \t]*(?:\{{|/|"|$)', re.MULTILINE)


def _files(root: Path) -> list[Path]:
    try:
        return sorted(
            entry for entry in root.iterdir() if is_configuration(entry.name) and not entry.is_dir()
        )
    except OSError:
        return []  # the reading of the configuration reports it


def _blocks(source: Source, word: str, diagnostics: Diagnostics) -> tuple[BlockNode, ...]:
    if is_json(source.path):
        return parse_file(
            source, diagnostics, form=ConfigurationForm({}, {word: OWN_BLOCKS[word]})
        ).blocks_of(word)
    blocks = parse_blocks(source, word, diagnostics)
    if len(blocks) < len(_begins(word).findall(source.text)) and not diagnostics.has_errors:
        # A bracket that is not closed swallows the blocks behind it; a text may hold the word, too.
        body = parse_file(source, diagnostics)
        return tuple(block for block in body.blocks if block.type == word)
    return blocks
