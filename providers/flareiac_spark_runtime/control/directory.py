"""A control directory: the files through which the command line and a Spark application meet."""

from pathlib import Path

from flareiac_spark_runtime.control.desired_file import DesiredFile
from flareiac_spark_runtime.control.lease_file import LeaseFile
from flareiac_spark_runtime.control.log_files import LogFiles
from flareiac_spark_runtime.control.operation_files import OperationFiles
from flareiac_spark_runtime.control.status_files import StatusFiles


class ControlDirectory(DesiredFile, StatusFiles, OperationFiles, LeaseFile, LogFiles):
    """A control directory on the local disk or in object storage: all kinds of files over one place. Creating
    one touches nothing; the first write makes the folders.
    """

    @property
    def code(self) -> Path:
        """Folders of the users' code on this host, named by digest."""
        return self.scratch / "code"
