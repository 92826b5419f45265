"""Prepares a changed job's start while its predecessor still finishes a batch: everything that starts
nothing.

A session with its catalogs, views and the analysed queries of the new definition: on a start's usual way this
is most of the pause. It is only ever made ahead, never instead: one that failed, grew old or was made for
something else is left, and the start does it all itself.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from logging import Logger
from typing import Any

from flareiac_spark_runtime.checkpoint_log import newest
from flareiac_spark_runtime.control import ControlError, DesiredJob, JobSpec, Output, job_spec_from_json
from flareiac_spark_runtime.driver.stream_run import Ready, make_ready
from flareiac_spark_runtime.storage import place_at

_FRESH_SECONDS = 10.0
"""The age in seconds beyond which a lookup is made again."""


class WarmStart(threading.Thread):
    """Begins when it is made with ``begin``. ``conf``: the settings whose catalogs the session has."""

    def __init__(
        self,
        job: DesiredJob,
        spec: JobSpec,
        conf: Mapping[str, str],
        new_session: Callable[[], Any],
        log: Logger,
    ) -> None:
        super().__init__(name=f"preparing {spec.address}", daemon=True)
        self._job, self._spec, self._conf, self._new_session, self._log = job, spec, conf, new_session, log
        self._ready: Ready | None = None
        self._begun = time.monotonic()

    def run(self) -> None:
        try:
            self._ready = make_ready(self._new_session(), self._spec, self._log)
        except Exception as failure:  # noqa: BLE001 - whatever it is, the start itself will meet it and say so
            self._log.info("was not prepared ahead: %s", failure)

    def fits(self, job: DesiredJob, conf: Mapping[str, str]) -> bool:
        return self._job == job and self._conf == conf

    def take(self) -> Ready | None:
        """The parts of the start that it made ahead, once it has; None where nothing of it can be used."""
        self.join()
        return self._ready if time.monotonic() - self._begun <= _FRESH_SECONDS else None


def begin(
    job: DesiredJob, conf: Mapping[str, str], new_session: Callable[[], Any], log: Logger
) -> WarmStart | None:
    """Prepares a job that goes on with its checkpoints; None where that would do more than look.

    The user's Python is not called for a start that may not happen, and the moment at which a new generation
    begins is not now.
    """
    with contextlib.suppress(ControlError):  # a spec that is not understood is reported by the start
        spec = job_spec_from_json(dict(job.spec))
        if (
            spec.mode == "stream"
            and all(step.python is None for step in spec.steps)
            and all(map(_goes_on, spec.outputs))
        ):
            made = WarmStart(job, spec, conf, new_session, log)
            made.start()
            return made
    return None


def _goes_on(output: Output) -> bool:
    if output.checkpoint is None:
        return False
    folder = place_at(output.checkpoint)
    return (folder / "metadata").is_file() and newest(folder / "offsets") is not None
