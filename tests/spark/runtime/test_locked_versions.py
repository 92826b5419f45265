"""A project keeps the versions of its lock file; what only fits each other is never of two releases."""

from itertools import combinations

import pytest

from flareiac.sdk.versions import (
    APACHE_CLIENT,
    HADOOP_S3,
    ICEBERG_AWS,
    ICEBERG_RELEASES,
    ICEBERG_RUNTIME,
    SQLITE_JDBC,
    TRANSFER_MANAGER,
)
from flareiac_spark.runtime.coordinates import parse_coordinates, version_of
from flareiac_spark.runtime.locked_versions import as_locked, other_versions

NEW, OLD = ICEBERG_RELEASES[0], ICEBERG_RELEASES[1]
OLD_RUNTIME, OLD_AWS, OLD_TRANSFER = OLD


def kept(packages: tuple[str, ...], locked: tuple[str, ...], declared: tuple[str, ...] = ()) -> set[str]:
    return set(as_locked(packages, declared, parse_coordinates(locked)))


def test_without_a_lock_the_own_choice_is_taken() -> None:
    assert kept((ICEBERG_RUNTIME, SQLITE_JDBC), ()) == {ICEBERG_RUNTIME, SQLITE_JDBC}


@pytest.mark.parametrize("release", ICEBERG_RELEASES)
def test_one_locked_coordinate_decides_on_its_whole_release(release: tuple[str, ...]) -> None:
    every = [part for size in range(1, len(release) + 1) for part in combinations(release, size)]
    for locked in every:
        for wanted in (*combinations(NEW, 1), *combinations(NEW, 2), NEW):
            fitting = {
                part for part in release if part.rpartition(":")[0] in {w.rpartition(":")[0] for w in wanted}
            }
            assert kept(wanted, locked) == fitting


def test_the_jars_of_buckets_follow_the_locked_iceberg() -> None:
    """The client of Apache's fourth version is inside of the older bundle."""
    assert kept(HADOOP_S3, (OLD_RUNTIME, SQLITE_JDBC)) == {HADOOP_S3[0], OLD_AWS, OLD_TRANSFER}
    assert APACHE_CLIENT in kept(HADOOP_S3, (ICEBERG_RUNTIME,))


def test_the_version_that_an_engine_declares_comes_alone_and_brings_its_release() -> None:
    found = kept((ICEBERG_RUNTIME, ICEBERG_AWS, TRANSFER_MANAGER), NEW, declared=(OLD_RUNTIME,))
    assert found == {OLD_RUNTIME, OLD_AWS, OLD_TRANSFER}, "whatever is locked"
    assert kept((ICEBERG_RUNTIME, ICEBERG_AWS), (), declared=(OLD_RUNTIME,)) == {OLD_RUNTIME, OLD_AWS}


def test_a_version_that_is_newer_than_this_program_stays() -> None:
    later = ICEBERG_RUNTIME.replace("1.12.0", "1.19.0")
    assert kept((ICEBERG_RUNTIME,), (later,)) == {later}
    assert kept((SQLITE_JDBC,), ("org.xerial:sqlite-jdbc:3.40.0.0",)) == {"org.xerial:sqlite-jdbc:3.40.0.0"}


def test_text_that_is_no_coordinate_goes_through_to_its_own_error() -> None:
    assert kept(("what?",), (OLD_RUNTIME,)) == {"what?"}


def test_only_another_version_of_one_artifact_is_another_version() -> None:
    assert other_versions((OLD_RUNTIME, SQLITE_JDBC), (ICEBERG_RUNTIME, SQLITE_JDBC, ICEBERG_AWS)) == {
        OLD_RUNTIME: ICEBERG_RUNTIME
    }
    assert version_of(OLD_RUNTIME) == "1.11.0"


def test_every_coordinate_is_in_one_release_only() -> None:
    every = [part for release in ICEBERG_RELEASES for part in release]
    assert len(every) == len(set(every))
    newest, *older = ({part.rpartition(":")[0] for part in release} for release in ICEBERG_RELEASES)
    assert all(artifacts <= newest for artifacts in older), "a release that is gone has no jar of its own"
