"""Pairs by number: the same seed and number make the same pair, whatever was made before."""

import random
from collections.abc import Collection, Iterator
from typing import Final

from tests.verdicts.edits import TEXT_EDITS, TREE_EDITS, NotHere, edited
from tests.verdicts.pair import Pair, Version
from tests.verdicts.queries import Tree, random_tree

_TRIES: Final = 40
_OF_ONE: Final = 4
"""Pairs with the same old query, one after the other: Spark looks at it once."""
_SHARE: Final = 0.35
"""The share of edits that mean to change nothing. Many of the others change nothing either."""
_KEEPING: Final = (
    "neutral", "brackets", "turned", "turned", "turned", "turned", "turned twice", "reordered conditions", "doubled condition",
    "reordered items", "renamed inner", "renamed inner", "grouped by place", ("grouped by "
        "name"), "distinct as group",
    "spelled join", ("turned join "
        "condition"), "as subquery", "as subquery", "split", "split", "step more", "renamed step",
    "alias of relation", "qualified", "spaces", "comments", "case of keywords", "case of names", "case of functions", "quoted", "as CTE",
    "in CTE", "in brackets", "without AS", "gained an unused name", "having as where", ("moved join "
        "condition"), "lateral alias",
)  # fmt: skip
"""Edits that mean to change nothing. The same name twice is drawn twice as often."""
_CHANGING: Final = (
    *(name for name in (*TREE_EDITS, *TEXT_EDITS) if name not in _KEEPING),
    "other column", "other function", "other function", ("other literal "
        "within"), "exchanged columns", "exchanged names", "other field name",
    "other field name", "case of a field", "case of a field", "case of a text", "random condition",
    "gained a name in use", "gained a name in use", "gained a name in use", ("gained a name in "
        "use"), "other limit", "other limit",
    "all or not", "all or not", "lateral alias", "case of names", "other join", "other duration", "other duration", "remembered",
    "remembered",
)  # fmt: skip


def pairs(seed: int, start: int = 0, families: Collection[str] = ()) -> Iterator[Pair]:
    """Without end; those of the families alone, where some are named."""
    while True:
        found = pair(seed, start, families)
        if found is not None:
            yield found
        start += 1


def pair(seed: int, number: int, families: Collection[str] = ()) -> Pair | None:
    """None: the query is of another family, or no edit of the kind that was drawn fits it."""
    tree = random_tree(random.Random(f"{seed} tree {number // _OF_ONE}"))
    if families and tree.family not in families:
        return None
    dice = random.Random(f"{seed} {number}")
    for _ in range(_TRIES):
        name = dice.choice(_KEEPING if dice.random() < _SHARE else _CHANGING)
        try:
            new = edited(dice, tree, name)
        except NotHere:
            continue
        old = Version(steps=tree.texts(), dedups=_keys(tree), within=_within(tree))
        changed = Version(
            steps=new.texts, dedups=_keys(new.tree), gained=new.gained, within=_within(new.tree)
        )
        if old == changed:
            continue
        marked = tree.marked
        return Pair(
            id=f"{seed}-{number}",
            family=tree.family,
            edit=name,
            output=tree.output,
            old=old,
            new=changed,
            marked=marked,
        )
    return None


def _keys(tree: Tree) -> dict[str, tuple[str, ...]]:
    return {step: tuple(keys) for step, keys in tree.dedups.items()}


def _within(tree: Tree) -> tuple[str, ...]:
    return tuple(step for step in tree.dedups if step in tree.within)
