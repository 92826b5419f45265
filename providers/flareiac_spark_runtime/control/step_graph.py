"""The graph of inputs and steps, and the last step that all paths from the streams to several outputs share.

Pure graph questions over the names of inputs and steps, asked by the planner (of SQL text) and by the driver
(of Spark's plans).
"""

from collections.abc import Collection, Mapping, Sequence

from flareiac.kernel.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StepGraph:
    """``reads``: step -> the inputs and steps that it reads itself, in the order of the steps."""

    inputs: Sequence[str]
    streams: Collection[str]
    reads: Mapping[str, Collection[str]]

    def unstreamed(self, sources: Collection[str]) -> list[str]:
        """The sources that no stream reaches, sorted."""
        return sorted(source for source in sources if source not in self._on_every_way())

    def last_common_step(self, sources: Collection[str]) -> str | None:
        """The last step that these sources share, each reached by a stream; None if they have nothing in
        common.
        """
        on_every_way = self._on_every_way()
        shared = set.intersection(*(on_every_way[source] for source in sources))
        order = [*self.inputs, *self.reads]
        return max(shared, key=order.index) if shared else None

    def after(self, common: str, sources: Collection[str]) -> set[str]:
        """The steps that follow the common step and lead to the sources."""
        needed, waiting = set[str](), [source for source in sources if source != common]
        while waiting:
            name = waiting.pop()
            if name not in needed and name in self.reads:
                needed.add(name)
                waiting += [read for read in self.reads[name] if read != common]
        comes_from_it = {common}
        for name in self.reads:  # in order, so that what a step reads is known before it
            if comes_from_it & set(self.reads[name]):
                comes_from_it.add(name)
        return needed & comes_from_it - {common}

    def _on_every_way(self) -> dict[str, set[str]]:
        on_every_way = {name: {name} for name in self.inputs if name in self.streams}
        for step in self.reads:
            before = [on_every_way[name] for name in self.reads[step] if name in on_every_way]
            if before:
                on_every_way[step] = {step} | set.intersection(*before)
        return on_every_way
