"""Entries with an explanation: a closed union of the records that also validate, and pages. Pure."""

from typing import Literal, TypeAlias

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.lang.functions.signature import Builtin
from flareiac.sdk.documents import Topic
from flareiac.sdk.resource_type import ResourceType
from flareiac.sdk.schema import Attribute, NestedBlock


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of the documentation, or the section of one about a block or a code, as Markdown."""

    title: str
    text: str
    kind: Literal["page", "section", "code"] = "page"


Entry: TypeAlias = ResourceType | NestedBlock | Attribute | Builtin | Topic | Page
