"""The desired state as the driver of an application read it last."""

import time
from collections.abc import Hashable, Mapping
from logging import Logger

from flareiac_spark_runtime.control import (
    ApplicationSettings,
    ControlDirectory,
    ControlError,
    Desired,
    DesiredJob,
    ErrorKind,
)


class Wanted:
    """``desired`` is None until the file was read while the application runs. ``problem`` says why the file
    cannot be used now; what was wanted before stays wanted then.
    """

    def __init__(self, control: ControlDirectory, log: Logger) -> None:
        self._control, self._log = control, log
        self._stamp: Hashable = None
        self.desired: Desired | None = None
        self.settings = ApplicationSettings()
        self.problem: str | None = None

    def read_settings(self) -> None:
        """Takes the settings that Spark is to be started with. Raises ``ControlError``."""
        desired = self._control.read_desired()
        self.settings = desired.application if desired is not None else ApplicationSettings()

    def follow(self, stamp: Hashable) -> bool:
        """Reads the file where its stamp is another one than at the last call.

        Returns True if there is news: other wishes, or the reason why they cannot be used.
        """
        if stamp is None or stamp == self._stamp:
            return False
        self._stamp = stamp
        try:
            desired = self._control.read_desired()
            if desired is None:
                return False
            self._refuse_foreign(desired)
        except ControlError as failure:
            # What runs goes on: an unreadable wish is no wish to stop.
            if failure.kind is ErrorKind.UNREACHABLE:
                self._stamp = None  # it may be reached at the next look
            self.problem = str(failure)
            self._log.error("what should run cannot be read: %s", failure)
        else:
            self.desired, self.settings, self.problem = desired, desired.application, None
        return True

    @property
    def jobs(self) -> Mapping[str, DesiredJob]:
        """The jobs that are wanted, in whatever state, by address."""
        return self.desired.jobs if self.desired is not None else {}

    def held(self) -> frozenset[str]:
        """The jobs that are not to be started yet."""
        return self.desired.held_at(time.time()) if self.desired is not None else frozenset()

    def _refuse_foreign(self, desired: Desired) -> None:
        self._control.refuse_copy(desired)
        known = self.desired
        if (
            known is not None
            and known.jobs
            and (known.lineage, known.workspace) != (desired.lineage, desired.workspace)
        ):
            raise ControlError(
                ErrorKind.FOREIGN,
                f"{self._control.place}/desired.json",
                "it belongs to another project or workspace now",
            )
