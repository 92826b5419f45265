"""The driver's own reasons not to start a job."""


class Refusal(Exception):
    """``error_class`` is a stable word in Spark's spelling; ``permanent`` if trying again cannot help."""

    def __init__(self, error_class: str, message: str, *, permanent: bool = True) -> None:
        super().__init__(message)
        self.error_class, self.permanent = error_class, permanent
