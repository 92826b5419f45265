"""The readers of what a step changes: none too few, and of a column no consumer that does not read it."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from flareiac.model.plan import PlannedResource
from flareiac.planning.readers import Readers, outside_readers
from flareiac.sdk.changes import Action, Effect, Hit, Proposal, Reader, Relation, Step, Usage
from flareiac.sdk.owner import Owner

COLUMNS = st.sampled_from(["id", "buyer", "buyer.zip", "buyer.name", "buyers", "city"])
OWNERS = {"consumer.bi": Owner(name="BI", contact="#bi")}


def planned(address: str, *steps: Step, action: Action = Action.UPDATE) -> PlannedResource:
    return PlannedResource(
        address=address,
        type=address.partition(".")[0],
        provider="p",
        proposal=Proposal(action=action, planned={}, steps=steps),
        desired={},
        recorded={},
    )


def readers(step: Step, usages: Sequence[Usage], *others: PlannedResource) -> tuple[Reader, ...]:
    resources = {each.address: each for each in (planned("table.a", step), *others)}
    return Readers.of(usages, (), OWNERS.get).named_in(resources)["table.a"].proposal.steps[0].readers


def consumer(name: str = "bi", columns: tuple[str, ...] | None = None, subject: str = "table.a") -> Usage:
    return Usage(
        subject=subject,
        holder=f"consumer.{name}",
        relation=Relation.LOOKS_UP,
        reason="",
        columns=columns,
        is_outside=True,
    )


def job(columns: tuple[str, ...] | None, relation: Relation = Relation.STREAMS_FROM) -> Usage:
    return Usage(subject="table.a", holder="job.x", relation=relation, reason="", columns=columns)


def dropped(*columns: str) -> Step:
    return Step(text="drop", effect=Effect.LOSES_DATA, hits=(Hit(columns=columns),) if columns else ())


@given(st.lists(COLUMNS, min_size=1, unique=True), st.lists(COLUMNS, min_size=1, unique=True))
def test_a_consumer_is_named_where_a_column_of_it_or_a_part_of_one_changes(
    changed: list[str], read: list[str]
) -> None:
    def parts(column: str) -> set[str]:
        """A column, and all that it is in."""
        names = column.split(".")
        return {".".join(names[: end + 1]) for end in range(len(names))}

    meant = [one for one in read if any(one in parts(other) or other in parts(one) for other in changed)]
    found = readers(dropped(*changed), [consumer(columns=tuple(read))])
    assert [list(reader.columns) for reader in found] == ([meant] if meant else [])
    assert all(reader.owner == OWNERS["consumer.bi"] and reader.is_certain for reader in found)


def test_without_columns_a_consumer_reads_all_and_a_job_perhaps() -> None:
    bi, x = readers(dropped("id"), [consumer(), job(None)])
    assert (bi.address, bi.is_certain, x.address, x.is_certain) == ("consumer.bi", True, "job.x", False)
    assert not readers(dropped("id"), [job(("city",))])[0].is_certain, "it names some that it reads"
    assert readers(dropped("id"), [job(("id",))])[0].columns == ("id",)


def test_a_loss_of_the_whole_hits_every_reader_and_no_writer() -> None:
    usages = [consumer(columns=("id",)), job(None, Relation.WRITES), consumer("other", subject="table.b")]
    assert [reader.address for reader in readers(dropped(), usages)] == ["consumer.bi"]


def test_a_step_that_no_reader_notices_names_none() -> None:
    assert readers(Step(text="set the comment", effect=Effect.METADATA), [consumer()]) == ()


def test_a_job_that_goes_with_it_is_not_hit() -> None:
    gone = planned("job.x", action=Action.DELETE)
    assert readers(dropped(), [job(None), consumer()], gone)[0].address == "consumer.bi"


def test_the_step_of_another_resource_hits_the_readers_of_its_subject() -> None:
    emptied = Step(text="empties", effect=Effect.LOSES_DATA, hits=(Hit(subject="table.a"),))
    resources = {"job.w": planned("job.w", emptied)}
    usages = [consumer(), consumer("other", subject="job.w")]
    (step,) = Readers.of(usages, (), OWNERS.get).named_in(resources)["job.w"].proposal.steps
    assert [reader.address for reader in step.readers] == ["consumer.bi"]


def test_of_a_branch_only_its_readers_are_hit() -> None:
    branch = Step(text="empties", effect=Effect.LOSES_DATA, hits=(Hit(part="audit"),))
    on_branch = Usage(subject="table.a", holder="job.b", relation=Relation.LOOKS_UP, reason="", part="audit")
    assert [reader.address for reader in readers(branch, [consumer(), on_branch])] == ["job.b"]


def test_a_reader_in_two_roles_is_named_once() -> None:
    usages = [job(("id",)), job(("city",), Relation.LOOKS_UP), job(("id",))]
    (x,) = readers(dropped("id", "city"), usages)
    assert (set(x.columns), x.is_certain) == ({"id", "city"}, True)


def test_one_that_was_declared_until_now_is_named_unless_it_still_reads_the_same() -> None:
    former = outside_readers([consumer(columns=("id", "city"))], OWNERS.get)
    resources = {"table.a": planned("table.a", dropped("city"))}

    def named(*usages: Usage) -> list[tuple[str, tuple[str, ...], bool, Owner | None]]:
        (step,) = Readers.of(usages, former, OWNERS.get).named_in(resources)["table.a"].proposal.steps
        return [(each.address, each.columns, each.is_former, each.owner) for each in step.readers]

    bi = OWNERS["consumer.bi"]
    assert named() == [("consumer.bi", ("city",), True, bi)], "its block went with the column"
    assert named(consumer(columns=("id",))) == [("consumer.bi", ("city",), True, bi)], "its column went too"
    assert named(consumer(columns=("city",))) == [("consumer.bi", ("city",), False, bi)]


def test_a_group_that_a_consumer_declares_is_named_once() -> None:
    seen = Reader(address='consumer group "g"', known_as="g")
    other = Reader(address='consumer group "h"', known_as="h")
    step = Step(text="delete", effect=Effect.LOSES_DATA, readers=(seen, other))
    declared = Usage(
        subject="table.a",
        holder="consumer.bi",
        relation=Relation.LOOKS_UP,
        reason="",
        known_as="g",
        is_outside=True,
    )
    assert [each.address for each in readers(step, [declared])] == ["consumer.bi", 'consumer group "h"']
