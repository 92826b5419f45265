"""The command tree: every command with its help and its place. A module is imported when its command runs.

The commands of the core stand here; those of providers are read from their declarations when a command line
names none of the core's.
"""

import re
from collections.abc import Callable, Sequence
from importlib import import_module
from types import MethodType
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from flareiac.app.provided_commands import provided_commands
from flareiac.cli.exit_codes import table
from flareiac.cli.invocation import Invocation
from flareiac.cli.option_records import spread
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.sdk.commands import Command, Commands, Group

GLOBAL_OPTIONS: Final = (
    "Global options, of every command: -chdir=DIR works in another folder; -input=false never asks; "
    "-no-color; -lock-timeout=60s waits for the state lock; -reason=TEXT is kept with what is written to the "
    "state."
)
CORE: Final[Commands] = {
    "new": Command(".new:new", "Write a small project that can be applied as it stands."),
    "init": Command(
        ".init:init",
        "Make the place of the state ready, download the jars that the project needs, and write the lock "
        "file.",
    ),
    "doctor": Command(
        ".doctor:doctor",
        "Examine Java, jars, catalogs, engines and the state; each with a verdict and a fix.",
        reads_only=True,
    ),
    "version": Command(".version:version", "Print the version.", reads_only=True),
    "validate": Command(
        ".validate:validate",
        "Check the configuration without reading any system.",
        reads_only=True,
    ),
    "fmt": Command(
        ".fmt:fmt",
        "Lay out the files of a project as terraform fmt does: indentation, spaces and alignment.",
        reads_only=True,
    ),
    "console": Command(
        ".console:console",
        "Evaluate expressions with the values of the project: on a prompt, or one for each line of standard "
        "input.",
        reads_only=True,
    ),
    "plan": Command(
        ".plan:plan",
        "Show what would happen to tables, data, running queries and their state. Changes nothing.",
        reads_only=True,
        json_lines=True,
    ),
    "apply": Command(
        ".apply:apply",
        "Carry out a plan. A second apply of the same configuration does nothing.",
        json_lines=True,
    ),
    "destroy": Command(
        ".apply:destroy",
        "Stop the jobs and forget all resources; tables and checkpoints are kept unless their on_destroy "
        "says otherwise.",
        json_lines=True,
    ),
    "maintain": Command(
        ".apply:maintain",
        "Run the maintenance tasks that are due, and nothing else.",
        json_lines=True,
    ),
    "drift": Command(
        ".drift:drift",
        "Find what changed outside of FlareIaC. Reads only; exits with 3 when there is drift.",
        reads_only=True,
        json_lines=True,
    ),
    "adopt": Command(
        ".adopt:adopt",
        "Write into the files what drift finds changed, so that the next apply only records it.",
    ),
    "show": Command(
        ".show:show",
        "Show a saved plan, or the state with statistics.",
        reads_only=True,
    ),
    "report": Command(
        ".report:report",
        "Print a saved plan for its review: a comment for a pull request, a page or JSON. Or print a page of "
        "what runs.",
        reads_only=True,
    ),
    "why": Command(
        ".why:why",
        "Say why an address is planned as it is: facts, rules and causes, and what would make it another "
        "class of change. Changes nothing.",
        reads_only=True,
    ),
    "policy": Group(
        "Ask the rules of the team about a plan.",
        {
            "check": Command(
                ".policy:check",
                "Check a saved plan by the policies of the project, or of another folder. Exits with 4 where "
                "a mandatory rule is not met.",
                reads_only=True,
            ),
        },
    ),
    "output": Command(".output:output", "Show the outputs of the last apply.", reads_only=True),
    "status": Command(
        ".status:status",
        "Show what the jobs are doing (phase, batch, lag, last commit, failures) and how the tables are "
        "kept.",
        reads_only=True,
    ),
    "logs": Command(".logs:logs", "Print the log of a job.", reads_only=True),
    "stop": Command(
        ".run_control:stop",
        "Stop a job, or end the application of an engine. The next apply starts it again; to keep a job "
        "stopped set stopped = true.",
    ),
    "start": Command(
        ".run_control:start",
        "Start a stopped job on its recorded definition, or the application of an engine with all its jobs.",
    ),
    "restart": Command(
        ".run_control:restart",
        "Stop a job, or end the application of an engine, and start it again as it is recorded.",
    ),
    "driver": Command(
        ".driver:driver",
        "Run the driver of an engine in the foreground, as a service unit would.",
    ),
    "import": Command(
        ".importing:import_",
        "Write HCL for things that are there: blocks, and import blocks that make plan adopt them as they "
        "are.",
    ),
    "undrop": Command(
        ".undrop:undrop",
        "Bring back what was dropped, from what the state has kept of it.",
    ),
    "graph": Command(
        ".graph:graph",
        "Draw what depends on what, or with -lineage where data flows. Reads no system.",
        reads_only=True,
    ),
    "lineage": Command(
        ".lineage:lineage",
        "Print the declared datasets and jobs as events of OpenLineage. Reads no system.",
        reads_only=True,
    ),
    "explain": Command(
        ".explain:explain",
        "Explain a block, attribute, function, code, rule or setting, or print a page of the documentation.",
        reads_only=True,
    ),
    "schema": Command(
        ".schema:schema",
        "Print the JSON schema of the language for editors, or that of a document which a command prints.",
        reads_only=True,
    ),
    "workspace": Group(
        "Keep several states of one project apart, each with places of its own.",
        {
            "list": Command(".workspace:list_", "List the workspaces.", reads_only=True),
            "show": Command(".workspace:show", "Print the name of the workspace at work.", reads_only=True),
            "new": Command(".workspace:new", "Make a workspace, and work in it from now on."),
            "select": Command(".workspace:select", "Work in another workspace from now on."),
            "delete": Command(".workspace:delete", "Delete a workspace that manages nothing any more."),
        },
    ),
    "state": Group(
        "Look at the state, change its records, and bring back earlier or lost ones.",
        {
            "list": Command(".state:list_", "List the recorded addresses.", reads_only=True),
            "show": Command(".state:show", "Show what is recorded of one resource.", reads_only=True),
            "mv": Command(
                ".state:mv",
                "Record a resource under another address. The resource stays as it is; rename its block too.",
            ),
            "rm": Command(
                ".state:rm",
                "Forget resources, which stay as they are; or give up what was dropped: undrop brings it "
                "back no longer, and its files are kept for it no longer.",
            ),
            "pull": Command(".state_content:pull", "Print the whole state as JSON.", reads_only=True),
            "push": Command(
                ".state_content:push",
                "Make a file the state. Refuses one of another state, and one that is not newer.",
            ),
            "history": Command(
                ".state_history:history", "List the earlier states that are kept.", reads_only=True
            ),
            "rollback": Command(
                ".state_history:rollback",
                "Record an earlier state again. Shows what differs and asks; changes no table and no job.",
            ),
            "recover": Command(
                ".state_recover:recover",
                "Bring in the results that an apply could not write to the state, from its emergency file.",
            ),
        },
    ),
    "lock": Group(
        "See who holds the state lock, and take it away.",
        {
            "status": Command(
                ".lock:status",
                "Show who holds the state lock. Exits with 5 while it is held.",
                reads_only=True,
            ),
            "release": Command(
                ".lock:release",
                "Take the lock away from a command that cannot end by itself. Needs the id that lock status "
                "shows.",
            ),
        },
    ),
}


def provided_for(arguments: Sequence[str]) -> Commands:
    """The commands of providers, none where the command line names one of the core's.

    Raises ``Failure`` where a provider offers one of those.
    """
    words = _words(arguments)
    if words and words[0] in CORE:
        return {}
    provided = provided_commands()
    for word in provided:
        if word in CORE:
            why = f"A provider offers {word!r}, which is a command of FlareIaC. Uninstall its package."
            raise Failure(error(codes.NAME_OFFERED_TWICE, why))
    return provided


def command_of(arguments: Sequence[str], provided: Commands) -> Command | None:
    """The command that a command line names, None where it names none."""
    words = _words(arguments)
    command = {**CORE, **provided}.get(words[0]) if words else None
    if isinstance(command, Group):
        return command.commands.get(words[1]) if len(words) > 1 else None
    return command


def command_words(arguments: Sequence[str], provided: Commands) -> str:
    """The words of the command that a command line names: ``state rm``."""
    words = _words(arguments)
    return " ".join(words[: 2 if isinstance({**CORE, **provided}.get(words[0]), Group) else 1])


def _words(arguments: Sequence[str]) -> list[str]:
    return [argument for argument in arguments if not argument.startswith("-")]


class _AsItIs:
    """Stands in for typer's check of one option. What is left as it is declared, and plain text, is what the
    command takes. Any other value is checked by typer, whose library for that takes as long to import as a
    command of a small project. A typer that looks for its check elsewhere makes it each time.
    """

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value as the command takes it. Raises what typer raises."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if param.type_descriptor.annotation is str and isinstance(value, str):
            return value
        if type(value) is type(param.default) and value == param.default:
            return value
        param._runtime_param = None
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


class _Command(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:
        """Its options, and the one for help."""
        return _as_they_are(super().get_params(ctx))

    def get_help(self, ctx: Any) -> str:
        """Its help, with options as the documentation writes them."""
        return _with_one_dash(super().get_help, ctx)


class _Group(TyperGroup):
    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that the arguments name. Raises what typer raises; for a command of another tool, with
        what does its work here.
        """
        if args and args[0] not in self.commands and self.name == "flareiac":
            # Imported here: only a mistake needs it.
            from flareiac.cli.other_tools import SUBSTITUTES

            if instead := SUBSTITUTES.get(args[0]):
                raise TyperException(f'There is no command "{args[0]}". {instead}')
        return super().resolve_command(ctx, args)

    def get_help(self, ctx: Any) -> str:
        """Its help, with options as the documentation writes them."""
        return _with_one_dash(super().get_help, ctx)

    def get_params(self, ctx: Any) -> list[Any]:
        """Its options, and the one for help."""
        return _as_they_are(super().get_params(ctx))


def _as_they_are(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if getattr(parameter, "_runtime_param", None) is None:
            parameter._runtime_param = _AsItIs()
    return parameters


def one_dash(text: str) -> str:
    """Options are documented and typed with one dash; the parser names them with two."""
    return re.sub(r"(?<![\w-])--(?=[a-z])", "-", text)


def _with_one_dash(get_help: Callable[[Any], str], context: Any) -> str:
    class Formatter(context.formatter_class):  # type: ignore[misc]  # typer does not say where its class is
        def write_dl(self, rows: Sequence[tuple[str, str]], *arguments: Any, **options: Any) -> None:
            super().write_dl([(one_dash(name), text) for name, text in rows], *arguments, **options)

    context.formatter_class = Formatter
    return get_help(context)


class LazyCommand(TyperCommand):
    """A command whose module is imported when its options are parsed; listings show its help without.

    ``subject`` makes the first argument of the function, which the command line does not give.
    """

    def __init__(self, name: str, command: Command, subject: Callable[[], object]) -> None:
        super().__init__(name, help=command.help, rich_markup_mode=None)
        self._command, self._subject = command, subject

    def loaded(self) -> TyperCommand:
        """The command with its options."""
        module, _, name = self._command.place.partition(":")
        app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        decorate = app.command(self.name, cls=_Command, help=self.help, epilog=GLOBAL_OPTIONS)
        # As a method, the function has its first argument, and typer reads the signature of the others.
        function = getattr(import_module(module, "flareiac.cli.commands"), name)
        decorate(spread(MethodType(function, self._subject())))
        command = typer.main.get_command(app)
        assert isinstance(command, _Command), "one function is one command"
        return command

    def make_context(self, *arguments: Any, **options: Any) -> typer.Context:
        """Parses the rest of the command line; the context that comes back is that of the loaded command."""
        # typer declares the class that its own context derives from
        return self.loaded().make_context(*arguments, **options)  # type: ignore[return-value]


def command_tree(invocation: Invocation, provided: Commands) -> TyperGroup:
    """All commands, for one command line."""

    def for_provider() -> object:
        # Imported here: the use cases are needed when such a command runs, and not for its help.
        from flareiac.cli.provider_command import ProviderCommand

        return ProviderCommand(invocation)

    return _Group(
        name="flareiac",
        commands={**_commands(CORE, lambda: invocation), **_commands(provided, for_provider)},
        no_args_is_help=True,
        rich_markup_mode=None,
        help=(
            "Plan and apply for streaming lakehouses: streams, checkpoints, Iceberg tables and PySpark "
            "jobs in HCL."
        ),
        epilog=f"{GLOBAL_OPTIONS} {table()}",
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    )


def _commands(declared: Commands, subject: Callable[[], object]) -> dict[str, TyperCommand | TyperGroup]:
    return {
        word: _Group(
            name=word,
            commands=dict(_commands(command.commands, subject)),
            help=command.help,
            no_args_is_help=True,
            rich_markup_mode=None,
        )
        if isinstance(command, Group)
        else LazyCommand(word, command, subject)
        for word, command in declared.items()
    }
