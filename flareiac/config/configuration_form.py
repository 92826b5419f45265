"""The form of a file of configuration in HCL's JSON syntax: the blocks of the language, and those of the
installed resource types. Pure.
"""

from collections.abc import Mapping
from typing import Final

from flareiac.config.own_blocks import META, OWN_BLOCKS, OwnBlock
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.lang.json_body import ANYTHING, BlockForm, BodyForm, SchemaForm
from flareiac.lang.written import Reading
from flareiac.sdk.resource_type import ResourceType

_DATA: Final = "data"


@dataclass(frozen=True, slots=True)
class _OwnForm:
    """The body of a block of the language. A ``data`` block in it is that of a file."""

    schema: SchemaForm
    file: BodyForm

    def reading(self, name: str) -> Reading | None:
        return self.schema.reading(name)

    def block(self, name: str) -> BlockForm | None:
        form = self.schema.block(name)
        return self.file.block(name) if form is not None and name == _DATA else form


class ConfigurationForm:
    """See ``BodyForm``. ``types``: of resources, by block type; ``own``: the blocks of the language. Others
    are not looked into.
    """

    def __init__(self, types: Mapping[str, ResourceType], own: Mapping[str, OwnBlock] = OWN_BLOCKS) -> None:
        self._types, self._own = types, own

    def reading(self, _name: str) -> Reading | None:
        """None: only blocks stand at the top of a file."""
        return None

    def block(self, name: str) -> BlockForm | None:
        """The form of a block type."""
        if (own := self._own.get(name)) is not None:
            form = _OwnForm(SchemaForm((own.block,)), self)
            return BlockForm(int(own.is_labelled), lambda _label: form)
        if name == _DATA:
            return BlockForm(2, lambda kind: self._resource(f"{_DATA}.{kind}"))
        return BlockForm(1, lambda _label: self._resource(name)) if name in self._types else None

    def _resource(self, name: str) -> BodyForm:
        return SchemaForm((self._types[name].schema, META)) if name in self._types else ANYTHING
