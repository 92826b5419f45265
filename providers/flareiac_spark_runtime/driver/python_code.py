"""Runs steps in Python: loads the job's code under a name of its own and calls the step's function.

Each folder of code is a package named by its digest, so that two versions with the same module names run in
one process. Inside it ``import other`` means the folder's own ``other`` first, as in a Python program that
starts there; no one else's imports change. Functions and classes travel to workers by value, so that workers
need no copy; own modules must be imported at the top of a module and not inside a function that workers call.

The function is called with empty frames too, when an apply asks whether Spark would understand the job.
"""

import builtins
import contextlib
import copy
import importlib
import importlib.util
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.machinery import FileFinder, ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.control import ErrorSummary, Step
from flareiac_spark_runtime.driver.code_folder import code_folder
from flareiac_spark_runtime.driver.column_types import quote
from flareiac_spark_runtime.driver.refusal import Refusal
from flareiac_spark_runtime.driver.root_cause import root_cause_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def python_frame(session: "SparkSession", step: Step, code: str | None, visible: Sequence[str]) -> Any:
    """The DataFrame that a step's function returns. ``visible`` names the inputs and steps that it may read.
    Raises ``Refusal``.
    """
    folder = CodeFolder(path=str(code_folder(code, step.name)))
    try:
        returned = _call(session, step, folder, visible)
    except Refusal:
        raise
    except BaseException as failure:  # SystemExit too: code that ends itself ends its job, never the driver
        raise _refusal(failure, folder) from failure
    return _checked(session, step, returned)


def _call(session: "SparkSession", step: Step, folder: "CodeFolder", visible: Sequence[str]) -> Any:
    module_name, _, name = (step.python or "").partition(":")
    function = getattr(_load(folder, module_name), name, None)
    if not callable(function):
        raise Refusal("CODE_FUNCTION_MISSING", f"There is no function {name} in the module {module_name}.")
    # On this object alone: scripts that were made for spark-submit often end with it.
    session.stop = _not_yours  # type: ignore[method-assign] # of one object
    returned = function(session, Frames(session, visible), copy.deepcopy(dict(step.params)))
    _refuse_queries(session, step)
    return returned


def _not_yours() -> None:
    raise RuntimeError("this would stop the Spark of all jobs; a step does not stop it")


def _refuse_queries(session: "SparkSession", step: Step) -> None:
    """A query that no one planned would write rows that no one counts, when the function is only tried out
    too.
    """
    started = session.streams.active
    for query in started:
        query.stop()
    if started:
        why = (
            f"{step.python} started a streaming query of its own. Return the DataFrame, and write it "
            "with an output of the job."
        )
        raise Refusal("CODE_STARTED_QUERY", why)


def _checked(session: "SparkSession", step: Step, returned: Any) -> Any:
    from pyspark.sql import DataFrame

    if not isinstance(returned, DataFrame):
        what = "nothing" if returned is None else f"a value of type {type(returned).__name__}"
        raise Refusal(
            "CODE_RETURNED_NO_FRAME", f"{step.python} returned {what}. A step's function returns a DataFrame."
        )
    made_by: Any = returned.sparkSession
    if not made_by._jsparkSession.equals(session._jsparkSession):
        why = (
            f"{step.python} returned a DataFrame of another session. Make it with the spark that the "
            "function is given."
        )
        raise Refusal("CODE_RETURNED_FOREIGN_FRAME", why)
    return returned


class UnknownFrame(KeyError):
    """A function asked for an input or step that it cannot see."""

    def __str__(self) -> str:
        return str(self.args[0])


class Frames(Mapping[str, Any]):
    """The inputs and earlier steps by name; each becomes a DataFrame when it is asked for."""

    def __init__(self, session: "SparkSession", names: Sequence[str]) -> None:
        self._session, self._names = session, tuple(names)

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise UnknownFrame(
                f"There is no input or earlier step {name!r}. There are {', '.join(self._names)}."
            )
        return self._session.table(quote(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


# Loading


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeFolder:
    """One folder of code, which finds its modules for Python: it stands in ``sys.meta_path``."""

    path: str

    @property
    def package(self) -> str:
        return "flareiac_code_" + re.sub(r"\W", "_", Path(self.path).name)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        del target
        if name == self.package:
            root = ModuleSpec(name, None, is_package=True)
            root.submodule_search_locations = [self.path]
            return root
        if not name.startswith(f"{self.package}."):
            return None
        loader: Any = partial(CodeLoader, self)
        specs = (FileFinder(place, (loader, [".py"])).find_spec(name) for place in path or ())
        return next((spec for spec in specs if spec is not None), None)

    def holds(self, top: str) -> bool:
        """Returns True if ``import top`` means a module of this folder. A folder without ``__init__`` yields
        to any other module, as in Python.
        """
        spec = self.find_spec(f"{self.package}.{top}", [self.path])
        return spec is not None and (spec.loader is not None or not _is_known(top))


class CodeLoader(SourceFileLoader):
    """Runs a module so that its imports look into its own folder first."""

    def __init__(self, folder: CodeFolder, name: str, path: str) -> None:
        super().__init__(name, path)
        self._folder = folder

    def get_code(self, fullname: str) -> CodeType:
        # Compiled each time: nothing is written beside the files, which are named by what they hold.
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["__builtins__"] = {**vars(builtins), "__import__": _import_from(self._folder)}
        super().exec_module(module)

    def __reduce__(self) -> tuple[Any, ...]:
        """A module that travels by value takes its loader along, and workers do not know this class."""
        return (SourceFileLoader, (self.name, self.path))


def _load(folder: CodeFolder, module: str) -> ModuleType:
    from pyspark import cloudpickle

    by_value: Any = cloudpickle.register_pickle_by_value
    if folder not in sys.meta_path:
        sys.meta_path.insert(0, folder)
    package = importlib.import_module(folder.package)
    by_value(package)  # and so all its modules
    importlib.invalidate_caches()
    return importlib.import_module(f"{folder.package}.{module}")


def _import_from(folder: CodeFolder) -> Callable[..., ModuleType]:
    def import_own_first(
        name: str,
        globals: Mapping[str, object] | None = None,  # noqa: A002 - the names of Python's own function
        locals: Mapping[str, object] | None = None,  # noqa: A002
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        top = name.partition(".")[0]
        if level or not folder.holds(top):
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        module = builtins.__import__(f"{folder.package}.{name}", globals, locals, fromlist or (), 0)
        return module if fromlist else sys.modules[f"{folder.package}.{top}"]

    return import_own_first


def _is_known(top: str) -> bool:
    if top in sys.modules:
        return True
    with contextlib.suppress(ValueError, ImportError):
        return importlib.util.find_spec(top) is not None
    return False


# Failing


def _refusal(failure: BaseException, folder: CodeFolder) -> Refusal:
    """The failure as its job's last error. Trying again may help against the network alone, and where Spark
    does not rule it out.
    """
    cause = _cause(failure)
    of_spark = hasattr(failure, "java_exception") or hasattr(failure, "getCondition")
    kind = "" if of_spark else f"{cause.error_class}: "
    message = f"{_place(failure, folder)}{kind}{cause.message}".replace(f"{folder.package}.", "").rstrip(": ")
    passing = (
        not cause.permanent
        if of_spark and not _is_analysis(failure)
        else isinstance(failure, ConnectionError | TimeoutError)
    )
    return Refusal(cause.error_class if of_spark else "CODE_FAILED", message, permanent=not passing)


def _cause(failure: BaseException) -> ErrorSummary:
    try:
        return root_cause_of(failure)
    except Exception:  # noqa: BLE001 - the user's own exception class, whose text may fail as well
        return ErrorSummary(error_class=type(failure).__name__, message="", permanent=True)


def _is_analysis(failure: BaseException) -> bool:
    from pyspark.errors import AnalysisException, PySparkAssertionError, PySparkTypeError, PySparkValueError

    return isinstance(
        failure, AnalysisException | PySparkAssertionError | PySparkTypeError | PySparkValueError
    )


def _place(failure: BaseException, folder: CodeFolder) -> str:
    """``score.py:12: ``, the innermost place in the user's code; empty where it has none."""
    if isinstance(failure, SyntaxError) and failure.filename and _is_in(failure.filename, folder):
        return f"{_relative(failure.filename, folder)}:{failure.lineno or 1}: "
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(failure.__traceback__)]
    own = [(file, line) for file, line in frames if _is_in(file, folder)]
    return f"{_relative(own[-1][0], folder)}:{own[-1][1]}: " if own else ""


def _is_in(file: str, folder: CodeFolder) -> bool:
    return Path(file).is_relative_to(folder.path)


def _relative(file: str, folder: CodeFolder) -> str:
    return Path(file).relative_to(folder.path).as_posix()
