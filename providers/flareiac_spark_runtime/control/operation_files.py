"""The files of one-shot work: a question in one folder, its result under the same name in another."""

import re

from flareiac_spark_runtime.control.operations import Operation, Result
from flareiac_spark_runtime.control.records import Records

_OPERATION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class OperationFiles(Records):
    """The files of operations: a question of the command line, and the answer of the application."""

    def submit_operation(self, operation: Operation) -> None:
        """Asks for one-shot work; the same id twice asks once."""
        self.prepare()
        _refuse_odd(operation.id)
        self._write(f"operations/{operation.id}.json", operation)

    def open_operations(self) -> tuple[str, ...]:
        """Ids of operations without a result, sorted."""
        asked = {name for name in self._ids("operations") if _OPERATION_ID.fullmatch(name)}
        return tuple(sorted(asked.difference(self._ids("results")))) if asked else ()

    def read_operation(self, operation_id: str) -> Operation | None:
        return self._read(f"operations/{operation_id}.json", Operation)

    def write_result(self, result: Result) -> None:
        _refuse_odd(result.id)
        self._write(f"results/{result.id}.json", result)

    def read_result(self, operation_id: str) -> Result | None:
        return self._read(f"results/{operation_id}.json", Result)

    def forget_operation(self, operation_id: str) -> None:
        """Removes an operation and its result, once the result was used."""
        for folder in ("operations", "results"):
            # What cannot be removed is in no one's way: the id is never used for other work
            self._files.remove(f"{folder}/{operation_id}.json")

    def forget_results(self, prefix: str, older_than: float) -> None:
        """Removes what was asked and answered under ids that begin so, before a moment (UTC seconds)."""
        for operation_id, written in self._ids("results").items():
            if operation_id.startswith(prefix) and written < older_than:
                self.forget_operation(operation_id)

    def _ids(self, folder: str) -> dict[str, float]:
        """The files of a folder, without their suffix, with the times of their last writes."""
        return {
            name.removesuffix(".json"): written
            for name, written in self._files.names(folder).items()
            if name.endswith(".json")
        }


def _refuse_odd(operation_id: str) -> None:
    if not _OPERATION_ID.fullmatch(operation_id):
        raise ValueError(f"{operation_id!r} cannot name a file")
