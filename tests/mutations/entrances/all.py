"""All entrances."""

from typing import Final

from tests.mutations.entrances import language, project
from tests.mutations.entrances.entrance import Entrance

ENTRANCES: Final[dict[str, Entrance]] = {
    item.name: item for item in (*language.ENTRANCES, *project.ENTRANCES)
}
