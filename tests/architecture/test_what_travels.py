"""The files that travel to a cluster are exactly those that run there."""

import grimp

from flareiac_spark.runtime.driver_archive import SHARED


def test_the_archive_holds_the_modules_of_the_core_that_its_packages_import() -> None:
    graph = grimp.build_graph("flareiac", "flareiac_iceberg_runtime", "flareiac_spark_runtime")
    waiting = {name for name in graph.modules if "_runtime" in name}
    reached = set(waiting)
    while waiting:
        waiting = {
            each for name in waiting for each in graph.find_modules_directly_imported_by(name)
        } - reached
        reached |= waiting
    core = {name for name in reached if name.partition(".")[0] == "flareiac"}
    packages = {name.rpartition(".")[0] for name in core} - {""}
    assert sorted(core | packages) == sorted(SHARED)
