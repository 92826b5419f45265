"""Small counts of modules in modules multiply: their number is bounded, and the first that exceeds it is
named.
"""

from pathlib import Path

from flareiac.kernel.diagnostics import Diagnostics
from tests.golden.case import configuration

PROJECT = """
module "a" {
  source = "./a"
  count  = 1000
}
-- a/main.flare.hcl --
module "b" {
  source = "../b"
  count  = 1000
}
-- b/main.flare.hcl --
output "x" { value = 1 }
"""


def test_modules_that_multiply_end_in_a_complaint(tmp_path: Path) -> None:
    diagnostics = Diagnostics()
    configuration(PROJECT, tmp_path, diagnostics)
    (complaint,) = diagnostics
    assert complaint.code == "FIC044"
    assert complaint.subject is not None
    assert (complaint.subject.path, complaint.subject.start.line) == ("a/main.flare.hcl", 1)
