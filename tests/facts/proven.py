"""The inputs of the facts, and the versions of them for which the facts were last proven.

A fact says what Spark and Iceberg do. It depends on their versions, on Java and on the files of this folder,
never on the program. So the facts that need a JVM run when one of these differs from ``proven.json``, and
with ``--facts``.

    python -m tests.facts.proven      # runs every fact and, if all hold, records what they were proven for
"""

import ast
import json
import os
import platform
import re
import sys
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
RECORD: Final = FOLDER / "proven.json"
_PACKAGES: Final = ("lark", "py4j", "pyarrow", "pyiceberg", "pyspark", "python-hcl2", "sqlglot")


def depends_on() -> dict[str, str]:
    """Everything that may change a fact, by name: versions of packages, jars, Python and Java, and a digest
    of the tests. Corrections of one Python or Java release change no fact of Spark: another machine with
    Debian's Java 17 does not measure for a quarter of an hour what is known.
    """
    from flareiac_spark.runtime.java import require_java
    from tests.support.kafka_broker import KAFKA
    from tests.support.kafka_connector import CONNECTOR

    jars = sorted(Path(name).name for name in os.environ.get("FLAREIAC_TEST_JARS", "").split(os.pathsep))
    return {
        **{name: version(name) for name in _PACKAGES},
        "python": ".".join(platform.python_version_tuple()[:2]),
        "java": str(require_java().major),
        "jars": " ".join(jars),
        "kafka": " ".join([KAFKA, *CONNECTOR]),
        "tests": sha256(b"".join(map(_content, _files()))).hexdigest(),
    }


def are_proven() -> bool:
    """Returns True if every fact was proven for exactly the inputs that exist."""
    return RECORD.is_file() and json.loads(RECORD.read_text()) == depends_on()


def tests_the_program(file: Path) -> bool:
    """Returns True if a test module imports the program, so that it says more than a fact."""
    return re.search(r"^(?:from|import) flareiac", file.read_text(), re.MULTILINE) is not None


def _files() -> list[Path]:
    """The facts that need a JVM, and what they are written with."""
    own = Path(__file__)
    found = sorted(file for file in FOLDER.glob("*.py") if file != own)
    return [
        file
        for file in found
        if not file.name.startswith("test_") or ("jvm" in file.read_text() and not tests_the_program(file))
    ]


def _content(file: Path) -> bytes:
    """The behaviour of a file: its syntax without comments, docstrings and the places that the tests' own
    helpers are imported from.
    """
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            node.body = [each for each in node.body if not _is_docstring(each)]
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests."):
            node.module = "tests"
    return f"{file.name}\n{ast.dump(tree)}".encode()


def _is_docstring(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def main() -> int:
    import pytest

    code = pytest.main(["--facts", "-q", "-m", "jvm", str(FOLDER)])
    if code == 0:
        RECORD.write_text(json.dumps(depends_on(), indent=2) + "\n")
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
