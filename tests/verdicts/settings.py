"""Every SQL setting of Spark with its default, and whether queries read or compute otherwise under another value.

The table is measured by ``python -m tests.verdicts.settings`` with a Spark at hand; tests read it without one.
"""

import csv
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.verdicts import inputs
from tests.verdicts.judge import plain
from tests.verdicts.pair import Version
from tests.verdicts.spark import Views, application, refusals

TABLE: Final = Path(__file__).parent / "settings.csv"
RUN: Final = "rows"
"""Under another value a probe gives other rows, other types, or an error."""
SAME: Final = "same"
"""All probes give the same rows under another value, which proves little."""
UNTRIED: Final = "untried"
"""There is no other value to try: it is a number, a class or a list, or no session takes it."""
PROBES: Final = (
    "SELECT k, v * 1.10 AS a, 1e2 * v AS b, size(CAST(NULL AS ARRAY<INT>)) AS c, CAST(d AS STRING) AS e, CAST(v AS DECIMAL(38, 18)) * CAST(v2 AS DECIMAL(38, 18)) AS f, map_concat(map('a', 1), map('b', 2)) AS g, round(d, 0) AS h, -v % 3 AS i, array_insert(arr, -1, 9) AS l, CAST(-0.0 AS STRING) AS n, CAST(NULL AS STRING) IN (NULL) AS o FROM ev",
    "SELECT date_format(ts, 'HH:mm') AS a, typeof(TIMESTAMP'2026-01-01 00:00:00') AS b, CAST(ts AS STRING) AS c, to_date('2026-1-1', 'yyyy-M-d') AS e, CAST(TIMESTAMP'2026-01-01 00:00:00' AS STRING) AS f, typeof(ts - TIMESTAMP'2026-01-01 00:00:00') AS g, CAST(st AS STRING) AS h, CAST(arr AS STRING) AS i, CAST(X'41FF' AS STRING) AS j, '\\\\t\\u0041' AS l, 'a' 'b' AS n, to_csv(struct(k, v)) AS o, to_json(named_struct('p', k, 'q', st)) AS p, from_json(js, 'a BIGINT, b STRING') AS q, to_json(struct(ts)) AS r, CAST(INTERVAL 1 DAY AS STRING) AS s, typeof(INTERVAL 1 DAY) AS u FROM ev",
    "SELECT k, CAST(k AS INT) AS a FROM ev",
    "SELECT k, 10 / v AS a FROM ev",
    "SELECT k, arr[7] AS a FROM ev",
    "SELECT k, v + 9223372036854775807 AS a FROM ev",
    "SELECT k, map('a', 1, 'a', 2) AS a FROM ev",
    "SELECT k, to_timestamp('2026-01-01 1:2', 'yyyy-MM-dd HH:mm') AS a FROM ev",
    "SELECT k, date_format(ts, 'YYYY u') AS a FROM ev",
    'SELECT k, max("k2") AS a FROM ev GROUP BY k',
    "SELECT K, max(V) AS a FROM EV GROUP BY k",
    "SELECT k2 AS k, count(*) AS a FROM ev GROUP BY 1 ORDER BY 2, 1",
    "SELECT upper(k) AS u, count(*) AS a FROM ev GROUP BY u",
    "SELECT `(k|v)` FROM ev",
    "SELECT k FROM ev UNION SELECT k FROM dim INTERSECT SELECT k FROM lookup",
    "WITH t AS (SELECT 1 AS a), u AS (WITH t AS (SELECT 2 AS a) SELECT * FROM t) SELECT * FROM u",
    "SELECT count(*) AS n FROM ev HAVING k = 'a'",
    "SELECT e.k, l.factor, d.rank FROM ev e, lookup l JOIN dim d ON l.k = d.k WHERE e.k = l.k",
    "SELECT e.k FROM ev e JOIN lookup l",
    "SELECT k, k2, grouping_id() AS g, count(*) AS n FROM ev GROUP BY CUBE (k, k2)",
    "SELECT k FROM ev WHERE k NOT IN (SELECT k FROM lookup)",
    "SELECT k, (SELECT max(factor) FROM lookup l WHERE l.k = ev.k) AS m, (SELECT count(*) FROM lookup l WHERE l.k = ev.k) AS c FROM ev",
    "SELECT v + 1 AS a, a + 1 AS b FROM ev",
    "SELECT CAST('a' AS CHAR(3)) AS a, CAST('abc' AS VARCHAR(2)) AS b FROM ev",
    "SELECT k, collect_list(v) AS a, first(v) AS b, percentile_approx(v, 0.5) AS c, stddev_samp(v) AS e, avg(v) AS f, sum(d) AS g, count(DISTINCT k2) AS h FROM ev GROUP BY k",
    "SELECT k, row_number() OVER (ORDER BY id) AS a, sum(v) OVER (PARTITION BY k ORDER BY id) AS b FROM ev",
    "SELECT typeof(0.1) AS a, typeof(1.0 * 2.00) AS b, typeof(1 / 3) AS c, typeof(CAST(1 AS DECIMAL(38, 18)) / 3) AS e, typeof(array()) AS f, typeof(map()) AS g, typeof(NULL) AS h, typeof(coalesce(1, '1')) AS i, 1 = '1' AS j, '1' + 1 AS l",
    "SELECT window(ts, '10 minutes').start AS a, count(*) AS n FROM ev GROUP BY window(ts, '10 minutes')",
    "SELECT k, y FROM ev LATERAL VIEW explode(arr) t AS y",
    "SELECT k, $1 AS a FROM ev",
    "SELECT k, ${x} AS a FROM ev",
    "SELECT hash(k, v) AS a FROM ev",
    "SELECT /*+ BROADCAST(l) */ e.k FROM ev e LEFT JOIN lookup l USING (k) ORDER BY e.k",
    "SELECT k FROM ev TABLESAMPLE (100 PERCENT) WHERE k LIKE 'a\\\\%' OR k RLIKE '\\\\w'",
    "SELECT exists(arr, x -> x > 3) AS a, equal_null(k, k2) AS c, try_divide(v, 0) AS e FROM ev",
    "FROM ev |> WHERE v > 1 |> SELECT k",
    "SELECT session_user, ev.k AS user FROM ev",
)
_OTHERS: Final = {
    "spark.sql.session.timeZone": "Asia/Tokyo",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    "spark.sql.legacy.timeParserPolicy": "LEGACY",
    "spark.sql.legacy.ctePrecedencePolicy": "LEGACY",
    "spark.sql.storeAssignmentPolicy": "LEGACY",
    "spark.sql.binaryOutputStyle": "HEX",
    "spark.sql.streaming.multipleWatermarkPolicy": "max",
    "spark.sql.codegen.factoryMode": "CODEGEN_ONLY",
    "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.ConstantFolding",
}


class Setting(NamedTuple):
    """``public``: whether Spark documents it. ``under_another``: ``RUN``, ``SAME`` or ``UNTRIED``."""

    name: str
    default: str
    public: bool
    under_another: str


def known() -> list[Setting]:
    """The table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [Setting(row[0], row[1], row[2] == "public", row[3]) for row in csv.reader(file)]


def declared(root: Any) -> Iterator[tuple[str, str, bool]]:
    """Every setting that Spark declares for SQL: its name, its default, and whether it is documented. Places of
    a machine or of the net are left out.
    """
    entries = (
        getattr(root._jvm.org.apache.spark.sql.internal, "SQLConf$").__getattr__("MODULE$").getConfigEntries()
    )
    every = entries.iterator()
    while every.hasNext():
        entry = every.next()
        default = str(entry.defaultValueString())
        yield entry.key(), "" if ":/" in default else default, bool(entry.isPublic())


def measured(root: Any, scratch: Path) -> Iterator[Setting]:
    """Each with what another value of it does to the probes."""
    inputs.land(scratch / "rows", inputs.frame(1))
    views = Views(root, scratch / "rows", local=True)
    usual = [_given(views, text, {}) for text in PROBES]
    for name, default, public in sorted(declared(root)):
        other = _OTHERS.get(name) or {"true": "false", "false": "true"}.get(default, "")
        yield Setting(name, default, public, _outcome(views, name, other, usual) if other else UNTRIED)


def _outcome(views: Views, name: str, value: str, usual: list[str]) -> str:
    try:
        views.frame(Version(steps={"out": "SELECT 1 AS one"}, conf={name: value}))
    except refusals():
        return UNTRIED
    for text, before in zip(PROBES, usual, strict=True):
        if _given(views, text, {name: value}) != before:
            return RUN
    return SAME


def _given(views: Views, text: str, conf: dict[str, str]) -> str:
    """Types and rows, or the class of an error."""
    try:
        frame = views.frame(Version(steps={"out": text}, conf=conf))
        return f"{frame.schema.simpleString()} {sorted(plain(frame).items())}"
    except refusals() as failure:
        named = getattr(failure, "getCondition", lambda: "")()
        return f"error {named}"


def main() -> None:
    """Writes the table."""
    with tempfile.TemporaryDirectory() as folder, application(Path(folder)) as root:
        rows = []
        for setting in measured(root, Path(folder)):
            rows.append(
                [
                    setting.name,
                    setting.default,
                    "public" if setting.public else "internal",
                    setting.under_another,
                ]
            )
            sys.stderr.write(f"{setting}\n")
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
