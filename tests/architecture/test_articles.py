"""No message puts a fixed "a" before a word that is filled in: it would say "a output"."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from flareiac.kernel.articles import with_article

_ROOT = Path(__file__).parents[2]
_ARTICLE = re.compile(r"(^|[^A-Za-z0-9'’])[Aa]n? [\"'`]?\Z")
_FORMAT = re.compile(r"(^|[^A-Za-z0-9'’])[Aa]n? [\"'`]?\{(?!\{)")


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("output", "an output"),
        ("engine", "an engine"),
        ("import", "an import"),
        ("Iceberg stream", "an Iceberg stream"),
        ('"input" block', 'an "input" block'),
        ("hour", "an hour"),
        ("table", "a table"),
        ("uuid", "a uuid"),
        ("unique key", "a unique key"),
        ("user", "a user"),
        ("one-to-one", "a one-to-one"),
        ("undrop", "an undrop"),
        ("", "a "),
    ],
)
def test_the_article_follows_the_sound(word: str, said: str) -> None:
    assert with_article(word) == said


def _fixed_articles(tree: ast.AST) -> Iterator[int]:
    """The lines of texts in which a fixed article stands before a word that is filled in."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            for part, following in zip(node.values, node.values[1:], strict=False):
                if (
                    isinstance(part, ast.Constant)
                    and isinstance(following, ast.FormattedValue)
                    and _ARTICLE.search(str(part.value))
                    and not _is_number(following)
                ):
                    yield following.lineno
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _FORMAT.search(node.value):
            yield node.lineno


def _is_number(value: ast.FormattedValue) -> bool:
    return value.format_spec is not None


def test_no_message_has_a_fixed_article_before_a_word_that_is_filled_in() -> None:
    found = [
        f"{path.relative_to(_ROOT)}:{line}"
        for room in ("flareiac", "providers", "state")
        for path in sorted((_ROOT / room).rglob("*.py"))
        for line in _fixed_articles(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == [], "use flareiac.kernel.articles.with_article"


def test_the_search_sees_a_fixed_article() -> None:
    texts = ('f"A {kind} block"', "f'there is already a \"{name}\"'", '"an {} stream"', 'f"is not a {kind}."')
    assert all(list(_fixed_articles(ast.parse(text))) for text in texts)
    assert not list(_fixed_articles(ast.parse('f"the {kind} of {a} {b}"')))
