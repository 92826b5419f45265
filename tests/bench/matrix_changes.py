"""The changes of the matrix: what is edited, in which jobs, what plan must say of it, and which ways out are
taken.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from tests.bench import matrix_queries as q
from tests.bench.matrix_change import (
    Change,
    Edit,
    Start,
    Verdict,
    Way,
    asked,
    checkpoint,
    each,
    generation,
    line,
    output,
    reading,
    rebuilt,
    then,
    with_,
)
from tests.bench.matrix_jobs import Job, Output
from tests.bench.matrix_model import Deletes


def all_changes() -> Iterator[Change]:
    """Every cell's change."""
    yield from _beside_the_query()
    yield from _restarts()
    yield from _without_state()
    yield from _sources()
    yield from _outputs()
    yield from _tombstones()
    yield from _generations()
    yield from _aggregates()
    yield from _keys()
    yield from _times()
    yield from _filters()
    yield from _other_state()
    yield from _joins()
    yield from _unreadable()
    yield from _rates()


def _beside_the_query() -> Iterator[Change]:
    yield from each(
        "comment",
        "plain",
        "files:append,foreach_batch table:merge",
        line('comment = "what for"'),
        Verdict.NOTHING,
    )
    yield from each("restart budget", "plain", "files:append table:branch", with_(failures=8), Verdict.LIVE)
    spelled = replace(q.SUM, sql="select k,\n  SUM( n ) as total -- all of it\nfrom events group by k")
    yield from each("reformatted SQL", "sum", "files:complete table:merge", asked(spelled), Verdict.TAKEN)
    named = replace(
        q.SUM,
        sql="WITH e AS (SELECT n, k FROM events) SELECT k, sum(n) AS total FROM e GROUP BY 1",
    )
    yield from each("rewritten SQL", "sum", "files:complete", asked(named), Verdict.TAKEN)
    yield from each("step renamed", "sum", "table:complete", with_(step="told"), Verdict.TAKEN)
    # A record is judged by all columns that are declared, those that no step reads too
    unread = with_(undeclared=("sent",))
    yield from each("unread column", "plain", "files:append", unread, Verdict.RESTART)
    yield from each("unread column", "sum", "files:complete", unread, Verdict.RESTART)
    start = checkpoint('start_from = "earliest"')
    yield from each("start_from alone", "plain", "files:append", start, Verdict.NOTHING)
    yield from each("rebuild alone", "plain", "table:append", rebuilt, Verdict.NOTHING)


def _restarts() -> Iterator[Change]:
    limit = reading("max_files_per_trigger = 2")
    yield from each("rate limit", "plain", "files:append table:append,merge", limit, Verdict.RESTART)
    slower = with_(interval="6s")
    yield from each("trigger", "plain", "files:append table:foreach_batch", slower, Verdict.RESTART)
    yield from each("trigger", "sum", "files:complete", slower, Verdict.RESTART)
    conf = line('conf = { "spark.sql.files.openCostInBytes" = "1048576" }')
    yield from each("conf", "plain", "files:append", conf, Verdict.RESTART)
    yield from each("conf", "sum", "table:complete", conf, Verdict.RESTART)
    pinned = line('conf = { "spark.sql.shuffle.partitions" = "3" }')
    yield from each("pinned conf", "plain", "files:append", pinned, Verdict.NO_EFFECT)
    yield from each("pinned conf", "sum", "files:complete table:merge", pinned, Verdict.NO_EFFECT)
    zone = line('conf = { "spark.sql.session.timeZone" = "Europe/Rome" }')
    yield from each("time zone", "sum", "files:complete", zone, Verdict.RESULTS_CHANGE, (Way.TOKEN,))
    yield from each(
        "restart_nonce", "plain", "files:append table:branch", line("restart_nonce = 1"), Verdict.RESTART
    )
    yield from each("restart_nonce", "sum", "files:merge", line("restart_nonce = 1"), Verdict.RESTART)
    stopped = line("stopped = true")
    yield from each("stopped", "plain", "files:append", stopped, Verdict.STOPS)
    yield from each("stopped", "sum", "table:complete", stopped, Verdict.STOPS)
    started = with_(lines=("stopped = false",))
    yield from each("started", "plain", "table:append", started, Verdict.STARTS, given=stopped)
    yield from each("started", "sum", "files:complete", started, Verdict.STARTS, given=stopped)


def _without_state() -> Iterator[Change]:
    times = q.plain("k, m, n * 10 AS total", row=lambda e: {"k": e["k"], "m": e["m"], "total": e["n"] * 10})
    yield from each("projection", "plain", "files:* table:*", asked(times), Verdict.RESTART)
    some = q.plain(where="WHERE n > 3", keeps=lambda e: bool(e["n"] > 3))
    yield from each("filter", "plain", "files:append,foreach_batch table:*", asked(some), Verdict.RESTART)
    coded, recoded = with_(code=_code(0)), with_(code=_code(4), query=replace(some, sql=q.PLAIN.sql))
    yield from each(
        "Python code",
        "plain",
        "files:append,foreach_batch table:merge",
        recoded,
        Verdict.RESTART,
        given=coded,
    )


def _sources() -> Iterator[Change]:
    refused = (Way.EARLIEST, Way.UNDO)
    elsewhere = with_(place="elsewhere")
    # The log of read files has the paths of the old folder: it cannot be carried over to another one
    yield from each("source path", "plain", "files:append", elsewhere, Verdict.REFUSED, refused)
    yield from each(
        "source path", "plain", "table:append,merge", elsewhere, Verdict.REFUSED, (*refused, Way.CARRY_OVER)
    )
    yield from each("source path", "windows", "files:append", elsewhere, Verdict.REFUSED, refused)
    united = q.plain("k, m, n AS total", "UNION ALL SELECT k, m, n AS total FROM more")
    two = with_(query=united, more=True)
    yield from each("source count", "plain", "files:append", two, Verdict.REFUSED, refused)
    yield from each("source count", "plain", "table:append", two, Verdict.REFUSED, (*refused, Way.CARRY_OVER))
    other = with_(source="table")
    yield from each(
        "source kind", "plain", "files:append,foreach_batch", other, Verdict.REFUSED, (Way.EARLIEST,)
    )


def _outputs() -> Iterator[Change]:
    anyhow = (Way.TOKEN, Way.EARLIEST, Way.CARRY_OVER)
    moved = output(table="moved")
    yield from each(
        "output table", "plain", "files:append table:merge", moved, Verdict.RESULTS_CHANGE, anyhow
    )
    yield from each("output table", "sum", "files:complete", moved, Verdict.RESTART)
    merge = output(mode="merge", keys=("k", "m"))
    yield from each("output mode", "plain", "files:append table:append", merge, Verdict.TOLD)
    yield from each(
        "output mode",
        "sum",
        "files:complete",
        output(mode="merge", keys=("k",)),
        Verdict.REFUSED,
        (Way.EARLIEST,),
    )
    yield from each(
        "output mode",
        "windows",
        "table:append",
        output(mode="complete"),
        Verdict.REFUSED,
        (Way.EARLIEST, Way.CARRY_OVER),
    )
    rule = output(update_if="s.total > t.total", updates=lambda new, old: bool(new["total"] > old["total"]))
    yield from each("merge rule", "plain", "files:merge table:merge", rule, Verdict.TOLD)
    added = Output(mode="append", label="added", table="added")

    def one_more(found: Job) -> Job:
        return replace(found, outputs=(*found.outputs, added))

    yield from each("output added", "plain", "files:append table:merge", one_more, Verdict.RESTART)
    yield from each(
        "output added", "plain", "files:foreach_batch table:foreach_batch", one_more, Verdict.TOLD
    )

    def fewer(found: Job) -> Job:
        return replace(found, outputs=found.outputs[:1])

    yield from each(
        "output removed", "plain", "files:foreach_batch table:foreach_batch", fewer, Verdict.RESTART
    )
    yield from each(
        "output renamed",
        "plain",
        "files:append",
        output(label="other"),
        Verdict.REFUSED,
        (Way.EARLIEST, Way.UNDO),
    )

    def apart(found: Job) -> Job:
        return replace(found, together=not found.together)

    yield from each(
        "foreach_batch",
        "plain",
        "files:foreach_batch table:append",
        apart,
        Verdict.REFUSED,
        (Way.EARLIEST, Way.UNDO),
    )


def _tombstones() -> Iterator[Change]:
    """The changes of tombstones. Among the rows with m = "y", c is deleted before the change at 6, and b
    arrives after it, late, at 3.
    """
    deletes = Deletes(latest_by="total", delete_if="s.k = 'c'", is_delete=lambda row: bool(row["k"] == "c"))
    log = output(keys=("m",), deletes=deletes)
    kept, other, none = (output(tombstones=table) for table in ("gone", "other", ""))
    both = "files:merge table:merge"
    yield from each("tombstones added", "plain", both, kept, Verdict.TOLD, given=log)
    given = then(log, kept)
    yield from each("tombstones removed", "plain", both, none, Verdict.TOLD, given=given)
    yield from each("tombstones elsewhere", "plain", "files:merge", other, Verdict.TOLD, given=given)
    slower = with_(interval="6s")
    yield from each("trigger with tombstones", "plain", both, slower, Verdict.RESTART, given=given)
    yield from each(
        "tombstones, carry_over",
        "plain",
        "table:merge",
        generation("carry_over"),
        Verdict.GENERATION,
        given=given,
        start=Start.ONWARDS,
    )
    yield from each(
        "tombstones, truncate",
        "plain",
        "files:merge",
        then(rebuilt, generation("earliest")),
        Verdict.GENERATION,
        given=given,
        start=Start.TRUNCATE,
    )


def _generations() -> Iterator[Change]:
    onwards, earliest = generation("carry_over"), generation("earliest")
    name = "generation, carry_over"
    yield from each(
        name,
        "plain",
        "files:append,branch,foreach_batch table:*",
        onwards,
        Verdict.GENERATION,
        start=Start.ONWARDS,
    )
    yield from each(name, "sum", "table:*", onwards, Verdict.GENERATION, start=Start.ONWARDS)
    yield from each(name, "sum", "files:complete", onwards, Verdict.BLOCKED, (Way.UNDO,))
    yield from each(
        "generation, latest",
        "plain",
        "table:append,merge",
        generation("latest"),
        Verdict.GENERATION,
        start=Start.ONWARDS,
    )
    yield from each(
        "generation, latest", "plain", "files:append", generation("latest"), Verdict.BLOCKED, (Way.UNDO,)
    )
    yield from each(
        "generation, keep",
        "plain",
        "files:append table:branch,merge",
        earliest,
        Verdict.GENERATION,
        start=Start.KEEP,
    )
    again = then(earliest, rebuilt)
    yield from each(
        "generation, truncate",
        "plain",
        "files:* table:append,foreach_batch",
        again,
        Verdict.GENERATION,
        start=Start.TRUNCATE,
    )
    yield from each(
        "generation, truncate",
        "sum",
        "files:merge table:complete",
        again,
        Verdict.GENERATION,
        start=Start.TRUNCATE,
    )
    lower, raised = checkpoint("generation = 1"), checkpoint("generation = 2")
    yield from each(
        "generation lowered", "plain", "files:append", lower, Verdict.BLOCKED, (Way.UNDO,), given=raised
    )
    for family, where in (("plain", "files:append"), ("sum", "table:complete")):
        moved = checkpoint(f'location = "moved/{family}"')
        yield from each("checkpoint moved", family, where, moved, Verdict.RESTART)


def _aggregates() -> Iterator[Change]:
    mixed, refused = Verdict.RESULTS_CHANGE, Verdict.REFUSED
    greatest = asked(q.by_k("max(n) AS total", q.greatest("n")))
    yield from each("sum to max", "sum", "files:* table:*", greatest, mixed, (Way.TOKEN,))
    yield from each(
        "sum to max", "sum", "files:complete,foreach_batch table:merge", greatest, mixed, (Way.EARLIEST,)
    )
    yield from each("sum to max", "sum", "table:complete,foreach_batch", greatest, mixed, (Way.CARRY_OVER,))
    argument = asked(q.by_k("sum(q) AS total", q.added("q")))
    yield from each("aggregate argument", "sum", "files:complete table:merge", argument, mixed, (Way.TOKEN,))
    two = q.by_k(
        "sum(n) AS total, max(q) AS other", q.both(q.N, q.greatest("q")), row=q.two_values("total", "other")
    )
    yield from each("aggregate added", "sum", "files:complete", asked(two), refused, (Way.EARLIEST, Way.UNDO))
    yield from each(
        "aggregate added", "sum", "table:complete,merge", asked(two), refused, (Way.EARLIEST, Way.CARRY_OVER)
    )
    yield from each(
        "aggregate removed", "sum", "files:complete", asked(q.SUM), refused, (Way.EARLIEST,), given=asked(two)
    )
    # What is written is in the order of the table's columns, whatever the order in SELECT.
    turned = replace(two, sql="SELECT k, max(q) AS other, sum(n) AS total FROM events GROUP BY k")
    yield from each(
        "aggregate order",
        "sum",
        "files:complete table:merge",
        asked(turned),
        Verdict.TAKEN,
        given=asked(two),
    )
    crossed = q.by_k(
        "max(q) AS total, sum(n) AS other", q.both(q.greatest("q"), q.N), row=q.two_values("total", "other")
    )
    ways = (Way.TOKEN, Way.EARLIEST)
    yield from each(
        "aggregates crossed",
        "sum",
        "files:complete table:merge",
        asked(crossed),
        mixed,
        ways,
        given=asked(two),
    )
    mean = q.by_k(
        "avg(n) AS mean",
        q.both(q.N, lambda old, _e: (old or 0) + 1),
        row=lambda key, v: {"k": key[0], "mean": v[0] / v[1]},
    )
    yield from each("sum to avg", "sum", "files:merge", asked(mean), refused, (Way.EARLIEST,))
    times = q.by_k("sum(n) * 10 AS total", row=lambda key, value: {"k": key[0], "total": value * 10})
    yield from each(
        "above an aggregate", "sum", "files:complete table:complete", asked(times), Verdict.RESTART
    )
    yield from each(
        "above an aggregate", "sum", "files:merge", asked(times), mixed, (Way.TOKEN, Way.EARLIEST)
    )


def _keys() -> Iterator[Change]:
    k_and_m = q.by_k(
        key="k, m",
        columns="k, m",
        keyed=lambda e: (e["k"], e["m"]),
        row=lambda key, v: {"k": key[0], "m": key[1], "total": v},
    )
    yield from each(
        "grouping key added", "sum", "files:complete", asked(k_and_m), Verdict.REFUSED, (Way.EARLIEST,)
    )
    yield from each(
        "grouping key added", "sum", "table:complete", asked(k_and_m), Verdict.REFUSED, (Way.CARRY_OVER,)
    )
    upper = q.by_k(key="upper(k)", columns="upper(k) AS k", keyed=lambda e: (e["k"].upper(),))
    yield from each(
        "grouping key expression",
        "sum",
        "files:merge table:complete",
        asked(upper),
        Verdict.RESULTS_CHANGE,
        (Way.TOKEN, Way.EARLIEST),
    )
    other = q.by_k(key="m", columns="m AS k", keyed=lambda e: (e["m"],))
    yield from each(
        "grouping key column",
        "sum",
        "table:complete,merge",
        asked(other),
        Verdict.RESULTS_CHANGE,
        (Way.TOKEN,),
    )


def _times() -> Iterator[Change]:
    mixed = Verdict.RESULTS_CHANGE
    minute = asked(q.windows(1))
    yield from each("window size", "windows", "files:* table:*", minute, mixed, (Way.TOKEN,))
    yield from each("window size", "windows", "files:append table:merge", minute, mixed, (Way.EARLIEST,))
    yield from each("window size", "windows", "table:append", minute, mixed, (Way.CARRY_OVER,))
    later, before = asked(q.windows(1, delay=60)), asked(q.windows(1))
    yield from each(
        "watermark delay",
        "windows",
        "files:append table:append",
        later,
        mixed,
        (Way.TOKEN, Way.EARLIEST),
        given=before,
    )


def _filters() -> Iterator[Change]:
    mixed = Verdict.RESULTS_CHANGE
    some = q.by_k(where="WHERE n > 3", keeps=lambda e: bool(e["n"] > 3))
    yield from each(
        "filter before state",
        "sum",
        "files:complete,foreach_batch table:merge",
        asked(some),
        mixed,
        (Way.TOKEN, Way.EARLIEST),
    )
    yield from each("filter before state", "sum", "table:complete", asked(some), mixed, (Way.CARRY_OVER,))
    high = q.by_k(rest="HAVING sum(n) > 5", row=lambda key, v: {"k": key[0], "total": v} if v > 5 else None)
    yield from each(
        "filter after state", "sum", "files:complete table:complete", asked(high), Verdict.RESTART
    )
    yield from each("filter after state", "sum", "table:merge", asked(high), mixed, (Way.TOKEN, Way.EARLIEST))
    of_a = q.by_k(rest="HAVING k = 'a'", keeps=lambda e: bool(e["k"] == "a"))
    yield from each("filter on a key", "sum", "files:complete table:merge", asked(of_a), mixed, (Way.TOKEN,))


def _other_state() -> Iterator[Change]:
    refused = Verdict.REFUSED
    finer = asked(q.unique("k", "m"))
    yield from each("dedup keys", "unique", "files:append", finer, refused, (Way.EARLIEST, Way.UNDO))
    yield from each(
        "dedup keys", "unique", "table:append,merge", finer, refused, (Way.EARLIEST, Way.CARRY_OVER)
    )
    yield from each("dedup removed", "unique", "files:append", asked(q.PLAIN), refused, (Way.EARLIEST,))
    yield from each("dedup removed", "unique", "table:append", asked(q.PLAIN), refused, (Way.CARRY_OVER,))
    yield from each(
        "dedup added", "plain", "files:append,merge", asked(q.unique("k")), refused, (Way.EARLIEST,)
    )
    yield from each(
        "dedup added",
        "plain",
        "table:append,foreach_batch",
        asked(q.unique("k")),
        refused,
        (Way.EARLIEST, Way.CARRY_OVER),
    )
    some = q.by_k(keeps=lambda e: bool(e["n"] > 3))
    coded, recoded = with_(code=_code(0)), with_(code=_code(4), query=replace(some, sql=q.SUM.sql))
    ways = (Way.TOKEN, Way.EARLIEST)
    yield from each(
        "Python before state",
        "sum",
        "files:complete table:merge",
        recoded,
        Verdict.UNKNOWN,
        ways,
        given=coded,
    )


def _joins() -> Iterator[Change]:
    def joined(kind: str, first: str = "", last: Mapping[Way, str] | None = None) -> Edit:
        query = q.join(kind, q.NOBODY, "e.k, o.m", first, last or {})
        return with_(query=query, more=True)

    where, last = "files:append table:append", {Way.TOKEN: "a", Way.EARLIEST: "-"}
    left = joined("LEFT", "a", last)
    yield from each(
        "join left to inner",
        "join",
        where,
        joined("INNER"),
        Verdict.RESULTS_CHANGE,
        (Way.TOKEN, Way.EARLIEST),
        given=left,
    )
    inner = joined("INNER", "-", {Way.EARLIEST: "a; a", Way.UNDO: "-"})
    yield from each(
        "join inner to left",
        "join",
        where,
        joined("LEFT"),
        Verdict.REFUSED,
        (Way.EARLIEST, Way.UNDO),
        given=inner,
    )


def _unreadable() -> Iterator[Change]:
    """``!<`` is Spark's; the reader of SQL does not know it."""
    some = q.by_k(where="WHERE n !< 4", keeps=lambda e: bool(e["n"] >= 4))
    ways = (Way.TOKEN, Way.EARLIEST)
    yield from each("unreadable SQL", "sum", "files:complete table:merge", asked(some), Verdict.UNKNOWN, ways)
    plain = q.plain(where="WHERE n !< 4", keeps=lambda e: bool(e["n"] >= 4))
    yield from each("unreadable SQL", "plain", "files:append table:merge", asked(plain), Verdict.RESTART)


def _rates() -> Iterator[Change]:
    yield from each("comment", "rate", "rate:append", line('comment = "what for"'), Verdict.NOTHING)
    yield from each("restart_nonce", "rate", "rate:append", line("restart_nonce = 1"), Verdict.RESTART)
    yield from each("trigger", "rate", "rate:append", with_(interval="6s"), Verdict.RESTART)
    # Its offsets are seconds: at another rate they stand for other numbers.
    raised, lowered = (reading(f"rows_per_second = {rows}") for rows in (5, 1))
    yield from each("rate raised", "rate", "rate:append", raised, Verdict.RESULTS_CHANGE, (Way.EARLIEST,))
    yield from each("rate lowered", "rate", "rate:append", lowered, Verdict.RESULTS_CHANGE, (Way.EARLIEST,))
    again = then(generation("earliest"), rebuilt)
    yield from each(
        "generation, truncate", "rate", "rate:append", again, Verdict.GENERATION, start=Start.TRUNCATE
    )
    yield from each(
        "generation, carry_over",
        "rate",
        "rate:append",
        generation("carry_over"),
        Verdict.BLOCKED,
        (Way.UNDO,),
    )


def _code(least: int) -> str:
    return f"def read(spark, inputs, params):\n    return inputs['raw'].where('n >= {least}')\n"
