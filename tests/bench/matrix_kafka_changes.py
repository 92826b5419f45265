"""The changes of the matrix around Kafka: streams of topics, and outputs that write them."""

from collections.abc import Iterator
from dataclasses import replace

from tests.bench import matrix_queries as q
from tests.bench.matrix_change import (
    Change,
    Happening,
    Start,
    Verdict,
    Way,
    asked,
    each,
    generation,
    line,
    output,
    reading,
    rebuilt,
    then,
    topics,
    with_,
)
from tests.bench.matrix_jobs import Job, Output

_ANYHOW = (Way.TOKEN, Way.EARLIEST, Way.CARRY_OVER)
_REFUSED = (Way.EARLIEST, Way.CARRY_OVER, Way.UNDO)
_AGAIN = (Way.EARLIEST,)


def kafka_changes() -> Iterator[Change]:
    """Every cell's change."""
    yield from _names()
    yield from _other_topics()
    yield from _patterns()
    yield from _connections()
    yield from _first_starts()
    yield from _limits()
    yield from _forms()
    yield from _columns()
    yield from _happenings()
    yield from _generations()
    yield from _queries()
    yield from _outputs()


def _names() -> Iterator[Change]:
    block, listed, one = topics(written="block"), topics(written="topics"), topics(written="topic")
    yield from each("topic by block", "plain", "kafka:append,branch", block, Verdict.NOTHING)
    yield from each("topic by block", "sum", "kafka:complete", block, Verdict.NOTHING)
    yield from each("topic by name", "plain", "kafka:merge", one, Verdict.NOTHING, given=block)
    yield from each("topic as a list", "plain", "kafka:append", listed, Verdict.NOTHING)
    yield from each("topic as a list", "sum", "kafka:merge", listed, Verdict.NOTHING)
    yield from each("list as a topic", "unique", "kafka:append", one, Verdict.NOTHING, given=listed)


def _other_topics() -> Iterator[Change]:
    elsewhere, refused = with_(place="elsewhere"), Verdict.REFUSED
    yield from each("another topic", "plain", "kafka:append,merge", elsewhere, refused, _REFUSED)
    yield from each("another topic", "plain", "kafka:foreach_batch", elsewhere, refused, (Way.CARRY_OVER,))
    yield from each("another topic", "sum", "kafka:complete", elsewhere, refused, _REFUSED)
    yield from each("another topic", "windows", "kafka:append", elsewhere, refused, _AGAIN)
    alone, both = topics(written="topics"), topics(written="topics", also=("more",))
    yield from each("topic added", "plain", "kafka:append,branch", both, Verdict.TOLD)
    # A merge refuses two rows of one key in a batch: its topics have different keys
    apart = topics(written="topics", also=("elsewhere",))
    yield from each("topic added", "plain", "kafka:merge,foreach_batch", apart, Verdict.TOLD)
    yield from each(
        "topic added, stopped", "plain", "kafka:append", both, Verdict.TOLD, given=alone, paused=True
    )
    ways = (*_ANYHOW, Way.UNDO)
    yield from each("topic added", "sum", "kafka:complete", both, Verdict.UNKNOWN, ways)
    yield from each("topic added", "sum", "kafka:merge", both, Verdict.UNKNOWN, (Way.TOKEN, Way.EARLIEST))
    yield from each("topic added", "windows", "kafka:append", both, Verdict.UNKNOWN, (Way.TOKEN,))
    yield from each("topic added", "unique", "kafka:append", both, Verdict.UNKNOWN, (Way.TOKEN,))
    fewer = topics(also=())
    yield from each("topic removed", "plain", "kafka:append", fewer, refused, _REFUSED, given=both)
    yield from each("topic removed", "plain", "kafka:merge", fewer, refused, (Way.CARRY_OVER,), given=apart)
    yield from each(
        "topic removed", "sum", "kafka:complete", fewer, refused, (Way.EARLIEST, Way.CARRY_OVER), given=both
    )
    yield from each(
        "topic added, batch in flight",
        "plain",
        "kafka:append,branch",  # the batch after it has keys of both topics, which a merge refuses
        both,
        Verdict.TOLD,
        event=Happening.IN_FLIGHT,
        paused=True,
    )
    kinds = then(with_(source="table"), with_(reading=("max_files_per_trigger = 1",)))
    # What was not read before is read from its beginning, also where rows are kept
    yield from each("source kind", "plain", "kafka:append", kinds, refused, (Way.EARLIEST, Way.CARRY_OVER))
    topic = with_(source="kafka", reading=())
    yield from each("source kind, topic", "plain", "files:append table:merge", topic, refused, _AGAIN)
    yield from each("source kind, topic", "plain", "table:merge", topic, refused, (Way.CARRY_OVER,))


def _patterns() -> Iterator[Change]:
    refused = Verdict.REFUSED
    pattern, wide = topics(written="pattern"), topics(written="pattern", also=("more",))
    one, both = topics(written="topic", also=()), topics(written="topics", also=("more",))
    yield from each("topic to pattern", "plain", "kafka:append,merge", pattern, Verdict.TOLD)
    yield from each(
        "topic to pattern", "sum", "kafka:complete", pattern, Verdict.UNKNOWN, (Way.TOKEN, Way.CARRY_OVER)
    )
    yield from each("topic to wide pattern", "plain", "kafka:append", wide, Verdict.TOLD)
    yield from each(
        "topic to wide pattern", "sum", "kafka:complete", wide, Verdict.UNKNOWN, (Way.TOKEN, Way.EARLIEST)
    )
    yield from each("topics to pattern", "plain", "kafka:append", wide, Verdict.TOLD, given=both)
    yield from each("pattern to topic", "plain", "kafka:append", one, refused, _REFUSED, given=pattern)
    yield from each("pattern to topic", "sum", "kafka:complete", one, refused, (Way.CARRY_OVER,), given=wide)
    yield from each("pattern widened", "plain", "kafka:append", wide, refused, _REFUSED, given=pattern)
    narrow = topics(written="pattern", also=())
    yield from each("pattern narrowed", "plain", "kafka:append", narrow, refused, _REFUSED, given=wide)
    yield from each("pattern narrowed", "sum", "kafka:complete", narrow, refused, _AGAIN, given=wide)


def _connections() -> Iterator[Change]:
    for family, where in (("plain", "kafka:append"), ("sum", "kafka:complete")):
        yield from each("connection renamed", family, where, topics(cluster="same"), Verdict.NOTHING)
        yield from each("servers spelled", family, where, topics(cluster="spelled"), Verdict.RESTART)
        yield from each("client settings", family, where, topics(cluster="tuned"), Verdict.RESTART)
        yield from each("security settings", family, where, topics(cluster="login"), Verdict.RESTART)
        yield from each(
            "secret moved",
            family,
            where,
            topics(cluster="moved"),
            Verdict.RESTART,
            given=topics(cluster="login"),
        )
        other = topics(cluster="other")
        yield from each("another cluster", family, where, other, Verdict.BLOCKED, (Way.EARLIEST, Way.UNDO))


def _first_starts() -> Iterator[Change]:
    latest = reading('starting_offsets = "latest"')
    time, exact = (
        reading(f"starting_offsets = {text}") for text in ('"2026-01-31T00:00:00Z"', '{ "0" = 1 }')
    )
    yield from each("starting offsets latest", "plain", "kafka:append,merge", latest, Verdict.NOTHING)
    yield from each("starting offsets latest", "sum", "kafka:complete", latest, Verdict.NOTHING)
    yield from each("starting offsets time", "plain", "kafka:append", time, Verdict.NOTHING)
    yield from each("starting offsets exact", "plain", "kafka:append", exact, Verdict.NOTHING)
    yield from each("starting offsets exact", "sum", "kafka:merge", exact, Verdict.NOTHING)
    again, onwards = then(generation("earliest"), rebuilt), generation("carry_over")
    for name, edit in (("latest", latest), ("exact", exact)):
        yield from each(
            f"starting offsets {name}, generation, truncate",
            "plain",
            "kafka:append",
            then(edit, again),
            Verdict.GENERATION,
            start=Start.TRUNCATE,
        )
        yield from each(
            f"starting offsets {name}, generation, carry_over",
            "plain",
            "kafka:append",
            then(edit, onwards),
            Verdict.GENERATION,
            start=Start.ONWARDS,
        )


def _limits() -> Iterator[Change]:
    for name, text in (
        ("max offsets", "max_offsets_per_trigger = 100"),
        ("min partitions", "min_partitions = 4"),
        ("group id prefix", 'group_id_prefix = "matrix"'),
        ("key", 'key = "string"'),
        ("headers", "include_headers = true"),
        ("metadata", "include_metadata = true"),
    ):
        yield from each(name, "plain", "kafka:append", reading(text), Verdict.RESTART)
        yield from each(name, "sum", "kafka:complete", reading(text), Verdict.RESTART)
    limit = reading("max_offsets_per_trigger = 100")
    yield from each("max offsets", "plain", "kafka:foreach_batch,branch", limit, Verdict.RESTART)
    yield from each("max offsets", "windows", "kafka:merge", limit, Verdict.RESTART)
    uncommitted = reading('isolation_level = "read_uncommitted"')
    yield from each("isolation level", "plain", "kafka:append,merge", uncommitted, Verdict.RESTART)
    mixed = Verdict.RESULTS_CHANGE
    yield from each("isolation level", "sum", "kafka:complete", uncommitted, mixed, _ANYHOW)
    yield from each("isolation level", "windows", "kafka:append", uncommitted, mixed, (Way.TOKEN,))
    committed, given = reading('isolation_level = "read_committed"'), uncommitted
    yield from each(
        "isolation level strict", "plain", "kafka:append", committed, Verdict.RESTART, given=given
    )


def _forms() -> Iterator[Change]:
    mixed = Verdict.RESULTS_CHANGE
    for form in ("csv", "avro"):
        other = topics(format=form)
        yield from each(f"format {form}", "plain", "kafka:append,merge", other, Verdict.RESTART)
        yield from each(f"format {form}", "sum", "kafka:complete", other, mixed, (Way.TOKEN, Way.CARRY_OVER))
    value = {"text": "value", "raw": "CAST(value AS STRING)"}
    for form, text in value.items():
        k, m, n = (f"get_json_object({text}, '$.{name}')" for name in ("k", "m", "n"))
        plain = replace(q.PLAIN, sql=f"SELECT {k} AS k, {m} AS m, CAST({n} AS BIGINT) AS total FROM events")
        edit = then(topics(format=form), asked(plain))
        yield from each(f"format {form}", "plain", "kafka:append", edit, Verdict.RESTART)
        total = replace(
            q.SUM, sql=f"SELECT {k} AS k, sum(CAST({n} AS BIGINT)) AS total FROM events GROUP BY {k}"
        )
        edit = then(topics(format=form), asked(total))
        yield from each(f"format {form}", "sum", "kafka:complete", edit, Verdict.UNKNOWN, (Way.TOKEN,))
    options = reading('options = { allowComments = "true" }')
    yield from each("options", "plain", "kafka:append", options, Verdict.RESTART)
    yield from each("options", "sum", "kafka:complete", options, mixed, (Way.TOKEN, Way.EARLIEST))


def _columns() -> Iterator[Change]:
    unread = with_(undeclared=("sent",))
    for family, where in (("plain", "kafka:append"), ("sum", "kafka:complete")):
        yield from each("column removed", family, where, unread, Verdict.RESTART)
        yield from each("column added", family, where, with_(undeclared=()), Verdict.RESTART, given=unread)
    narrow = with_(types={"n": "int"})
    yield from each("column retyped", "plain", "kafka:append", narrow, Verdict.RESTART)
    yield from each("column retyped", "sum", "kafka:complete", narrow, Verdict.REFUSED, _REFUSED)
    unread = with_(types={"i": "long"})
    yield from each("unread column retyped", "plain", "kafka:append", unread, Verdict.RESTART)
    yield from each("unread column retyped", "sum", "kafka:complete", unread, Verdict.RESTART)


def _happenings() -> Iterator[Change]:
    def as_it_is(found: Job) -> Job:
        return found

    for family, where in (("plain", "kafka:append,foreach_batch"), ("sum", "kafka:complete")):
        happening = Happening.PARTITION
        yield from each("partition added", family, where, as_it_is, Verdict.NOTHING, event=happening)
        yield from each(
            "partition added, stopped",
            family,
            where,
            as_it_is,
            Verdict.STARTS,
            event=happening,
            paused=True,
        )
        for name, lost in (("created again", Happening.RECREATED), ("deleted", Happening.TRIMMED)):
            yield from each(
                f"records {name}, stopped",
                family,
                where,
                as_it_is,
                Verdict.BLOCKED,
                _AGAIN,
                event=lost,
                paused=True,
            )
        lost = Happening.RECREATED
        yield from each("topic created again", family, where, as_it_is, Verdict.BLOCKED, _AGAIN, event=lost)
    for family, where in (
        ("plain", "kafka:append,merge,foreach_batch,branch"),
        ("sum", "kafka:complete,merge"),
        ("windows", "kafka:append"),
        ("unique", "kafka:append"),
    ):
        yield from each(
            "batch in flight",
            family,
            where,
            as_it_is,
            Verdict.STARTS,
            event=Happening.IN_FLIGHT,
            paused=True,
        )


def _generations() -> Iterator[Change]:
    onwards, earliest, name = generation("carry_over"), generation("earliest"), "generation, carry_over"
    yield from each(
        name, "plain", "kafka:append,foreach_batch", onwards, Verdict.GENERATION, start=Start.ONWARDS
    )
    yield from each(name, "sum", "kafka:complete", onwards, Verdict.GENERATION, start=Start.ONWARDS)
    yield from each(
        "generation, latest",
        "plain",
        "kafka:append",
        generation("latest"),
        Verdict.GENERATION,
        start=Start.ONWARDS,
    )
    yield from each(
        "generation, keep", "plain", "kafka:append,merge", earliest, Verdict.GENERATION, start=Start.KEEP
    )
    again = then(earliest, rebuilt)
    yield from each(
        "generation, truncate", "plain", "kafka:append", again, Verdict.GENERATION, start=Start.TRUNCATE
    )
    yield from each(
        "generation, truncate", "sum", "kafka:complete", again, Verdict.GENERATION, start=Start.TRUNCATE
    )


def _queries() -> Iterator[Change]:
    times = q.plain("k, m, n * 10 AS total", row=lambda e: {"k": e["k"], "m": e["m"], "total": e["n"] * 10})
    yield from each("projection", "plain", "kafka:*", asked(times), Verdict.RESTART)
    greatest = asked(q.by_k("max(n) AS total", q.greatest("n")))
    yield from each("sum to max", "sum", "kafka:complete,merge", greatest, Verdict.RESULTS_CHANGE, _ANYHOW)
    minute = asked(q.windows(1))
    yield from each(
        "window size", "windows", "kafka:append", minute, Verdict.RESULTS_CHANGE, (Way.TOKEN, Way.EARLIEST)
    )
    finer = asked(q.unique("k", "m"))
    yield from each(
        "dedup keys", "unique", "kafka:append", finer, Verdict.REFUSED, (Way.EARLIEST, Way.CARRY_OVER)
    )
    left = q.join("LEFT", q.NOBODY, "e.k, o.m", "a", {Way.APPLY: "a; a", Way.TOKEN: "a", Way.EARLIEST: "-"})
    inner = q.join("INNER", q.NOBODY, "e.k, o.m", "-", {})
    given = with_(query=left, more=True)
    yield from each(
        "join left to inner",
        "join",
        "kafka:append",
        with_(query=inner, more=True),
        Verdict.RESULTS_CHANGE,
        (Way.TOKEN, Way.EARLIEST),
        given=given,
    )
    yield from each(
        "restart_nonce", "join", "kafka:append", line("restart_nonce = 1"), Verdict.RESTART, given=given
    )


def _outputs() -> Iterator[Change]:
    told = Output(mode="append", label="told", topic="told")

    def one_more(found: Job) -> Job:
        return replace(found, outputs=(*found.outputs, told))

    def fewer(found: Job) -> Job:
        return replace(found, outputs=found.outputs[:1])

    where = "files:append kafka:append"
    yield from each("topic written too", "plain", where, one_more, Verdict.RESTART)
    where = "files:foreach_batch kafka:foreach_batch"
    yield from each("topic written too", "plain", where, one_more, Verdict.TOLD)
    where = "files:beside kafka:beside"
    yield from each("topic not written", "told", where, fewer, Verdict.RESTART)
    moved = output(topic="moved")
    where = "files:topic kafka:topic"
    yield from each("written topic", "told", where, moved, Verdict.RESULTS_CHANGE, (Way.TOKEN, Way.EARLIEST))
    yield from each("written topic", "told", "kafka:topic", moved, Verdict.RESULTS_CHANGE, (Way.CARRY_OVER,))
    yield from each("written key", "told", where, output(key="k"), Verdict.TOLD)
    headers = output(writing=('headers = { "h" = "m" }',))
    yield from each("written headers", "told", where, headers, Verdict.TOLD)
    value = replace(q.PLAIN, sql="SELECT to_json(struct(k, m, n AS total)) AS value FROM events")
    text = then(asked(value), output(writing=('format = "text"',)))
    yield from each("written format", "told", where, text, Verdict.TOLD)
    options = output(writing=('options = { "linger.ms" = "20" }',))
    yield from each("producer options", "told", where, options, Verdict.RESTART)
    greatest = asked(q.by_k("max(n) AS total", q.greatest("n")))
    yield from each(
        "sum to max", "counted", "kafka:topic", greatest, Verdict.RESULTS_CHANGE, (Way.TOKEN, Way.CARRY_OVER)
    )
    again = line("restart_nonce = 1")
    yield from each("restart_nonce", "counted", "files:topic kafka:topic", again, Verdict.RESTART)
