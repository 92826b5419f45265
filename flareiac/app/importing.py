"""The use case of ``import``: writes blocks for what exists and is not declared. Asks systems, reads the
state, changes neither.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from flareiac.app.workspace import Workspace
from flareiac.config.load import Configuration
from flareiac.kernel import codes
from flareiac.kernel.addresses import parse_address
from flareiac.kernel.articles import with_article
from flareiac.kernel.data import Reference
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics, Failure, did_you_mean, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Source
from flareiac.model.desired import Desired
from flareiac.sdk.importing import Importable, Importing, ImportRequest, LeftOut, WrittenBlock
from flareiac.sdk.resource_type import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The blocks to write, the addresses they declare, and what was left out. ``blocks`` is empty where the
    configuration has errors.
    """

    blocks: tuple[WrittenBlock, ...] = ()
    addresses: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    diagnostics: Diagnostics
    sources: Mapping[str, Source]


def import_many(workspace: Workspace, pattern: str) -> Imported:
    """A block and an import block for each thing that a pattern of import ids names and that has none. Raises
    ``Failure``.
    """
    diagnostics = Diagnostics()
    configuration = workspace.load_configuration(workspace.load_state().snapshot, diagnostics)
    if diagnostics.has_errors:
        return Imported(diagnostics=diagnostics, sources=configuration.sources)
    candidates = _look(workspace, configuration.desired, pattern, exact=False)
    importables = [candidate for candidate in candidates if isinstance(candidate, Importable)]
    taken = {f"{address.split('[')[0]}" for address in configuration.desired.resources}
    blocks: list[WrittenBlock] = []
    addresses: list[str] = []
    for importable, label in zip(importables, _labels(importables, taken), strict=True):
        addresses.append(f"{importable.block.type}.{label}")
        blocks += [_labelled(importable, label), _import_block(addresses[-1], importable.id)]
    left_out = tuple(candidate for candidate in candidates if isinstance(candidate, LeftOut))
    return _report(configuration, diagnostics, blocks, addresses, left_out)


def import_one(workspace: Workspace, address: str, object_id: str) -> Imported:
    """The import block for one address, and its block too where it is not declared. Raises ``Failure``."""
    parsed = parse_address(address)
    if parsed is None or parsed.module:
        raise Failure(
            error(
                codes.INVALID_ADDRESS,
                f'"{address}" is not an address. Write a block type and a name, such as table.orders or '
                'table.orders["eu"].',
            )
        )
    diagnostics = Diagnostics()
    configuration = workspace.load_configuration(workspace.load_state().snapshot, diagnostics)
    if diagnostics.has_errors:
        return Imported(diagnostics=diagnostics, sources=configuration.sources)
    if address in configuration.snapshot.resources:
        raise Failure(
            error(
                codes.ALREADY_IN_STATE, f"There is nothing to import for {address}: plan shows what differs."
            )
        )
    if address in configuration.desired.resources:
        return _report(configuration, diagnostics, [_import_block(address, object_id)], [address], ())
    if parsed.key is not None:
        why = (
            "Its block must be there, with count or for_each: import cannot guess how its instances are made."
        )
        raise Failure(
            error(
                codes.IMPORT_TARGET_NOT_DECLARED,
                f"{address} is one instance of a block. "
                f"{why}{did_you_mean(address, configuration.desired.resources)}",
            )
        )
    _check_id(workspace, parsed.type, address, object_id)
    importable = _only(_look(workspace, configuration.desired, object_id, exact=True), address, parsed.type)
    blocks = [_labelled(importable, parsed.name), _import_block(address, object_id)]
    return _report(configuration, diagnostics, blocks, [address], ())


def _check_id(workspace: Workspace, kind: str, address: str, object_id: str) -> None:
    """Refuses an id that only things of another type have. Raises ``Failure``."""
    types = workspace.installed.registry.types
    wanted = types.get(kind)
    if wanted is None or wanted.kind is not Kind.MANAGED or wanted.showing.import_ids == "":
        forms = "; ".join(
            f"{with_article(name)} by {resource_type.showing.import_ids}"
            for name, resource_type in types.items()
            if resource_type.showing.import_ids
        )
        why = (
            f"{with_article(kind, capital=True)} cannot be imported"
            if wanted
            else f'There is no block type "{kind}"'
        )
        raise Failure(error(codes.IMPORT_OF_ANOTHER_KIND, f"{why}. What can be is named so: {forms}."))
    owner = next(
        (
            provider
            for provider in workspace.installed.providers.values()
            if kind in provider.resource_types()
        ),
        None,
    )
    if owner is None:
        return
    session = owner.open(workspace.project)
    try:
        fits = isinstance(session, Importing) and session.names(object_id)
    finally:
        session.close()
    if not fits and wanted.showing.import_ids:
        why = f'"{object_id}" is not the id of {with_article(kind)}. Write {wanted.showing.import_ids}.'
        raise Failure(error(codes.IMPORT_OF_ANOTHER_KIND, why))
    if not fits:
        why = (
            f"The block of {address} cannot be written from what exists. Write it yourself, and import "
            "writes the import block."
        )
        raise Failure(error(codes.IMPORT_OF_ANOTHER_KIND, why))


def _report(
    configuration: Configuration,
    diagnostics: Diagnostics,
    blocks: Sequence[WrittenBlock],
    addresses: Sequence[str],
    left_out: tuple[LeftOut, ...],
) -> Imported:
    return Imported(
        blocks=tuple(blocks),
        addresses=tuple(addresses),
        left_out=left_out,
        diagnostics=diagnostics,
        sources=configuration.sources,
    )


def _look(
    workspace: Workspace, desired: Desired, pattern: str, *, exact: bool
) -> Sequence[Importable | LeftOut]:
    request = ImportRequest(
        pattern=pattern,
        references={address: resource.resolved() for address, resource in desired.resources.items()},
        declared={
            address: resource.attributes
            for address, resource in desired.resources.items()
            if resource.kind in (Kind.MANAGED, Kind.DATA)
        },
        exact=exact,
    )
    for provider in workspace.installed.providers.values():
        session = provider.open(workspace.project)
        try:
            if isinstance(session, Importing) and session.names(pattern):
                return session.importable(request)
        finally:
            session.close()
    raise Failure(
        error(codes.NOTHING_CAN_IMPORT, "No installed provider can write blocks for what is there.")
    )


def _only(candidates: Sequence[Importable | LeftOut], address: str, kind: str) -> Importable:
    importable = candidates[0]
    if isinstance(importable, LeftOut):
        raise Failure(
            error(codes.IMPORT_OF_ANOTHER_KIND, f"{importable.id} cannot become {address}: {importable.why}")
        )
    if importable.block.type != kind:
        raise Failure(_other_kind(importable, address, kind))
    return importable


def _other_kind(importable: Importable, address: str, kind: str) -> Diagnostic:
    named = with_article(kind)
    return error(
        codes.IMPORT_OF_ANOTHER_KIND,
        f"{importable.id} is {with_article(importable.block.type)}, and {address} is {named}. To import it "
        f"as {named}, write the {kind} block yourself; import then writes the import block.",
    )


def _labels(importables: Sequence[Importable], taken: set[str]) -> Iterator[str]:
    """One label for each: its own where that is unique, else with the qualifier, else with a number."""
    wanted = [f"{importable.block.type}.{importable.block.label}" for importable in importables]
    used = set(taken)
    for importable, plain in zip(importables, wanted, strict=True):
        base = (
            plain
            if wanted.count(plain) == 1 and plain not in taken
            else f"{importable.block.type}.{importable.qualifier}_{importable.block.label}"
        )
        label, number = base, 2
        while label in used or (label != plain and label in wanted):
            label, number = f"{base}_{number}", number + 1
        used.add(label)
        yield label.partition(".")[2]


def _labelled(importable: Importable, label: str) -> WrittenBlock:
    """The block under a label; its real name is written where the label does not say it."""
    attributes = dict(importable.block.attributes)
    attributes.pop(importable.named, None)
    if label != importable.real_name:
        pairs = list(attributes.items())
        place = next(
            (index + 1 for index, (name, _) in enumerate(pairs) if name == importable.named_after), 0
        )
        attributes = dict([*pairs[:place], (importable.named, importable.real_name), *pairs[place:]])
    return replace(importable.block, label=label, attributes=attributes)


def _import_block(address: str, object_id: str) -> WrittenBlock:
    return WrittenBlock(type="import", attributes={"to": Reference(address), "id": object_id})
