"""The remark of a command that wrote the state: a record for people, which proves nothing."""

from dataclasses import field

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import SPARSE


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """``command``: its words. ``reason``: that of -reason. ``approvals``: who approved the plan, as the
    environment of the command named them.
    """

    command: str
    reason: str = field(default="", metadata=SPARSE)
    approvals: str = field(default="", metadata=SPARSE)

    @property
    def text(self) -> str:
        approved = f", approved by {self.approvals}" if self.approvals else ""
        return f"{self.command}{f': {self.reason}' if self.reason else ''}{approved}"
