"""Steps in Python on a running application: what they are given, what travels to workers, and how bad code
fails.
"""

from pathlib import Path
from typing import Any

import pytest

from flareiac_spark.application import is_alive, run_operation
from flareiac_spark_runtime.control import ErrorSummary, Operation

pytestmark = pytest.mark.jvm

Lake = Any
"""The fixtures' own type; conftest files cannot be imported under this import mode."""

FLIGHTS = [("ts", "timestamptz"), ("carrier", "string"), ("delay", "long")]
PASS = "def clean(spark, inputs, params):\n    return inputs['raw']\n"


def flight(minute: int, carrier: str = "AA", delay: int | None = 1) -> dict[str, Any]:
    return {"ts": f"2026-01-01T00:{minute:02d}:00Z", "carrier": carrier, "delay": delay}


@pytest.fixture(scope="module")
def running(lake: Lake) -> Lake:
    lake.start()
    return lake


def folder(lake: Lake, digest: str, **modules: str | bytes) -> str:
    """Code as an apply leaves it beside the application; ``_`` in a module's name stands for a slash."""
    place: Path = lake.control.code / digest
    for name, text in modules.items():
        path = place / f"{name.replace('_', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(place)


def job(
    lake: Lake, name: str, code: str | None, uuid: str | None, *steps: dict[str, Any], **more: Any
) -> dict[str, Any]:
    made = steps or ({"name": "clean", "python": "steps:clean", "params": {"factor": 10}},)
    spec = {
        "address": f"job.{name}",
        "mode": "stream",
        "trigger": {"kind": "processing_time", "interval_ms": 200},
        "inputs": [lake.flights_input(f"in_{name}")],
        "steps": list(made),
        "outputs": [lake.output(name, made[-1]["name"], uuid, FLIGHTS)],
        "restart": {"max_failures": 1, "within_ms": 600000, "backoff_ms": 100},
        "code": code,
    }
    return {**spec, **more}


VERSION = """
import json
from pyspark.sql import functions as F
from pyspark.sql.types import StringType
import helpers
from deep.inner import {inner}

def clean(spark, inputs, params):
    mark = F.udf(lambda carrier: helpers.mark(carrier) + {inner}(), StringType())
    assert json.loads("[1]") == [1]
    return inputs["raw"].select("ts", mark("carrier").alias("carrier"), (F.col("delay") * params["factor"]).alias("delay"))
"""


def test_two_versions_of_the_same_modules_run_in_one_application_and_need_nothing_on_workers(
    running: Lake,
) -> None:
    lake = running
    first = folder(
        lake,
        "a" * 32,
        steps=VERSION.format(inner="one"),
        helpers="def mark(text):\n    return text + '-v1'\n",
        deep_inner="from . import other\n\ndef one():\n    return other.SIGN\n",
        deep_other="SIGN = '!'\n",
    )
    second = folder(
        lake,
        "b" * 32,
        steps=VERSION.format(inner="two"),
        helpers=(
            "class Marker:\n    def add(self, text):\n        return text + '-v2'\n\ndef mark(text):\n "
            "   return Marker().add(text)\n"
        ),
        deep_inner="def two():\n    return '?'\n",
    )
    lake.drop_file("in_old", "a", [flight(1)])
    lake.drop_file("in_new", "a", [flight(1)])
    old = job(lake, "old", first, lake.table("old", *FLIGHTS))
    new = job(lake, "new", second, lake.table("new", *FLIGHTS))
    lake.put(old, new)
    assert [(row["carrier"], row["delay"]) for row in lake.until_rows("old", 1)] == [("AA-v1!", 10)]
    assert [(row["carrier"], row["delay"]) for row in lake.until_rows("new", 1)] == [("AA-v2?", 10)]

    # An update of the one puts it on the other's version; nothing is read twice.
    lake.put({**old, "code": second})
    lake.until("job.old", lambda status: bool(status.queries))
    lake.drop_file("in_old", "b", [flight(2)])
    assert sorted(row["carrier"] for row in lake.until_rows("old", 2)) == ["AA-v1!", "AA-v2?"]
    assert not list(Path(second).rglob("__pycache__"))


def test_a_function_reads_earlier_steps_and_later_sql_reads_it(running: Lake) -> None:
    lake = running
    code = folder(
        lake,
        "c" * 32,
        steps="""
def scored(spark, inputs, params):
    assert sorted(inputs) == ["big", "raw"], sorted(inputs)
    params["seen"] = True
    return spark.sql("SELECT * FROM big").union(inputs["big"].selectExpr("ts", "carrier", "-delay"))
""",
    )
    lake.drop_file("in_chain", "a", [flight(1, delay=1), flight(2, delay=20)])
    steps = (
        {"name": "big", "sql": "SELECT * FROM raw WHERE delay > 10"},
        {"name": "scored", "python": "steps:scored"},
        {"name": "last", "sql": "SELECT ts, carrier, delay + 1 AS delay FROM scored"},
    )
    lake.put(job(lake, "chain", code, lake.table("chain", *FLIGHTS), *steps))
    assert sorted(row["delay"] for row in lake.until_rows("chain", 2)) == [-19, 21]


def test_a_module_named_as_one_of_python_s_own_breaks_nobody_else(running: Lake) -> None:
    lake = running
    code = folder(
        lake,
        "d" * 32,
        steps=f"import json\n{PASS}    assert json.OWN\n",
        json="OWN = True\n",
        threading="",
        pyspark_sql="1/0\n",
    )
    lake.drop_file("in_shadow", "a", [flight(1)])
    lake.put(job(lake, "shadow", code, lake.table("shadow", *FLIGHTS)))
    lake.until_rows("shadow", 1)
    # The application still writes JSON, and code in another folder still finds Python's own module.
    other = folder(lake, "e" * 32, steps=f"import json\n{PASS.replace('return', 'json.dumps(1); return')}")
    lake.drop_file("in_beside", "a", [flight(1)])
    lake.put(job(lake, "beside", other, lake.table("beside", *FLIGHTS)))
    lake.until_rows("beside", 1)


BAD: dict[str, tuple[str | bytes, str, tuple[str, ...]]] = {
    "raises": ("import os\nraise ValueError('no such model')\n", "CODE_FAILED", (("steps.py:2: ValueError: "
        "no such model"),)),
    "leaves": (f"import sys\nsys.exit(3)\n{PASS}", "CODE_FAILED", ("steps.py:2: SystemExit: 3",)),
    "leaves_later": (("def clean(spark, inputs, params):\n    raise "
        "SystemExit\n"), "CODE_FAILED", ("steps.py:2: SystemExit",)),
    "recursion": (
        "def clean(spark, inputs, params):\n    return clean(spark, inputs, params)\n",
        "CODE_FAILED",
        ("steps.py:2: RecursionError",),
    ),
    "nothing": (("def clean(spark, inputs, params):\n    "
        "inputs['raw']\n"), "CODE_RETURNED_NO_FRAME", ("steps:clean returned nothing",)),
    "a_number": (("def clean(spark, inputs, params):\n    return "
        "1\n"), "CODE_RETURNED_NO_FRAME", ("type int",)),
    "not_utf8": (b"x = '\xff'\n" + PASS.encode(), "CODE_FAILED", ("steps.py:1: ", "utf-8")),
    "no_python": ("def clean(:\n", "CODE_FAILED", ("steps.py:1: SyntaxError",)),
    "no_function": ("x = 1\n", "CODE_FUNCTION_MISSING", ("no function clean in the module steps",)),
    "no_input": (
        "def clean(spark, inputs, params):\n    return inputs['rwa']\n",
        "CODE_FAILED",
        ("steps.py:2: UnknownFrame: ", "'rwa'. There are raw."),
    ),
    "no_import": ("import helpers_of_nobody\n" + PASS, "CODE_FAILED", (("steps.py:1: "
        "ModuleNotFoundError: "), "'helpers_of_nobody'")),
    "own_error": (
        ("class Odd(BaseException):\n    def __str__(self):\n        raise ValueError\n\ndef clean(spark, "
        "inputs, params):\n    raise Odd\n"),
        "CODE_FAILED",
        ("steps.py:6: Odd",),
    ),
    "no_column": (
        "def clean(spark, inputs, params):\n    return inputs['raw'].select('carier')\n",
        "UNRESOLVED_COLUMN.WITH_SUGGESTION",
        ("steps.py:2: ", "carrier"),
    ),
    "collects": (
        "def clean(spark, inputs, params):\n    inputs['raw'].collect()\n",
        "_LEGACY_ERROR",
        ("steps.py:2: ", "writeStream.start()"),
    ),
    "stops_spark": (("def clean(spark, inputs, params):\n    "
        "spark.stop()\n"), "CODE_FAILED", ("steps.py:2: ", "stop the Spark of all")),
    "own_query": (
        ("def clean(spark, inputs, params):\n    inputs['raw'].writeStream.format('noop').start()\n    "
        "return inputs['raw']\n"),
        "CODE_STARTED_QUERY",
        ("started a streaming query",),
    ),
    "other_session": (
        ("from pyspark.sql import SparkSession\n\ndef clean(spark, inputs, params):\n    return "
        "spark.newSession().range(1)\n"),
        "CODE_RETURNED_FOREIGN_FRAME",
        ("another session",),
    ),
    "batch": (
        ("def clean(spark, inputs, params):\n    return spark.range(1).selectExpr('NULL AS ts', '\"A\" AS "
        "carrier', 'id AS delay')\n"),
        "NOT_STREAMING",
        ("reads no stream",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_code_fails_its_job_at_once_and_nothing_else(running: Lake, name: str) -> None:
    lake = running
    text, error_class, says = BAD[name]
    code = folder(lake, f"f{list(BAD).index(name):031d}", steps=text)
    spec = job(lake, f"bad_{name}", code, lake.table(f"bad_{name}", *FLIGHTS))
    lake.put(spec)
    status = lake.until_phase(spec["address"], "failed")
    cause: ErrorSummary | None = status.last_error
    assert cause is not None
    assert (cause.permanent, status.failures) == (True, 1), cause
    assert cause.error_class.startswith(error_class), cause
    assert all(part in cause.message for part in says), cause
    assert "flareiac_code_" not in cause.message
    assert is_alive(lake.control.read_status())


def test_a_function_that_fails_on_a_row_is_told_with_its_line(running: Lake) -> None:
    lake = running
    text = """
from pyspark.sql import functions as F
import numbers_of

def parse(carrier):
    try:
        return numbers_of.number(carrier)
    except TypeError:
        return 0

def clean(spark, inputs, params):
    return inputs["raw"].withColumn("carrier", F.udf(parse)("carrier"))
"""
    code = folder(lake, "5" * 32, steps=text)
    (Path(code) / "numbers_of.py").write_text(
        "def number(text):\n    return one(text)\n\ndef one(text):\n    return int(text)\n"
    )
    lake.drop_file("in_row", "a", [flight(1)])
    lake.put(job(lake, "row", code, lake.table("row", *FLIGHTS)))
    cause = lake.until_phase("job.row", "failed").last_error
    assert cause is not None
    assert cause.message == "numbers_of.py:5: ValueError: invalid literal for int() with base 10: 'AA'"


def test_code_that_is_not_there_is_told(running: Lake) -> None:
    lake = running
    spec = job(lake, "absent", str(lake.control.code / ("0" * 32)), lake.table("absent", *FLIGHTS))
    lake.put(spec)
    cause = lake.until_phase("job.absent", "failed").last_error
    assert cause is not None
    assert cause.error_class == "CODE_MISSING"


def test_trouble_of_the_network_is_tried_again(running: Lake) -> None:
    lake = running
    code = folder(
        lake,
        "1" * 32,
        steps=(
            "def clean(spark, inputs, params):\n    raise ConnectionRefusedError('the model server is "
            "away')\n"
        ),
    )
    lake.put(job(lake, "away", code, lake.table("away", *FLIGHTS)))
    status = lake.until_phase("job.away", "failed")
    assert status.failures == 2
    assert status.last_error is not None
    assert "steps.py:2: ConnectionRefusedError: the model server is away" in status.last_error.message


def test_analysis_calls_functions_with_empty_frames(running: Lake) -> None:
    lake = running
    good = folder(
        lake,
        "2" * 32,
        steps=(
            "def clean(spark, inputs, params):\n    return inputs['raw'].withColumn('delay', "
            "inputs['raw'].delay * 2)\n"
        ),
    )
    bad = folder(
        lake, "3" * 32, steps="def clean(spark, inputs, params):\n    return inputs['raw'].select('carier')\n"
    )
    still = folder(
        lake,
        "4" * 32,
        steps=(
            "def clean(spark, inputs, params):\n    return spark.createDataFrame([], inputs['raw'].schema)\n"
        ),
    )
    broken = job(lake, "a_broken", bad, None)
    broken["steps"].append({"name": "after", "sql": "SELECT * FROM clean"})
    jobs = (
        job(lake, "a_good", good, None),
        broken,
        job(lake, "a_still", still, None),
        job(lake, "a_none", None, None),
    )
    result = run_operation(lake.control, Operation(id="analyse-python", jobs=jobs), timeout=180)
    assert result is not None
    assert result.status == "done", result
    found = {(item.address, item.step, item.error_class.partition(".")[0]) for item in result.findings}
    assert ("job.a_broken", "clean", "UNRESOLVED_COLUMN") in found
    assert ("job.a_none", "clean", "CODE_MISSING") in found
    assert {(address, step) for address, step, _ in found} == {
        ("job.a_broken", "clean"),
        ("job.a_none", "clean"),
        ("job.a_still", "outputs.a_still"),
    }
    assert next(item for item in result.findings if item.step == "clean").message.startswith("steps.py:2: ")
