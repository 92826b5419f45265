"""``python -m flareiac_spark.runtime.fetch [--archive] [COORDINATE...]``: puts jars into the cache, prints
their paths as one class path.

Without coordinates: those of the embedded catalog. ``--archive`` also makes the class-data archive and waits
for it.
"""

import os
import sys

from flareiac.kernel.diagnostics import Failure
from flareiac_spark.runtime.archive import make_archive
from flareiac_spark.runtime.coordinates import parse_coordinates
from flareiac_spark.runtime.jars import fetch_jars
from flareiac_spark.runtime.java import require_java
from flareiac_spark.runtime.versions import default_packages


def main(arguments: list[str]) -> int:
    """0 when all jars are in the cache, 1 with a sentence on standard error when not."""
    wanted = tuple(argument for argument in arguments if argument != "--archive") or default_packages()
    try:
        jars = fetch_jars(parse_coordinates(wanted), lambda text: print(text, file=sys.stderr), locked={})
        paths = [jar.path for jar in jars]
        if "--archive" in arguments and make_archive(require_java(), paths) is None:
            print("the class-data archive could not be made; starts are slower without it", file=sys.stderr)
    except Failure as failure:
        for diagnostic in failure.diagnostics:
            print(f"error: {diagnostic.summary}\n{diagnostic.detail}", file=sys.stderr)
        return 1
    print(os.pathsep.join(map(str, paths)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
