"""The way of Python code to Spark's workers: the form that a step in Python must have so that two versions of
it live in one application.
"""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.facts.ids import fact
from tests.facts.lake import Lake, collected

pytestmark = pytest.mark.jvm


@pytest.fixture
def loaded() -> Iterator[list[str]]:
    """Names of modules to forget afterwards."""
    names: list[str] = []
    yield names
    for name in names:
        sys.modules.pop(name, None)


def load(folder: Path, name: str, factor: int, loaded: list[str]) -> ModuleType:
    """A module from a path that is not on the workers'."""
    file = folder / f"{name}.py"
    file.write_text(f"FACTOR = {factor}\n\n\ndef times(n):\n    return n * FACTOR\n")
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[name] = module
    loaded.append(name)
    return module


def apply(lake: Lake, module: ModuleType) -> list[tuple[Any, ...]]:
    from pyspark.sql.functions import udf

    return collected(lake.spark.range(3).select(udf(module.times, "bigint")("id")))


@fact("driver.code-by-path")
def test_a_function_of_a_module_by_path_is_not_found_by_the_workers(lake: Lake, loaded: list[str]) -> None:
    """It is pickled by its name."""
    from pyspark.errors import PythonException

    module = load(lake.folder, "steps_1111", 10, loaded)
    with pytest.raises(PythonException, match="ModuleNotFoundError: No module named 'steps_1111'"):
        apply(lake, module)


@fact("driver.code-by-value")
def test_two_versions_live_in_one_application_by_value(lake: Lake, loaded: list[str]) -> None:
    """Modules named by the digest of their code, registered with the pickler of pyspark itself; globals of
    the module travel along.
    """
    import pyspark

    cloudpickle: Any = pyspark.cloudpickle
    for name, factor in (("steps_2222", 10), ("steps_3333", 100), ("steps_2222", 10)):
        module = sys.modules.get(name) or load(lake.folder, name, factor, loaded)
        cloudpickle.register_pickle_by_value(module)
        assert apply(lake, module) == [(0,), (factor,), (2 * factor,)]
        cloudpickle.unregister_pickle_by_value(module)
