"""Object storage through Hadoop's file systems by py4j, for a driver: it needs no Python package there, and
has the credentials that Spark itself uses.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from flareiac_spark_runtime.storage.hadoop_settings import hadoop_settings
from flareiac_spark_runtime.storage.object_store import Listed, Version

_REFUSED: Final = (
    "org.apache.hadoop.fs.s3a.RemoteFileChangedException",
    "org.apache.hadoop.fs.FileAlreadyExistsException",
)
_REPLACED_AT_MOST: Final = 5
_MISSING: Final = "java.io.FileNotFoundException"
_CONDITIONAL: Final = "fs.option.create.conditional.overwrite"
_PATIENCE: Final = {
    "fs.s3a.attempts.maximum": "3",
    "fs.s3a.retry.limit": "3",
    "fs.s3a.connection.establish.timeout": "15s",
    "fs.s3a.connection.timeout": "20s",
    "fs.s3a.create.performance": "true",
}
"""A heartbeat that waits for minutes comes too late; the next one tries again. 15 s is the least that Hadoop
takes. No write looks whether a folder has its name.
"""
_HADOOP: Final = "spark.hadoop."
_NONE: Final[Mapping[str, str]] = {}
_CONFLICT: Final = ("ConditionalRequestConflict", "Status Code: 409")


def configuration(jvm: Any, environment: Mapping[str, str], spark_conf: Mapping[str, str] = _NONE) -> Any:
    """Hadoop's configuration for S3 before Spark runs: as the environment says it is reached, and as Spark's
    settings say.
    """
    conf = jvm.org.apache.hadoop.conf.Configuration()
    given = {
        name.removeprefix(_HADOOP): value for name, value in spark_conf.items() if name.startswith(_HADOOP)
    }
    for name, value in {**hadoop_settings(environment), **given, **_PATIENCE}.items():
        conf.set(name, value)
    return conf


class HadoopStore:
    """One bucket (see ``ObjectStore``). ``jvm`` is py4j's view of a JVM, ``conf`` Hadoop's configuration
    there.
    """

    def __init__(self, jvm: Any, conf: Any, bucket: str) -> None:
        self._jvm, self._bucket = jvm, bucket
        with self._named(""):
            # Its own one: Spark's have the settings of the application, and are cached by address alone.
            self._files = jvm.org.apache.hadoop.fs.FileSystem.newInstance(self._path("").toUri(), conf)

    @property
    def address(self) -> str:
        return f"s3://{self._bucket}"

    def get(self, key: str) -> Version | None:
        for last in (*[False] * _REPLACED_AT_MOST, True):
            with self._named(key), _missing_is_none():
                try:
                    return self._read(key)
                except Exception as problem:
                    if last or not _is_replaced(problem):
                        raise
                    continue
            return None
        raise AssertionError("the last attempt returns or raises")

    def _read(self, key: str) -> Version | None:
        """Content and revision of one moment: what was replaced after it was looked at is refused."""
        status = self._files.getFileStatus(self._path(key))
        if status.isDirectory():
            return None
        stream = self._files.openFile(self._path(key)).withFileStatus(status).build().get()
        try:
            return Version(content=bytes(stream.readAllBytes()), revision=str(status.getEtag()))
        finally:
            stream.close()

    def look(self, key: str) -> Listed | None:
        with self._named(key), _missing_is_none():
            status = self._files.getFileStatus(self._path(key))
            return None if status.isDirectory() else self._listed(status)
        return None

    def list(self, prefix: str, *, deep: bool) -> Iterator[Listed]:
        listed: list[Listed] = []
        with self._named(prefix), _missing_is_none():
            if deep:
                each = self._files.listFiles(self._path(prefix), True)
                while each.hasNext():
                    listed.append(self._listed(each.next()))
            else:
                listed = [self._listed(status) for status in self._files.listStatus(self._path(prefix))]
                listed = listed or [Listed(key=prefix)]
        return iter(listed)

    def put(self, key: str, content: bytes) -> None:
        with self._named(key):
            if key.endswith("/"):
                self._files.mkdirs(self._path(key))
            else:
                self._write(self._files.createFile(self._path(key)).overwrite(True), content)

    def swap(self, key: str, content: bytes, revision: str | None) -> str | None:
        with self._named(key):
            builder = self._files.createFile(self._path(key))
            if revision is None:
                builder = builder.must(_CONDITIONAL, True)
            else:
                builder = builder.overwrite(True).must(f"{_CONDITIONAL}.etag", revision)
            self._is_written(builder, content)
        # Whether it was this request or an earlier one of its own that was refused, the content tells.
        current = self.get(key)
        return current.revision if current is not None and current.content == content else None

    def delete(self, keys: Sequence[str]) -> None:
        for key in keys:
            with self._named(key):
                self._files.delete(self._path(key), False)

    def _is_written(self, builder: Any, content: bytes) -> bool:
        from py4j.protocol import Py4JJavaError

        try:
            self._write(builder, content)
        except Py4JJavaError as problem:
            name, text = problem.java_exception.getClass().getName(), str(problem.java_exception)
            if name in (*_REFUSED, _MISSING) or any(word in text for word in _CONFLICT):
                return False
            raise
        return True

    def _write(self, builder: Any, content: bytes) -> None:
        stream = builder.build()
        stream.write(content)
        stream.close()

    def _path(self, key: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(f"{self.address}/{key}")

    def _listed(self, status: Any) -> Listed:
        key = str(status.getPath().toUri().getPath()).lstrip("/")
        if status.isDirectory():
            return Listed(key=f"{key}/")
        return Listed(
            key=key,
            size=int(status.getLen()),
            modified=status.getModificationTime() / 1000,
            revision=str(status.getEtag()),
        )

    @contextmanager
    def _named(self, key: str) -> Iterator[None]:
        """Raises ``OSError`` for what the JVM raises."""
        from py4j.protocol import Py4JError

        try:
            yield
        except Py4JError as problem:
            raise OSError(f"{_said(problem)} [{self.address}/{key}]") from problem


@contextmanager
def _missing_is_none() -> Iterator[None]:
    """Leaves the body, without an error, where there is no such object."""
    from py4j.protocol import Py4JJavaError

    try:
        yield
    except Py4JJavaError as problem:
        if problem.java_exception.getClass().getName() != _MISSING:
            raise


def _is_replaced(problem: Exception) -> bool:
    java = getattr(problem, "java_exception", None)
    return java is not None and java.getClass().getName() in _REFUSED


def _said(problem: Exception) -> str:
    java = getattr(problem, "java_exception", None)
    return str(java) if java is not None else str(problem)
