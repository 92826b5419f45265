"""The file that ``spark-submit`` is given for a driver on a host of the cluster: it starts the driver, whose
modules come in the archive of ``--py-files``.

Written for any Python 3: one that is too old must be able to say so. Where the command line cannot read what
such a host printed, the exit code tells.
"""

import os
import sys
import tempfile

PYTHON = (3, 11)
EXIT_OLD_PYTHON, EXIT_NO_DRIVER = 64, 65


def run(arguments: "list[str]") -> int:
    """Runs the driver of the control directory in the arguments; returns the exit code of the process."""
    major, minor = sys.version_info[:2]
    if (major, minor) < PYTHON:
        wanted = ".".join(map(str, PYTHON))
        why = f"the driver needs Python {wanted}, and {sys.executable} is Python {major}.{minor}"
        return _refuse(why, EXIT_OLD_PYTHON)
    # The home folder of a container's user is often not there, or not to be written.
    os.environ.setdefault("XDG_CACHE_HOME", tempfile.mkdtemp(prefix="flareiac-"))
    try:
        from flareiac_spark_runtime.driver.entry import main
    except ImportError as failure:
        return _refuse(f"the driver cannot be imported: {failure}", EXIT_NO_DRIVER)
    return main(arguments[0])


def _refuse(why: str, code: int) -> int:
    sys.stderr.write(f"flareiac driver refused to start: {why}\n")
    return code


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
