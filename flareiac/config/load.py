"""Evaluates the configuration of a project into ``Desired``: the root module is called with the values of its
variables, and its nodes are evaluated in the order of their references.

Touches the file system only through ``read_module``. One run reports every problem it can find; what depends
on something broken is left out silently, so that one mistake is reported once.
"""

import hashlib
from collections.abc import Callable, Mapping

from flareiac.config.blocks import collect
from flareiac.config.evaluation import DataBlocks, Evaluation
from flareiac.config.files import ModuleFiles, read_module, with_texts
from flareiac.config.kept_blocks import KeptBlocks
from flareiac.config.meta import imports, removals
from flareiac.config.module_call import ModuleCall
from flareiac.config.owners import owner_of_project
from flareiac.config.policies import PolicyContext, rules_of
from flareiac.config.registry import Registry
from flareiac.config.resource_block import ResourceBlock
from flareiac.config.resource_instance import ResourceInstance
from flareiac.config.settings import Settings, check_version, read_settings
from flareiac.config.variables import Inputs
from flareiac.kernel import codes
from flareiac.kernel.articles import with_article
from flareiac.kernel.data import Attributes, digest
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Source
from flareiac.lang.functions import functions
from flareiac.lang.parse import parse_file
from flareiac.lang.values import Value, contains_sensitive, to_data
from flareiac.model.desired import Desired, Import
from flareiac.sdk.project import Project
from flareiac.sdk.results import Recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """An evaluated module and the texts it was read from (for snippets in diagnostics)."""

    desired: Desired
    sources: Mapping[str, Source]
    settings: Settings


def load(  # noqa: PLR0913 - the last two are for single commands
    project: Project,
    registry: Registry,
    inputs: Callable[[ModuleFiles], Inputs],
    recorded: Callable[[str], Recorded | None],
    diagnostics: Diagnostics,
    data: DataBlocks | None = None,
    texts: Mapping[str, str] | None = None,
) -> Configuration:
    """The configuration in ``project.root``. ``recorded`` gives what the last apply recorded of an address
    (None: nothing). ``texts``: by name, in place of what files of configuration hold.
    """
    files = with_texts(read_module(project.root, diagnostics), texts or {})
    bodies = [parse_file(source, diagnostics) for source in files.configuration]
    text_is_read = not diagnostics.has_errors
    evaluation = Evaluation(
        registry=registry,
        project=project,
        diagnostics=diagnostics,
        recorded=recorded,
        data=data or DataBlocks(),
        functions=functions(project.root, registry.functions),
        kept=KeptBlocks(project.root, [function.call for function in registry.functions]),
    )
    module = collect(bodies, registry.types, diagnostics)
    given = inputs(files)
    check_version(module.settings, diagnostics)
    settings = read_settings(module.settings, registry.backends, diagnostics)
    call = ModuleCall(evaluation=evaluation, module=module, text_is_read=text_is_read)
    _embed_connections(call)
    call.take(given)
    call.owner = owner_of_project(module.settings, call.scope, diagnostics)
    _evaluate(call)
    rules_of(module.policies.values(), _policy_context(call), diagnostics)
    evaluation.kept.close()
    sources = {**files.sources, **{each.path: each for each in given.given if isinstance(each, Source)}}
    return Configuration(desired=_desired(call, files), sources=sources, settings=settings)


def _embed_connections(call: ModuleCall) -> None:
    """Adds the connections that need no block, so that they can be the default of an attribute."""
    for address in call.embedded():
        ResourceInstance(call=call, address=address).resolve({})
        call.instances[str(address)] = [address.key]


def _evaluate(call: ModuleCall) -> None:
    for node in call.order():
        kind, name = node.split(".", 1)
        if kind == "var":
            call.validate(name)
        elif kind == "output":
            call.evaluate_output(name)
        elif kind == "local":
            call.evaluate_local(name)
        elif call.is_broken(node):
            call.failed.add(node)
            ResourceBlock(call, node).look_through()
        else:
            ResourceBlock(call, node).evaluate()


def _policy_context(call: ModuleCall) -> PolicyContext:
    module = call.module
    declared = [*(f"var.{name}" for name in module.variables), *(f"local.{name}" for name in module.locals)]
    return PolicyContext(scope=call.scope, declared=declared, types=call.evaluation.types)


def _desired(call: ModuleCall, files: ModuleFiles) -> Desired:
    """The declarations of a root module that was evaluated."""
    evaluation, module = call.evaluation, call.module
    registry, diagnostics = evaluation.registry, evaluation.diagnostics
    adopted = imports(module.imports, evaluation.resources, call.failed, call.scope, diagnostics)
    return Desired(
        resources=evaluation.resources,
        outputs=call.outputs,
        imports=_importable(adopted, registry, diagnostics),
        removed=removals(module.removed, module.resources, call.scope, diagnostics),
        variables=_shown(call.variables),
        values={name: to_data(value) for name, value in call.variables.items()},
        unread=evaluation.unread,
        bound=tuple(evaluation.bound),
        digest=_digest(files, call.variables),
    )


def _importable(
    adopted: tuple[Import, ...], registry: Registry, diagnostics: Diagnostics
) -> tuple[Import, ...]:
    """Without those of what exists only because it was declared: nothing of it could be adopted."""
    kept: list[Import] = []
    for each in adopted:
        kind = each.to.partition(".")[0]
        if kind in registry.types and registry.types[kind].showing.import_ids == "":
            declared = f"{with_article(kind, capital=True)} exists only because it is declared."
            why = f"{declared} Remove the import block of {each.to}."
            diagnostics.error(codes.INVALID_IMPORT, why, subject=each.span)
        else:
            kept.append(each)
    return tuple(kept)


def _digest(files: ModuleFiles, variables: Mapping[str, Value]) -> str:
    content = hashlib.sha256()
    for source in files.configuration:
        content.update(source.path.encode() + b"\0" + source.text.encode() + b"\0")
    return digest([content.hexdigest(), _shown(dict(sorted(variables.items())))])


def _shown(variables: Mapping[str, Value]) -> Attributes:
    """The values of variables as they are recorded: without the sensitive ones."""
    return {name: None if contains_sensitive(value) else to_data(value) for name, value in variables.items()}
