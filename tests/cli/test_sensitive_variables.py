"""What is sensitive stays out of plan files, also where it is only a part of a variable's value."""

from pathlib import Path

from tests.support.command_line import flareiac


def test_a_sensitive_part_of_a_variable_is_not_in_the_plan_file(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text('variable "login" { default = { word = sensitive("hunter2") } }\nthing "a" { value = "1" }\n')
    planned = flareiac(tmp_path, "plan", "-out=plan.json")
    assert planned.code == 0, planned.text
    assert "hunter2" not in (tmp_path / "plan.json").read_text()
