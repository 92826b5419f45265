"""The kinds of files that are damaged, each with the projects that hold one and the commands that read it."""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from flareiac_state.journal_frames import Frame, FrameKind, decode_frames, encode_frame
from tests.mutations.documents import damage_document, damaged_document
from tests.mutations.mutate import ANY_TEXT, HCL, damaged
from tests.mutations.worlds import JARS, JOURNAL, LOCK, MAIN, PLAN, STATE, World

Command = tuple[str, ...]
_IN_MEMORY = ("plan", "-refresh=none")
_VALIDATE: tuple[Command, ...] = (("validate",), ("validate", "-json"))
_PLAN: tuple[Command, ...] = (
    _IN_MEMORY,
    (*_IN_MEMORY, "-json"),
    (*_IN_MEMORY, "-detail=full", "-show-steps"),
    (*_IN_MEMORY, "-out=new.plan"),
)
_READ_STATE: tuple[Command, ...] = (
    *_PLAN,
    ("state", "list"),
    ("show",),
    ("show", "-json"),
    ("output",),
    ("output", "-json"),
    (*_IN_MEMORY, "-destroy"),
)
_ASK: tuple[Command, ...] = (
    ("plan",),
    ("drift",),
    ("drift", "-json"),
    ("status",),
    ("destroy", "-input=false"),
)
_APPLY: tuple[Command, ...] = (
    ("apply", "-auto-approve"),
    ("apply", "-auto-approve", "-json"),
    ("destroy", "-auto-approve"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """``real``: further commands where systems can be asked. ``changing``: further ones where a process can
    be contained.
    """

    files: tuple[str, ...]
    damage: Callable[[bytes, random.Random, Sequence[bytes]], tuple[tuple[str, ...], bytes]]
    commands: tuple[Command, ...] = ()
    real: tuple[Command, ...] = ()
    changing: tuple[Command, ...] = ()
    only: tuple[str, ...] = ()
    """The worlds; all that have one of the files, where it is empty."""

    def holds(self, world: World) -> bool:
        return world.name in self.only if self.only else any(name in world.files for name in self.files)

    def command(self, world: World, choose: random.Random, *, contained: bool) -> Command:
        """A command, mostly one that reads: those that change something write through to the disk."""
        changes = choose.random() < 0.1
        if world.is_real and changes and contained and self.changing:
            return choose.choice(self.changing)
        return choose.choice((*self.commands, *self.real) if world.is_real else self.commands)


def _in_records(
    content: bytes, choose: random.Random, _others: Sequence[bytes]
) -> tuple[tuple[str, ...], bytes]:
    """Records with another content, or others' order, in frames that are whole."""
    frames = list(decode_frames(content, "").items)
    records = [json.loads(frame.payload) for frame in frames if frame.kind is FrameKind.RECORD]
    whole = choose.randrange(4)
    if whole == 0:
        records.insert(choose.randrange(len(records) + 1), choose.choice(records))
        names: tuple[str, ...] = ("record twice",)
    elif whole == 1:
        del records[choose.randrange(len(records))]
        names = ("record away",)
    else:
        names = damage_document(records, choose, [records])
    made = [
        Frame(
            kind=FrameKind.RECORD,
            payload=json.dumps(item).encode(errors="surrogatepass"),
            epoch=frames[0].epoch,
        )
        for item in records
    ]
    return names, b"".join(map(encode_frame, (frames[0], *made)))


_text = partial(damaged, damages=ANY_TEXT)
_sealed, _unsealed = partial(damaged_document, sealed=True), partial(damaged_document, sealed=False)
_hcl = partial(damaged, damages=HCL)
_SHOW_PLAN: tuple[Command, ...] = (("show", PLAN), ("show", "-json", PLAN))
_APPLY_PLAN: tuple[Command, ...] = (("apply", PLAN), ("apply", PLAN, "-json"))
_WITH_FILE: tuple[Command, ...] = tuple(
    (*command, "-var-file=dev.vars.hcl") for command in (*_VALIDATE, _IN_MEMORY, (*_IN_MEMORY, "-json"))
)
_LOCKING: tuple[Command, ...] = (("destroy", "-input=false"),)
_APPLIED = ("applied", "letting go", "interrupted")
KINDS: dict[str, Kind] = {
    "hcl": Kind(files=(MAIN,), damage=_hcl, commands=(*_VALIDATE, *_PLAN), real=(("plan",),)),
    "variables": Kind(files=("dev.vars.hcl",), damage=_hcl, commands=_WITH_FILE),
    "plan": Kind(files=(PLAN,), damage=_text, commands=_SHOW_PLAN, changing=_APPLY_PLAN, only=_APPLIED),
    "plan-sealed": Kind(
        files=(PLAN,),
        damage=_sealed,
        commands=_SHOW_PLAN,
        changing=_APPLY_PLAN,
        only=_APPLIED,
    ),
    "state": Kind(files=(STATE,), damage=_text, commands=_READ_STATE, real=_ASK, changing=_APPLY),
    "state-parts": Kind(files=(STATE,), damage=_unsealed, commands=_READ_STATE, real=_ASK, changing=_APPLY),
    "state-sealed": Kind(
        files=(STATE,),
        damage=_sealed,
        commands=_READ_STATE,
        real=_ASK,
        changing=_APPLY,
    ),
    "journal": Kind(files=(JOURNAL,), damage=_text, commands=_READ_STATE, real=_ASK, changing=_APPLY),
    "journal-records": Kind(
        files=(JOURNAL,),
        damage=_in_records,
        commands=_READ_STATE,
        real=_ASK,
        changing=_APPLY,
    ),
    "lock": Kind(
        files=(LOCK,), damage=_text, commands=(("plan",), ("state", "list")), real=_LOCKING, changing=_APPLY
    ),
    "lock-parts": Kind(
        files=(LOCK,), damage=_unsealed, commands=(("plan",),), real=_LOCKING, changing=_APPLY
    ),
    "lock-sealed": Kind(files=(LOCK,), damage=_sealed, commands=(("plan",),), real=_LOCKING, changing=_APPLY),
    "jars-lock": Kind(files=(JARS,), damage=_text, commands=(*_VALIDATE, *_PLAN)),
}
READING = frozenset({"validate", "plan", "show", "state", "output", "drift", "status"})
"""The commands after which every file is as it was."""
