"""What has an explanation: a closed union of the records that also validate, and pages. Pure."""

from dataclasses import dataclass
from typing import TypeAlias

from flareiac.lang.functions.signature import Builtin
from flareiac.sdk.documents import Topic
from flareiac.sdk.provider import ResourceType
from flareiac.sdk.schema import Attribute, NestedBlock


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of the documentation, or a section of one, as Markdown."""

    title: str
    text: str
    section: bool = False


Entry: TypeAlias = ResourceType | NestedBlock | Attribute | Builtin | Topic | Page
