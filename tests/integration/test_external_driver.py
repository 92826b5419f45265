"""An engine whose driver others run: the command line writes what should run, and waits."""

import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.integration.project import DEADLINE, LAKE, Project, rides
from tests.support.command_line import arguments, environment

pytestmark = pytest.mark.jvm

EXTERNAL = LAKE.replace('engine "local" {', 'engine "local" {\n  type = "external"')


class Supervisor:
    """Starts the driver again whenever it ends, as a unit with ``Restart=always`` does."""

    def __init__(self, project: Project, cwd: Path) -> None:
        self._command = arguments("driver", "-wait", str(project.control))
        self._cwd = cwd
        self._over = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self.codes: list[int] = []

    @contextmanager
    def running(self) -> Iterator[None]:
        thread = threading.Thread(target=self._supervise)
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            if self._process is not None:
                self._process.terminate()
            thread.join(DEADLINE)

    def kill(self) -> None:
        """Ends the driver of now at once."""
        assert self._process is not None
        self._process.kill()

    def _supervise(self) -> None:
        while not self._over.is_set():
            self._process = subprocess.Popen(
                self._command,
                cwd=self._cwd,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            self.codes.append(self._process.wait())


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = Project(tmp_path / "project")
    made.root.mkdir()
    yield made
    made.close()


@pytest.mark.turn(1, 2)
def test_a_driver_runs_what_is_written_and_takes_new_settings_by_starting_again(
    project: Project, tmp_path: Path
) -> None:
    project.write(lake=EXTERNAL, rides=rides("rides"))
    project.land(5)
    project.run("init")
    elsewhere = tmp_path / "elsewhere"  # it has neither the project nor its lock file
    elsewhere.mkdir()
    supervisor = Supervisor(project, elsewhere)
    with supervisor.running():
        project.apply()
        project.expect_rides("rides")
        project.quiet()
        for words in (("stop", "engine.local"), ("restart", "engine.local")):
            refused = project.run(*words, code=1)
            assert "FIK813" in refused.err
            assert "systemctl" in refused.err
        project.edit("lake", ('"768m"', '"700m"'))
        assert "the application restarts with all its jobs" in project.plan(2)
        project.apply()
        assert supervisor.codes == [0]
        project.land(5)
        project.expect_rides("rides")
        supervisor.kill()
        project.land(5)
        project.expect_rides("rides")
        project.quiet()
