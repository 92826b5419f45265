"""The indefinite article before a word that is not known when a sentence is written. Pure."""

import re
from typing import Final

_AN: Final = re.compile(r"[aeiou]|ho(ur|nest|nou?r)|heir", re.IGNORECASE)
_A: Final = re.compile(r"eu|uni|us[eu]|ut[ei]|uuid|one(?![a-z])|once", re.IGNORECASE)
"""Words that are written with a vowel in front and spoken with a consonant."""


def with_article(word: str, *, capital: bool = False) -> str:
    """``an output``, ``a table``: a word, or a phrase by its first word, after its article. ``capital``: as
    the beginning of a sentence.
    """
    spoken = word.lstrip("\"'`")
    article = "an" if _AN.match(spoken) and not _A.match(spoken) else "a"
    return f"{article.capitalize() if capital else article} {word}"
