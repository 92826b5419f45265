"""The position of a change in its source: texts whose order is that of the changes of one row. Pure.

PostgreSQL: a transaction is decoded when it commits, and its changes have positions in the log that may be
less than those of a snapshot before it. So the commit that Debezium saw last comes first (``sequence``),
which only grows; within a transaction the change's own position counts. A row of a snapshot comes before all
that is decoded after it. Oracle: a row is locked until its transaction commits, so that the change numbers of
one row grow; a snapshot comes before all of them: a transaction that it does not see may have begun earlier.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

from flareiac_spark_runtime.sources.debezium.names import SNAPSHOT
from flareiac_spark_runtime.sources.decoding import literal

Get: TypeAlias = Callable[[str], str]
"""The expression of a field of ``source`` as text; null where there is none."""
FIELDS: Final = (
    "connector",
    "ts_ms",
    "sequence",
    "lsn",
    "file",
    "pos",
    "row",
    "commit_lsn",
    "change_lsn",
    "event_serial_no",
    "scn",
    "rs_id",
    "lcr_position",
    "ssn",
)
"""The fields of ``source`` that are read, of any connector."""
_DIGITS: Final = 20
_LSN_OF_SQL_SERVER: Final = "^[0-9a-fA-F]{8}:[0-9a-fA-F]{8}:[0-9a-fA-F]{4}$"


def position(get: Get, op: str) -> str:
    """The expression of the position; null for a connector whose positions have no known order."""
    cases = {
        ("postgresql",): _postgresql(get, op),
        ("mysql", "mariadb"): _mysql(get),
        ("sqlserver",): _sqlserver(get),
        ("oracle",): _oracle(get, op),
    }
    whens = " ".join(
        f"WHEN {get('connector')} IN ({', '.join(map(literal, names))}) THEN {expression}"
        for names, expression in cases.items()
    )
    return f"CASE {whens} END"


def _postgresql(get: Get, op: str) -> str:
    committed = f"coalesce(get(from_json({get('sequence')}, 'ARRAY<STRING>'), 0), '0')"
    own = f"CASE WHEN {op} = '{SNAPSHOT}' THEN '0' ELSE {get('lsn')} END"
    return _joined(_padded(committed), _padded(own))


def _mysql(get: Get) -> str:
    number = f"regexp_extract({get('file')}, '[.]([0-9]+)$', 1)"
    return _joined(_padded(number), _padded(get("pos")), _padded(f"coalesce({get('row')}, '0')"))


def _sqlserver(get: Get) -> str:
    commit, change = get("commit_lsn"), get("change_lsn")
    of_commit = f"CASE WHEN {commit} RLIKE '{_LSN_OF_SQL_SERVER}' THEN lower({commit}) END"
    of_change = f"CASE WHEN {change} RLIKE '{_LSN_OF_SQL_SERVER}' THEN lower({change}) ELSE '' END"
    return _joined(of_commit, of_change, _padded(f"coalesce({get('event_serial_no')}, '0')"))


def _oracle(get: Get, op: str) -> str:
    streamed = f"CASE WHEN {op} = '{SNAPSHOT}' THEN '0' ELSE '1' END"
    within = f"trim(coalesce({get('rs_id')}, {get('lcr_position')}, ''))"
    return _joined(streamed, _padded(get("scn")), within, _padded(f"coalesce({get('ssn')}, '0')"))


def _padded(number: str) -> str:
    return f"CASE WHEN {number} RLIKE '^[0-9]{{1,{_DIGITS}}}$' THEN lpad({number}, {_DIGITS}, '0') END"


def _joined(*parts: str) -> str:
    """Null where a part is."""
    separated = ", '.', ".join(parts)
    return f"concat({separated})"
