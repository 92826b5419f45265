"""Differences between declared columns and a schema in words, with what to paste. Pure."""

import json

from flareiac.kernel.column_types import quoted_name
from flareiac_spark_runtime.sources.avro.differences import (
    Difference,
    MissingField,
    NewField,
    NotARecord,
    NotReadable,
    TypeDiffers,
)


def clause(difference: Difference) -> str:
    """One difference in words, without a full stop."""
    match difference:
        case NewField(path=path, type=None, why=why):
            return f"the field {path} has no column, and does not tell the type of one: it {why}"
        case NewField(path=path, type=kind):
            return f"the field {path} ({kind}) has no column"
        case MissingField(path=path, required=required, similar=similar):
            effect = "which is declared not null" if required else "whose column is null in every record"
            hint = f" (it has {similar})" if similar is not None else ""
            return f"the schema has no field {path}, {effect}{hint}"
        case TypeDiffers(path=path, written=written, declared=declared):
            return f"the field {path} is {written}, which the declared type {declared} does not take"
        case NotReadable(path=path, why=why):
            return f"no column can hold the field {path}: it {why}"
        case NotARecord(kind=schema_kind):
            return f"its values are not records but of type {schema_kind}, which have no columns"


def column_block(field: NewField) -> str | None:
    """The block that takes a new field, to paste into the stream; None where there is none."""
    if field.type is None or field.within or field.similar is not None:
        return None
    label = json.dumps(field.path, ensure_ascii=False).replace("${", "$${").replace("%{", "%%{")
    kind = json.dumps(field.type, ensure_ascii=False).replace("${", "$${").replace("%{", "%%{")
    return f"column {label} {{ type = {kind} }}"


def way_to_read(field: NewField) -> str:
    """The text to write so that a new field is read, as a sentence; empty where nothing is known."""
    if field.similar is not None:
        return (
            f"{field.similar} differs from it in upper and lower case: write the name as the records have it."
        )
    if field.type is None:
        return ""
    if field.within:
        part = f"{quoted_name(field.name)}: {field.type}"
        return f"To read it, add {part} to the type of {field.within}."
    return f"To read it, write in the stream: {column_block(field)}"
