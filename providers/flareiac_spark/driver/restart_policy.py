"""Whether a failed job may start again, and when. Pure."""

from flareiac_spark.control import Restart

_LONGEST_MS = 300_000


class RestartPolicy:
    """Failures older than the window count no more, so that a healthy period resets it. Times in seconds."""

    def __init__(self, restart: Restart) -> None:
        self._restart, self._failures = restart, list[float]()

    def revise(self, restart: Restart) -> None:
        """Other rules for the failures there were and those to come."""
        self._restart = restart

    def failures(self, now: float) -> int:
        """How many count now."""
        self._failures = [then for then in self._failures if now - then < self._restart.within_ms / 1000]
        return len(self._failures)

    def after_failure(self, now: float) -> float | None:
        """Records one; the pause before the next start in seconds, or None if the budget is used up."""
        self._failures.append(now)
        count = self.failures(now)
        if count > self._restart.max_failures:
            return None
        pause: float = (
            min(self._restart.backoff_ms * 2 ** (count - 1), max(_LONGEST_MS, self._restart.backoff_ms))
            / 1000
        )
        return pause
