"""The words and settings with which ``spark-submit`` runs a driver on a host of the cluster. Pure."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.secrets import is_reference
from flareiac_spark_runtime.control import ApplicationSettings
from flareiac_spark_runtime.control.desired import PACKAGES, PROXY_USER, SUBMITTED
from flareiac_spark_runtime.masters import is_kubernetes
from flareiac_spark_runtime.storage.hadoop_settings import hadoop_settings

_CATALOG: Final = "spark.sql.catalog."
_FILES: Final = "spark.submit.pyFiles"
_NAME: Final = "spark.app.name"
_UPLOADS: Final = "spark.kubernetes.file.upload.path"
_OURS: Final = (PACKAGES, PROXY_USER)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmittedFiles:
    """The files with which the driver is started, as paths of this host or URIs that the cluster reaches."""

    entry: str
    archive: str
    jars: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """``words`` follow the name of the program; ``properties`` are the content of the file that they name."""

    words: tuple[str, ...]
    properties: Mapping[str, str]


def submission(
    settings: ApplicationSettings,
    files: SubmittedFiles,
    location: str,
    properties: Path,
    environment: Mapping[str, str],
) -> Submission:
    """``location``: the URI of the control directory. ``environment`` says how S3 is reached.

    No secret is among them: the driver resolves the references in what should run, where it runs. Catalogs
    are no part either: each session sets them itself.
    """
    conf = settings.conf
    words = {
        "--master": settings.master,
        "--deploy-mode": "cluster",
        "--name": conf.get(_NAME, settings.name),
        "--driver-memory": settings.memory or "",
        "--driver-cores": str(settings.cores or ""),
        "--jars": ",".join(files.jars),
        "--py-files": ",".join(filter(None, (files.archive, conf.get(_FILES)))),
        "--proxy-user": conf.get(PROXY_USER, ""),
        "--properties-file": str(properties),
    }
    options = tuple(word for name, value in words.items() if value for word in (name, value))
    return Submission(
        words=(*options, files.entry, location),
        properties=dict(sorted(_properties(settings, location, environment).items())),
    )


def _properties(
    settings: ApplicationSettings, location: str, environment: Mapping[str, str]
) -> dict[str, str]:
    reached = {f"spark.hadoop.{name}": value for name, value in hadoop_settings(environment).items()}
    uploads = {_UPLOADS: f"{as_hadoop(location)}/uploads"} if is_kubernetes(settings.master) else {}
    shared = {
        name: value
        for name, value in settings.conf.items()
        if not (name in (*_OURS, _NAME, _FILES) or name.startswith(_CATALOG) or is_reference(value))
    }
    return {**reached, **uploads, **shared, SUBMITTED: settings.digest}


def as_hadoop(uri: str) -> str:
    """The spelling that every Hadoop knows."""
    return uri.replace("s3://", "s3a://", 1)
