"""The rule for starting a failed job again, and for the time of it. Pure."""

from flareiac_spark_runtime.control import Restart

_LONGEST_MS = 300_000
_LONGEST_WAIT_MS = 60_000


class RestartPolicy:
    """Failures older than the window count no more, so that a healthy period resets it. Times in seconds."""

    def __init__(self, restart: Restart) -> None:
        self._restart, self._failures, self._waits = restart, list[float](), 0

    def revise(self, restart: Restart) -> None:
        """Other rules for the failures there were and those to come."""
        self._restart = restart

    def failures(self, now: float) -> int:
        """The number of failures that count now."""
        self._failures = [then for then in self._failures if now - then < self._restart.within_ms / 1000]
        return len(self._failures)

    def after_failure(self, now: float) -> float | None:
        """Records one; the pause before the next start in seconds, or None if the budget is used up."""
        self._waits = 0
        self._failures.append(now)
        count = self.failures(now)
        if count > self._restart.max_failures:
            return None
        return self._pause(count, _LONGEST_MS)

    def while_unavailable(self) -> float:
        """The pause before the next look for what a start waits for, in seconds. It uses up no budget."""
        self._waits += 1
        return self._pause(self._waits, _LONGEST_WAIT_MS)

    def _pause(self, count: int, longest_ms: int) -> float:
        first = self._restart.backoff_ms
        return float(min(first * 2 ** min(count - 1, 30), max(longest_ms, first)) / 1000)
