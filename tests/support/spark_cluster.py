"""A standalone cluster of Spark on free ports of the loopback: a master and workers, each a process of its
own that can be killed and started again.

    with SparkCluster(directory, java_home, workers=2) as cluster:
        cluster.master  # spark://127.0.0.1:15432
"""

import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import pyspark

from tests.support.ports import lasting_port

SECONDS: Final = 120.0
_HOME: Final = Path(pyspark.__file__).parent
_DAEMON: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


class SparkCluster:
    """Each worker has ``cores`` and ``memory``. As a context it is started and stopped."""

    def __init__(
        self, directory: Path, java_home: Path, *, workers: int = 1, cores: int = 2, memory: str = "1g"
    ) -> None:
        self._directory, self._java_home = directory, java_home
        self._port, self._ui = lasting_port(), lasting_port()
        self._size = (str(cores), memory)
        self._workers = workers
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def master(self) -> str:
        """The master URL."""
        return f"spark://127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        try:
            self.start_master()
            for number in range(self._workers):
                self.start_worker(number)
            self.until(lambda: self.said()["aliveworkers"] == self._workers, "the workers")
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start_master(self) -> None:
        """Starts it, on the same port each time, and waits until it answers."""
        self._start("master", "master.Master", "--port", str(self._port), "--webui-port", str(self._ui))
        self.until(lambda: bool(self.said()), "the master")

    def start_worker(self, number: int) -> None:
        """Starts a worker; it registers a little later."""
        cores, memory = self._size
        self._start(
            f"worker-{number}",
            "worker.Worker",
            *("--cores", cores, "--memory", memory, "--webui-port", "0", self.master),
        )

    def pid(self, name: str) -> int:
        """The process of ``master`` or ``worker-N``."""
        return self._processes[name].pid

    def has_ended(self, name: str) -> bool:
        """Returns True if its process is gone."""
        return self._processes[name].poll() is not None

    def kill(self, name: str) -> None:
        """``master`` or ``worker-N``, at once. The executors of a worker end with it."""
        process = self._processes.pop(name)
        process.kill()
        process.wait()

    def kill_application(self, application: str) -> None:
        """As the button of the master's web page does."""
        page = f"http://127.0.0.1:{self._ui}/"
        with urllib.request.urlopen(page, timeout=30) as answer:
            (token,) = set(re.findall(r'name="csrfToken" value="(\w+)"', answer.read().decode()))
        form = {"id": application, "terminate": "true", "csrfToken": token}
        urllib.request.urlopen(f"{page}app/kill/", urllib.parse.urlencode(form).encode(), timeout=30).close()

    def stop(self) -> None:
        """Ends every process in order."""
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._processes.clear()

    def said(self) -> dict[str, Any]:
        """The master's own account: ``aliveworkers``, ``activeapps``, ``completedapps``. Empty while it does
        not answer.
        """
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._ui}/json/", timeout=10) as answer:
                found: dict[str, Any] = json.load(answer)
                return found
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return {}

    def until(self, answer: Callable[[], bool], what: str) -> None:
        """Waits for something of the cluster."""
        deadline = time.monotonic() + SECONDS
        while not answer():
            assert time.monotonic() < deadline, f"waited in vain for {what}\n{self.log()}"
            time.sleep(0.1)

    def log(self) -> str:
        """The output of its processes, the end of each."""
        files = sorted(self._directory.glob("*.log"))
        return "\n".join(f"--- {path.name}\n{path.read_text(errors='replace')[-3000:]}" for path in files)

    def _start(self, name: str, role: str, *arguments: str) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)
        environment = {
            **os.environ,
            "JAVA_HOME": str(self._java_home),
            "SPARK_HOME": str(_HOME),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": _DAEMON,
            "SPARK_WORKER_DIR": str(self._directory / name),
            # Workers run Python where a job says so
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
        with (self._directory / f"{name}.log").open("ab") as log:
            self._processes[name] = subprocess.Popen(
                [
                    str(_HOME / "bin" / "spark-class"),
                    f"org.apache.spark.deploy.{role}",
                    *("--host", "127.0.0.1", *arguments),
                ],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
