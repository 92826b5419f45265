"""``python -m tests.bench NAME... [--blocks N] [--in DIRECTORY]``; without a name, the names there are.

Each figure is a line of JSON on standard output; at the end all stand in one table, beside their bars and,
with ``-compare FILE``, beside the standard output of an earlier run.
"""

import argparse
import random
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from tests.bench import core_figures, lake_figures, state_figures
from tests.bench.comparison import earlier_values, table
from tests.bench.figure import Figure, NotMeasured

Measurement = Callable[[Path, int], Iterator[Figure | NotMeasured]]


def _throughput(directory: Path, rows: int) -> Iterator[Figure | NotMeasured]:
    from tests.bench.spark_figures import throughput

    yield from throughput(directory, rows)


def _kafka_throughput(directory: Path, rows: int) -> Iterator[Figure | NotMeasured]:
    from tests.bench.spark_figures import kafka_throughput

    yield from kafka_throughput(directory, rows)


def _restart(directory: Path, rows: int) -> Iterator[Figure | NotMeasured]:
    from tests.bench.restart_figures import restart

    yield from restart(directory, rows)


def _first_stream(directory: Path, rows: int) -> Iterator[Figure | NotMeasured]:
    from tests.bench.first_stream_figures import first_stream

    yield from first_stream(directory, rows)


def _prove(directory: Path, jobs: int) -> Iterator[Figure | NotMeasured]:
    from tests.bench.prove_figures import prove

    yield from prove(directory, jobs)


def _status(directory: Path, jobs: int) -> Iterator[Figure | NotMeasured]:
    from tests.bench.first_stream_figures import status

    yield from status(directory, jobs)


def _jobs(directory: Path, rows: int) -> Iterator[Figure | NotMeasured]:
    from tests.bench.jobs_figures import jobs

    yield from jobs(directory, rows)


def _many_jobs(directory: Path, rows: int) -> Iterator[Figure | NotMeasured]:
    from tests.bench.jobs_figures import many_jobs

    yield from many_jobs(directory, rows)


def _cluster_throughput(directory: Path, rows: int) -> Iterator[Figure | NotMeasured]:
    from tests.bench.cluster_figures import cluster_throughput

    yield from cluster_throughput(directory, rows)


def _matrix(
    directory: Path, _blocks: int, only: str = "", store: str = "", *, plan_only: bool = False
) -> Iterator[Figure | NotMeasured]:
    from tests.bench.matrix import matrix

    yield from matrix(directory, only, store, plan_only=plan_only)


def _chaos(
    directory: Path, kills: int, seed: int | None = None, suite: str = "files"
) -> Iterator[Figure | NotMeasured]:
    from tests.bench.chaos import chaos, cluster_chaos, kafka_chaos, proof_chaos

    chosen = random.randrange(1_000_000) if seed is None else seed
    if suite == "kafka":
        yield from kafka_chaos(directory, kills, chosen)
    elif suite == "cluster":
        yield from cluster_chaos(directory, kills, chosen)
    elif suite == "proofs":
        yield from proof_chaos(directory, kills, chosen)
    else:
        yield from chaos(directory, kills, chosen)


def _state_chaos(directory: Path, count: int, seed: int | None = None) -> Iterator[Figure | NotMeasured]:
    from tests.bench.state_chaos import state_chaos

    yield from state_chaos(directory, count, random.randrange(1_000_000) if seed is None else seed)


def _verdicts(
    directory: Path, pairs: int, given: argparse.Namespace | None = None, *, by_rows: bool = False
) -> Iterator[Figure | NotMeasured]:
    from tests.verdicts.figures import Order, verdicts
    from tests.verdicts.second_opinion import verdicts_by_rows

    chosen = given or argparse.Namespace(
        seed=None, only="", failing=None, keep=None, minutes=600, stops=1_000_000
    )
    seed = random.randrange(1_000_000) if chosen.seed is None else chosen.seed
    families = [name.strip() for name in chosen.only.split(",") if name.strip()]
    order = Order(
        pairs=pairs,
        seed=seed,
        families=families,
        failing=chosen.failing,
        kept=chosen.keep,
        minutes=chosen.minutes,
        stops=chosen.stops,
    )
    yield from verdicts_by_rows(directory, order) if by_rows else verdicts(directory, order)


def _mutations(
    directory: Path, count: int, seed: int | None = None, only: str = ""
) -> Iterator[Figure | NotMeasured]:
    from tests.bench.mutations import mutations

    yield from mutations(directory, count, random.randrange(1_000_000) if seed is None else seed, only)


def _entrances(
    directory: Path, count: int, seed: int | None = None, only: str = ""
) -> Iterator[Figure | NotMeasured]:
    from tests.bench.entrances import entrances

    yield from entrances(directory, count, random.randrange(1_000_000) if seed is None else seed, only)


def _team(directory: Path, most: int) -> Iterator[Figure | NotMeasured]:
    from tests.bench.team_figures import team

    yield from team(directory, most)


MEASUREMENTS: dict[str, tuple[Measurement, int]] = {
    "startup": (core_figures.startup, 10),
    "noop-plan": (core_figures.noop_plan, 1_000),
    "growth": (core_figures.growth, 1_000),
    "instances": (core_figures.instances, 100),
    "report": (core_figures.report, 2_000),
    "policy": (core_figures.policy, 5_000),
    "bookkeeping": (core_figures.bookkeeping, 1_000),
    "create-tables": (lake_figures.create_tables, 100),
    "observing": (lake_figures.observing, 1_000),
    "deciding": (lake_figures.deciding, 0),
    "throughput": (_throughput, 60_000),
    "kafka-throughput": (_kafka_throughput, 60_000),
    "restart": (_restart, 200),
    "cluster-throughput": (_cluster_throughput, 60_000),
    "jobs": (_jobs, 1_000),
    "many-jobs": (_many_jobs, 200),
    "first-stream": (_first_stream, 200),
    "prove": (_prove, 20),
    "status": (_status, 6),
    "journal": (state_figures.journal, 2_000),
    "matrix": (_matrix, 0),
    "chaos": (_chaos, 200),
    "state-chaos": (_state_chaos, 200),
    "team": (_team, 10_000),
    "verdicts": (_verdicts, 300),
    "verdicts-by-rows": (partial(_verdicts, by_rows=True), 300),
    "mutations": (_mutations, 200),
    "entrances": (_entrances, 1_000_000),
}
"""By name: what measures it, and of how many blocks (or records, or rows per file) unless told otherwise."""


def main() -> int:
    """Prints the figures asked for; 1 when a measurement failed."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench", description="Prints one JSON line per figure."
    )
    parser.add_argument(
        "names",
        nargs="*",
        choices=[*MEASUREMENTS, "all", []],
        metavar="NAME",
        help=", ".join([*MEASUREMENTS, "all"]),
    )
    parser.add_argument("--blocks", type=int, help="how many blocks the work has")
    parser.add_argument(
        "--in", dest="directory", type=Path, help="an empty directory to work in, left as it is afterwards"
    )
    parser.add_argument(
        "--only",
        default="",
        help="of the matrix: the cells whose name contains one of these words, with commas between; of "
        "mutations: kinds; of entrances: their names; of verdicts: "
        "families of queries",
    )
    parser.add_argument(
        "--store",
        default="",
        choices=["", "rocksdb", "changelog"],
        help="of the matrix: where state is kept, of the cells with state",
    )
    parser.add_argument(
        "--plan-only",
        action="store_true",
        help="of the matrix: judge the plans alone, in a minute and without Spark",
    )
    parser.add_argument("--kills", type=int, default=200, help="of chaos: how many")
    parser.add_argument(
        "--suite",
        default="files",
        choices=["files", "kafka", "cluster", "proofs"],
        help="of chaos: jobs over files, over topics of a broker that is killed too, on a cluster whose "
        "master and workers are, or jobs whose texts Spark proves",
    )
    parser.add_argument(
        "--seed", type=int, help="of chaos, state-chaos, verdicts, mutations and entrances: repeats one"
    )
    parser.add_argument("--pairs", type=int, default=300, help="of verdicts: how many")
    parser.add_argument(
        "--minutes",
        type=float,
        default=600,
        help="of verdicts-by-rows: after how many no more pairs are made",
    )
    parser.add_argument(
        "--stops",
        type=int,
        default=1_000_000,
        help="of verdicts-by-rows: after how many pairs over a stop the others run without one",
    )
    parser.add_argument("--count", type=int, default=200, help="of mutations: how many of each kind")
    parser.add_argument(
        "--inputs", type=int, default=1_000_000, help="of entrances: how many of all of them together"
    )
    parser.add_argument(
        "--failing",
        type=Path,
        help="of verdicts: a file for the pairs on which the product and Spark disagree",
    )
    parser.add_argument(
        "--keep", type=Path, help="of verdicts: a folder of judged pairs to which new ones are added"
    )
    parser.add_argument(
        "-compare",
        "--compare",
        type=Path,
        metavar="FILE",
        help="the standard output of an earlier run, to compare with",
    )
    given = parser.parse_args()
    if not given.names:
        parser.print_help()
        return 0
    try:
        before = earlier_values(given.compare) if given.compare is not None else {}
    except (OSError, ValueError) as problem:
        parser.error(str(problem))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what a measurement started is ended
    names = list(MEASUREMENTS) if "all" in given.names else given.names
    measurements: Mapping[str, tuple[Measurement, int]] = {
        **MEASUREMENTS,
        "matrix": (
            partial(_matrix, only=given.only, store=given.store, plan_only=given.plan_only),
            0,
        ),
        "chaos": (partial(_chaos, seed=given.seed, suite=given.suite), given.kills),
        "state-chaos": (partial(_state_chaos, seed=given.seed), 200),
        "verdicts": (partial(_verdicts, given=given), given.pairs),
        "verdicts-by-rows": (partial(_verdicts, given=given, by_rows=True), given.pairs),
        "mutations": (partial(_mutations, seed=given.seed, only=given.only), given.count),
        "entrances": (partial(_entrances, seed=given.seed, only=given.only), given.inputs),
    }
    found: list[Figure | NotMeasured] = []
    failed = False
    for name in names:
        measurement, usual = measurements[name]
        failed |= not _measure(name, measurement, given.blocks or usual, given.directory, found)
    sys.stderr.write(f"\n{table(found, before)}\n")
    return 1 if failed else 0


def _measure(
    name: str,
    measurement: Measurement,
    count: int,
    directory: Path | None,
    found: list[Figure | NotMeasured],
) -> bool:
    with tempfile.TemporaryDirectory(prefix="flareiac-bench-") as temporary:
        place = (directory or Path(temporary)) / name
        place.mkdir(parents=True)
        try:
            for figure in measurement(place, count):
                found.append(figure)
                sys.stdout.write(figure.line() + "\n")
                sys.stdout.flush()
        except RuntimeError as error:
            sys.stderr.write(f"{name}: {error}\n")
            return False
    return True


if __name__ == "__main__":
    sys.exit(main())
