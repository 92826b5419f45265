"""The connections that a block does not name: the only one of a type, or that of what it names. Pure."""

from collections.abc import Iterable

from flareiac.config.module_call import ModuleCall
from flareiac.kernel import codes
from flareiac.kernel.addresses import block_type
from flareiac.kernel.data import Attributes, Data, Reference
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.types import RefType
from flareiac.lang.syntax import BlockNode
from flareiac.sdk.schema import Block, Nesting


@dataclass(frozen=True, slots=True)
class ImpliedConnections:
    """The connections of one block in a call of a module."""

    call: ModuleCall
    block: BlockNode

    def fill(self, schema: Block, attributes: Attributes) -> None:
        """Fills in each attribute that takes a connection and is left out, here or in a block inside; reports
        those for which there are several.
        """
        for name, attribute in schema.attributes.items():
            if attributes.get(name) is not None or not isinstance(attribute.type, RefType):
                continue
            if attribute.only_with and not any(attributes.get(other) for other in attribute.only_with):
                continue
            self._fill_one(name, attribute.type, attributes)
        for name, nested in schema.blocks.items():
            for body in _bodies(nested.nesting, attributes.get(name)):
                self.fill(nested.block, body)

    def _fill_one(self, name: str, taken: RefType, attributes: Attributes) -> None:
        evaluation, block = self.call.evaluation, self.block
        target = next(filter(evaluation.registry.is_implied, taken.to), None)
        if target is None:
            return
        choices = self.call.choices(target)
        shared = self._of_named(attributes, target)
        if len(choices) == 1:
            attributes[name] = Reference(choices[0])
        elif len(shared) == 1:
            attributes[name] = shared.pop()
        elif choices:
            evaluation.diagnostics.error(
                codes.CONNECTION_AMBIGUOUS,
                f"{'.'.join((block.type, *block.labels))} must name its {target}, as there are several: "
                f"{', '.join(choices)}. Write {name} = {choices[0]}, or another.",
                subject=block.header_span,
                attribute=(name,),
            )

    def _of_named(self, attributes: Attributes, target: str) -> set[Reference]:
        """The connections of this type of the resources that a body names, alone or in lists: a table is in
        the catalog of its namespace, whatever their attributes for it are called.
        """
        resources = self.call.evaluation.resources
        written = [
            each for value in attributes.values() for each in (value if isinstance(value, list) else [value])
        ]
        named = [resources.get(each.address) for each in written if isinstance(each, Reference)]
        values = (value for each in named if each is not None for value in each.attributes.values())
        return {
            value for value in values if isinstance(value, Reference) and block_type(value.address) == target
        }


def _bodies(nesting: Nesting, written: Data) -> Iterable[Attributes]:
    match nesting:
        case Nesting.SINGLE:
            return () if written is None else (written,)
        case Nesting.LIST:
            return written or ()
        case Nesting.MAP:
            return (written or {}).values()
