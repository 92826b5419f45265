"""What a golden case leads to: the sections out, by their names."""

from pathlib import Path

from flareiac.kernel.diagnostics import Diagnostics
from flareiac.model.plan import Plan
from flareiac.planning.make_plan import make_plan
from flareiac.render.diagnostics import text
from flareiac.render.plan_text import plan_text
from tests.golden.case import Case, configuration, planning_inputs


def outcome(case: Case, root: Path) -> tuple[dict[str, str], Plan | None]:
    """The sections out (empty ones left out), and the plan, None where the configuration has errors."""
    diagnostics = Diagnostics()
    desired = configuration(case.main, root, diagnostics)
    made = None
    outputs = {}
    if not diagnostics.has_errors:
        made = make_plan(planning_inputs(case, root, desired), case.options.planning(), diagnostics)
        detail, steps = case.options.detail, case.options.show_steps
        outputs["plan.txt"] = plan_text(made, colour=False, width=100, detail=detail, show_steps=steps)
    if len(diagnostics):
        outputs["diagnostics.txt"] = text(list(diagnostics), desired.sources, width=100, colour=False)
    return {name: content.replace(str(root), "ROOT").rstrip("\n") + "\n" for name, content in outputs.items()}, made
