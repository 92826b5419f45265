"""``python -m flareiac_spark.runtime.make_archive JAVA_HOME JAR...``: makes the class-data archive (``init``
starts it).
"""

import os
import sys
from pathlib import Path

from flareiac_spark.runtime.archive import make_archive
from flareiac_spark.runtime.java import installed_javas


def main(arguments: list[str]) -> int:
    """0 when the archive is there afterwards."""
    os.nice(10)  # a plan or an apply that someone waits for comes first
    home, *jars = map(Path, arguments)
    java = next(
        (java for java in installed_javas({"JAVA_HOME": str(home)}, places=()) if java.home == home),
        None,
    )
    return 0 if java is not None and make_archive(java, jars) is not None else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
