"""The protection of a workspace: what each command may do there. Reads settings and the environment."""

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Final

from flareiac.app.state_place.place import written_settings
from flareiac.config.protection import Protection, protection_of
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.plan import Plan
from flareiac.model.remark import Remark
from flareiac.model.snapshot import Snapshot

_LONGEST: Final = 500
"""Characters of a reason and of a name."""


class Treatment(StrEnum):
    """The meaning of a protected workspace for a command that changes something."""

    FREE = "allowed"
    SAVED = "only a saved plan"
    REASON = "only with -reason"
    REFUSED = "refused"


TREATMENTS: Final[Mapping[str, Treatment]] = {
    "apply": Treatment.SAVED,
    "destroy": Treatment.REFUSED,
    "workspace delete": Treatment.REFUSED,
    **dict.fromkeys(("init", "new", "import", "driver", "start", "maintain"), Treatment.FREE),
    **dict.fromkeys(("workspace new", "workspace select", "lock release", "state recover"), Treatment.FREE),
}
"""By the words of the command. Every other command that does not only read needs a reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """The command at work, and what its configuration says of the workspace. ``saved``: it carries out a plan
    that was saved.
    """

    command: str
    workspace: str
    configured: Protection
    reason: str = ""
    approvals: str = ""
    saved: bool = False

    @property
    def remark(self) -> Remark | None:
        if not self.reason and not self.approvals:
            return None
        return Remark(command=self.command, reason=self.reason, approvals=self.approvals)

    def is_protected(self, snapshot: Snapshot | None) -> bool:
        """Returns True if the configuration or the state says so: a configuration alone lifts nothing."""
        recorded = snapshot is not None and snapshot.applied is not None and snapshot.applied.protected
        return self.configured.protected or recorded

    def check(self, snapshot: Snapshot | None) -> None:
        """Raises ``Failure`` where the workspace is protected and the command is not allowed there.
        ``snapshot`` None: the state cannot be read.
        """
        if not self.is_protected(snapshot):
            return
        match TREATMENTS.get(self.command, Treatment.REASON):
            case Treatment.FREE:
                return
            case Treatment.SAVED if self.saved:
                return
            case Treatment.SAVED:
                why = (
                    "It takes only a plan that was saved and can be reviewed, also with -auto-approve: "
                    "flareiac plan -out=plan.json, then flareiac apply plan.json."
                )
            case Treatment.REASON if self.reason:
                return
            case Treatment.REASON:
                why = f'Say why: flareiac {self.command} ... -reason="TEAM-12: ...". The state keeps it.'
            case Treatment.REFUSED:
                why = (
                    "Lift the protection first, which is a change of its own: remove it from the "
                    "configuration, flareiac plan -out=plan.json, and apply that plan."
                )
        raise Failure(error(codes.WORKSPACE_PROTECTED, f"{self.workspace} is protected. {why}"))


def guard_of(root: Path, workspace: str, command: str, reason: str) -> Guard:
    """The guard of a command that does not only read. Raises ``Failure``."""
    rules = written_settings(root).settings.workspaces
    short = " ".join(reason.split())[:_LONGEST]
    return Guard(
        command=command, workspace=workspace, configured=protection_of(rules, workspace), reason=short
    )


def with_approvals(guard: Guard, saved: Plan, snapshot: Snapshot, environment: Mapping[str, str]) -> Guard:
    """The guard of an apply of a saved plan, with who approved it. Raises ``Failure`` for a plan that a
    protected workspace does not take.
    """
    if not guard.is_protected(snapshot):
        return guard
    for what, forbidden in (
        ("-target or -exclude", saved.targeted and not saved.remediates),
        ("-destroy", saved.destroy),
    ):
        if forbidden:
            why = f"{guard.workspace} is protected and takes no plan with {what}. Plan again without."
            raise Failure(error(codes.WORKSPACE_PROTECTED, why))
    name = guard.configured.approvals
    if not name:
        return guard
    approvals = " ".join(environment.get(name, "").split())[:_LONGEST]
    if not approvals:
        why = (
            f"require_reviewed_plan of {guard.workspace} reads {name} from the environment, where it is not "
            "set. CI sets it to the people who approved the plan; the state keeps the names."
        )
        raise Failure(error(codes.APPROVAL_MISSING, why))
    return replace(guard, approvals=approvals)


def refuse_deletion(root: Path, name: str, snapshot: Snapshot | None) -> None:
    """Raises ``Failure`` where the workspace to delete is protected."""
    guard_of(root, name, "workspace delete", "").check(snapshot)
