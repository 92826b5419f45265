"""The check that the code holds the functions that the steps name. Reads the modules' syntax; runs
nothing.
"""

import ast
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, TypeAlias

from flareiac.kernel.codes import Code
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark import codes

ARGUMENTS: Final = 3
"""A step's function is called with (spark, inputs, params)."""

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """The names that a module binds at its top level; None: they cannot be determined without running it.
    ``functions`` are the plain ones among them.
    """

    names: frozenset[str] | None
    functions: Mapping[str, _Function]


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """Python cannot read it; ``line`` counts from 1, None where Python does not tell."""

    line: int | None
    why: str


def check_modules(modules: Mapping[str, bytes], place: str, diagnostics: Diagnostics) -> None:
    """Tells of each module that is no Python, and of those that hide one of Python's own."""
    for name, content in modules.items():
        read = _read(content)
        if isinstance(read, Broken):
            where = _path_of(place, name) + (f":{read.line}" if read.line else "")
            diagnostics.error(codes.MODULE_INVALID, f"{where}: {read.why}.", attribute=("code",))
    for top in sorted({_top(name) for name in modules if _is_regular(name)} & sys.stdlib_module_names):
        why = (
            f"{_path_of(place, top)}: other modules of the folder that import {top} get this one, not "
            "Python's own. Rename it."
        )
        diagnostics.warning(codes.MODULE_HIDES_STANDARD, why, attribute=("code",))


def check_functions(
    modules: Mapping[str, bytes], functions: Mapping[str, str], place: str, diagnostics: Diagnostics
) -> None:
    """Tells of each step whose ``module:function`` is not there. ``functions`` are given by step."""
    for step, wanted in functions.items():
        for code, why in _problem(modules, wanted, place):
            diagnostics.error(code, why, attribute=("step", step, "python"))


def _problem(modules: Mapping[str, bytes], wanted: str, place: str) -> Iterator[tuple[Code, str]]:
    module, colon, function = wanted.partition(":")
    if not colon or not function.isidentifier() or not all(part.isidentifier() for part in module.split(".")):
        why = (
            'Write module:function, such as python = "score:score" for the function score in score.py, '
            'or "risk.score:score".'
        )
        yield codes.FUNCTION_NOT_FOUND, f'"{wanted}" names no function. {why}'
        return
    name = _file_of(modules, module)
    if name is None:
        known = sorted({_dotted(each) for each in modules})
        why = (
            f"There is neither {module.replace('.', '/')}.py nor a package of that name in "
            f"{place or '.'}.{did_you_mean(module, known)}"
        )
        yield codes.FUNCTION_NOT_FOUND, f"There is no module {module}: {why[:1].lower()}{why[1:]}"
        return
    read = _read(modules[name])
    if isinstance(read, Module):
        yield from _function_problem(read, function, _path_of(place, name))


def _function_problem(module: Module, function: str, shown: str) -> Iterator[tuple[Code, str]]:
    if module.names is None:
        return
    if function not in module.names:
        known = f"It has {_listed(module.functions)}.{did_you_mean(function, module.names)}"
        yield codes.FUNCTION_NOT_FOUND, f"There is no function {function} in {shown}. {known}"
        return
    definition = module.functions.get(function)
    if isinstance(definition, ast.AsyncFunctionDef):
        why = (
            f"{shown}:{definition.lineno}: the function {function} is asynchronous, and a step is a plain "
            "function. Remove async."
        )
        yield codes.FUNCTION_NOT_CALLABLE, why
    elif definition is not None and not definition.decorator_list and not _takes_three(definition.args):
        why = (
            f"{shown}:{definition.lineno}: {function} does not take three arguments. A step is called with "
            "(spark, inputs, params) and returns a DataFrame."
        )
        yield codes.FUNCTION_NOT_CALLABLE, why


def _takes_three(given: ast.arguments) -> bool:
    places = len(given.posonlyargs) + len(given.args)
    enough = places >= ARGUMENTS or given.vararg is not None
    needs_names = any(default is None for default in given.kw_defaults)
    return enough and places - len(given.defaults) <= ARGUMENTS and not needs_names


@lru_cache(maxsize=1024)
def _read(content: bytes) -> Module | Broken:
    """A module's names, or why it is none. Compiles it too: some errors show only there."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of doubtful style, which Python tells when the code runs
            tree = ast.parse(content)
            compile(content, "<code>", "exec", dont_inherit=True)
    except SyntaxError as problem:
        return Broken(line=problem.lineno or None, why=problem.msg)
    except (ValueError, RecursionError, MemoryError, OverflowError) as problem:
        return Broken(line=None, why=str(problem) or "it is nested too deeply")
    names, functions, certain = set[str](), dict[str, _Function](), True
    for node in _top_level(tree.body):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                certain = certain and node.name != "__getattr__"
                functions[node.name] = node
                names.add(node.name)
            case ast.ClassDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
                functions.pop(name, None)
            case ast.alias(name="*"):
                certain = False
            case ast.alias(name=name, asname=other):
                names.add(other or name.partition(".")[0])
                functions.pop(other or name, None)
            case _:
                pass
    return Module(names=frozenset(names) if certain else None, functions=functions)


def _top_level(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of a module in their order, without those inside functions and classes."""
    waiting = list(reversed(body))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            waiting.extend(reversed(list(ast.iter_child_nodes(node))))


def _file_of(modules: Mapping[str, bytes], module: str) -> str | None:
    """A package goes before a module of the same name, as in Python."""
    path = module.replace(".", "/")
    return next((name for name in (f"{path}/__init__.py", f"{path}.py") if name in modules), None)


def _dotted(name: str) -> str:
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _top(name: str) -> str:
    return name.partition("/")[0].removesuffix(".py")


def _is_regular(name: str) -> bool:
    """Returns True if it makes a top-level module or package: a folder without ``__init__`` hides nothing."""
    return "/" not in name or (name.endswith("/__init__.py") and name.count("/") == 1)


def _path_of(place: str, name: str) -> str:
    return f"{place.rstrip('/')}/{name}" if place else name


def _listed(functions: Mapping[str, _Function]) -> str:
    return ", ".join(name for name in functions if not name.startswith("_")) or "no function"
