"""One function writes the core's documents of JSON: it writes numbers with all of their digits."""

from pathlib import Path

_ROOT = Path(__file__).parents[2]
_OTHERS = {
    "flareiac/config/kept_blocks.py": "meanings of blocks; what has an exact number is not kept",
    "flareiac/kernel/data.py": "the function itself",
    "flareiac/kernel/user_cache.py": "figures and texts that the next command computes again",
    "flareiac/lang/functions/json_text.py": "jsonencode(): the quotes of texts",
    "flareiac/lang/grammar.py": "tables of the grammar",
    "flareiac/lang/syntax_cache.py": "syntax, with numbers as texts",
}


def test_documents_are_written_by_the_function_that_keeps_all_digits() -> None:
    found = {
        str(path.relative_to(_ROOT))
        for room in ("flareiac", "state")
        for path in (_ROOT / room).rglob("*.py")
        if "json.dump" in path.read_text("utf-8")
    }
    assert found == set(_OTHERS)
