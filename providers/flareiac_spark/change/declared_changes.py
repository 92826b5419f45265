"""The plain half of a comparison: the effect of a change that is declared with its attribute. Pure."""

from flareiac.sdk.declared import DeclaredField
from flareiac.sdk.on_change import ChangeClass
from flareiac_spark.change.changes import JobChange, Live, MetadataOnly, Restart


def change_by_declaration(declared: DeclaredField) -> JobChange | None:
    """The change of an attribute whose declaration says all of it. None where other attributes or the
    checkpoint decide, and so a comparison of its own.
    """
    on_change, name, path = declared.attribute.on_change, declared.name, (declared.field,)
    if on_change is None or on_change.over_state is not None:
        return None
    match on_change.does:
        case ChangeClass.RECORDED:
            return MetadataOnly(
                path=path, text=on_change.says or f"{name} is only recorded: no running query uses it"
            )
        case ChangeClass.NEXT_RUN:
            return MetadataOnly(path=path, text=f"{name} {on_change.does}")
        case ChangeClass.LIVE if on_change.says:
            return Live(path=path, text=on_change.says)
        case ChangeClass.RESTART if on_change.says:
            return Restart(path=path, text=name, why=on_change.says)
        case _:
            return None
