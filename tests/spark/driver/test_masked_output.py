"""No secret that a driver resolved reaches its output, its logs or its status, whatever prints it."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from flareiac.sdk.secrets import reference, resolve
from flareiac_spark_runtime.driver.log_lines import CAUSE, LogLines
from flareiac_spark_runtime.driver.refusal import Refusal
from flareiac_spark_runtime.driver.root_cause import Link, choose, root_cause_of

SECRET: Final = "driver+secret/99 of a test"
PROGRAM: Final = """
import os, subprocess, sys
import pytest

from flareiac.sdk.secrets import reference, resolve
from flareiac_spark_runtime.driver.masked_output import masked_output
resolve(reference("env", "DRIVER_SECRET"))
secret = os.environ["DRIVER_SECRET"]
with masked_output():
    print("of Python", secret)
    print("to standard error", secret, file=sys.stderr)
    subprocess.run(["/bin/sh", "-c", 'echo "of a child $DRIVER_SECRET"; echo "$DRIVER_SECRET" >&2'])
    os.write(1, b"bytes \\xff " + secret[:7].encode())
    os.write(1, secret[7:].encode() + b" of one line\\n")
    os.write(2, b"x" * 300_000 + b"\\n")
    # A process that outlives this one keeps the pipe open.
    subprocess.Popen(["/bin/sleep", "30"])
    print("the last words have no end", end="")
print(" and what follows is as it is")
"""


def test_all_that_is_printed_passes_and_nothing_else_is_lost(tmp_path: Path) -> None:
    output = tmp_path / "driver.out"
    with output.open("wb") as file:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            stdout=file,
            stderr=subprocess.STDOUT,
            env={**os.environ, "DRIVER_SECRET": SECRET},
            check=False,
            timeout=120,
        )
    text = output.read_bytes()
    assert done.returncode == 0, text
    assert SECRET.encode() not in text
    assert text.count(b"(sensitive)") == 5
    assert b"bytes \xff (sensitive) of one line\n" in text
    assert text.count(b"x") == 300_000  # a long line may be cut by one of the other output
    assert b"the last words have no end" in text
    assert text.endswith(b" and what follows is as it is\n")


def test_causes_and_lines_of_logs_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIVER_SECRET", SECRET)
    resolve(reference("env", "DRIVER_SECRET"))
    link = Link(
        class_name="a.RESTException", condition=None, message=f"not authorized: {SECRET} {'x' * 1190}"
    )
    # Cut off after the secret was looked for, not before.
    near_the_end = Link(class_name="a.RESTException", condition=None, message=f"{'x ' * 595}{SECRET}")
    for found in (choose([link]), choose([near_the_end]), root_cause_of(Refusal("X", f"no {SECRET}"))):
        assert "driver+sec" not in found.message
    lines = LogLines()
    record = logging.LogRecord("flareiac.job.x", logging.ERROR, "p", 1, "it said %s", (SECRET,), None)
    setattr(record, CAUSE, f"a stack with {SECRET}")
    for lines.as_json in (False, True):
        text = lines.format(record)
        assert SECRET not in text
        assert text.count("(sensitive)") == 2
    assert json.loads(text)["message"] == "it said (sensitive)"
