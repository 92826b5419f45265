import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.txtar import Archive, Malformed, format_txtar, parse_txtar

_CONTENT = st.lists(
    st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=20), max_size=5
).map(
    lambda lines: "".join(
        f"{line}\n" for line in lines if not (line.startswith("-- ") and line.rstrip().endswith(" --"))
    )
)
_NAME = st.from_regex(r"[a-z0-9_./]{1,12}", fullmatch=True)


def test_reads_comment_and_files_in_order() -> None:
    archive = parse_txtar(
        "what it shows\n-- b.hcl --\nx = 1\n\n-- a.txt --\n-- empty --\n-- last --\nno newline"
    )
    assert archive.comment == "what it shows\n"
    assert list(archive.files.items()) == [
        ("b.hcl", "x = 1\n\n"),
        ("a.txt", ""),
        ("empty", ""),
        ("last", "no newline\n"),
    ]


def test_refuses_the_same_name_twice() -> None:
    with pytest.raises(Malformed, match="appears twice"):
        parse_txtar("-- a --\n1\n-- a --\n2\n")


@given(_CONTENT, st.dictionaries(_NAME, _CONTENT, max_size=4))
def test_gives_back_what_was_formatted(comment: str, files: dict[str, str]) -> None:
    archive = Archive(comment=comment, files=files)
    assert parse_txtar(format_txtar(archive)) == archive
