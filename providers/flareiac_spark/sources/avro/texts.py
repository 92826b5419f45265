"""Differences between declared columns and a schema in words, with what to paste. Pure. Travels with the
driver.
"""

from flareiac_spark.sources.avro.differences import (
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
            return f"the field {path} is new, and no column can hold it: it {why}"
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
        case NotARecord(found=found):
            return f"its values are not records but of type {found}, which have no columns"


def column_block(field: NewField) -> str | None:
    """The block that takes a new field, to paste into the stream; None where there is none."""
    if field.type is None or field.is_nested:
        return None
    return f'column "{field.path}" {{ type = "{field.type}" }}'
