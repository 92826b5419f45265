"""Has Spark's JVM write logical plans as text, which two plans share exactly if they are equal. Compiles one
Java file in the JVM that runs; changes nothing.
"""

from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from flareiac_spark_runtime.driver import logical_plan
from flareiac_spark_runtime.driver.jvm import jvm_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CLASS: Final = "PlanText"
_LATER_DEFAULTS: Final = (12, 13, 14)
"""The parameters of ``IncrementalExecution`` that have defaults, before its last one."""


_compiled: tuple[Any, Any] | None = None
"""The gateway to a JVM, and the class that was compiled there: Py4J finds methods by the name of a class, so
that a second one of this name could not be called.
"""


def compiled(session: "SparkSession") -> Any:
    """The class, compiled by Janino, which Spark itself compiles its queries with. Raises Py4J's errors where
    Spark's internals are not those that the file names.
    """
    global _compiled  # noqa: PLW0603 - one for each JVM and all its sessions
    gateway = session.sparkContext._gateway
    if _compiled is None or _compiled[0] is not gateway:
        _compiled = (gateway, _compile(session))
    return _compiled[1]


def _compile(session: "SparkSession") -> Any:
    jvm = jvm_of(session)
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook(files(__package__).joinpath(f"{_CLASS}.java").read_text(encoding="utf-8"))
    return compiler.getClassLoader().loadClass(_CLASS)


def optimized(session: "SparkSession", analysed: Any, mode: str) -> Any:
    """The optimized plan of a streaming query with an output mode, which a frame alone does not have."""
    jvm = jvm_of(session)
    sql = jvm.org.apache.spark.sql
    runtime = sql.execution.streaming.runtime
    modes = sql.streaming.OutputMode
    output_mode = {"append": modes.Append, "update": modes.Update, "complete": modes.Complete}[mode]()
    made = _module(runtime, "IncrementalExecution")
    defaults = [getattr(made, f"$lessinit$greater$default${place}")() for place in _LATER_DEFAULTS]
    offsets = _module(sql.execution.streaming.checkpointing, "OffsetSeqMetadata").apply(
        0, 0, jvm.org.apache.spark.api.python.PythonUtils.toScalaMap(jvm.java.util.HashMap())
    )
    execution = runtime.IncrementalExecution(
        session._jsparkSession,
        analysed,
        output_mode,
        "<none>",
        jvm.java.util.UUID.randomUUID(),
        jvm.java.util.UUID.randomUUID(),
        0,
        _module(jvm.scala, "None"),
        offsets,
        _module(runtime, "WatermarkPropagator").noop(),
        False,
        *defaults,
        False,
    )
    return execution.optimizedPlan()


def stateful_names(session: "SparkSession") -> Any:
    """The nodes that keep state in a streaming query, as an array of the JVM."""
    names = sorted(logical_plan.STATEFUL)
    array = session.sparkContext._gateway.new_array(jvm_of(session).java.lang.String, len(names))  # type: ignore[union-attr] # set while Spark runs
    for place, name in enumerate(names):
        array[place] = name
    return array


def _module(package: Any, name: str) -> Any:
    """A companion object of Scala."""
    return getattr(package, f"{name}$").__getattr__("MODULE$")
