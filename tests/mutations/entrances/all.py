"""All entrances."""

from typing import Final

from tests.mutations.entrances import (
    answers,
    changes,
    front_end,
    language,
    project,
    sources,
    stored,
    tables,
    words,
)
from tests.mutations.entrances.entrance import Entrance

ENTRANCES: Final[dict[str, Entrance]] = {
    item.name: item
    for item in (
        *language.ENTRANCES,
        *front_end.ENTRANCES,
        *sources.ENTRANCES,
        *tables.ENTRANCES,
        *stored.ENTRANCES,
        *words.ENTRANCES,
        *changes.ENTRANCES,
        *answers.ENTRANCES,
        *project.ENTRANCES,
    )
}
