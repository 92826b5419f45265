"""The rules for the names of tables and namespaces: in every catalog, and in the kind that one is of.
Pure.
"""

import re
from typing import Final

from flareiac.kernel.data import Data, Reference
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.sdk.references import References
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.kinds import spec_of
from flareiac_iceberg.format.locations import local_path

_LONGEST_FILE_NAME: Final = 255
"""Bytes, on the file systems of Linux and macOS."""
NAME: Final = re.compile(r"[^./\\\x00-\x1f`]+")


def check_namespace(value: str, path: tuple[str, ...], diagnostics: Diagnostics) -> str:
    """A namespace's name, its levels separated by dots."""
    for level in value.split("."):
        if not NAME.fullmatch(level):
            diagnostics.error(
                codes.INVALID_NAMESPACE_NAME,
                f'"{value}" cannot be a namespace. Its levels are separated by dots; a level is not empty '
                "and has no slash, back-quote or control character.",
                attribute=path,
            )
            return "default"
    return value


def check_names(catalog: Reference, references: References, diagnostics: Diagnostics, **names: Data) -> None:
    """Complains of names that this kind of catalog would change or refuse."""
    reference = references.get(catalog.address)
    if reference is None:
        return
    kind = spec_of(reference.address, reference.attributes)
    for attribute, name in names.items():
        if isinstance(name, str) and not kind.names.fullmatch(name):
            diagnostics.error(
                codes.INVALID_GLUE_NAME,
                f"{name!r} cannot be a name in {catalog.address}: {kind.name_rule}. Write another name.",
                attribute=(attribute,),
            )
        elif isinstance(name, str) and (why := _too_long(kind, name)):
            of_table = attribute == "name" and "namespace" in names
            diagnostics.error(
                codes.INVALID_TABLE_NAME if of_table else codes.INVALID_NAMESPACE_NAME,
                f'"{name[:40]}..." cannot be a name in {catalog.address}: {why}. Write a shorter name.',
                attribute=(attribute,),
            )


def _too_long(kind: CatalogSpec, name: str) -> str:
    """The reason why a name does not fit, or empty. In a folder, tables have folders of their names."""
    if kind.longest_name is None:
        return ""
    if len(name) > kind.longest_name:
        return f"it has {len(name)} characters, and the catalog keeps {kind.longest_name}"
    size = len(name.encode())
    if size > _LONGEST_FILE_NAME and local_path(kind.warehouse) is not None:
        return f"it has {size} bytes, and a folder's name in the warehouse has at most {_LONGEST_FILE_NAME}"
    return ""
