"""The shine of a thing: a log beside its file, one line for each operation."""

import json
from dataclasses import dataclass
from pathlib import Path

from flareiac.kernel.codes import Code

NOT_A_THING = Code("TOY008", "Not a thing")
NEVER_SHONE = Code("TOY009", "It never shone")


@dataclass(frozen=True, slots=True)
class ShineStep:
    """A level, and the idempotency key and the name of the operation that brought it."""

    level: int
    key: str
    by: str


@dataclass(frozen=True, slots=True)
class Shine:
    """The steps in the order in which they were made."""

    path: Path

    @property
    def steps(self) -> tuple[ShineStep, ...]:
        """All of them."""
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        return tuple(ShineStep(*json.loads(line)) for line in lines)

    @property
    def level(self) -> int:
        """The level at which it shines now."""
        steps = self.steps
        return steps[-1].level if steps else 0

    def has(self, key: str) -> bool:
        """Returns True if the operation of this key was carried out."""
        return any(step.key == key for step in self.steps)

    def add(self, step: ShineStep) -> None:
        """Notes an operation."""
        with self.path.open("a") as log:
            log.write(json.dumps([step.level, step.key, step.by]) + "\n")
