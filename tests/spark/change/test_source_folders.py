"""A file source still covers the folders that its checkpoint has seen, or the plan names the one that it does
not.
"""

import pytest

from flareiac_spark.change.source_folders import left_behind


@pytest.mark.parametrize(
    ("declared", "folder"),
    [
        ("/p/landing", "/p/landing"),
        ("/p/landing", "/p/landing/day=1/hour=2"),
        ("/p/*/in", "/p/eu/in"),
        ("/p/*.json", "/p"),
        ("/p/in/a.json", "/p/in"),
        ("/p/{eu,us}/in", "/p/us/in/day=1"),
        ("/p/{a/in,b/{x,y}}", "/p/b/y"),
        ("/p/202[0-4]", "/p/2023"),
        ("/p/202[^0-4]", "/p/2025"),
        ("/p/2?", "/p/21"),
        ("/p/a[b", "/p/a[b"),
        ("/p/lan\nding", "/p/lan\nding"),
    ],
)
def test_a_folder_that_is_still_read(declared: str, folder: str) -> None:
    assert left_behind([folder], ["/elsewhere", declared]) is None


@pytest.mark.parametrize(
    ("declared", "folder"),
    [
        ("/copy/landing", "/p/landing"),
        ("/p/landing", "/p/landing2"),
        ("/p/landing/in", "/p/landing"),
        ("/p/Landing", "/p/landing"),
        ("/copy/*/in", "/p/eu/in"),
        ("/p/*", "/q"),
        ("/p/{eu,us}/in", "/p/asia/in"),
        ("/p/202[^0-4]", "/p/2023"),
        ("/p/a.b", "/p/aXb"),
    ],
)
def test_a_folder_that_is_no_longer_read(declared: str, folder: str) -> None:
    assert left_behind(["/elsewhere", folder], ["/elsewhere", declared]) == folder


def test_no_files_are_declared() -> None:
    assert left_behind(["/p/landing"], []) == "/p/landing"
