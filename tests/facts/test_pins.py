"""The facts hold for these versions; who moves a pin runs this suite and reads what it says."""

import re
from importlib.metadata import version
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("package", "pinned"),
    [
        ("pyspark", "4.1.4"),
        ("pyiceberg", "0.12.0"),
        ("python-hcl2", "8.1.4"),
        ("lark", "1.3.1"),
        ("sqlglot", "30.30.0"),
    ],
)
def test_the_installed_version_is_the_measured_one(package: str, pinned: str) -> None:
    """The rules of this product were read off these versions."""
    assert version(package) == pinned


@pytest.mark.jvm
def test_the_jars_are_the_measured_ones(jars: tuple[Path, ...]) -> None:
    """The jars that ``init`` resolves by default."""
    names = [re.sub(r"\.jar$", "", jar.name) for jar in jars]
    assert sorted(names) == ["iceberg-spark-runtime-4.1_2.13-1.12.0", "sqlite-jdbc-3.54.1.0"]
