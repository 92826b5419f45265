"""The entrances of what changes: an edited file over what is recorded, SQL over another one, users' code."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Final

from flareiac.kernel.diagnostics import Diagnostics, Failure
from flareiac_spark.definition.code_functions import check_functions, check_modules
from tests.golden.case import CASES, Case, read_case
from tests.golden.outputs import outcome
from tests.mutations.entrances.entrance import Bug, Entrance, Gate, check
from tests.mutations.entrances.queries import query
from tests.mutations.mutate import ANY_TEXT, HCL, damaged
from tests.mutations.verdict import hidden_bug, unprintable

_EDITS: Final = {
    name: HCL[name] for name in ("inside", "value", "value again", "number", "name", "items", "lines")
}
"""Damage after which a file is often one that can be planned."""
_JOB: Final = """stream "s" {
  rate { rows_per_second = 1 }
}
stream "u" {
  files {
    path   = "landing"
    format = "json"
  }
  column "id" { type = "long" }
  column "ts" { type = "timestamptz" }
  column "m"  { type = "map<string, struct<a: int, b: list<string>>>" }
}
table "t" {
  namespace  = "n"
  column "id" { type = "long" }
  column "a"  { type = "string" }
}
checkpoint "c" {}
job "j" {
  checkpoint = checkpoint.c
  trigger    = { processing_time = "2s" }
  input "s" { stream = stream.s }
  input "u" { stream = stream.u }
  input "t" { table = table.t }
  step "x" {
    sql = <<-SQL
      %s
    SQL
  }
  output "t" { table = table.t }
}
"""
_CODE: Final = (
    b"import json\nfrom a.b import c as d\nX = 1\n\n\ndef step(frames, spark, params):\n    return frames['x']\n",
    b"class A:\n    def f(self): ...\n\nasync def step(*args, **kw):\n    pass\n\nstep2 = lambda a, b, c: a\n",
    b"# -*- coding: latin-1 -*-\ntry:\n    from x import *\nexcept ImportError:\n    def step(a, b, c=1, /, *, d=2): pass\n",
    b"if True:\n    with open('x') as f:\n        def step(a): return f'{a!r:>{10}}'\nmatch X:\n    case [1, *_]: Y = 2\n",
)


def _planned(case: Case, root: Path) -> None:
    """Raises what a plan of the case must not raise, and ``Bug`` for what it must not say."""
    try:
        outputs, _ = outcome(case, root)
    except Failure as failure:
        check(failure.diagnostics, failure.sources)
        return
    for name, said in outputs.items():
        # JSON is laid out here for its reader; commands print it in ASCII
        is_json = name.endswith((".json", ".jsonl"))
        if found := hidden_bug(said) or (not is_json and unprintable(said)):
            raise Bug(f"{found}: {said[:1500]}")


def _without_apply(case: Case) -> Case:
    """The case without the output of an apply: a plan of an edited text may be one that cannot be applied."""
    also = tuple(name for name in case.options.also if not name.startswith("apply."))
    return replace(case, options=replace(case.options, also=also))


def _open_edits(root: Path) -> Gate:
    cases = [_without_apply(case) for case in map(read_case, CASES) if case.recorded is not None]

    def make(choose: random.Random) -> Case:
        case = choose.choice(cases)
        others = [choose.choice(cases).main.encode() for _ in range(3)]
        content = damaged(case.main.encode(), choose, others, _EDITS)[1]
        return replace(case, main=content.decode(errors="replace"))

    return Gate(make=make, enter=lambda case: _planned(case, root))


def _open_queries(root: Path) -> Gate:
    """A query over another one that its checkpoint was begun with."""
    known = next(case for case in map(read_case, CASES) if case.recorded is not None)
    plain = replace(
        known,
        inputs={},
        left=None,
        observed=None,
        options=replace(
            known.options, then=None, now=None, missing=(), also=(), targets=(), replace=(), destroy=False
        ),
    )

    def text(choose: random.Random) -> str:
        made = query(choose)
        if choose.random() < 0.3:
            made = damaged(made.encode(), choose, [made.encode()], ANY_TEXT)[1][:20_000].decode(
                errors="replace"
            )
        return _JOB % made.replace("\nSQL", "\n SQL").replace("${", "$ {").replace("%{", "% {")

    def make(choose: random.Random) -> Case:
        before = _JOB % query(choose).replace("${", "$ {")
        return replace(plain, recorded=before, main=text(choose))

    def enter(case: Case) -> None:
        try:
            _planned(case, root)
        except AssertionError as problem:
            if isinstance(problem, Bug) or "Error:" not in str(problem):
                raise
            # What is recorded is no valid configuration: the new one is looked at alone.
            _planned(replace(case, recorded=None), root)

    return Gate(make=make, enter=enter)


def _open_code(_root: Path) -> Gate:
    def make(choose: random.Random) -> tuple[bytes, str]:
        content = damaged(choose.choice(_CODE), choose, list(_CODE), ANY_TEXT)[1]
        wanted = choose.choice(
            ("step:step", "step:step2", "step", "step:", ":", "a.b:step", "step:é", "step:X")
        )
        return content, wanted

    def enter(given: tuple[bytes, str]) -> None:
        content, wanted = given
        diagnostics = Diagnostics()
        check_modules({"step.py": content}, "code", diagnostics)
        check_functions({"step.py": content}, {"x": wanted}, "code", diagnostics)
        check(diagnostics)

    return Gate(make=make, enter=enter)


ENTRANCES: Final = (
    Entrance(name="edits", share=6_000, open=_open_edits),
    Entrance(name="queries", share=5_000, open=_open_queries),
    Entrance(name="code", share=20_000, open=_open_code),
)
