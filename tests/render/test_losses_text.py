"""The losses of a plan once it is approved."""

from flareiac.model.plan import Plan
from flareiac.render.losses_text import losses_text
from flareiac.sdk.changes import Action, Effect, Step
from tests.render.plans import plan, resource


def lost(made: Plan) -> list[str]:
    return losses_text(made, width=80, colour=False).splitlines()


def test_a_plan_that_loses_nothing_has_nothing_to_list() -> None:
    steps = (
        Step(text="add column a", effect=Effect.METADATA),
        Step(text="widen column b", effect=Effect.IRREVERSIBLE),
    )
    made = plan(
        resource("table.a", Action.CREATE),
        resource("table.b", Action.UPDATE, steps=steps),
        resource("table.c", Action.FORGET),
    )
    assert lost(made) == []


def test_what_is_destroyed_is_named_with_the_data_that_goes_with_it() -> None:
    drop = Step(text="drop the table from its catalog", effect=Effect.LOSES_DATA)
    made = plan(
        resource("table.a", Action.DELETE, steps=(drop,)),
        resource("job.b", Action.DELETE),
        resource("table.c", Action.REPLACE),
    )
    assert lost(made) == [
        "This destroys or loses:",
        "  - table.a is destroyed: drop the table from its catalog [loses data]",
        "  - job.b is destroyed",
        "  - table.c is destroyed and created again",
    ]


def test_an_update_is_listed_by_the_steps_that_lose_something() -> None:
    steps = (
        Step(text="add column b", effect=Effect.METADATA),
        Step(text="drop column a", effect=Effect.LOSES_DATA),
        Step(text="begin again at g0002", effect=Effect.NEW_GENERATION),
    )
    assert lost(plan(resource("table.a", Action.UPDATE, steps=steps))) == [
        "This destroys or loses:",
        "  - table.a: drop column a [loses data]",
        "  - table.a: begin again at g0002 [new generation]",
    ]
