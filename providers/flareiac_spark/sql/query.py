"""The query of one output, as it is declared: texts, and what is known of the relations that they read."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field

from flareiac.kernel.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """The query of one output.

    ``steps``: name -> SQL, in order. ``source``: the step or input that the output writes. ``streams``: the
    streamed inputs. ``columns``: input -> column -> type as Iceberg spells it (``long``, ``decimal(12,2)``),
    empty where unknown. ``dedups``: step -> the columns that its rows are deduplicated by, after its SQL.
    ``identities``: input -> what it reads, for inputs whose name does not tell: another name for the same is
    no difference then. ``table_columns``: the columns of the table in order, if the query selects them in
    this order before it is written; the state keeps aggregates in the order in which their columns come out.
    ``exact_names``: what takes the rows minds the case of a column's name, as code and the fields of a record
    do, and a table does not.
    ``moved``: relations whose columns are not known here and may be others than they were.
    ``watermarked``: steps whose rows get a watermark, after their SQL.
    """

    steps: Mapping[str, str]
    source: str
    streams: Collection[str]
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    dedups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    identities: Mapping[str, str] = field(default_factory=dict)
    table_columns: Sequence[str] = ()
    exact_names: bool = False
    moved: Collection[str] = ()
    watermarked: Collection[str] = ()
