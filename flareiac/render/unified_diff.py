"""Shows new texts of files as a unified diff."""

import difflib
from collections.abc import Iterator, Mapping

from flareiac.kernel.sources import Source


def differences(before: Mapping[str, Source], texts: Mapping[str, str]) -> Iterator[str]:
    """Yields the lines of a unified diff of the texts of files."""
    for name, text in sorted(texts.items()):
        old, new = before[name].text.splitlines(), text.splitlines()
        yield from difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", lineterm="")
