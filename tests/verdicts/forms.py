"""Queries as forms with slots: a pair is one filling of a form, and the same with one or two slots filled
otherwise. The forms are those in which strangers saw the product mistaken.
"""

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tests.verdicts.pair import Pair, Version

Filling = Mapping[str, str]
_OF_ONE: Final = 6
"""Pairs with the same old query, one after the other: Spark looks at it once."""
_TWO_EDITS: Final = 0.2
_TRIES: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """``slots``: what may be filled in, by the name of the edit that fills it otherwise. ``fixed``: slots that
    no edit changes. ``build`` makes a version of a filling, or None where it makes no sense.

    The slot ``output`` says how the table is written, and ``marked`` whether streams have a watermark.
    """

    slots: Mapping[str, Sequence[str]]
    build: Callable[[Filling], Version | None]
    fixed: Mapping[str, Sequence[str]]


def form_pairs(seed: int, start: int = 0, families: Sequence[str] = ()) -> Iterator[Pair]:
    """Without end. The same seed and number make the same pair."""
    for number in itertools.count(start):
        found = form_pair(seed, number)
        if found is not None and (not families or found.family in families):
            yield found


def form_pair(seed: int, number: int) -> Pair | None:
    """None: the form has no other filling near this one."""
    dice = random.Random(f"{seed} form {number // _OF_ONE}")
    family = dice.choice(list(FORMS))
    form = FORMS[family]
    old = next((found for _ in range(_TRIES) if (found := _filled(dice, form)) is not None), None)
    if old is None:
        return None
    dice = random.Random(f"{seed} form edit {number}")
    filling, before = old
    for _ in range(_TRIES):
        names = dice.sample(sorted(form.slots), min(len(form.slots), 2 if dice.random() < _TWO_EDITS else 1))
        other = {**filling, **{name: dice.choice(form.slots[name]) for name in names}}
        after = form.build(other)
        changed = [name for name in names if other[name] != filling[name]]
        if after is not None and after != before and changed:
            return Pair(
                id=f"f{seed}-{number}",
                family=family,
                edit=" and ".join(sorted(changed)),
                output=filling["output"],
                old=before,
                new=after,
                marked=filling["marked"] == "yes",
            )
    return None


def _filled(dice: random.Random, form: Form) -> tuple[Filling, Version] | None:
    slots = {**form.fixed, **form.slots}
    filling = {name: dice.choice(values) for name, values in slots.items()}
    version = form.build(filling)
    return None if version is None else (filling, version)


def _form(
    build: Callable[[Filling], Version | None], output: str = "append", marked: str = "no", **slots: str
) -> Form:
    """The choices of a slot stand in one text, with ``;`` between them, and of a fixed one behind ``!``."""
    choices = {
        name.replace("_", " "): tuple(each.strip() for each in value.removeprefix("!").split(";"))
        for name, value in slots.items()
    }
    fixed = {name: choices[name.replace("_", " ")] for name, value in slots.items() if value.startswith("!")}
    fixed = {name.replace("_", " "): each for name, each in fixed.items()}
    usual = {"output": tuple(output.split(";")), "marked": tuple(marked.split(";"))}
    free = {name: each for name, each in choices.items() if name not in fixed}
    return Form(slots=free, build=build, fixed={**usual, **fixed})


def _top(filling: Filling, relation: str) -> str:
    """Writes a relation with the columns k, v and id: counted by key, or row by row."""
    if filling["output"] in ("complete", "merge"):
        return f"SELECT k, count(*) AS n, sum(v) AS s FROM {relation} GROUP BY k"
    return f"SELECT id, k, v FROM {relation}"


_KINDS: Final = "JOIN; LEFT JOIN; LEFT SEMI JOIN; FULL JOIN; RIGHT JOIN; INNER JOIN"
_SPANS: Final = (
    "m.ts BETWEEN e.ts AND e.ts + INTERVAL 10 MINUTES; "
    "e.ts <= m.ts AND m.ts <= e.ts + INTERVAL 10 MINUTES; "
    "m.ts >= e.ts - INTERVAL 5 MINUTES AND m.ts <= e.ts + INTERVAL 5 MINUTES"
)


def _joined(filling: Filling) -> Version | None:
    """Two streams: equations in every order and form."""
    equations = [filling[name] for name in ("first equation", "second equation")]
    if filling["doubled"] == "yes":
        equations.append(equations[0])
    if filling["order"] == "turned":
        equations.reverse()
    span, kind, way = filling["span"], filling["kind of join"], filling["place of the condition"]
    outer = kind not in ("JOIN", "INNER JOIN")
    columns = "e.id AS a, e.v AS b, e.ts AS at" + ("" if "SEMI" in kind else ", m.w AS c, m.k AS d")
    sides = ("more m", "ev e") if filling["sides"] == "turned" and not outer else ("ev e", "more m")
    if way == "USING":
        keys = ("k, id", "id, k")[filling["order"] == "turned"]
        where = "" if outer else f" WHERE {span}"
        return (
            None
            if outer
            else Version(
                steps={
                    "out": f"SELECT id AS a, k AS d, e.ts AS at, w AS c FROM {sides[0]} {kind} {sides[1]} USING ({keys}){where}"
                }
            )
        )
    if way != "ON" and outer:
        return None
    on = [*equations, span] if filling["span first"] == "no" else [span, *equations]
    where_too: list[str] = []
    if way == "partly WHERE":
        where_too, on = [on[1]], [on[0], *on[2:]]
    if way == "WHERE":
        return Version(
            steps={"out": f"SELECT {columns} FROM {sides[0]}, {sides[1]} WHERE {' AND '.join(on)}"}
        )
    where = f" WHERE {' AND '.join(where_too)}" if where_too else ""
    return Version(
        steps={"out": f"SELECT {columns} FROM {sides[0]} {kind} {sides[1]} ON {' AND '.join(on)}{where}"}
    )


def _marked_step(filling: Filling) -> Version | None:
    """A watermark at a step, and filters and projections above and below it."""
    condition, time = filling["filter"], filling["time"]
    above, below = "", ""
    if filling["filter stands"] == "above":
        above = f" WHERE {condition}"
    else:
        below = f" WHERE {condition}"
    times = {"step": (f"{time} AS ts", "ts"), "query": ("ts", time)}[filling["time is computed in"]]
    source, reads = filling["reads"], filling["query reads"]
    steps = {"p": f"SELECT id, k, v, {times[0]} FROM {source}{above}"}
    if reads == "q":
        steps["q"] = f"SELECT * FROM p{below}"
        below = ""
    elif reads == "the stream":
        reads = source
    if filling["output"] == "append":
        steps["out"] = f"SELECT id, k, {times[1]} AS at FROM {reads}{below}"
        dedups: dict[str, tuple[str, ...]] = {"out": ("k",)}
        if filling["kept"] == "window":
            window = f"window({times[1]}, '10 minutes')"
            steps["out"] = (
                f"SELECT {window}.start AS at, k, count(*) AS n FROM {reads}{below} GROUP BY {window}, k"
            )
            dedups = {}
        within = tuple(dedups)
        if dedups:
            steps["out"] = f"SELECT id, k, ts FROM {reads}{below}"
    else:
        window = f"window({times[1]}, '10 minutes')"
        steps["out"] = (
            f"SELECT {window}.start AS at, k, count(*) AS n FROM {reads}{below} GROUP BY {window}, k"
        )
        dedups, within = {}, ()
    marks = {"p": filling["delay"]} if filling["step with the watermark"] == "p" else {"q": filling["delay"]}
    if not set(marks) <= set(steps):
        return None
    return Version(steps=steps, marks=marks, dedups=dedups, within=within)


def _counted_reads(filling: Filling) -> Version | None:
    """One stream that is read once, twice or, by a CTE that nothing reads, once more than it seems."""
    stream, form, condition = filling["stream"], filling["form"], filling["condition"]
    columns = "id, k, v"
    read = {
        "plain": f"(SELECT {columns} FROM {stream} WHERE {condition})",
        "of a step": "p",
        "union of two": f"(SELECT {columns} FROM {stream} WHERE {condition} UNION ALL SELECT {columns} FROM {stream} WHERE NOT ({condition}))",
        "step read twice": f"(SELECT {columns} FROM p WHERE {condition} UNION ALL SELECT {columns} FROM p WHERE NOT ({condition}))",
        "self union": f"(SELECT {columns} FROM {stream} UNION ALL SELECT {columns} FROM {stream})",
        "CTE read once": "c",
        "CTE read twice": f"(SELECT {columns} FROM c WHERE {condition} UNION ALL SELECT {columns} FROM c WHERE NOT ({condition}))",
        "self join": f"(SELECT a.id, a.k, a.v FROM {stream} a JOIN {stream} b ON a.id = b.id AND a.ts = b.ts)",
    }[form]
    with_cte = (
        f"WITH c AS (SELECT {columns} FROM {stream} WHERE {condition}) " if form.startswith("CTE") else ""
    )
    match filling["unread"]:
        case "CTE":
            with_cte = f"{with_cte.rstrip() + ', ' if with_cte else 'WITH '}u AS (SELECT id FROM {stream} WHERE v > 1) "
        case "CTE over a table":
            with_cte = f"{with_cte.rstrip() + ', ' if with_cte else 'WITH '}u AS (SELECT k FROM lookup) "
        case _:
            pass
    steps = {"p": f"SELECT {columns} FROM {stream}"} if "step" in form else {}
    if filling["unread"] == "step":
        steps = {"u": f"SELECT id FROM {stream} WHERE v > 1", **steps}
    body = _top(filling, read)
    return Version(steps={**steps, "out": f"{with_cte}{body}"})


def _unread_columns(filling: Filling) -> Version | None:
    """Columns that nothing reads, and that make or drop rows."""
    more, view = filling["unread column"], filling["lateral view"]
    item = "" if more == "none" else f", {more} AS x"
    where = "" if filling["condition"] == "none" else f" WHERE {filling['condition']}"
    lateral = "" if view == "none" else f" {view}"
    steps = {"p": f"SELECT id, k, v{item} FROM ev{lateral}{where}"}
    relation = "p"
    if filling["as"] == "subquery":
        relation, steps = f"({steps['p']}) q", {}
    elif filling["as"] == "CTE":
        return Version(steps={"out": f"WITH p AS ({steps['p']}) {_top(filling, 'p')}"})
    return Version(steps={**steps, "out": _top(filling, relation)})


_QUOTES: Final = {"spark.sql.ansi.doubleQuotedIdentifiers": "true"}


def _names_as_texts(filling: Filling) -> Version | None:
    """Texts that are names to Spark, over a step whose names change places."""
    name, place = filling["name"], filling["place"]
    one, other = ("v", "v2") if filling["names of the step"] == "as they are" else ("v2", "v")
    keys = ("k", "k2") if filling["keys of the step"] == "as they are" else ("k2", "k")
    relation = {"as it is": "p", "as a text": "IDENTIFIER('p')", "quoted": "`p`"}[filling["name of the step"]]
    key = "key"
    if place == "key":
        key = {"amount": "key", "fee": "other"}.get(name.strip("`\"'"), "")
        key = f"IDENTIFIER('{key}')" if "IDENTIFIER" in name else key
        if not key:
            return None
        name = "amount"
    where = f" WHERE {name} > 2" if place == "condition" else ""
    value = name if place == "aggregate" else "amount"
    steps = {"p": f"SELECT id, {keys[0]} AS key, {keys[1]} AS other, {one} AS amount, {other} AS fee FROM ev"}
    if filling["output"] == "append":
        steps["out"] = f"SELECT id, {key} AS k, {value} AS n FROM {relation}{where}"
    else:
        steps["out"] = (
            f"SELECT {key} AS k, max({value}) AS n, count(*) AS c FROM {relation}{where} GROUP BY {key}"
        )
    return Version(steps=steps, conf=_QUOTES if filling["double quotes"] == "names" else {})


def _under_settings(filling: Filling) -> Version | None:
    """Texts that Spark reads otherwise under a setting, which both versions have or one of them."""
    name, _, value = filling["setting"].partition("=")
    text = filling["text"]
    conf = {f"spark.sql.{name}": value} if name else {}
    if filling["output"] == "batch":
        return Version(steps={"out": f"SELECT k, {text} AS n FROM ev ORDER BY 1, 2 LIMIT 9"}, conf=conf)
    return replace(_filled_text(text, filling["output"]), conf=conf)


def _of_engines(filling: Filling) -> Version | None:
    """A job that moves to an engine with other settings, of which it makes some its own."""
    own = filling["setting of the job"]
    return replace(
        _filled_text(filling["text"], filling["output"]),
        conf={} if own == "none" else _settings(own),
        engine=_settings(filling["engine"]),
    )


def _filled_text(text: str, output: str) -> Version:
    if output == "append":
        return Version(steps={"out": f"SELECT id, k, {text} AS n FROM ev"})
    return Version(steps={"out": f"SELECT k, count({text}) AS n, max({text}) AS x FROM ev GROUP BY 1"})


def _settings(text: str) -> dict[str, str]:
    """The settings of a text with commas between them."""
    pairs = (each.partition("=") for each in text.split(",") if each)
    return {f"spark.sql.{name.strip()}": value.strip() for name, _, value in pairs}


def _of_one_place(filling: Filling) -> Version | None:
    """Streams of one place that are read in different ways."""
    one, other = filling["stream"], filling["second stream"]
    if filling["form"] == "one":
        relation = one
    else:
        relation = f"(SELECT id, k, v, ts FROM {one} UNION ALL SELECT id, k, v, ts FROM {other})"
    bound = (
        {one: filling["bound to"]} if filling["bound to"] != "itself" and one in ("ev", "late", "dbl") else {}
    )
    return Version(steps={"out": _top(filling, relation)}, bound=bound)


def _piped(filling: Filling) -> Version | None:
    """Steps of a pipe in every order, over a table beside the stream or over the stream itself."""
    steps = [filling[name] for name in ("first", "second", "third") if filling[name] != "none"]
    if filling["over"] == "stream":
        kept = [step for step in steps if not step.startswith(("ORDER", "LIMIT", "SELECT DISTINCT"))]
        kept = [step.replace("factor", "v") for step in kept]
        text = " |> ".join(["FROM ev", *kept])
        tail = (
            " |> AGGREGATE count(*) AS n, sum(v) AS s GROUP BY k"
            if filling["output"] != "append"
            else " |> SELECT id, k, v"
        )
        return Version(steps={"out": f"{text}{tail}"})
    text = " |> ".join(["FROM lookup", *steps])
    if filling["written as"] == "plain":
        text = (
            "SELECT k, factor FROM lookup"
            + "".join(
                f" {step}"
                for step in sorted(steps, key=lambda each: ("WHERE", "ORDER", "LIMIT").index(each.split()[0]))
            )
            if all(step.split()[0] in ("WHERE", "ORDER", "LIMIT") for step in steps)
            and len({step.split()[0] for step in steps}) == len(steps)
            else ""
        )
    return (
        Version(
            steps={"out": _top(filling, f"(SELECT ev.id, ev.k, ev.v FROM ev JOIN ({text}) l ON ev.k = l.k)")}
        )
        if text
        else None
    )


def _grouped_sets(filling: Filling) -> Version | None:
    """Grouping sets over a step whose names change places."""
    a, b = ("k", "k2") if filling["names"] == "as they are" else ("k2", "k")
    keys, sets = filling["keys"], filling["sets"]
    group = f"{keys} GROUPING SETS ({sets})" if sets.startswith("(") else f"{sets} ({keys})"
    if sets.startswith("WITH"):
        group = f"{keys} {sets}"
    extra = "" if filling["grouping"] == "none" else f", {filling['grouping']} AS g"
    one, other = ("a", "b") if filling["taken"] == "as they are" else ("b", "a")
    return Version(
        steps={
            "p": f"SELECT {a} AS a, {b} AS b, v FROM ev",
            "out": f"SELECT {one} AS x, {other} AS y, count(*) AS n, sum(v) AS s{extra} FROM p GROUP BY {group}",
        }
    )


def _places(filling: Filling) -> Version | None:
    """Numbers and ALL in ORDER BY and GROUP BY, over columns that change places."""
    columns, order = filling["columns"], filling["order"]
    limited = f"SELECT {columns} FROM {filling['table']} ORDER BY {order} LIMIT {filling['limit']}"
    columns = columns.replace("factor", "rank") if filling["table"] == "dim" else columns
    limited = f"SELECT {columns} FROM {filling['table']} ORDER BY {order} LIMIT {filling['limit']}"
    if filling["output"] == "batch":
        return Version(steps={"out": limited})
    relation = f"(SELECT ev.id, ev.k, ev.v FROM ev JOIN ({limited}) l ON ev.k = l.k)"
    if filling["output"] == "append":
        return Version(steps={"out": _top(filling, relation)})
    items, group = filling["items"], filling["group"]
    return Version(
        steps={"out": f"SELECT {items}, count(*) AS n FROM {relation} JOIN dim USING (k) GROUP BY {group}"}
    )


def _guarded(filling: Filling) -> Version | None:
    """A condition that keeps another one from raising, in every place."""
    guard, guarded = filling["guard"], filling["guarded"]
    word = filling["word"]
    sides = (guard, guarded) if filling["order"] == "guard first" else (guarded, guard)
    condition = f"{sides[0]} {word} {sides[1]}"
    place = filling["place"]
    if filling["output"] == "append":
        if place not in ("WHERE", "CASE"):
            return None
        item = f"CASE WHEN {condition} THEN v ELSE 0 END" if place == "CASE" else "v"
        where = f" WHERE {condition}" if place == "WHERE" else ""
        return Version(steps={"out": f"SELECT id, k, {item} AS v FROM ev{where}"})
    if place == "ON":
        return Version(
            steps={
                "out": f"SELECT ev.k, count(*) AS n FROM ev JOIN dim l ON ev.k = l.k AND ({condition}) GROUP BY ev.k"
            }
        )
    texts = {
        "WHERE": f"SELECT k, count(*) AS n FROM ev WHERE {condition} GROUP BY k",
        "count_if": f"SELECT k, count_if({condition}) AS n FROM ev GROUP BY k",
        "FILTER": f"SELECT k, count(*) FILTER (WHERE {condition}) AS n FROM ev GROUP BY k",
        "CASE": f"SELECT k, sum(CASE WHEN {condition} THEN v ELSE 0 END) AS n FROM ev GROUP BY k",
        "two filters": f"SELECT k, count(*) AS n FROM (SELECT * FROM ev WHERE {sides[0]}) WHERE {sides[1]} GROUP BY k",
        "key": f"SELECT ({condition}) AS k, count(*) AS n FROM ev GROUP BY ({condition})",
    }
    return Version(steps={"out": texts[place]})


def _divided(filling: Filling) -> Version | None:
    """One query as steps, CTEs and subqueries; what it computes may be drawn for each row."""
    value, condition = filling["value"], filling["condition"]
    inner = f"SELECT id, k, {value} AS v FROM ev WHERE {condition}"
    match filling["read"]:
        case "once":
            relation = "p"
        case "twice":
            relation = "(SELECT id, k, v FROM p WHERE v > 1 UNION ALL SELECT id, k, v FROM p WHERE v <= 1)"
        case _:
            relation = "(SELECT id, k, v FROM (SELECT * FROM p) q)"
    match filling["as"]:
        case "step":
            return Version(steps={"p": inner, "out": _top(filling, relation)})
        case "two steps":
            return Version(
                steps={
                    "o": f"SELECT *, {value} AS w FROM ev WHERE {condition}",
                    "p": "SELECT id, k, w AS v FROM o",
                    "out": _top(filling, relation),
                }
            )
        case "CTE":
            return Version(steps={"out": f"WITH p AS ({inner}) {_top(filling, relation)}"})
        case "CTE of a CTE":
            return Version(
                steps={"out": f"WITH o AS ({inner}), p AS (SELECT * FROM o) {_top(filling, relation)}"}
            )
        case _:
            text = relation.replace("FROM p", f"FROM ({inner})") if relation != "p" else f"({inner})"
            return Version(steps={"out": _top(filling, text)})


def _exchanged_inputs(filling: Filling) -> Version | None:
    """Names of inputs that are bound to others, as when two jobs exchange them."""
    binding = {
        "own": {},
        "tables exchanged": {"lookup": "dim", "dim": "lookup"},
        "one table": {"dim": "lookup"},
        "streams exchanged": {"ev": "more", "more": "ev"},
        "another stream": {"ev": "more"},
        "the same place": {"ev": "dbl"},
        "no watermark": {"ev": "late"},
    }[filling["bound"]]
    join = filling["join"]
    relation = f"(SELECT ev.id, ev.k, ev.id AS v FROM ev {join} lookup l ON ev.k = l.k LEFT JOIN dim d ON ev.k = d.k AND d.name > l.name)"
    if join.endswith(("SEMI JOIN", "ANTI JOIN")):
        relation = f"(SELECT ev.id, ev.k, ev.id AS v FROM ev {join} lookup l ON ev.k = l.k)"
    if filling["streams"] == "two":
        relation = f"(SELECT id, k, v FROM {relation} UNION ALL SELECT id, k, id FROM more)"
    return Version(steps={"out": _top(filling, relation)}, bound=binding)


def _taken(filling: Filling) -> Version | None:
    """The step from which an output takes its rows, as when two outputs exchange them."""
    steps = {
        "p": f"SELECT id, k, v FROM ev WHERE {filling['first condition']}",
        "q": f"SELECT id, k, v2 AS v FROM ev WHERE {filling['second condition']}",
    }
    if filling["order"] == "turned":
        steps = {"q": steps["q"], "p": steps["p"]}
    if filling["output"] != "append":
        steps |= {
            "a": "SELECT k, count(*) AS n, sum(v) AS s FROM p GROUP BY k",
            "b": "SELECT k, count(*) AS n, sum(v) AS s FROM q GROUP BY k",
        }
        return Version(steps=steps, taken={"first": "a", "second": "b"}[filling["taken"]])
    return Version(steps=steps, taken={"first": "p", "second": "q"}[filling["taken"]])


_STATE: Final = "append;complete;merge"
FORMS: Final[Mapping[str, Form]] = {
    "join conditions": _form(
        _joined,
        marked="yes",
        first_equation="e.k = m.k; m.k = e.k; e.k <=> m.k; upper(e.k) = upper(m.k); (e.k) = (m.k); e.k || '' = m.k || ''; e.k = m.k AND e.k IS NOT NULL",
        second_equation="e.v = m.w; m.w = e.v; e.v <=> m.w; e.v = m.w + 0; e.v2 = m.w; e.id = m.id; e.v + 1 = m.w + 1; e.v - m.w = 0; CAST(e.v AS INT) = m.w; 1 = 1; e.v > m.w; e.k = 'a'",
        order="as it is; turned",
        doubled="no; no; yes",
        sides="as they are; as they are; turned",
        span=_SPANS,
        span_first="no; no; yes",
        kind_of_join=_KINDS,
        place_of_the_condition="ON; ON; ON; partly WHERE; WHERE; USING",
    ),
    "watermarks of steps": _form(
        _marked_step,
        output="append;append;merge",
        filter="ts < TIMESTAMP'2026-01-01 02:20:00Z'; ts >= TIMESTAMP'2026-01-01 00:20:00Z'; k <> 'b'; v > 1; true",
        filter_stands="above; below",
        time="ts; ts + INTERVAL 1 HOUR; date_trunc('MINUTE', ts); ts - INTERVAL 30 MINUTES",
        time_is_computed_in="step; query",
        delay="10 minutes; 0 minutes; 60 minutes",
        reads="!late",
        query_reads="p; p; q; the stream",
        step_with_the_watermark="p; p; q",
        kept="!window; keys",
    ),
    "reads counted": _form(
        _counted_reads,
        output=_STATE,
        marked="yes;no",
        stream="!ev; late",
        form="plain; of a step; union of two; step read twice; self union; CTE read once; CTE read twice; self join",
        unread="nothing; nothing; CTE; step; CTE over a table",
        condition="v > 3; k = 'a'; v IS NOT NULL; v > 3 OR k = 'b'",
    ),
    "unread columns": _form(
        _unread_columns,
        output=_STATE,
        unread_column="none; window(ts, '20 minutes', '10 minutes'); window(ts, '10 minutes'); explode(arr); explode_outer(arr); explode(map_keys(m)); window(ts, '30 minutes', '10 minutes').start; v + 1; window(ts, '10 minutes', '10 minutes', '1 minute').end; 1 / 1; size(arr); stack(2, v, v2)",
        lateral_view="none; none; LATERAL VIEW explode(arr) t AS y; LATERAL VIEW OUTER explode(arr) t AS y; LATERAL VIEW explode(array(1, 2)) t AS y; LATERAL VIEW explode(array(1)) t AS y",
        condition="none; none; window(ts, '10 minutes').start IS NOT NULL; v > 1; ts IS NOT NULL",
        **{"as": "step; subquery; CTE"},
    ),
    "names as texts": _form(
        _names_as_texts,
        output=_STATE,
        name="amount; IDENTIFIER('amount'); IDENTIFIER('fee'); IDENTIFIER('am' || 'ount'); `amount`; \"amount\"; \"fee\"; fee; 'amount'; IDENTIFIER('p.amount')",
        names_of_the_step="as they are; exchanged",
        keys_of_the_step="as they are; exchanged",
        name_of_the_step="as it is; as a text; quoted",
        place="!aggregate; condition; key",
        double_quotes="texts; names",
    ),
    "settings": _form(
        _under_settings,
        output="complete;merge;batch",
        setting="; ansi.doubleQuotedIdentifiers=true; caseSensitive=true; groupByOrdinal=false; groupByAliases=false; parser.quotedRegexColumnNames=true; ansi.enabled=false; timestampType=TIMESTAMP_NTZ; session.timeZone=Asia/Tokyo; parser.escapedStringLiterals=true; decimalOperations.allowPrecisionLoss=false; legacy.sizeOfNull=true; legacy.timeParserPolicy=LEGACY; mapKeyDedupPolicy=LAST_WIN; storeAssignmentPolicy=LEGACY; orderByOrdinal=false; crossJoin.enabled=false; ansi.enforceReservedKeywords=true; legacy.literal.pickMinimumPrecision=false; legacy.castComplexTypesToString.enabled=true; optimizer.excludedRules=org.apache.spark.sql.catalyst.optimizer.ConstantFolding; legacy.exponentLiteralAsDecimal.enabled=true; legacy.setopsPrecedence.enabled=true; legacy.ctePrecedencePolicy=LEGACY; ansi.relationPrecedence=true; legacy.parser.havingWithoutGroupByAsWhere=true; legacy.charVarcharAsString=true; legacy.nullInEmptyListBehavior=true; binaryOutputStyle=HEX; charAsVarchar=true; legacy.integerGroupingId=true; legacy.parseQueryWithoutEof=true; variable.substitute=false; shuffle.partitions=3; adaptive.enabled=true; cbo.enabled=true; codegen.wholeStage=true",
        text="\"k2\"; 'k2'; K2; k2; CAST(k2 AS INT); k2 || '\\\\t'; TIMESTAMP'2026-01-01 00:00:00'; hour(ts); 1 / v; 1.10 * v; size(CAST(NULL AS ARRAY<INT>)); map('a', 1, 'a', v).a; date_format(ts, 'u'); v + 9223372036854775807; CAST(ts AS STRING); 1e2 * v; `k.*`; CAST(st AS STRING); to_date('2026-1-1', 'yyyy-MM-dd'); CAST(X'41' AS STRING); arr[7]; element_at(arr, 1)",
    ),
    "engines exchanged": _form(
        _of_engines,
        output=_STATE,
        engine="; ; ansi.enabled=false; session.timeZone=Asia/Tokyo; ansi.enabled=false, session.timeZone=Asia/Tokyo; caseSensitive=true; shuffle.partitions=3; adaptive.enabled=true; ansi.doubleQuotedIdentifiers=true; session.timeZone=Asia/Tokyo, shuffle.partitions=2; decimalOperations.allowPrecisionLoss=false; legacy.sizeOfNull=true; groupByOrdinal=false",
        setting_of_the_job="none; none; none; ansi.enabled=false; ansi.enabled=true; session.timeZone=UTC; session.timeZone=Asia/Tokyo; caseSensitive=false; shuffle.partitions=1",
        text="v; v + 1; \"k2\"; CAST(ts AS STRING); CAST(CAST(ts AS DATE) AS STRING); hour(ts); CAST(k2 AS INT); arr[7]; 1.10 * v; K2; size(arr); to_date('2026-1-1', 'yyyy-MM-dd'); date_trunc('DAY', ts)",
    ),
    "streams of one place": _form(
        _of_one_place,
        output=_STATE,
        marked="yes;no",
        stream="ev; late; dbl",
        second_stream="ev; late; dbl",
        form="one; both",
        bound_to="itself; itself; ev; late; dbl",
    ),
    "pipes": _form(
        _piped,
        output=_STATE,
        first="ORDER BY factor; WHERE k <> 'a'; LIMIT 2; WHERE factor > 2; SELECT DISTINCT k, factor; SELECT k, factor; none; SET factor = factor + 1; EXTEND factor * 2 AS double; ORDER BY k",
        second="LIMIT 2; WHERE k <> 'a'; ORDER BY factor; WHERE factor > 2; none; SELECT k, factor; DROP factor; SET factor = factor * 2; LIMIT 1; AS x",
        third="none; WHERE factor > 2; LIMIT 2; ORDER BY k; SELECT k; WHERE k <> 'a'; LIMIT 1",
        over="!table; table; stream",
        written_as="pipe; pipe; pipe; plain",
    ),
    "grouping sets": _form(
        _grouped_sets,
        output="complete",
        names="as they are; exchanged",
        taken="as they are; exchanged",
        keys="a, b; b, a",
        sets="(a), (a, b); (b), (a, b); (a), (b); (a, b), (a); (), (a); ROLLUP; CUBE; WITH ROLLUP; WITH CUBE; (b, a), (b); (a), (a), (b)",
        grouping="none; none; grouping(a); grouping(b); grouping_id(); grouping_id(a, b)",
    ),
    "places": _form(
        _places,
        output="append;complete;batch;batch",
        columns="k, factor; factor, k; name, k, factor; k, name, factor; factor + 0 AS f, k; k, factor AS k2",
        order="1; 2; ALL; 2 DESC; 1, 2; 2, 1; k; 1 DESC NULLS LAST; 1 + 1; k, 2",
        limit="2; 3; 1 + 1",
        table="!lookup; dim",
        items="k2, rank; rank, k2",
        group="1, 2; 2, 1; ALL; k2, rank; rank, k2; 1, rank",
    ),
    "guards": _form(
        _guarded,
        output="complete;merge;append",
        guard="k RLIKE '^[0-9]+$'; v <> 0; size(arr) > 2; v > 0; k = 'a' AND v <> 0; arr IS NOT NULL; v IS NOT NULL AND v <> 0; coalesce(v, 0) <> 0",
        guarded="CAST(k AS BIGINT) > 1; 10 / v > 1; arr[2] > 1; element_at(arr, 3) > 0; 10 % v > 2; v2 / v > 0; to_timestamp(k) > ts; raise_error('x') IS NULL; v > 2; try_divide(10, v) > 1; assert_true(v <> 0) IS NULL; CAST(st.b AS INT) = 1",
        word="AND; AND; OR",
        order="guard first; guard last",
        place="WHERE; count_if; FILTER; CASE; ON; two filters; key",
    ),
    "division": _form(
        _divided,
        output=_STATE,
        value="v; v + 1; rand(); if(rand() < 0.5, 1, 2); v2; CASE WHEN v > 2 THEN v ELSE v2 END; 10 / (v * v + 1)",
        condition="true; v > 2; rand() < 0.5; k <> 'b'",
        read="once; twice; through another",
        **{"as": "step; two steps; CTE; CTE of a CTE; subquery"},
    ),
    "inputs exchanged": _form(
        _exchanged_inputs,
        output=_STATE,
        bound="own; tables exchanged; one table; streams exchanged; another stream; the same place; no watermark",
        join="JOIN; LEFT JOIN; LEFT SEMI JOIN; LEFT ANTI JOIN",
        streams="!one; two",
    ),
    "taken rows": _form(
        _taken,
        output=_STATE,
        first_condition="true; v > 3; k = 'a'",
        second_condition="true; v > 3; k = 'a'",
        order="as it is; turned",
        taken="first; second",
    ),
}
