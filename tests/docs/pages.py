"""The places of the documentation."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
DOCS = ROOT / "flareiac" / "docs"


def pages() -> list[Path]:
    """README and the pages that ``flareiac explain`` prints."""
    return [README, *sorted(DOCS.glob("*.md"))]
