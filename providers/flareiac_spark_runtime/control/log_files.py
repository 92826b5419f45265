"""The files of logs: on the local disk one for each log, in object storage a folder of chunks."""

from pathlib import Path
from urllib.parse import quote

from flareiac_spark_runtime.control.log_chunks import OUTPUT, chunk_name, chunk_numbers
from flareiac_spark_runtime.control.records import Records
from flareiac_spark_runtime.storage import Place


class LogFiles(Records):
    """The logs of the driver's process, of the application and of each job."""

    @property
    def driver_output(self) -> Path:
        """The file with the output of the driver's process (last words of Python and of the JVM), on its
        host.
        """
        return self.scratch / "logs" / "driver.out"

    @property
    def application_log(self) -> Path:
        return self.scratch / "logs" / "application.log"

    def job_log(self, address: str) -> Path:
        return self.scratch / "logs" / f"{self.log_name(address)}.log"

    @property
    def keeps_local_logs(self) -> bool:
        """Returns True if the files of the logs are in the directory itself; else they are taken there in
        chunks.
        """
        return self.scratch == self.place

    def log_name(self, address: str) -> str:
        """The name of the log of a job."""
        return quote(address, safe="")

    def log_place(self, address: str) -> Place:
        """The place of the log of a job: a file, or a folder of chunks."""
        return (
            self.job_log(address) if self.keeps_local_logs else self.place / _chunks(self.log_name(address))
        )

    def log_chunks(self, name: str) -> list[int]:
        """The numbers of the chunks of a log, sorted. Raises ``ControlError``."""
        return chunk_numbers(self._files.names(_chunks(name)))

    def read_log_chunk(self, name: str, number: int) -> bytes:
        """Empty where it was removed. Raises ``ControlError``."""
        chunk = self._files.read(f"{_chunks(name)}/{chunk_name(number)}")
        return chunk.content if chunk is not None else b""

    def write_log_chunk(self, name: str, number: int, text: bytes) -> None:
        """Replaces a chunk. Raises ``ControlError``."""
        self._files.write(f"{_chunks(name)}/{chunk_name(number)}", text)

    def forget_log_chunks(self, name: str, up_to: int) -> None:
        """Removes the chunks with these numbers and smaller ones. Raises ``ControlError``."""
        for number in self.log_chunks(name):
            if number <= up_to:
                self._files.remove(f"{_chunks(name)}/{chunk_name(number)}")

    def write_driver_output(self, text: bytes) -> None:
        """Raises ``ControlError``."""
        self._files.write(OUTPUT, text)

    def read_driver_output(self) -> bytes:
        """The end of what the driver's process printed, wherever it ran; empty where nothing is known. Raises
        ``ControlError``.
        """
        output = self._files.read(OUTPUT)
        return output.content if output is not None else b""


def _chunks(name: str) -> str:
    """The folder of a log's chunks."""
    return f"logs/{name}"
