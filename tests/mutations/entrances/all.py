"""All entrances."""

from typing import Final

from tests.mutations.entrances import answers, language, project, sources, tables
from tests.mutations.entrances.entrance import Entrance

ENTRANCES: Final[dict[str, Entrance]] = {
    item.name: item
    for item in (
        *language.ENTRANCES,
        *sources.ENTRANCES,
        *tables.ENTRANCES,
        *answers.ENTRANCES,
        *project.ENTRANCES,
    )
}
