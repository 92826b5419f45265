"""From a job block to canonical attributes: everything that runs is in them, so that whatever changes it is a
change of the job.
"""

from collections.abc import Sequence
from typing import Final

from flareiac.kernel.data import UNKNOWN, Attributes, Data, Reference, digest
from flareiac.kernel.data import canonical as canonical_text
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.paths import Path
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.resource_type import Decoded
from flareiac.sdk.secret_settings import checked_settings
from flareiac.sdk.validators import parse_duration
from flareiac_spark import codes
from flareiac_spark.checkpoint_files.layout import ALL
from flareiac_spark.column_types import NotAType, normal_type
from flareiac_spark.definition import foreign_tables, validation
from flareiac_spark.definition.checkpoint_conf import conf_of
from flareiac_spark.definition.code import declared_code, python_step
from flareiac_spark.engine.canonical import checked_conf
from flareiac_spark.places import folder_of_pattern
from flareiac_spark.sql.relations import columns_given, columns_read, stars_over
from flareiac_spark.stream.canonical import columns_of, files_place, table_columns, watermark_of

POSITIONAL: Final = ("csv",)
"""Formats whose columns are distinguished by position: leaving one out would shift the others."""


def canonical(
    decoded: Decoded, references: References, project: Project, diagnostics: Diagnostics
) -> Attributes:
    """Canonical attributes; what is wrong is reported with the path of its attribute."""
    wanted = decoded.attributes
    mode = wanted.get("mode") or "stream"
    trigger = validation.trigger_of(wanted.get("trigger"), mode, diagnostics)
    steps = _steps(wanted.get("step") or {}, diagnostics)
    code = declared_code(wanted.get("code"), steps, project, diagnostics)
    inputs = _inputs(wanted.get("input") or {}, steps, references, project, diagnostics)
    outputs = _outputs(wanted.get("output") or {}, steps, inputs, references, diagnostics)
    engine, checkpoint = _chosen("engine", wanted.get("engine"), references), wanted.get("checkpoint")
    attributes: Attributes = {
        "engine": engine,
        "application": _application(engine, references, project),
        "checkpoint": checkpoint,
        **_checkpoint(checkpoint, references),
        "mode": mode,
        "trigger": trigger,
        "inputs": inputs,
        "steps": steps,
        "step_order": list(steps),
        "code": code,
        "outputs": outputs,
        "conf": _conf(wanted.get("conf"), checkpoint, references, diagnostics),
        "restart": _restart(wanted.get("restart"), diagnostics),
        "stability": _stability(wanted.get("stability"), diagnostics),
        "health": _health(wanted.get("health"), diagnostics),
        "foreach_batch": bool(wanted.get("foreach_batch")),
        "accept_result_change": wanted.get("accept_result_change"),
        "run": wanted.get("run") or "on_change",
        "stopped": bool(wanted.get("stopped")),
        "restart_nonce": wanted.get("restart_nonce") or 0,
        "comment": wanted.get("comment"),
        "tags": wanted.get("tags"),
    }
    validation.check(attributes, diagnostics)
    validation.check_columns(
        attributes, {name: _certain_columns(item, references) for name, item in inputs.items()}, diagnostics
    )
    foreign_tables.warn_of_expiry(decoded.name, attributes, project, diagnostics)
    return attributes


def _certain_columns(item: Attributes, references: References) -> list[str] | None:
    """The columns of an input, None where they are not known, or are those of a table of this project: what a
    column that leaves it means for its readers is reported with the table's change, in the plan.
    """
    table = item.get("table") or (item.get("source") or {}).get("table")
    if (
        isinstance(table, Reference)
        and table.address in references
        and references[table.address].type == "table"
    ):
        return None
    return [column["name"] for column in input_columns(item, references)] or None


def sources(attributes: Attributes, project: Project) -> tuple[str, ...]:
    """The folders whose files it reads: its inputs, and its code."""
    read = [item.get("source") or item for item in (attributes.get("inputs") or {}).values()]
    inputs = [item["path"] for item in read if item.get("kind") == "files"]
    code = attributes.get("code") or {}
    return tuple(folder_of_pattern(path, project) for path in (*inputs, *filter(None, (code.get("path"),))))


def is_finite(attributes: Attributes) -> bool:
    """Whether the job ends by itself."""
    return attributes["mode"] == "batch" or attributes["trigger"]["kind"] in ("once", "available_now")


def query_names(attributes: Attributes) -> list[str]:
    """A job's queries, each named like the folder of its checkpoint: one for each output, or one for all of
    them.
    """
    return [ALL] if attributes["foreach_batch"] else sorted(attributes["outputs"])


def input_columns(item: Attributes, references: References) -> list[Attributes]:
    """All columns of an input in order, also those that no step reads. Takes a canonical input."""
    match item["kind"]:
        case "stream":
            stream = references.get(item["stream"].address)
            return list(stream.attributes["columns"]) if stream else []
        case "table":
            return table_columns(item["table"], references)
        case _:
            return [_column(name, text) for name, text in item["columns"].items()]


def column_texts(columns: Sequence[Attributes]) -> Attributes:
    """Columns by name, as types with ``not null``."""
    return {
        column["name"]: f"{column['type']}{' not null' if column['required'] else ''}" for column in columns
    }


def _column(name: str, text: str) -> Attributes:
    return {"name": name, "type": text.removesuffix(" not null"), "required": text.endswith(" not null")}


def _chosen(kind: str, reference: Data, references: References) -> Reference | None:
    """The resource that an attribute names, or the only one of its type."""
    if isinstance(reference, Reference):
        return reference
    known = [address for address, item in references.items() if item.type == kind]
    return Reference(known[0]) if known else None


def _application(engine: Reference | None, references: References, project: Project) -> Attributes:
    """The settings that the job runs with: those of the engine, whose change restarts the application, and
    its catalogs, as digests.

    Places below the root count as relative to it: the same project in another folder is the same.
    """
    resolved = references.get(engine.address) if engine else None
    if resolved is None:
        return {}
    catalogs = {
        item.attributes["name"]: digest(
            canonical_text(item.attributes.get("spark_conf")).replace(str(project.root), "")
        )
        for item in references.values()
        if item.type == "catalog"
    }
    return {**resolved.attributes, "catalogs": dict(sorted(catalogs.items()))}


def _checkpoint(checkpoint: Data, references: References) -> Attributes:
    resolved = references.get(checkpoint.address) if isinstance(checkpoint, Reference) else None
    if resolved is None:
        return {"checkpoint_location": None, "generation": None}
    return {
        "checkpoint_location": resolved.attributes["location"],
        "generation": resolved.attributes["generation"],
    }


def _steps(declared: Attributes, diagnostics: Diagnostics) -> Attributes:
    """By name. A step in Python has no SQL: "" reads as a query of which nothing can be determined."""
    found: Attributes = {}
    for name, step in declared.items():
        _one_way(name, step, diagnostics)
        found[name] = {
            "sql": step.get("sql") if isinstance(step.get("sql"), str) else "",
            **python_step(step, ("step", name), diagnostics),
            "dedup": _dedup(step.get("dedup"), ("step", name, "dedup"), diagnostics),
            "watermark": watermark_of(step.get("watermark"), None, ("step", name, "watermark"), diagnostics),
        }
    return found


def _one_way(name: str, step: Attributes, diagnostics: Diagnostics) -> None:
    sql, python = step.get("sql"), step.get("python")
    if sql is not None and python is not None:
        why = (
            f"The step {name} has both. Make a second step of one of them: it reads the first one by its "
            "name."
        )
        diagnostics.error(codes.STEP_WITH_TWO_QUERIES, why, attribute=("step", name, "python"))
    elif python is UNKNOWN:
        why = f"The function of step {name} must be known while planning."
        diagnostics.error(codes.STEP_FUNCTION_UNKNOWN, why, attribute=("step", name, "python"))
    elif python is None and not (isinstance(sql, str) and sql.strip()):
        why = (
            f'Write the query of step {name}, sql = <<-SQL ... SQL, or python = "module:function". It '
            "must be known while planning."
        )
        diagnostics.error(codes.STEP_WITHOUT_QUERY, why, attribute=("step", name))


def _inputs(
    declared: Attributes,
    steps: Attributes,
    references: References,
    project: Project,
    diagnostics: Diagnostics,
) -> Attributes:
    queries = [step["sql"] for step in steps.values()]
    found: Attributes = {}
    for name, item in declared.items():
        if isinstance(item.get("stream"), Reference):
            found[name] = _stream_input(name, item["stream"], queries, references)
        elif isinstance(item.get("table"), Reference):
            columns = table_columns(item["table"], references)
            read = columns_read(queries, name, [column["name"] for column in columns]) if queries else None
            order = _order(columns) if stars_over(queries, name) else {}
            found[name] = {
                "kind": "table",
                "table": item["table"],
                "columns": column_texts(_kept(columns, read)),
                **order,
            }
        elif item.get("files"):
            found[name] = _files_input(name, item["files"], references, project, diagnostics)
    return found


def _stream_input(
    name: str, reference: Reference, queries: Sequence[str], references: References
) -> Attributes:
    """A stream as this job reads it: without the columns that no step reads, since they do not concern what
    runs.
    """
    stream = references.get(reference.address)
    if stream is None:
        return {
            "kind": "stream",
            "stream": reference,
            "source": {"kind": "unknown"},
            "columns": {},
            "watermark": None,
        }
    source, columns, watermark = (
        stream.attributes["source"],
        stream.attributes["columns"],
        stream.attributes["watermark"],
    )
    read = columns_read(queries, name, [column["name"] for column in columns]) if queries else None
    if read is not None and watermark is not None:
        read |= {watermark["column"].lower()}
    ordered = source.get("format") in POSITIONAL
    found: Attributes = {
        "kind": "stream",
        "stream": reference,
        "source": source,
        "columns": column_texts(_kept(columns, None if ordered else read)),
        "watermark": watermark,
    }
    return {**found, **_order(columns)} if ordered or stars_over(queries, name) else found


def _order(columns: Sequence[Attributes]) -> Attributes:
    """What files without names, and stars, mind: equal maps say nothing of it."""
    return {"column_order": [column["name"] for column in columns]}


def _kept(columns: Sequence[Attributes], read: frozenset[str] | None) -> list[Attributes]:
    return [column for column in columns if read is None or column["name"].lower() in read]


def _files_input(
    name: str, files: Attributes, references: References, project: Project, diagnostics: Diagnostics
) -> Attributes:
    at = ("input", name, "files")
    columns = columns_of(files.get("column"), diagnostics, (*at, "column"))
    for column, text in (files.get("columns") or {}).items():
        try:
            kind, required = normal_type(text)
        except NotAType as problem:
            diagnostics.error(
                codes.COLUMN_TYPE_OF_FILES, f"Column {column}: {problem}", attribute=(*at, "columns", column)
            )
            continue
        columns.append({"name": column, "type": kind, "required": required})
    if not columns and files["format"] == "text":
        columns = [{"name": "value", "type": "string", "required": False}]
    if not columns:
        why = (
            f'Input {name}: write columns = {{ name = "string" }}, or column "name" {{ type = "string" '
            "} for each."
        )
        diagnostics.error(codes.FILE_COLUMNS_MISSING, why, attribute=at)
    return {
        "kind": "files",
        "path": files_place(files["path"], (*at, "path"), project, diagnostics),
        "format": files["format"],
        "options": checked_settings(files.get("options"), (*at, "options"), references, diagnostics),
        "columns": column_texts(columns),
        "column_order": [column["name"] for column in columns],
    }


def _outputs(
    declared: Attributes,
    steps: Attributes,
    inputs: Attributes,
    references: References,
    diagnostics: Diagnostics,
) -> Attributes:
    default = next(reversed(steps), next(iter(inputs), ""))
    given = _columns_given(steps, inputs, references)
    found: Attributes = {}
    for name, output in declared.items():
        source = output.get("from") or default
        columns = table_columns(output["table"], references)
        names = given.get(source.lower())
        filled = None if names is None else frozenset(column.lower() for column in names)
        found[name] = {
            "table": output["table"],
            "from": source,
            "mode": output.get("mode") or "append",
            "merge": _merge(output.get("merge")),
            "branch": output.get("branch"),
            "rebuild": output.get("rebuild") or "keep",
            "options": checked_settings(
                output.get("options"), ("output", name, "options"), references, diagnostics
            ),
            "columns": column_texts(_kept(columns, filled)),
        }
    return found


def _columns_given(
    steps: Attributes, inputs: Attributes, references: References
) -> dict[str, Sequence[str] | None]:
    """The columns that each input and step gives, by lower-case name; None where only Spark can tell."""
    known: dict[str, Sequence[str] | None] = {
        name.lower(): [column["name"] for column in input_columns(item, references)] or None
        for name, item in inputs.items()
    }
    for name, step in steps.items():
        known[name.lower()] = columns_given(step["sql"], known)
    return known


def _conf(conf: Data, checkpoint: Data, references: References, diagnostics: Diagnostics) -> Attributes:
    own = checked_conf(conf, references, diagnostics)
    resolved = references.get(checkpoint.address) if isinstance(checkpoint, Reference) else None
    if resolved is None:
        return own
    implied = conf_of(resolved.attributes)
    for name in sorted(set(own) & set(implied)):
        if own[name] != implied[name] and name != "spark.sql.streaming.minBatchesToRetain":
            diagnostics.error(
                codes.SETTING_SET_TWICE,
                f"{name}: {checkpoint} sets {implied[name]}, and conf sets {own[name]}. Keep the one in the "
                "checkpoint: it is pinned there.",
                attribute=("conf", name),
            )
    return dict(sorted({**implied, **own}.items()))


def _dedup(dedup: Data, at: Path, diagnostics: Diagnostics) -> Attributes | None:
    if not isinstance(dedup, dict):
        return None
    if not dedup.get("keys"):
        diagnostics.error(
            codes.DEDUP_WITHOUT_KEYS, 'Write for example dedup = { keys = ["id"] }.', attribute=at
        )
    within = dedup.get("within_watermark")
    return {"keys": list(dedup.get("keys") or ()), "within_watermark": True if within is None else within}


def _merge(merge: Data) -> Attributes | None:
    if not isinstance(merge, dict):
        return None
    return {
        "on": list(merge.get("on") or ()),
        **{name: merge.get(name) for name in ("latest_by", "update_if", "delete_if")},
    }


def _health(health: Data, diagnostics: Diagnostics) -> Attributes | None:
    if not isinstance(health, dict):
        return None
    names = ("max_lag", "max_batch_duration", "max_idle")
    given = {name: text for name in names if (text := health.get(name)) is not None}
    return {
        f"{name}_ms": _duration(given[name], "0s", "health", diagnostics) if name in given else None
        for name in names
    }


def _restart(restart: Data, diagnostics: Diagnostics) -> Attributes:
    given = restart if isinstance(restart, dict) else {}
    failures = given.get("max_failures")
    return {
        "max_failures": 3 if failures is None else failures,
        "within_ms": _duration(given.get("within"), "1h", "restart", diagnostics),
        "backoff_ms": _duration(given.get("backoff"), "10s", "restart", diagnostics),
    }


def _stability(stability: Data, diagnostics: Diagnostics) -> Attributes:
    given = stability if isinstance(stability, dict) else {}
    on_failure = given.get("on_failure") or "leave"
    if on_failure not in ("leave", "rollback") and on_failure is not UNKNOWN:
        why = (
            f'There is no on_failure = {on_failure!r}. Write "leave" (it goes on trying) or "rollback" '
            "(to the last stable definition)."
        )
        diagnostics.error(codes.UNKNOWN_ON_FAILURE, why, attribute=("stability",))
    return {
        "within_ms": _duration(given.get("within"), "2m", "stability", diagnostics),
        "on_failure": on_failure,
    }


def _duration(text: Data, default: str, attribute: str, diagnostics: Diagnostics) -> int:
    if text is not None and text is not UNKNOWN and (milliseconds := parse_duration(text)) is not None:
        return milliseconds
    if text is not None and text is not UNKNOWN:
        diagnostics.error(
            codes.INVALID_DURATION,
            f'{text!r} is not a duration. Write for example "90s" or "1h".',
            attribute=(attribute,),
        )
    return parse_duration(default) or 0
