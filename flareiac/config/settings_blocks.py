"""The ``flareiac`` blocks of a root module, read without the rest of its configuration: a command that only
looks at the state needs to know where it is, and works whatever else is wrong. Touches the file system.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from flareiac.config.files import is_configuration, read
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Source
from flareiac.lang.parse import parse_blocks, parse_file
from flareiac.lang.syntax import BlockNode

WORD: Final = "flareiac"
_BEGINS: Final = re.compile(rf"^[ \t\ufeff]*{WORD}[ \t]*(?:\{{|/|$)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsBlocks:
    """The blocks, and the texts that they stand in, by name."""

    blocks: tuple[BlockNode, ...]
    sources: Mapping[str, Source]


def settings_blocks(root: Path, diagnostics: Diagnostics) -> SettingsBlocks:
    """All ``flareiac`` blocks in the files of ``root``. Complains only where one of them cannot be read, or
    might be hidden by something that cannot be read.
    """
    blocks: list[BlockNode] = []
    sources: dict[str, Source] = {}
    unread = Diagnostics()
    for path in _files(root):
        source = read(path, path.name, unread)
        if source is None or not _BEGINS.search(source.text):
            continue
        sources[source.path] = source
        blocks.extend(_blocks(source, diagnostics))
    if not blocks:
        diagnostics.extend(unread)
    return SettingsBlocks(blocks=tuple(blocks), sources=sources)


def _files(root: Path) -> list[Path]:
    try:
        return sorted(
            entry for entry in root.iterdir() if is_configuration(entry.name) and not entry.is_dir()
        )
    except OSError:
        return []  # the reading of the configuration reports it


def _blocks(source: Source, diagnostics: Diagnostics) -> tuple[BlockNode, ...]:
    blocks = parse_blocks(source, WORD, diagnostics)
    if len(blocks) < len(_BEGINS.findall(source.text)) and not diagnostics.has_errors:
        # A bracket that is not closed swallows the blocks behind it; a text may hold the word, too.
        body = parse_file(source, diagnostics)
        return tuple(block for block in body.blocks if block.type == WORD)
    return blocks
