"""The process of a driver: opens its control directory, and runs the application until it ends for good."""

import os
import sys
from collections.abc import Callable

from flareiac.sdk.secrets import masked
from flareiac_spark_runtime.control import ControlError
from flareiac_spark_runtime.driver.application import EXIT_FAILED, START_AGAIN, Application
from flareiac_spark_runtime.driver.gateway import JVM_END_SECONDS, end_jvm
from flareiac_spark_runtime.driver.masked_output import masked_output
from flareiac_spark_runtime.driver.open_control import open_control
from flareiac_spark_runtime.driver.refusal import Refusal
from flareiac_spark_runtime.driver.root_cause import root_cause_of


def main(path: str, refused: Callable[[str], None] = lambda _reason: None) -> int:
    """Runs the driver of a control directory, as ``flareiac apply`` starts it: with the class path in its
    environment. ``refused`` is given the reason of a start that failed before the directory could be used.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        opened = open_control(path)
        if not opened.control.is_used():
            raise Refusal("NOT_A_CONTROL_DIRECTORY", f"{opened.control.place} is not a control directory")
    except Exception as failure:  # noqa: BLE001 - whatever keeps it from starting is said, and its JVM ended
        end_jvm(JVM_END_SECONDS)
        reason = _said(failure)
        refused(reason)
        sys.stderr.write(f"flareiac driver refused to start: {reason}\n")
        return EXIT_FAILED
    with masked_output():
        code = Application(opened).run()
    if code == START_AGAIN:
        # The same process: a supervisor sees it go on. Nothing of the old Spark stays.
        os.execv(sys.executable, [sys.executable, "-m", "flareiac_spark_runtime.driver", path])  # noqa: S606 - itself
    return code


def _said(failure: Exception) -> str:
    if isinstance(failure, ControlError | OSError | Refusal):
        return masked(str(failure))
    return root_cause_of(failure).message
