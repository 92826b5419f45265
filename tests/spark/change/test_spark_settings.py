"""Every SQL setting of Spark: one that was seen to change what queries give is never called harmless."""

import re
from typing import Final

import pytest

from flareiac_spark.settings import SETTINGS, VALUES, harmless
from tests.verdicts import settings
from tests.verdicts.settings import Setting

ONLY_WITHOUT_ANSI: Final = ("spark.sql.legacy.sizeOfNull",)
"""Settings that the probes, which run with ANSI, cannot see at work."""


@pytest.fixture(scope="module")
def table() -> dict[str, Setting]:
    """By name."""
    return {setting.name: setting for setting in settings.known()}


def test_the_table_has_every_class_of_setting(table: dict[str, Setting]) -> None:
    assert len(table) > 600
    assert {setting.under_another for setting in table.values()} == {
        settings.RUN,
        settings.SAME,
        settings.UNTRIED,
    }


def test_no_setting_that_was_seen_to_change_rows_is_called_harmless(table: dict[str, Setting]) -> None:
    matters = {name for name, setting in table.items() if setting.under_another == settings.RUN}
    assert len(matters) > 25
    assert sorted(name for name in matters if harmless(name, SETTINGS)) == []


def test_settings_known_to_change_values_are_settings_of_spark(table: dict[str, Setting]) -> None:
    assert sorted(name for name in VALUES if name not in table) == []
    same = {name for name in VALUES if table[name].under_another == settings.SAME}
    assert same == set(ONLY_WITHOUT_ANSI)


def test_harmless_settings_of_sql_are_settings_of_spark(table: dict[str, Setting]) -> None:
    """A name that Spark does not have is a mistake of the product's table, if it is no family and Iceberg's."""
    named = [
        item.name
        for item in SETTINGS
        if item.name.startswith("spark.sql.")
        and not item.name.endswith(".")
        and not re.search(r"\.(iceberg|rocksdb)\.", item.name)
    ]
    assert sorted(name for name in named if name not in table) == []
