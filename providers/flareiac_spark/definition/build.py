"""Builds the spec that the application runs, from canonical attributes and what was observed of tables.
Pure.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from flareiac.kernel.data import Attributes, Reference, digest
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac_spark import codes
from flareiac_spark.checkpoint_files.layout import ALL, folder_of
from flareiac_spark.control import (
    Dedup,
    FilesInput,
    FilesSource,
    Input,
    JobSpec,
    Merge,
    Output,
    RateSource,
    Restart,
    Source,
    SpecColumn,
    Step,
    StreamInput,
    TableInput,
    TableSource,
    Trigger,
    Watermark,
    job_spec_to_json,
)
from flareiac_spark.definition.canonical import input_columns
from flareiac_spark.definition.code import code_place
from flareiac_spark.places import absolute_place
from flareiac_spark.stream.canonical import table_columns


def spec_of(
    address: str, attributes: Attributes, references: References, project: Project, *, analysis: bool = False
) -> JobSpec:
    """The spec. ``analysis``: with every declared column, and without asking for tables that are not there
    yet. Raises ``Failure``.
    """
    build, code = _Build(attributes, references, project, analysis), code_place(attributes, project)
    spec = JobSpec(
        address=address,
        mode=attributes["mode"],
        trigger=Trigger(kind=attributes["trigger"]["kind"], interval_ms=attributes["trigger"]["interval_ms"]),
        inputs=tuple(build.input(name, item) for name, item in sorted(attributes["inputs"].items())),
        steps=tuple(build.step(name) for name in attributes["step_order"]),
        outputs=tuple(build.output(name, output) for name, output in sorted(attributes["outputs"].items())),
        conf=attributes["conf"],
        restart=Restart(**attributes["restart"]),
        run_id=None,
        foreach_batch=attributes["foreach_batch"],
        code=None if code is None else str(code),
    )
    if build.problems:
        raise Failure(*(item.at(address=address) for item in build.problems))
    return spec


def digest_of(spec: JobSpec, attributes: Attributes) -> str:
    """Changes exactly when something else would run: unread columns, unfilled target columns and the restart
    budget are no part of it.
    """
    data = job_spec_to_json(spec)
    del data["restart"], data["run_id"]
    for output in data["outputs"]:
        filled = attributes["outputs"][output["name"]]["columns"]
        output["columns"] = [column for column in output["columns"] if column["name"] in filled]
    for item in data["inputs"]:
        if item["kind"] == "stream" and item["source"]["kind"] == "table":
            # Only a first start looks at it.
            del item["source"]["start_from"]
    return digest([data, attributes["restart_nonce"], attributes["application"].get("catalogs")])


def query_digest(spec: JobSpec) -> str:
    """Of what a job computes, and so of what its state means: steps, watermarks, and what each output takes
    of them. No place, no limit.
    """
    data = job_spec_to_json(spec)
    outputs = [[output["name"], output["from"], output["mode"]] for output in data["outputs"]]
    return digest(
        [data["steps"], [[item["name"], item.get("watermark")] for item in data["inputs"]], outputs]
    )


def by_folder(spec: JobSpec, queries: Mapping[str, str | None]) -> dict[str, str]:
    """The ids of queries, given by their names, by the folder of the checkpoint that each uses."""
    names = {
        output.checkpoint: ALL if spec.foreach_batch else output.name
        for output in spec.outputs
        if output.checkpoint is not None
    }
    return {folder: query for folder, name in names.items() if (query := queries.get(name))}


class _Build:
    """Builds the parts of one spec and keeps what is missing for it."""

    def __init__(
        self, attributes: Attributes, references: References, project: Project, analysis: bool
    ) -> None:
        self._attributes, self._references, self._project, self._analysis = (
            attributes,
            references,
            project,
            analysis,
        )
        self.problems: list[Diagnostic] = []

    def input(self, name: str, item: Attributes) -> Input:
        match item["kind"]:
            case "stream":
                return StreamInput(
                    name=name, source=self._source(item), watermark=_watermark(item["watermark"])
                )
            case "table":
                identifier, uuid = self._table(item["table"])
                return TableInput(name=name, identifier=identifier, uuid=uuid, columns=self._columns(item))
            case _:
                return FilesInput(
                    name=name,
                    path=str(absolute_place(item["path"], self._project)),
                    format=item["format"],
                    options=item["options"],
                    columns=_ordered(self._columns(item), item),
                )

    def step(self, name: str) -> Step:
        step = self._attributes["steps"][name]
        dedup = step["dedup"]
        return Step(
            name=name,
            sql=step["sql"] if step.get("python") is None else None,
            python=step.get("python"),
            params=step.get("params") or {},
            dedup=Dedup(keys=tuple(dedup["keys"]), within_watermark=dedup["within_watermark"])
            if dedup
            else None,
            watermark=_watermark(step["watermark"]),
        )

    def output(self, name: str, output: Attributes) -> Output:
        identifier, uuid = self._table(output["table"])
        columns = _spec_columns(table_columns(output["table"], self._references))
        if not columns:
            why = (
                "This version writes tables whose columns are declared. Add column blocks to "
                f"{output['table']}."
            )
            self.problems.append(
                error(codes.OUTPUT_COLUMNS_UNKNOWN, why, attribute=("output", name, "table"))
            )
        return Output(
            name=name,
            source=output["from"],
            identifier=identifier,
            uuid=uuid,
            mode=output["mode"],
            options=output["options"],
            columns=columns,
            checkpoint=self._checkpoint(ALL if self._attributes["foreach_batch"] else name),
            branch=output["branch"],
            merge=_merge(output["merge"]),
        )

    def _source(self, item: Attributes) -> Source:
        source, columns = item["source"], self._columns(item)
        match source["kind"]:
            case "files":
                return FilesSource(
                    path=str(absolute_place(source["path"], self._project)),
                    format=source["format"],
                    options=source["options"],
                    max_files_per_trigger=source["max_files_per_trigger"],
                    columns=_ordered(columns, item),
                )
            case "rate":
                return RateSource(
                    rows_per_second=source["rows_per_second"],
                    ramp_up=source["ramp_up"],
                    partitions=source["partitions"],
                    columns=columns,
                )
            case _:
                identifier, uuid = self._table(source["table"])
                return TableSource(
                    identifier=identifier,
                    uuid=uuid,
                    start_from=source["start_from"],
                    max_files_per_trigger=source["max_files_per_trigger"],
                    skip_deletes=source["skip_deletes"],
                    skip_overwrites=source["skip_overwrites"],
                    columns=columns,
                )

    def _columns(self, item: Attributes) -> tuple[SpecColumn, ...]:
        found = _spec_columns(input_columns(item, self._references))
        return (
            found if self._analysis else tuple(column for column in found if column.name in item["columns"])
        )

    def _checkpoint(self, output: str) -> str | None:
        reference = self._attributes["checkpoint"]
        checkpoint = self._references.get(reference.address) if isinstance(reference, Reference) else None
        if checkpoint is None:
            return None
        return str(folder_of(checkpoint.attributes, checkpoint.identity, output, self._project))

    def _table(self, reference: Reference) -> tuple[tuple[str, ...], str | None]:
        table = self._references[reference.address]
        catalog = self._references[table.attributes["catalog"].address]
        namespace = str(table.attributes["namespace"]).split(".")
        uuid = table.identity.get("uuid") or table.attributes.get("uuid")
        if uuid is None and not self._analysis:
            why = (
                f"{reference} is not applied, so the job could write to another table. Apply the table first."
            )
            self.problems.append(error(codes.TABLE_NOT_IDENTIFIED, why))
        return (catalog.attributes["name"], *namespace, table.attributes["name"]), uuid


def _merge(merge: Attributes | None) -> Merge | None:
    if merge is None:
        return None
    return Merge(
        on=tuple(merge["on"]),
        latest_by=merge["latest_by"],
        update_if=merge["update_if"],
        delete_if=merge["delete_if"],
    )


def _ordered(columns: tuple[SpecColumn, ...], item: Attributes) -> tuple[SpecColumn, ...]:
    order = item.get("column_order")
    return columns if order is None else tuple(sorted(columns, key=lambda column: order.index(column.name)))


def _spec_columns(columns: Sequence[Attributes]) -> tuple[SpecColumn, ...]:
    return tuple(
        SpecColumn(name=column["name"], type=column["type"], required=column["required"])
        for column in columns
    )


def _watermark(watermark: Any) -> Watermark | None:
    return (
        None
        if watermark is None
        else Watermark(column=watermark["column"], delay=f"{watermark['delay_ms']} milliseconds")
    )
