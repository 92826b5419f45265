"""Sensitive values stay out of plan files, also where they are only a part of a variable's value."""

import os
import subprocess
from pathlib import Path

from tests.support.command_line import arguments, environment, flareiac


def test_a_sensitive_part_of_a_variable_is_not_in_the_plan_file(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text(
        'variable "login" { default = { word = sensitive("hunter2") } }\nthing "a" { value = "1" }\n'
    )
    planned = flareiac(tmp_path, "plan", "-out=plan.json")
    assert planned.code == 0, planned.text
    assert "hunter2" not in (tmp_path / "plan.json").read_text()


def test_variables_are_read_from_a_pipe_that_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text('variable "x" {}\noutput "o" { value = var.x }\n')
    reading, writing = os.pipe()
    os.write(writing, b'x = "from a pipe"\n')
    os.close(writing)
    try:
        words, nothing = arguments("plan", f"-var-file=/dev/fd/{reading}"), subprocess.DEVNULL
        planned = subprocess.run(
            words,
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.PIPE,
            stdin=nothing,
            pass_fds=(reading,),
            check=True,
        )
    finally:
        os.close(reading)
    assert '+ o = "from a pipe"' in planned.stdout.decode()
