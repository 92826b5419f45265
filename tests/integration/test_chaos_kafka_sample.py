"""A small share of the chaos of topics: the broker, the driver and both are killed while records arrive, and
every record is there once.
"""

from pathlib import Path

import pytest

from tests.bench.chaos import kafka_chaos
from tests.bench.chaos_kafka_scenarios import KAFKA_SCENARIOS
from tests.bench.chaos_plan import Blow, Cards, Command, Strike

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

CARDS = Cards(
    blows=(
        Blow(strike=Strike.BROKER, amid=Command.APPLY),
        Blow(strike=Strike.DRIVER),
        Blow(strike=Strike.BOTH),
    ),
    each=3,
    first=0,
    edits=True,
    maintenance=(None,),
)


@pytest.mark.usefixtures("jars", "java_home")
def test_every_record_is_there_once_whatever_dies(tmp_path: Path) -> None:
    chosen = [item for item in KAFKA_SCENARIOS if item.name in ("poisoned", "fan")]
    figures = list(kafka_chaos(tmp_path, 3, 1, scenarios=chosen, cards=CARDS))
    assert [figure.value for figure in figures] == [0.0] * len(figures)
    killed = figures[-1].detail["driver and broker killed"]
    assert isinstance(killed, dict)
    assert sum(killed.values()) >= 3
