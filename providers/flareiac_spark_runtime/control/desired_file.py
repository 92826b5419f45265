"""The file that says what should run. The command line writes it, and the application's driver reads it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from flareiac_spark_runtime.control.control_files import Glance
from flareiac_spark_runtime.control.desired import Desired
from flareiac_spark_runtime.control.errors import ControlError, ErrorKind
from flareiac_spark_runtime.control.records import Records
from flareiac_spark_runtime.storage import place_at

_DESIRED: Final = "desired.json"


class DesiredFile(Records):
    """The file of the desired state, and the owner of the directory."""

    def read_desired(self) -> Desired | None:
        """The desired state, or None if no one has written any yet."""
        return self._read(_DESIRED, Desired)

    def glance(self) -> Glance | None:
        """The stamp that a driver compares again and again, at the least cost; None where none can be
        seen.
        """
        return self._files.glance()

    def update_desired(
        self, change: Callable[[Desired], Desired], *, lineage: str, workspace: str, expect: int | None = None
    ) -> Desired:
        """Compare-and-swap: ``change`` gets what is there (revision 0: nothing yet) and returns what should
        be; it is called again where someone else wrote in between.

        Returns what is stored then, with its revision; an unchanged record is not written. ``expect`` refuses
        any other revision (``conflict``). A directory with jobs of another project or workspace is refused
        (``foreign``); one without jobs is no one's, as a first apply that was refused leaves it.
        """
        self.prepare()
        for _ in self._tries(_DESIRED):
            file = self._files.read(_DESIRED)
            known = self._understood(_DESIRED, file, Desired)
            current = known or Desired(lineage=lineage, workspace=workspace)
            self.refuse_foreign(current, lineage, workspace)
            if expect is not None and current.revision != expect:
                why = (
                    f"it has revision {current.revision} and not {expect}: someone else changed it since "
                    "it was read"
                )
                raise ControlError(ErrorKind.CONFLICT, self._where(_DESIRED), why)
            place = (current.jobs and current.place) or str(self.place)
            wanted = replace(
                change(current), lineage=lineage, workspace=workspace, place=place, revision=current.revision
            )
            if wanted == current and current.revision > 0:
                return current
            if file is None:
                self._files.prove()
            wanted = replace(wanted, revision=current.revision + 1)
            if self._swapped(_DESIRED, wanted, file) is not None:
                return wanted
        raise AssertionError("the tries end with a failure")

    def refuse_foreign(self, current: Desired, lineage: str, workspace: str) -> None:
        """Raises ``ControlError`` (foreign) where there are jobs of another project or workspace, or of the
        folder this was copied from.
        """
        where = self._where(_DESIRED)
        if not current.jobs:
            return
        if current.lineage != lineage:
            raise ControlError(
                ErrorKind.FOREIGN,
                where,
                f"it belongs to another project (lineage {current.lineage}, this one is {lineage})",
            )
        if current.workspace != workspace:
            raise ControlError(
                ErrorKind.FOREIGN,
                where,
                f"it belongs to the workspace {current.workspace!r}, this one is {workspace!r}",
            )
        if current.place and place_at(current.place).resolve() != self.place.resolve():
            raise ControlError(
                ErrorKind.COPIED,
                where,
                f"it was written as {current.place}/desired.json; its jobs work on the places there",
            )

    def refuse_copy(self, current: Desired) -> None:
        """Raises ``ControlError`` (copied) where the directory that this one was copied from is there, too.

        Weaker than ``refuse_foreign``: a driver may reach its own directory by another path than the command
        line.
        """
        original = place_at(current.place) if current.place else self.place
        if not current.jobs or original.resolve() == self.place.resolve():
            return
        try:
            is_there = (original / _DESIRED).exists()
        except OSError:
            is_there = False  # who may not read it learns so where it matters
        if is_there:
            raise ControlError(
                ErrorKind.COPIED, self._where(_DESIRED), f"it is a copy of {original}/desired.json"
            )
