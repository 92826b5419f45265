"""The modules of a configuration as they are written: the root module, and below it what ``module`` blocks
call. Touches the file system only through ``config.files``; evaluates nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Final

from flareiac.config.blocks import Module, collect
from flareiac.config.configuration_form import ConfigurationForm
from flareiac.config.files import ModuleFiles, read_called_module, read_module, with_texts
from flareiac.config.module_sources import module_directory
from flareiac.config.overrides import with_overrides
from flareiac.config.own_blocks import MODULE
from flareiac.config.settings import check_version
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Source, Span
from flareiac.lang.parse import parse_file
from flareiac.lang.syntax import BlockNode
from flareiac.sdk.resource_type import ResourceType

ROOT: Final = "."
_MOST_CALLS: Final = 10_000
"""Calls of modules in one configuration: modules that call each other twice, thirty levels deep, are a
mistake that must not fill the memory.
"""
RESERVED: Final = frozenset({*MODULE.attributes, "version", "providers", "lifecycle", "locals"})
"""The names that no variable of a called module has: Terraform reserves the same ones."""

_PROVIDERS: Final = (
    "A module takes connections as values of its variables; where it names none, it uses its own or those "
    "of the module that calls it."
)
_OTHERWISE: Final = {
    "version": "A module is a folder and has no version. ",
    "providers": f"{_PROVIDERS} ",
}


@dataclass(slots=True, kw_only=True, eq=False)
class ModuleText:
    """The declarations in one directory. ``directory`` is relative to the root module, as ``path.module``
    gives it; ``calls`` has the module that each ``module`` block calls, None where it could not be read.
    """

    directory: str
    module: Module
    text_is_read: bool
    """True where all files could be read: else a block that seems undeclared may stand in an unread file."""
    calls: dict[str, "ModuleText | None"] = field(default_factory=dict)
    count: int = 1
    """The number of calls in a call of this module, itself included."""


@dataclass(slots=True, kw_only=True)
class ModuleTree:
    """The root module with its files, the texts of all configuration, and all that were read by name."""

    root: ModuleText
    files: ModuleFiles
    configuration: tuple[Source, ...]
    sources: dict[str, Source]


def read_tree(
    root: Path, resource_types: Mapping[str, ResourceType], diagnostics: Diagnostics, texts: Mapping[str, str]
) -> ModuleTree:
    """The modules of a configuration. ``texts``: by name, in place of what files hold."""
    files = with_texts(read_module(root, diagnostics), texts)
    reader = _Reader(root, resource_types, diagnostics, texts)
    tree = reader.read(ROOT, files, ())
    return ModuleTree(
        root=tree,
        files=files,
        configuration=(*files.configuration, *reader.sources.values()),
        sources={**files.sources, **reader.sources},
    )


class _Reader:
    """Reads each directory once, however often it is called."""

    def __init__(
        self,
        root: Path,
        resource_types: Mapping[str, ResourceType],
        diagnostics: Diagnostics,
        texts: Mapping[str, str],
    ) -> None:
        self._root, self._types, self._texts = root, resource_types, texts
        self._diagnostics = diagnostics
        self._known: dict[str, ModuleText] = {}
        self.sources: dict[str, Source] = {}

    def read(self, directory: str, files: ModuleFiles, callers: tuple[Path, ...]) -> ModuleText:
        """The module in a directory, of which the files are known. ``callers``: the directories of the
        modules that call it, outermost first.
        """
        before = 0 if directory == ROOT else len(self._diagnostics)
        form = ConfigurationForm(self._types)
        bodies = [parse_file(source, self._diagnostics, form=form) for source in files.configuration]
        read = not self._diagnostics.has_errors_since(before)
        module = collect(with_overrides(bodies, self._diagnostics), self._types, self._diagnostics)
        text = ModuleText(directory=directory, module=module, text_is_read=read)
        if directory != ROOT:
            self._refuse_root_blocks(module)
        here = (*callers, (self._root / directory).resolve())
        for name, block in module.calls.items():
            called = text.calls[name] = self._called(block, directory, here)
            if called is not None:
                check_arguments(block, called, self._diagnostics)
                text.count += called.count
        return text

    def _called(self, block: BlockNode, directory: str, callers: tuple[Path, ...]) -> ModuleText | None:
        """The module that a block calls; None after complaining."""
        source = block.body.attribute("source")
        if source is None:
            why = 'A module block names the folder of the module: source = "./modules/sales".'
            self._diagnostics.error(codes.INVALID_MODULE_SOURCE, why, subject=block.header_span)
            return None
        place = module_directory(source, directory, self._diagnostics)
        if place is None:
            return None
        real = (self._root / place).resolve()
        if real in callers:
            circle = " -> ".join([*map(self._shown, callers[callers.index(real) :]), self._shown(real)])
            why = f"{circle}. A module cannot call itself, directly or through others. Remove this call."
            self._diagnostics.error(codes.MODULE_CIRCLE, why, subject=source.expr.span)
            return None
        known = self._known.get(place)
        if known is None:
            files = self._files(place, source.expr.span)
            if files is None:
                return None
            known = self._known[place] = self.read(place, files, callers)
        if known.count > _MOST_CALLS:
            why = f"{place} leads to more than {_MOST_CALLS:,} calls of modules. So many are a mistake."
            self._diagnostics.error(codes.COUNT_TOO_LARGE, why, subject=source.expr.span)
            return None
        return known

    def _files(self, place: str, span: Span) -> ModuleFiles | None:
        files = read_called_module(self._root, place, span, self._diagnostics)
        if files is None:
            return None
        files = with_texts(files, self._texts)
        self.sources.update(files.sources)
        return files

    def _shown(self, place: Path) -> str:
        root = self._root.resolve()
        return str(place.relative_to(root)) if place.is_relative_to(root) else str(place)

    def _refuse_root_blocks(self, module: Module) -> None:
        """Reports what has a meaning for the whole project only."""
        for block in (*module.imports, *module.removed, *module.policies.values()):
            why = f"It is about the whole project: move the {block.type} block into the root module."
            if block.type == "removed":
                why += " Its from then begins with the address of this module."
            self._diagnostics.error(codes.ROOT_MODULE_ONLY, why, subject=block.header_span)
        for block in module.settings:
            written = [(each.name, each.name_span) for each in block.body.attributes]
            written += [(each.type, each.header_span) for each in block.body.blocks]
            for name, span in written:
                if name != "required_version":
                    why = (
                        f"{name} is a setting of the whole project. The flareiac block of a module that is "
                        "called takes required_version only: move it into the root module."
                    )
                    self._diagnostics.error(codes.ROOT_MODULE_ONLY, why, subject=span)
        check_version(module.settings, self._diagnostics)
        for name, block in module.variables.items():
            if name in RESERVED:
                why = f'"{name}" means something else in a module block. Give the variable another name.'
                self._diagnostics.error(codes.INVALID_BLOCK_NAME, why, subject=block.label_nodes[0].span)


def check_arguments(block: BlockNode, called: ModuleText, diagnostics: Diagnostics) -> None:
    """Complains about arguments that are no variable of the module, and about variables without a value."""
    variables = called.module.variables
    name = block.labels[0]
    written = {attribute.name for attribute in block.body.attributes}
    for attribute in block.body.attributes:
        if attribute.name in MODULE.attributes or attribute.name in variables:
            continue
        near = did_you_mean(attribute.name, [each for each in variables if each not in written])
        written.update(each for each in variables if f'"{each}"' in near)  # that is the one that is meant
        diagnostics.error(
            codes.UNDECLARED_VARIABLE,
            f"{_OTHERWISE.get(attribute.name, '')}The module in {called.directory} declares no variable "
            f'"{attribute.name}".{near}',
            subject=attribute.name_span,
        )
    for nested in block.body.blocks:
        diagnostics.error(
            codes.UNKNOWN_BLOCK,
            f'A module block takes attributes only, and no block "{nested.type}".'
            f"{' ' + _PROVIDERS if nested.type == 'providers' else ''}",
            subject=nested.header_span,
        )
    for variable, declared in variables.items():
        if variable not in written and declared.body.attribute("default") is None:
            diagnostics.error(
                codes.VARIABLE_WITHOUT_VALUE,
                f'The module in {called.directory} needs a value for its variable "{variable}", which has '
                f'no default. Write {variable} = ... into module "{name}".',
                subject=block.header_span,
            )


@dataclass(slots=True, kw_only=True, eq=False)
class CallSite:
    """One ``module`` block in its place: below the root, the same directory may have many. ``prefix`` begins
    the names of its nodes (empty for the root, ``module.sales.``); ``block`` is None for the root.
    """

    text: ModuleText
    prefix: str = ""
    name: str = ""
    block: BlockNode | None = None
    parent: "CallSite | None" = None
    inner: dict[str, "CallSite"] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the calls that lead here, outermost first."""
        return () if self.parent is None else (*self.parent.names, self.name)

    def all(self) -> Iterator["CallSite"]:
        """This one and all below it, each before those that it calls."""
        yield self
        for site in self.inner.values():
            yield from site.all()


def call_sites(text: ModuleText, parent: CallSite | None = None, name: str = "") -> CallSite:
    """The call sites of a module and all below it."""
    site = CallSite(
        text=text,
        prefix=f"{parent.prefix}module.{name}." if parent else "",
        name=name,
        block=parent.text.module.calls[name] if parent else None,
        parent=parent,
    )
    for inner, called in text.calls.items():
        if called is not None:
            site.inner[inner] = call_sites(called, site, inner)
    return site
