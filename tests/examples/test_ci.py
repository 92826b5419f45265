"""The example of a team's CI: every step of its files runs, on S3 and PostgreSQL."""

import json
from pathlib import Path

import pytest

from examples.ci.runner.forge import Forge
from tests.docs.tour import assert_tour
from tests.examples.depends import EXAMPLES
from tests.examples.play import expect, played

pytestmark = [pytest.mark.jvm, pytest.mark.example("ci")]

KILLED = (
    *("apply.intent", "apply.before-result", "apply.result", "apply.before-snapshot", "apply.snapshot"),
    *("flareiac plan # killed", "flareiac drift # killed", "flareiac maintain # killed"),
)


@pytest.mark.parametrize(
    ("flights", "carriers", "pace"),
    [(20_000, 15, "1"), pytest.param(200_000, 16, "0.5", marks=pytest.mark.slow)],
)
def test_both_systems_plan_apply_and_watch_one_lake(
    flights: int, carriers: int, pace: str, tmp_path: Path, java_home: Path, environments: Path
) -> None:
    work = tmp_path / "work"
    said = played(
        "ci",
        work,
        environments=environments,
        JAVA_HOME=str(java_home),
        FLIGHTS=str(flights),
        FLIGHTS_PACE=pace,
    )
    exact = f"{flights:,} flights, each exactly once; {carriers} carriers with their counts"
    expect(
        said,
        *("GitHub, plan.yml: plan", "Plan: 2 to add, 0 to change, 0 to destroy.", "forge.py comment plan.md"),
        *("GitHub, apply.yml: apply", "Resources: 2 added", "0 rows in 0 files"),
        *("GitHub, nightly.yml: drift", "No drift."),
        *("GitHub, nightly.yml: maintain", "12 files", "Maintained: 1.", "12 rows in 1 files"),
        *("##### 4.", "GitHub, nightly.yml: drift", '| `"zstd"` | `"gzip"` |', "Drift (open)"),
        *("GitHub, plan.yml: plan", "add column currency string", "forge.py comment plan.md"),
        *("GitHub, apply.yml: apply", "table.orders: schema_id", "Nothing was changed.", "(exit code 6)"),
        *("GitHub, apply.yml: replan", "so fresh-plan.yml was started"),
        "sales.orders: order_id, ordered_at, amount, note; 12 rows",
        *("GitHub, fresh-plan.yml: plan", "add column currency string"),
        *("GitHub, fresh-plan.yml: apply", "Resources: 0 added, 1 changed"),
        *(
            "##### 7.",
            "GitHub, nightly.yml: drift",
            "No drift, but: 1 unmanaged",
            "Drift (closed)",
            "The drift is gone.",
        ),
        *("GitLab, plan", "add column country string", "GitLab, plan", "add column country string"),
        *("GitLab, apply", "Resources: 0 added, 1 changed", "GitLab, drift", "No drift"),
        *("GitLab, maintain", "Nothing is due.", "order_id, ordered_at, amount, currency, country, note"),
        *("##### 10. Checkout A plans", "Plan: 7 to add", "flareiac apply plan.json", "7 added"),
        *("##### 11.", "kill -9 DRIVER", "is not running", "kill -9 DRIVER", "is not running"),
        *(text for point in KILLED for text in (point, "(exit code 137)")),
        *("Took over the lock", exact),
        *("##### 12.", "No drift. 7 resources checked.", "checkpoint.carriers: s3://company-flareiac/"),
        exact,
        *("##### 13.", "No changes.", "its application has ended"),
    )
    assert_tour("ci", said, EXAMPLES / "ci" / "README.md")
    store = work / "ci"
    comments = [it["body"] for it in Forge(store).entries("comments") if it["on"] == 2]
    assert len(comments) == 1
    comment = comments[0]
    assert comment.startswith("<!-- flareiac-report workspace=default -->\n1 change, blocked: no\n"), comment
    assert "- `table.orders`: " in comment
    assert "add column currency string" in comment
    summaries = [
        path.read_text(encoding="utf-8") for path in sorted(store.glob("*-apply.github_step_summary"))
    ]
    assert len(summaries) == 3, summaries
    assert all(text.startswith("### Apply\n") for text in summaries)
    assert "The plan is stale" in summaries[1]
    reports = [
        json.loads(path.read_text()) for path in sorted(store.glob("artifacts/*/plan/plan-counts.json"))
    ]
    assert reports == [{"create": 0, "update": 1, "delete": 0}] * 2
