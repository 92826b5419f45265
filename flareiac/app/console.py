"""The use case of ``console``: expressions, evaluated with the configuration and the recorded state. Reads
both, asks no system and takes no lock.
"""

import re
from collections.abc import Iterator, Mapping

from flareiac.app.workspace import Workspace
from flareiac.config.console import declared, evaluated, scope
from flareiac.config.load import Configuration
from flareiac.config.module_call import ModuleCall
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics, Failure
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Source
from flareiac.lang.parse import parse_expression
from flareiac.lang.syntax import Call, Expression
from flareiac.lang.syntax_errors import InvalidSyntax
from flareiac.lang.tokens import tokenize
from flareiac.lang.values import Value

_NAME = "<console-input>"
_MARKER = re.compile(r"<<-?[^\W\d]")
_TYPE = "type"
"""A function of the console alone: the type of its argument."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The value of an expression, None after an error. ``asks_type``: the type of the value was asked for.
    ``sources``: the texts that diagnostics point into.
    """

    value: Value | None
    asks_type: bool
    diagnostics: Diagnostics
    sources: Mapping[str, Source]


class Console:
    """The names of a project, for one expression after the other."""

    def __init__(self, configuration: Configuration, call: ModuleCall) -> None:
        self._configuration, self._call = configuration, call

    def answer(self, text: str) -> Answer:
        """The value of an expression."""
        source, diagnostics = Source(_NAME, text), Diagnostics()
        expression = parse_expression(source, diagnostics)
        asked = None if expression is None else _argument_of_type(expression)
        value = None
        if expression is not None:
            value = evaluated(self._call, asked or expression, diagnostics)
        return Answer(
            value=None if diagnostics.has_errors else value,
            asks_type=asked is not None,
            diagnostics=diagnostics,
            sources={**self._configuration.sources, _NAME: source},
        )

    def names(self) -> Iterator[str]:
        """Yields what an expression may begin with; functions with their parenthesis."""
        yield from declared(self._call)
        yield from ("path.module", "path.root", "path.cwd", "flareiac.workspace", f"{_TYPE}(")
        yield from (f"{name}(" for name in self._call.scope.functions)


def open_console(workspace: Workspace, module: str | None) -> Console:
    """The console of a project, or of a module that its address names; a folder without files has functions
    alone. Raises ``Failure`` where the configuration is wrong, or the state cannot be read.
    """
    diagnostics = Diagnostics()
    snapshot = workspace.load_state(as_stored=True).snapshot
    configuration = workspace.load_configuration(snapshot, diagnostics, partial=True)
    errors = [each for each in diagnostics if _counts(each)]
    if errors:
        raise Failure(*errors, sources=configuration.sources)
    root = configuration.root
    return Console(configuration, root if module is None else scope(root, module))


def _counts(complaint: Diagnostic) -> bool:
    return complaint.severity.value == "error" and complaint.code != codes.NO_CONFIGURATION.id


def _argument_of_type(expression: Expression) -> Expression | None:
    """The argument of ``type(...)``; None for any other expression."""
    match expression:
        case Call(name=name, arguments=(argument,), expand=False) if name == _TYPE:
            return argument
        case _:
            return None


def is_unfinished(text: str) -> bool:
    """Returns True if a bracket, a template or a heredoc is open at the end of a text."""
    try:
        tokenize(text)
    except InvalidSyntax as problem:
        if problem.code == codes.INVALID_HEREDOC:
            return _MARKER.match(text, problem.start) is not None
        return problem.code == codes.UNCLOSED_BRACKET
    return False
