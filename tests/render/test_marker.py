"""The first line of comments and issues, by which a script knows its own again."""

from hypothesis import given
from hypothesis import strategies as st

from flareiac.render.marker import marker, place

NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=200)


@given(st.tuples(NAMES, NAMES), st.tuples(NAMES, NAMES))
def test_two_projects_and_two_workspaces_never_share_a_marker(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    first, second = (marker("flareiac-report", project=it[0], workspace=it[1]) for it in (one, other))
    assert (first == second) is (one == other)


@given(NAMES, NAMES)
def test_no_name_ends_the_marker_or_its_line(project: str, workspace: str) -> None:
    text = marker("flareiac-drift", project=project, workspace=workspace, fingerprints="01,02")
    assert text.isascii()
    assert text.isprintable()
    assert "--" not in text.removeprefix("<!--").removesuffix("-->")
    assert len(text) < 600


def test_long_names_with_the_same_beginning_stay_apart() -> None:
    one, other = (marker("flareiac-report", workspace="w" * 80 + end) for end in "ab")
    assert one != other


def test_a_project_is_named_to_readers_and_a_default_workspace_is_not() -> None:
    assert place("", "default") == ""
    assert place("lake/eu", "default") == "Project `lake/eu`: "
    assert place("lake", "prod") == "Project `lake`, workspace `prod`: "
    assert place("", "prod") == "Workspace `prod`: "
