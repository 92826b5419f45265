"""The errors of the failed tasks of a stage, as Spark remembers them. Asks the JVM of this process."""

from collections.abc import Sequence
from typing import Any

_TASKS = 100


def failed_tasks(stage: int, attempt: int) -> Sequence[str]:
    """The errors of its tasks, first lines and stacks; nothing where Spark has forgotten it or was ended."""
    from pyspark import SparkContext

    context: Any = SparkContext._active_spark_context
    try:
        tasks = context._jsc.sc().statusStore().taskList(stage, attempt, _TASKS)
        errors = [tasks.apply(at).errorMessage() for at in range(tasks.size())]
        return [str(error.get()) for error in errors if error.isDefined()]
    except Exception:  # noqa: BLE001 - it only makes an error that is known clearer
        return []
