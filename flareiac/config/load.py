"""Evaluates the configuration of a project into ``Desired``: the root module is called with the values of its
variables, and its nodes are evaluated in the order of their references.

Touches the file system only through ``read_tree``. One run reports every problem it can find; what depends
on something broken is left out silently, so that one mistake is reported once.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from typing import Final

from flareiac.config.check_block import evaluate_check
from flareiac.config.evaluation import DataBlocks, Evaluation
from flareiac.config.files import ModuleFiles
from flareiac.config.kept_blocks import KeptBlocks
from flareiac.config.meta import imports, removals
from flareiac.config.module_call import ModuleCall
from flareiac.config.module_nodes import ModuleNodes, nodes_of
from flareiac.config.module_tree import CallSite, ModuleText, ModuleTree, call_sites, read_tree
from flareiac.config.moves import Declared, moves_of
from flareiac.config.order import evaluation_order
from flareiac.config.owners import owner_of_project
from flareiac.config.policies import PolicyContext, rules_of
from flareiac.config.registry import Registry
from flareiac.config.resource_block import ResourceBlock
from flareiac.config.resource_instance import ResourceInstance
from flareiac.config.settings import Settings, check_version, read_settings
from flareiac.config.symbols import kind_and_name
from flareiac.config.variables import Inputs
from flareiac.kernel import codes
from flareiac.kernel.addresses import block_type
from flareiac.kernel.articles import with_article
from flareiac.kernel.data import Attributes, digest
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Source
from flareiac.lang.functions import functions
from flareiac.lang.values import Value, contains_sensitive, to_data
from flareiac.model.desired import Desired, Import
from flareiac.model.renaming import renamed
from flareiac.model.snapshot import Snapshot, known_addresses
from flareiac.sdk.project import Project

_MOST_CALLS: Final = 100_000
"""Instances of modules: each count may be small where modules in modules multiply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """An evaluated module and the texts it was read from (for snippets in diagnostics)."""

    desired: Desired
    snapshot: Snapshot
    """The state that it was evaluated with, under the addresses of now."""
    sources: Mapping[str, Source]
    settings: Settings
    root: ModuleCall
    """The call of the root module, for expressions that are typed."""


def load(  # noqa: PLR0913 - the last two are for single commands
    project: Project,
    registry: Registry,
    inputs: Callable[[ModuleFiles], Inputs],
    snapshot: Snapshot,
    diagnostics: Diagnostics,
    data: DataBlocks | None = None,
    texts: Mapping[str, str] | None = None,
) -> Configuration:
    """The configuration in ``project.root``. ``snapshot`` is what the last apply recorded. ``texts``: by
    name, in place of what files of configuration hold.
    """
    tree = read_tree(project.root, registry.types, diagnostics, texts or {})
    undeclared = Diagnostics()
    nodes = _nodes(tree.root, registry, undeclared)
    root = call_sites(tree.root)
    provided, began = registry.functions, datetime.now(UTC)
    moves = moves_of(_declared(root), known_addresses(snapshot), registry.types, diagnostics)
    evaluation = Evaluation(
        registry=registry,
        project=project,
        diagnostics=diagnostics,
        snapshot=renamed(snapshot, moves.pairs, registry.types),
        data=data or DataBlocks(),
        functions=cache(lambda directory: functions(project.root, provided, directory, began)),
        kept=KeptBlocks(project.root, [function.call for function in provided]),
        nodes=nodes,
    )
    module = tree.root.module
    given = inputs(tree.files)
    check_version(module.settings, diagnostics)
    settings = read_settings(module.settings, registry.backends, diagnostics)
    call = ModuleCall(evaluation=evaluation, site=root, nodes=nodes[tree.root])
    _embed_connections(call)
    call.take(given)
    diagnostics.extend(undeclared)
    call.owner = owner_of_project(module.settings, call.scope, diagnostics)
    _evaluate(call)
    rules_of(module.policies.values(), _policy_context(call), diagnostics)
    evaluation.kept.close()
    moves.check_declared(
        {address: resource.span for address, resource in evaluation.resources.items()}, diagnostics
    )
    diagnostics.extend(moves.refused)
    sources = {**tree.sources, **{each.path: each for each in given.given if isinstance(each, Source)}}
    return Configuration(
        desired=replace(_desired(call, tree), moves=moves.pairs),
        snapshot=evaluation.snapshot,
        sources=sources,
        settings=settings,
        root=call,
    )


def _declared(root: CallSite) -> Iterator[Declared]:
    for site in root.all():
        module = site.text.module
        yield Declared(site=site.names, resources=module.resources, moved=module.moved)


def _nodes(root: ModuleText, registry: Registry, diagnostics: Diagnostics) -> dict[ModuleText, ModuleNodes]:
    """The nodes of each module, the root first."""
    nodes: dict[ModuleText, ModuleNodes] = {}
    waiting = [root]
    while waiting:
        text = waiting.pop(0)
        if text not in nodes:
            nodes[text] = nodes_of(text, registry.types, diagnostics)
            waiting += [called for called in text.calls.values() if called is not None]
    return nodes


def _embed_connections(call: ModuleCall) -> None:
    """Adds the connections that need no block, so that they can be the default of an attribute."""
    for address in call.embedded():
        ResourceInstance(call=call, address=address).resolve({})
        call.instances[str(address)] = [address.key]


def _evaluate(root: ModuleCall) -> None:
    evaluation = root.evaluation
    order = evaluation_order(root.site, evaluation.nodes, evaluation.registry, evaluation.diagnostics)
    if order is None:
        root.failed |= set(root.nodes.nodes)
        return
    calls: dict[CallSite, list[ModuleCall]] = {root.site: [root]}
    made = 0
    for site, node in order:
        for call in calls.get(site, ()):
            if node.startswith("module."):
                for called in call.make_calls(node):
                    calls.setdefault(called.site, []).append(called)
                    made += 1
                if made > _MOST_CALLS:
                    why = (
                        f"With this block there are more than {_MOST_CALLS:,} modules. So many are a mistake."
                    )
                    subject = call.module.calls[kind_and_name(node)[1]].header_span
                    evaluation.diagnostics.error(codes.COUNT_TOO_LARGE, why, subject=subject)
                    return
            elif node.startswith("check."):
                evaluate_check(call, node)
            elif node not in call.module.resources:
                call.evaluate(node)
            elif call.is_broken(node):
                call.failed.add(node)
                ResourceBlock(call, node).look_through()
            else:
                ResourceBlock(call, node).evaluate()


def _policy_context(call: ModuleCall) -> PolicyContext:
    module = call.module
    declared = [*(f"var.{name}" for name in module.variables), *(f"local.{name}" for name in module.locals)]
    return PolicyContext(scope=call.scope, declared=declared, types=call.evaluation.types)


def _desired(call: ModuleCall, tree: ModuleTree) -> Desired:
    """The declarations of a root module that was evaluated."""
    evaluation, module = call.evaluation, call.module
    registry, diagnostics = evaluation.registry, evaluation.diagnostics
    adopted = imports(module.imports, evaluation.resources, call.has_failed, call.scope, diagnostics)
    declared = _declared_addresses(call) if module.removed else frozenset()
    return Desired(
        resources=evaluation.resources,
        outputs=call.outputs,
        imports=_importable(adopted, registry, diagnostics),
        removed=removals(module.removed, declared, call.scope, diagnostics),
        variables=_shown(call.variables),
        values={name: to_data(value) for name, value in call.variables.items()},
        unread=evaluation.unread,
        bound=tuple(evaluation.bound),
        digest=_digest(tree, call.variables),
        conditions=tuple(evaluation.conditions),
        disabled=frozenset(evaluation.disabled),
    )


def _declared_addresses(root: ModuleCall) -> frozenset[str]:
    """The addresses of all blocks and calls, each as it is written, and of all instances."""
    blocks = (f"{site.prefix}{node}" for site in root.site.all() for node in site.text.module.resources)
    calls = (site.prefix.removesuffix(".") for site in root.site.all())
    instances = (call.prefix.removesuffix(".") for call in root.all())
    return frozenset([*blocks, *calls, *instances, *root.evaluation.resources])


def _importable(
    adopted: tuple[Import, ...], registry: Registry, diagnostics: Diagnostics
) -> tuple[Import, ...]:
    """Without those of what exists only because it was declared: nothing of it could be adopted."""
    kept: list[Import] = []
    for each in adopted:
        kind = block_type(each.to)
        if kind in registry.types and registry.types[kind].showing.import_ids == "":
            declared = f"{with_article(kind, capital=True)} exists only because it is declared."
            why = f"{declared} Remove the import block of {each.to}."
            diagnostics.error(codes.INVALID_IMPORT, why, subject=each.span)
        else:
            kept.append(each)
    return tuple(kept)


def _digest(tree: ModuleTree, variables: Mapping[str, Value]) -> str:
    content = hashlib.sha256()
    for source in tree.configuration:
        content.update(source.path.encode() + b"\0" + source.text.encode() + b"\0")
    return digest([content.hexdigest(), _shown(dict(sorted(variables.items())))])


def _shown(variables: Mapping[str, Value]) -> Attributes:
    """The values of variables as they are recorded: without the sensitive ones."""
    return {name: None if contains_sensitive(value) else to_data(value) for name, value in variables.items()}
