"""An edit changes what it names, and one that does not fit its base is refused."""

import pytest

from tests.golden.edits import DoesNotFit, edited

BASE = """\
table "a" {
  namespace = "n"
  column "id" { type = "long" }
}

checkpoint "c" {}

table "b" {
  namespace = "n"
  column "id" { type = "long" }
}
"""


def test_lines_go_and_come_in_the_named_block() -> None:
    edit = '@@ table "b"\n-  column "id" { type = "long" }\n+  column "id" { type = "string" }\n'
    assert edited(BASE, edit) == BASE.replace('"long"', '"string"').replace('"string"', '"long"', 1)


def test_hunks_are_applied_together() -> None:
    edit = """\
@@ table "a"
   namespace = "n"
+  comment = "x"
@@ checkpoint "c"
-checkpoint "c" {}
-
@@ table "b"
 }
+
+x = 1
"""
    assert (
        edited(BASE, edit)
        == """\
table "a" {
  namespace = "n"
  comment = "x"
  column "id" { type = "long" }
}

table "b" {
  namespace = "n"
  column "id" { type = "long" }
}

x = 1
"""
    )


def test_an_empty_line_stays() -> None:
    assert edited(BASE, '@@ table "a"\n }\n\n+# new\n') == BASE.replace(
        "}\n\ncheckpoint", "}\n\n# new\ncheckpoint"
    )


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        ("", "begins with"),
        ("+x = 1\n", "begins with"),
        ('@@ table "z"\n-x\n', "0 lines begin"),
        ("@@ table\n }\n+x\n", "2 lines begin"),
        ('@@ table "a"\nnamespace\n', "neither a blank nor"),
        ('@@ table "a"\n   namespace = "n"\n', "changes nothing"),
        ('@@ table "a"\n+  comment = "x"\n', "0 places"),
        ('@@ table "a"\n-  namespace = "m"\n', "0 places"),
        ('@@ checkpoint "c"\n-  namespace = "n"\n', "0 places"),
        (
            '@@ table "b"\n-  namespace = "n"\n@@ table "a"\n-  namespace = "n"\n',
            "behind one of a later place",
        ),
        ('@@ table "a"\n-  namespace = "n"\n@@ table "a"\n   namespace = "n"\n+x\n', "overlaps"),
    ],
)
def test_what_does_not_fit_is_refused(edit: str, why: str) -> None:
    with pytest.raises(DoesNotFit, match=why):
        edited(BASE, edit)


def test_lines_in_two_places_of_a_block_are_refused() -> None:
    with pytest.raises(DoesNotFit, match="2 places"):
        edited('job "a" {\n  x = 1\n  x = 1\n}\n', '@@ job "a"\n-  x = 1\n')
