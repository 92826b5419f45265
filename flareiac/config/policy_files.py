"""The policies of a folder, read without the rest of its configuration: a plan that was saved is checked by
the rules of today, or by those of another folder. Touches the file system.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from flareiac.config.policies import POLICY, PolicyContext, Rule, rules_of
from flareiac.config.registry import Registry
from flareiac.config.settings_blocks import top_blocks
from flareiac.config.symbols import LazyNames
from flareiac.config.variables import flag
from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Source
from flareiac.lang.conversion import ConversionError
from flareiac.lang.evaluate import evaluate
from flareiac.lang.functions import functions
from flareiac.lang.scope import Scope
from flareiac.lang.syntax import AttributeNode, BlockNode
from flareiac.lang.type_expressions import parse_type
from flareiac.lang.values import Value, from_data, lazy_object, string, unknown

_VARIABLE: Final = "variable"
_LOCALS: Final = "locals"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """The rules of a folder, what their expressions see beside a plan, and the texts they stand in."""

    rules: tuple[Rule, ...]
    scope: Scope
    sources: Mapping[str, Source]


def policies_in(
    root: Path, values: Attributes, workspace: str, registry: Registry, diagnostics: Diagnostics
) -> Policies:
    """The policies in the files of ``root``. ``values``: those of variables in the plan, without the
    sensitive ones; one that the plan does not have has its default.
    """
    policies = top_blocks(root, (POLICY,), diagnostics)
    if not policies.blocks:
        return Policies(rules=(), scope=Scope(), sources=policies.sources)
    names = top_blocks(root, (_VARIABLE, _LOCALS), diagnostics)
    blocks = {
        block.labels[0]: block for block in names.blocks if block.type == _VARIABLE and len(block.labels) == 1
    }
    local_values = {
        each.name: each for block in names.blocks if block.type == _LOCALS for each in block.body.attributes
    }
    symbols = _Symbols(root, values, workspace, registry, blocks, local_values)
    declared = [*(f"var.{name}" for name in blocks), *(f"local.{name}" for name in local_values)]
    context = PolicyContext(scope=symbols.scope, declared=declared, types=registry.types)
    labelled = [block for block in policies.blocks if len(block.labels) == 1]
    rules = rules_of(labelled, context, diagnostics)
    return Policies(rules=rules, scope=symbols.scope, sources={**names.sources, **policies.sources})


class _Symbols:
    """The names that policies see beside a plan. A local that depends on a resource is not known: what the
    plan makes of it is in the plan.
    """

    def __init__(
        self,
        root: Path,
        values: Attributes,
        workspace: str,
        registry: Registry,
        variables: Mapping[str, BlockNode],
        local_values: Mapping[str, AttributeNode],
    ) -> None:
        self.values, self.workspace, self.types = values, workspace, registry.types
        self.variables, self.local_values = variables, local_values
        self.known: dict[str, Value] = {}
        self.scope = Scope(lookup=self.lookup, functions=functions(root, registry.functions))

    def lookup(self, name: str) -> Value | None:
        match name:
            case "var":
                return lazy_object(LazyNames(self.variables, self.variable), name)
            case "local":
                return lazy_object(LazyNames(self.local_values, self.local), name)
            case "path":
                places = {"root": ".", "module": ".", "cwd": os.getcwd()}  # noqa: PTH109  # as text
                return lazy_object({key: string(text) for key, text in places.items()}, name)
            case "flareiac":
                return lazy_object({"workspace": string(self.workspace)}, name)
            case _:
                return unknown() if name == "data" or name in self.types else None

    def variable(self, name: str) -> Value:
        block, quiet = self.variables[name], Diagnostics()
        if flag(block, "sensitive", False, Scope(), quiet):
            return unknown(sensitive=True)
        default = block.body.attribute("default")
        if name in self.values:
            value = from_data(self.values[name])
        elif default is not None:
            value = evaluate(default.expr, Scope(functions=self.scope.functions), quiet)
        else:
            return unknown()
        written = block.body.attribute("type")
        constraint = parse_type(written.expr, quiet) if written is not None else None
        try:
            return value if constraint is None else constraint.apply(value)
        except ConversionError:
            return unknown()

    def local(self, name: str) -> Value:
        if name not in self.known:
            self.known[name] = unknown()  # in a circle, which the evaluation of the configuration reports
            self.known[name] = evaluate(self.local_values[name].expr, self.scope, Diagnostics())
        return self.known[name]
