"""The fixtures that every test may use: the jars and the Java of this session, and a cache directory that no
other run writes.
"""

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

from flareiac.kernel import secret_masks

if TYPE_CHECKING:
    from tests.support.kafka_broker import Broker

# A failure in CI must be there again in the next run; new examples are looked for elsewhere. How long an
# example takes says more about
# the machine than about the program.
untimed = hypothesis.settings(deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.register_profile("untimed", untimed)
hypothesis.settings.register_profile("ci", untimed, derandomize=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") == "true" else "untimed")

# Each "init" of a test would make an archive for its jars, beside the tests; tests/run.sh makes those that
# many tests use.
os.environ.setdefault("FLAREIAC_CLASS_ARCHIVE", "use")

# Spark's JVMs live for minutes here: compiled by the second compiler they take twice as much of a core. What
# has no class-data archive, as in the environments of examples, does without verifying Spark's own classes.
os.environ.setdefault(
    "SPARK_SUBMIT_OPTS",
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote",
)

# So that tests find "tests.support", however pytest was started
sys.path.insert(0, str(Path(__file__).parent.parent))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--facts", action="store_true", help="measure the facts about Spark and Iceberg again, proven or not"
    )
    parser.addoption("--slow", action="store_true", help="run also the tests that take minutes")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Files that need a JVM come first: they take long, and short files then keep every worker busy to the
    end.
    """
    with_jvm = {item.path for item in items if item.get_closest_marker("jvm")}
    items.sort(key=lambda item: item.path not in with_jvm)
    if config.getoption("--slow"):
        return
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason="takes minutes; --slow runs it"))
        if marker := item.get_closest_marker("example"):
            _leave_to_others(item, *marker.args)
        if marker := item.get_closest_marker("turn"):
            _leave_to_other_commits(item, *marker.args)


def _leave_to_others(item: pytest.Item, example: str) -> None:
    """Examples are played in turns."""
    from tests.examples.turns import turns

    if example not in turns().played:
        item.add_marker(pytest.mark.skip(reason=f"--slow plays all {turns()}"))


def _leave_to_other_commits(item: pytest.Item, turn: int, of: int) -> None:
    """Samples of one kind are taken in turns."""
    from tests.examples.turns import is_turn

    if not is_turn(item.path, turn, of):
        item.add_marker(
            pytest.mark.skip(reason="another commit's turn; --slow runs it, and a change of its file")
        )


@pytest.fixture(autouse=True, scope="module")
def no_thread_goes_on() -> Iterator[None]:
    """A thread that a test leaves running fails here, not in whichever test runs when it ends."""
    yield
    left = [thread.name for thread in threading.enumerate() if _is_of_tests(thread)]
    assert not left, f"threads that a test started still run: {', '.join(left)}"


@pytest.fixture(autouse=True)
def no_secret_is_remembered() -> Iterator[None]:
    """A secret of one test is an ordinary word of another."""
    yield
    secret_masks.forget()


def _is_of_tests(thread: threading.Thread) -> bool:
    target = getattr(thread, "_target", None)
    return str(getattr(target, "__module__", "")).startswith("tests.")


@pytest.fixture(scope="session")
def jars() -> tuple[Path, ...]:
    """The jars of Iceberg's Spark runtime and the SQLite driver, in the order of the class path."""
    listed = os.environ.get("FLAREIAC_TEST_JARS", "")
    found = tuple(Path(item) for item in listed.split(os.pathsep) if item)
    missing = [str(item) for item in found if not item.is_file()]
    if not found or missing:
        pytest.fail(
            f"FLAREIAC_TEST_JARS must list the jars (tests/run.sh sets it); missing: {missing or 'all'}"
        )
    return found


@pytest.fixture(scope="session")
def java_home() -> Path:
    """The home of a Java that Spark runs on."""
    from flareiac_spark.runtime.java import require_java

    return require_java().home


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory, java_home: Path) -> "Iterator[Broker]":
    """A Kafka broker that all tests of this process share: topics have names of their own, and none of them
    ends it.
    """
    from tests.support.kafka_broker import Broker

    with Broker(tmp_path_factory.mktemp("kafka"), java_home) as started:
        yield started


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user cache directory of this test alone; for tests about the cache itself (others share the user's,
    for its jars).
    """
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "flareiac"
