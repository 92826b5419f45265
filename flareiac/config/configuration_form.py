"""The form of a file of configuration in HCL's JSON syntax: the blocks of the language, and those of the
installed resource types. Pure.
"""

from collections.abc import Mapping
from typing import Final

from flareiac.config.own_blocks import META, OWN_BLOCKS, OwnBlock
from flareiac.lang.json_body import ANYTHING, BlockForm, BodyForm, SchemaForm, plain_form
from flareiac.lang.written import Reading
from flareiac.sdk.resource_type import ResourceType

_DATA: Final = "data"


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
            return plain_form(own.block, int(own.is_labelled))
        if name == _DATA:
            return BlockForm(2, lambda kind: self._resource(f"{_DATA}.{kind}"))
        return BlockForm(1, lambda _label: self._resource(name)) if name in self._types else None

    def _resource(self, name: str) -> BodyForm:
        return SchemaForm((self._types[name].schema, META)) if name in self._types else ANYTHING
