"""The documents that FlareIaC stores or prints: where each one is, which version it has, and the schema of
what is written.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Any, Final, Literal, TypedDict

from flareiac.app.state_place.backend_record import FORMAT_VERSION as BACKEND_VERSION
from flareiac.app.state_place.backend_record import BackendRecord
from flareiac.config.kept_blocks import FORMAT as BLOCKS_VERSION
from flareiac.lang.grammar import FORMAT as GRAMMAR_VERSION
from flareiac.lang.syntax_cache import FORMAT as SYNTAX_VERSION
from flareiac.model.emergency import EmergencyHeader
from flareiac.model.intents import StoredMaintenance, StoredRequest
from flareiac.model.journal import Entry
from flareiac.model.picture import FORMAT_VERSION as PICTURE_VERSION
from flareiac.model.picture import Picture
from flareiac.model.plan import Plan
from flareiac.model.plan_file import FORMAT_VERSION as PLAN_VERSION
from flareiac.model.plan_file import KIND
from flareiac.model.relocation import BoundPlace
from flareiac.model.snapshot import FORMAT_VERSION as STATE_VERSION
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.render.policy_documents import FORMAT_VERSION as POLICY_VERSION
from flareiac.render.report.content import FORMAT_VERSION as REPORT_VERSION
from flareiac.render.report.content import Report
from flareiac.render.why.content import FORMAT_VERSION as WHY_VERSION
from flareiac.render.why.content import Why
from flareiac.state.envelope import Envelope
from flareiac_iceberg.maintenance.figures import Figures
from flareiac_spark.checkpoint_files.manager import VERSION as MARK_VERSION
from flareiac_spark.checkpoint_files.manager import Mark
from flareiac_spark.job.kept_answers import KeptAnswer
from flareiac_spark.runtime.cache import Note
from flareiac_spark_runtime import sources
from flareiac_spark_runtime.checkpoint_log import MANAGED_BY
from flareiac_spark_runtime.control import Desired, JobSpec, Lease, Operation, Result, Status
from flareiac_spark_runtime.control.atomic_files import VERSION as CONTROL_VERSION
from flareiac_spark_runtime.control.refused_start import RefusedStart
from flareiac_spark_runtime.sources.avro.notes import SchemaNotes
from flareiac_spark_runtime.sources.kafka.first_starts import FirstStarts
from flareiac_spark_runtime.sources.kafka.topic_notes import TopicNotes
from flareiac_spark_runtime.sources.resolved import resolved_class
from flareiac_state.lock_file import LockRecord
from flareiac_state.log_record import Header
from tests.formats import printed
from tests.formats.cached import GrammarTable, JarLock, Starts, SyntaxFile, with_blocks, with_nodes
from tests.formats.record_schemas import DIALECT, Schema, schema_of

REFUSED: Final = "refused"
"""A reader refuses a document with a field that it does not know."""
PASSED_OVER: Final = "passed over"
"""A reader of another release passes over a field that it does not know."""
AGAIN: Final = "made again"
_AS_PLANNED: Final[Schema] = {"const": "planned"}


class Bound(TypedDict):
    """The part of a plan file that binds it to a folder."""

    root: str
    places: tuple[BoundPlace, ...]


@dataclass(frozen=True, kw_only=True)
class Document:
    """One kind of stored document. ``kind`` is the type of its record. ``beside`` are further fields of the
    same object, by name. ``version_in`` says where the version is written; ``declared_in`` names the place in
    the code where it is raised. ``unknown`` says what readers do with unknown fields, ``higher`` what an
    earlier release does with a higher version. ``made_again``: no reader takes another version than its own;
    it makes the document again. ``prints``: the commands that print it; nothing stores it.
    """

    name: str
    title: str
    place: str
    kind: Any
    version: int
    version_in: str
    declared_in: str
    writer: str
    reader: str
    unknown: str = REFUSED
    higher: str = "refused (FIS001)"
    beside: Mapping[str, Any] = field(default_factory=dict)
    made_again: bool = False
    prints: tuple[str, ...] = ()
    amend: Callable[[Schema], None] = lambda _schema: None

    @property
    def printed(self) -> bool:
        return bool(self.prints)

    @property
    def file(self) -> str:
        """The place of the schema in the folder of schemas."""
        return f"printed/{self.name}.json" if self.printed else f"{self.name}.json"

    def schema(self) -> Schema:
        """The schema of what this release writes."""
        schema = schema_of(self.kind)
        if self.beside:
            # The fields beside those of a record are in the same object.
            own = schema["$defs"].pop(schema.pop("$ref").rpartition("/")[2])
            beside = {name: schema_of(kind) for name, kind in self.beside.items()}
            for part in beside.values():
                schema["$defs"].update(part.pop("$defs", {}))
            own["properties"] = {**beside, **own["properties"]}
            own["required"] = [*beside, *own["required"]]
            schema = {**own, "$defs": dict(sorted(schema["$defs"].items()))}
        self.amend(schema)
        return {"$schema": DIALECT, "title": self.title, "version": self.version, **schema}


def _with_repeats(schema: Schema) -> None:
    """Attributes that are the planned ones are named in a plan file, not repeated."""
    planned = schema["$defs"]["PlannedResource"]["properties"]
    for name in ("desired", "recorded", "observed"):
        planned[name]["anyOf"].append(_AS_PLANNED)
    reference = schema["$defs"]["Written"]["properties"]
    reference["attributes"] = {"anyOf": [reference["attributes"], _AS_PLANNED]}


def _with_sources(schema: Schema) -> None:
    """The kinds of sources are no closed union in the record: each is a package of its own."""
    kinds = [kind for name in sources.KINDS if (kind := resolved_class(name)) is not None]
    of_kinds = schema_of(reduce(or_, kinds))
    schema["$defs"].update(of_kinds.pop("$defs"))
    schema["$defs"]["StreamInput"]["properties"]["source"] = of_kinds


def _control(name: str, place: str, kind: type, title: str, writer: str, reader: str) -> Document:
    return Document(
        name=name,
        title=title,
        place=f"`{place}` in a control directory",
        kind=kind,
        version=CONTROL_VERSION,
        version_in="in `version`",
        declared_in="`VERSION` in `control/atomic_files.py`",
        writer=writer,
        reader=reader,
        higher="refused (FIK804): use the release that wrote it",
        unknown=REFUSED if place.startswith("operations/") else PASSED_OVER,
        beside={"version": Literal[CONTROL_VERSION], "release": str},
    )


def _notes(name: str, place: str, kind: type, title: str) -> Document:
    return Document(
        name=name,
        title=title,
        place=f"`{place}` beside the folder of a generation",
        kind=kind,
        version=1,
        version_in="in no field: another version gets another file name",
        declared_in="`tests/formats/documents.py`, with the new name",
        writer="driver",
        reader="driver, commands",
        higher="there is none",
    )


def _cached(
    name: str,
    place: str,
    title: str,
    kind: Any,
    *,
    version: int = 1,
    version_in: str = "in no field",
    declared_in: str = "`tests/formats/documents.py`, with another name in the code",
    amend: Callable[[Schema], None] = lambda _schema: None,
) -> Document:
    """A document of the user's cache."""
    return Document(
        name=name,
        title=title,
        place=f"`{place}` in the user's cache",
        kind=kind,
        version=version,
        version_in=version_in,
        declared_in=declared_in,
        writer=_COMMANDS,
        reader=_COMMANDS,
        unknown=AGAIN,
        higher=AGAIN,
        made_again=True,
        amend=amend,
    )


def _printed(
    name: str,
    title: str,
    kind: Any,
    *commands: str,
    options: str = "-json",
    version: int = 1,
    version_in: str = "in `format_version`",
    declared_in: str = "`tests/formats/documents.py`, with `format_version` of the document",
    amend: Callable[[Schema], None] = lambda _schema: None,
) -> Document:
    """A document that these commands print."""
    called = " and ".join(f"`{command} {options}`" for command in commands)
    return Document(
        name=name,
        title=title,
        place=f"standard output of {called}",
        kind=kind,
        version=version,
        version_in=version_in,
        declared_in=declared_in,
        writer=", ".join(f"`{command}`" for command in commands),
        reader="your programs",
        unknown=PASSED_OVER,
        higher="for your programs to refuse",
        prints=commands,
        amend=amend,
    )


def _with_other_sheets(schema: Schema) -> None:
    """Providers of other packages have sheets of their own in ``status``."""
    row = {"type": "object", "properties": {"address": {"type": "string"}}, "required": ["address"]}
    schema["$defs"]["Status"]["additionalProperties"] = {"type": "array", "items": row}


_COMMANDS, _DRIVER = "commands", "driver"
PRINTED: Final = (
    _printed(
        "report",
        "Report of a plan",
        Report,
        "report",
        options="-format=json",
        version=REPORT_VERSION,
        declared_in="`FORMAT_VERSION` in `flareiac/render/report/content.py`",
    ),
    _printed(
        "why",
        "Why a plan does what it does",
        Why,
        "why",
        version=WHY_VERSION,
        declared_in="`FORMAT_VERSION` in `flareiac/render/why/content.py`",
    ),
    _printed(
        "graph",
        "Picture of a configuration",
        Picture,
        "graph",
        options="-format=json",
        version=PICTURE_VERSION,
        declared_in="`FORMAT_VERSION` in `flareiac/model/picture.py`",
    ),
    _printed(
        "policy-check",
        "Answers of the rules of a team about a plan",
        printed.PolicyCheck,
        "policy check",
        options="-format=json",
        version=POLICY_VERSION,
        declared_in="`FORMAT_VERSION` in `flareiac/render/policy_documents.py`",
    ),
    _printed("show-plan", "Saved plan in the shape of Terraform's plan JSON", printed.ShownPlan, "show"),
    _printed("show-state", "State in the shape of Terraform's state JSON", printed.ShownState, "show"),
    _printed(
        "ui",
        "One line of what a plan or an apply tells while it runs",
        printed.LINES,
        *("plan", "apply", "destroy", "maintain"),
        version_in="`ui` of the first line",
        declared_in="`UI_VERSION` in `flareiac/render/ui_json.py`",
    ),
    _printed(
        "drift",
        "One line of what drift finds",
        printed.DRIFT_LINES,
        "drift",
        version_in="`ui` of the first line",
        declared_in="`UI_VERSION` in `flareiac/render/ui_json.py`",
    ),
    _printed("validate", "What is wrong with a configuration", printed.Validated, "validate"),
    _printed(
        "status", "What jobs do, and how tables are kept", printed.Status, "status", amend=_with_other_sheets
    ),
    _printed(
        "output",
        "Outputs of the last apply; of one output (output -json NAME) the value alone is printed",
        printed.OUTPUTS,
        "output",
        version_in="in no field: it is Terraform's",
    ),
    _printed(
        "console",
        "One line of the console: the value of an expression, or what is wrong with it",
        printed.CONSOLE,
        "console",
        version_in="in no field: programs read `value`, `type` and `error`",
    ),
    _printed("doctor", "State of a machine and of the systems", printed.Doctor, "doctor"),
    _printed("explain", "One explanation, or all names", printed.Explained | printed.Entries, "explain"),
    _printed("state-list", "Recorded addresses", printed.Addresses, "state list"),
    _printed(
        "state-show",
        "Record of one resource, as the state has it",
        ResourceRecord,
        "state show",
        version_in="in `format_version` of the state",
        declared_in="`FORMAT_VERSION` in `flareiac/model/snapshot.py`",
    ),
    _printed("state-history", "Earlier states", printed.History, "state history"),
    _printed("lock-status", "Holder of the state lock", printed.Lock, "lock status"),
    _printed("workspace-list", "Workspaces", printed.Workspaces, "workspace list"),
    _printed("version", "Version and providers", printed.Version, "version", version_in="in no field"),
    _printed("table-snapshots", "Snapshots of a table", printed.Snapshots, "table snapshots"),
    _printed("checkpoint-show", "What is in a checkpoint", printed.Checkpoint, "checkpoint show"),
    _printed(
        "failure",
        "What a command prints that cannot do its work, unless it prints lines",
        printed.Failed,
        "every command",
    ),
)
"""The documents that commands print for programs."""
DOCUMENTS: Final = (
    Document(
        name="state",
        title="State: what the last applies recorded",
        place="`.flareiac/state/WORKSPACE/snapshot.json`, its history; the payload of a snapshot elsewhere",
        kind=Snapshot,
        version=STATE_VERSION,
        version_in="in `format_version`",
        declared_in="`FORMAT_VERSION` in `flareiac/model/snapshot.py`",
        writer="commands that change anything",
        reader=_COMMANDS,
        beside={"format_version": Literal[STATE_VERSION], "digest": str},
    ),
    Document(
        name="journal",
        title="Journal: one record of what an apply does",
        place="one frame of `.flareiac/state/WORKSPACE/journal.jsonl`, one line of an emergency file",
        kind=Entry,
        version=STATE_VERSION,
        version_in="in `format_version` of the state",
        declared_in="`FORMAT_VERSION` in `flareiac/model/snapshot.py`",
        writer="`apply` and commands that change anything",
        reader=_COMMANDS,
    ),
    Document(
        name="intent",
        title="Intent: the field `operation` of a journal's record",
        place="inside the journal",
        kind=StoredRequest | StoredMaintenance,
        version=STATE_VERSION,
        version_in="in `format_version` of the state",
        declared_in="`FORMAT_VERSION` in `flareiac/model/snapshot.py`",
        writer="`apply` and commands that change anything",
        reader=_COMMANDS,
    ),
    Document(
        name="emergency",
        title="Emergency file: its first line",
        place="`.flareiac/emergency-*.journal`",
        kind=EmergencyHeader,
        version=1,
        version_in="in `format_version`",
        declared_in="`EmergencyHeader` in `flareiac/model/emergency.py`",
        writer="`apply`, where the state cannot be written",
        reader="`apply`, `state recover`",
        higher="refused (FIS082); the file is kept",
    ),
    Document(
        name="plan",
        title="Saved plan",
        place="the file that `plan -out=FILE` names",
        kind=Plan,
        version=PLAN_VERSION,
        version_in="in `format_version`",
        declared_in="`FORMAT_VERSION` in `flareiac/model/plan_file.py`",
        writer="`plan -out`",
        reader="`apply FILE`, `show FILE`",
        beside={
            "format_version": Literal[PLAN_VERSION],
            "kind": Literal[KIND],
            "flareiac_version": str,
            "bound": Bound,
            "digest": str,
        },
        amend=_with_repeats,
        higher="refused (FIX032): make the plan again",
    ),
    Document(
        name="backend",
        title="Record of the shared backend",
        place="`.flareiac/backend.json`",
        kind=BackendRecord,
        version=BACKEND_VERSION,
        version_in="in `format_version`",
        declared_in="`FORMAT_VERSION` in `flareiac/app/state_place/backend_record.py`",
        writer="`init` and commands that change anything",
        reader=_COMMANDS,
        beside={"format_version": Literal[BACKEND_VERSION]},
        higher="refused (FIS071)",
    ),
    Document(
        name="state-lock",
        title="Lock of a local state",
        place="`.flareiac/state/WORKSPACE/lock.json`",
        kind=LockRecord,
        version=1,
        version_in="in no field: another version gets another file name",
        declared_in="`tests/formats/documents.py`, with the new name",
        writer="commands that change anything",
        reader=_COMMANDS,
        beside={"digest": str},
        higher="there is none",
    ),
    Document(
        name="log-record",
        title="Record of a remote state: its header",
        place="the second line of an object in S3, or of a row of `state_log` in PostgreSQL",
        kind=Header,
        version=1,
        version_in="in the first line, `flareiac-log 1`",
        declared_in="`_MAGIC` in `state/flareiac_state/log_record.py`",
        writer="commands that change anything",
        reader=_COMMANDS,
    ),
    Document(
        name="encrypted",
        title="Envelope of what is encrypted",
        place="state, journal, emergency files and saved plans under a passphrase",
        kind=Envelope,
        version=1,
        version_in="in `flareiac_encrypted`",
        declared_in="`Envelope` in `flareiac/state/envelope.py`",
        writer="what writes the text inside",
        reader="what reads the text inside",
        higher="not read: what is inside cannot be understood (FIS001)",
    ),
    _control("desired", "desired.json", Desired, "What an application should run", _COMMANDS, _DRIVER),
    _control("status", "status.json", Status, "What an application does", _DRIVER, _COMMANDS),
    _control(
        "lease", "lease.json", Lease, "Which driver leads a control directory", _DRIVER, "driver, commands"
    ),
    _control(
        "operation", "operations/ID.json", Operation, "Work that a driver does once", _COMMANDS, _DRIVER
    ),
    _control("result", "results/ID.json", Result, "What came of such work", _DRIVER, _COMMANDS),
    _control(
        "refused-start",
        "refused-start.json",
        RefusedStart,
        "Why a driver could not start",
        _DRIVER,
        _COMMANDS,
    ),
    Document(
        name="job-spec",
        title="Job for a driver: the field `spec` of a desired job",
        place="inside `desired.json` and operations",
        kind=JobSpec,
        version=CONTROL_VERSION,
        version_in="in `version` of the file",
        declared_in="`VERSION` in `control/atomic_files.py`",
        writer=_COMMANDS,
        reader=_DRIVER,
        amend=_with_sources,
        higher="refused (FIK804)",
    ),
    _notes("topics", ".gNNNN.topics.json", TopicNotes, "Topics that queries of a checkpoint read"),
    _notes("schemas", ".gNNNN.schemas.json", SchemaNotes, "Avro schemas that queries of a checkpoint met"),
    _notes("first-starts", ".gNNNN.first.json", FirstStarts, "Offsets where queries of a job began"),
    Document(
        name="starts",
        title="Times at which queries of a checkpoint begin, and what prepared a generation",
        place="`.gNNNN.starts.json` beside the folder of a generation",
        kind=Starts,
        version=CONTROL_VERSION,
        version_in="in `version`",
        declared_in="`VERSION` in `control/atomic_files.py`",
        writer="driver, commands",
        reader="driver, commands",
        unknown=PASSED_OVER,
        beside={"version": Literal[CONTROL_VERSION]},
        higher="refused by the driver (`START_TIMES_UNREADABLE`)",
    ),
    Document(
        name="mark",
        title="Mark of a checkpoint: which state manages it, and the other end of a move",
        place=f"`{MANAGED_BY}` in the folder of a checkpoint",
        kind=Mark,
        version=MARK_VERSION,
        version_in="in `version`",
        declared_in="`VERSION` in `flareiac_spark/checkpoint_files/manager.py`",
        writer=_COMMANDS,
        reader="driver, commands",
        unknown=PASSED_OVER,
        beside={"version": Literal[MARK_VERSION]},
        higher="read as far as it is known",
    ),
    Document(
        name="jar-lock",
        title="Lock file of the jars: its blocks as JSON",
        place="`.flareiac.lock.hcl`",
        kind=JarLock,
        version=1,
        version_in="in no field: another version gets another file name",
        declared_in="`tests/formats/documents.py`, with the new name",
        writer="`init`",
        reader="every start",
        unknown="refused (FIK907)",
        higher="there is none",
    ),
    _cached(
        "syntax-cache",
        "syntax/VERSION-DIGEST.json",
        "Syntax of a source",
        SyntaxFile,
        version=SYNTAX_VERSION,
        version_in="in the name of the file",
        declared_in="`FORMAT` in `flareiac/lang/syntax_cache.py`",
        amend=with_nodes,
    ),
    _cached(
        "kept-blocks",
        "blocks/VERSION-DIGEST.json",
        "Evaluated blocks of a project",
        Mapping[str, str],
        version=BLOCKS_VERSION,
        version_in="in the name of the file",
        declared_in="`FORMAT` in `flareiac/config/kept_blocks.py`",
        amend=with_blocks,
    ),
    _cached(
        "figures",
        "figures-RELEASE-LINEAGE-WORKSPACE.json",
        "Measured figures of tables, by address",
        Mapping[str, Figures],
        version_in="in no field; the release is in the name of the file",
    ),
    _cached(
        "grammar-table",
        "grammar_table",
        "Compiled grammar of another python-hcl2 than that of the release",
        GrammarTable,
        version=GRAMMAR_VERSION,
        version_in="in `digest`",
        declared_in="`FORMAT` in `flareiac/lang/grammar.py`",
    ),
    _cached(
        "file-note",
        "jars/GROUP/JAR.sha256.json` and `java/DIGEST.json",
        "What was found out about a file: the hash of a jar, the version of a Java",
        Note,
    ),
    _cached(
        "kept-answers",
        "proofs/DIGEST.json",
        "Answers of a local Spark about changes of jobs",
        Mapping[str, KeptAnswer],
    ),
)
