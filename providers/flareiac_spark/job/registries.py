"""Asks schema registries about many jobs at once, each once, or about one job. Touches the network."""

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Final, Generic, TypeAlias, TypeVar

from flareiac.kernel.data import digest
from flareiac.kernel.records import encode
from flareiac_spark.job.brokers import of_each
from flareiac_spark_runtime.sources.avro.registry import RegistryAccess

LIMIT_SECONDS: Final = 20.0
Question = TypeVar("Question", bound=Hashable)
Answer = TypeVar("Answer")
Wanted: TypeAlias = Sequence[tuple[RegistryAccess, Question]]
Answers: TypeAlias = Mapping[tuple[str, Question], Answer]
"""By the key of the registry and the question."""


def key_of(access: RegistryAccess) -> str:
    """The key that tells registries apart, by the ways in which they are opened."""
    return digest(encode(access))


class Registries(Generic[Question, Answer]):
    """Questions of one kind. ``ask`` gives what one registry answers and raises nothing; ``silent`` makes an
    answer of why there is none.
    """

    def __init__(
        self,
        ask: Callable[[RegistryAccess, Sequence[Question]], Mapping[Question, Answer]],
        silent: Callable[[str], Answer],
        *,
        limit: float = LIMIT_SECONDS,
    ) -> None:
        self._ask, self._silent, self._limit = ask, silent, limit
        self._guard = threading.Lock()
        self._answers: Answers[Question, Answer] = {}
        self._waiting = set[str]()

    def prefetch(self, wanted: Mapping[str, Wanted[Question]]) -> None:
        """Asks what jobs want to know, by their addresses; the answers serve one ``answers`` of each."""
        answers = self._asked([pair for pairs in wanted.values() for pair in pairs])
        with self._guard:
            self._answers, self._waiting = answers, set(wanted)

    def answers(self, address: str, wanted: Wanted[Question]) -> Answers[Question, Answer]:
        """At least for these questions of a job."""
        with self._guard:
            answers = self._answers if address in self._waiting else {}
            self._waiting.discard(address)
        there = all((key_of(access), question) in answers for access, question in wanted)
        return answers if there else self._asked(wanted)

    def _asked(self, wanted: Wanted[Question]) -> dict[tuple[str, Question], Answer]:
        accesses = {key_of(access): access for access, _question in wanted}
        questions: dict[str, list[Question]] = {key: [] for key in accesses}
        for access, question in dict.fromkeys((key_of(access), question) for access, question in wanted):
            questions[access].append(question)
        calls = {key: partial(self._ask, access, questions[key]) for key, access in accesses.items()}
        answers = of_each(calls, self._limit)
        return {
            (key, question): answer
            for key, access in accesses.items()
            for question, answer in (answers.get(key) or self._none(access, questions[key])).items()
        }

    def _none(self, access: RegistryAccess, questions: Sequence[Question]) -> Mapping[Question, Answer]:
        why = f"the schema registry {access.url} did not answer within {self._limit:.0f} s"
        return dict.fromkeys(questions, self._silent(why))
