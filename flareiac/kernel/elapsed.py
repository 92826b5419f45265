"""Formats durations and ages for people. Pure."""


def elapsed_text(seconds: float) -> str:
    """``0s``, ``12s``, ``3m05s``, ``1h00m``: whole units, as one reads a clock."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02d}m"
