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
        _compiled = (gateway, compile_text(session, java_text()))
    return _compiled[1]


def java_text() -> str:
    """The text of the Java file."""
    return files(__package__).joinpath(f"{_CLASS}.java").read_text(encoding="utf-8")


def compile_text(session: "SparkSession", text: str) -> Any:
    """An object of the class that a text declares: Py4J calls its methods. Raises Py4J's errors where Spark's
    internals are not those that it names.
    """
    jvm = jvm_of(session)
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook(text)
    return compiler.getClassLoader().loadClass(_CLASS).newInstance()


def output_modes(session: "SparkSession") -> dict[str, Any]:
    """Spark's output modes by their names here."""
    modes = jvm_of(session).org.apache.spark.sql.streaming.OutputMode
    return {"append": modes.Append(), "update": modes.Update(), "complete": modes.Complete()}


def stateful_names(session: "SparkSession") -> Any:
    """The nodes that keep state in a streaming query, as an array of the JVM."""
    names = sorted(logical_plan.STATEFUL)
    array = session.sparkContext._gateway.new_array(jvm_of(session).java.lang.String, len(names))  # type: ignore[union-attr] # set while Spark runs
    for place, name in enumerate(names):
        array[place] = name
    return array
