"""The results of a golden case: the sections out, by their names.

Always ``plan.txt`` and ``diagnostics.txt``, empty ones left out. Named in the option ``also``: ``plan.json``
(what ``show -json`` prints of the plan), ``plan.jsonl`` (what ``plan -json`` prints), ``report.md`` and
``report.json`` (what ``report`` prints of the plan), ``why.txt`` and ``why.json`` (what ``why -plan`` prints
of the addresses in the option ``why``), ``drift.txt``, ``drift.jsonl``, ``drift.md`` and ``drift.xml`` (what
``drift`` prints in its four formats), ``apply.txt`` and ``apply.jsonl`` (what ``apply`` prints once the plan
is approved, with and without ``-json``, in a world of doubles). JSON is laid out for its reader.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from flareiac.app.discovery import installed
from flareiac.app.drift import compared
from flareiac.app.prices import with_costs
from flareiac.app.why import addresses_in, quotable_rules
from flareiac.config.prices import prices_in
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.records import encode
from flareiac.kernel.sources import Source
from flareiac.model.events import Completed, Event, Failed, Skipped
from flareiac.model.plan import Plan
from flareiac.planning.make_plan import Inputs, make_plan
from flareiac.render.apply_text import EndedOperations, apply_summary, event_line
from flareiac.render.counts import EndedChanges
from flareiac.render.diagnostics import text
from flareiac.render.drift import drift_text
from flareiac.render.drift_junit import drift_junit
from flareiac.render.drift_markdown import drift_markdown
from flareiac.render.plan_json import plan_json
from flareiac.render.plan_text import plan_text
from flareiac.render.report.content import report_of
from flareiac.render.report.json import report_json
from flareiac.render.report.markdown import report_markdown
from flareiac.render.ui_json import drift_lines, event_record, plan_lines, summary_record
from flareiac.render.why.content import Lookups, why_of
from flareiac.render.why.text import why_text
from tests.golden.case import Case, main_configuration, planning_inputs
from tests.golden.doubles import apply_to_doubles
from tests.support.json_layout import laid_out

_VERSION = "0.0.0"


def outcome(case: Case, root: Path) -> tuple[dict[str, str], Plan | None]:
    """The sections out, and the plan, None where the configuration has errors."""
    diagnostics = Diagnostics()
    desired = main_configuration(case, root, diagnostics)
    made = None
    outputs = {}
    if not diagnostics.has_errors:
        inputs = planning_inputs(case, root, desired)
        made = make_plan(inputs, case.options.planning(), diagnostics)
        if "prices.hcl" in case.inputs:
            prices = prices_in(Source("prices.hcl", case.inputs["prices.hcl"]), diagnostics)
            made = with_costs(made, prices, "prices.hcl")
        detail, steps = case.options.detail, case.options.show_steps
        types = installed().registry.types
        outputs["plan.txt"] = plan_text(
            made, colour=False, width=100, detail=detail, show_steps=steps, types=types
        )
        outputs |= _also(case, made, inputs)
    if len(diagnostics):
        outputs["diagnostics.txt"] = text(list(diagnostics), desired.sources, width=100, colour=False)
    return {
        name: content.replace(str(root), "ROOT").rstrip("\n") + "\n" for name, content in outputs.items()
    }, made


def _also(case: Case, made: Plan, inputs: Inputs) -> dict[str, str]:
    def clock() -> float:
        return inputs.time

    found: dict[str, str] = {}
    if "plan.json" in case.options.also:
        schemas = installed().registry.schemas
        found["plan.json"] = laid_out(plan_json(made, tool_version=_VERSION, schemas=schemas))
    if "plan.jsonl" in case.options.also:
        found["plan.jsonl"] = _lines(
            plan_lines(made, made.diagnostics, {}, tool_version=_VERSION, clock=clock)
        )
    if {"report.md", "report.json"} & set(case.options.also):
        report = report_of(made, tool_version=_VERSION, types=installed().registry.types)
        if "report.md" in case.options.also:
            found["report.md"] = report_markdown(report, case.options.max_chars)
        if "report.json" in case.options.also:
            found["report.json"] = laid_out(report_json(report))
    if {"why.txt", "why.json"} & set(case.options.also):
        types = installed().registry.types
        lookups = Lookups(types=types, rules=quotable_rules(), saved_in="plan.json")
        why = why_of(made, addresses_in(made, case.options.why), lookups, tool_version=_VERSION)
        if "why.txt" in case.options.also:
            found["why.txt"] = why_text(why, made, colour=False, width=100, types=types)
        if "why.json" in case.options.also:
            found["why.json"] = laid_out(encode(why))
    if {"drift.txt", "drift.jsonl", "drift.md", "drift.xml"} & set(case.options.also):
        drift = compared(made, inputs, len(inputs.snapshot.resources))
        if "drift.txt" in case.options.also:
            found["drift.txt"] = drift_text(drift)
        if "drift.md" in case.options.also:
            found["drift.md"] = drift_markdown(drift, (), workspace="default")
        if "drift.xml" in case.options.also:
            found["drift.xml"] = drift_junit(drift, ())
        if "drift.jsonl" in case.options.also:
            found["drift.jsonl"] = _lines(drift_lines(drift, tool_version=_VERSION, clock=clock))
    if {"apply.txt", "apply.jsonl"} & set(case.options.also):
        assert made.applyable, "a plan that cannot be applied has no output of an apply"
        events: list[Event] = []
        tally = apply_to_doubles(made, inputs, events.append, fails=case.options.fails).tally
        changes, records = EndedChanges(made.operations), []
        for event in events:
            if isinstance(event, Completed | Failed | Skipped):
                changes.end(event.operation.id)
            records.append(event_record(event, changes=changes, clock=clock))
        ended = apply_summary(
            made,
            EndedOperations(
                done=tally.done,
                failed=tally.failed,
                unconfirmed=tally.unconfirmed,
                skipped=tally.skipped,
            ),
        )
        printed = {
            "apply.txt": "\n".join(
                [*filter(None, (event_line(event, colour=False) for event in events)), ended]
            ),
            "apply.jsonl": _lines([*filter(None, records), summary_record(made, tally.done, clock=clock)]),
        }
        found |= {name: content for name, content in printed.items() if name in case.options.also}
    return found


def _lines(records: Iterable[Any]) -> str:
    return "\n".join(laid_out(record) for record in records)
