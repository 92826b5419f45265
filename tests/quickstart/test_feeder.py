import io
import json
import tarfile
import zipfile
from pathlib import Path

import pytest

from examples.quickstart.feeder import MARKER, feed
from examples.quickstart.source import read_flights

_HEADER = "year,month,day,dep_time,sched_dep_time,dep_delay,arr_time,sched_arr_time,arr_delay,carrier,flight,tailnum,origin,dest,air_time,distance,hour,minute,time_hour"
_ROWS = (
    "2013,10,2,NA,2359,NA,NA,345,NA,B6,739,NA,JFK,PSE,NA,1617,23,59,2013-10-03T03:00:00Z",
    "2013,1,1,517,515,2,830,819,11,UA,1545,N14228,EWR,IAH,227,1400,5,15,2013-01-01T10:00:00Z",
    "2013,1,1,533,529,4,850,830,20,UA,1714,N24211,LGA,IAH,227,1416,5,29,2013-01-01T10:00:00Z",
)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as inner:
        inner.writestr("flights.csv", "\n".join((_HEADER, *_ROWS)) + "\n")
    path = tmp_path / "source.tar.gz"
    with tarfile.open(path, "w:gz") as outer:
        airlines = b"carrier,name\nUA,United\nB6,JetBlue\n"
        for name, content in (
            ("p/data/flights.csv.zip", packed.getvalue()),
            ("p/data/airlines.csv", airlines),
        ):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            outer.addfile(member, io.BytesIO(content))
    return path


def _landed(landing: Path) -> dict[str, list[dict[str, object]]]:
    files = sorted((landing / "flights").iterdir())
    return {file.name: [json.loads(line) for line in file.read_text().splitlines()] for file in files}


def test_lands_each_day_once_in_the_order_of_time_and_the_marker_last(archive: Path, tmp_path: Path) -> None:
    feed(archive, tmp_path / "landing", pace=0)
    landed = _landed(tmp_path / "landing")
    assert list(landed) == ["2013-01-01.json", "2013-10-02.json", MARKER]
    assert [row["flight_id"] for row in landed["2013-01-01.json"]] == [2, 3]
    times = [(tmp_path / "landing" / "flights" / name).stat().st_mtime_ns for name in landed]
    assert times == sorted(times)
    assert (tmp_path / "landing" / "airlines" / "airlines.json").read_text().count("\n") == 2


def test_na_becomes_null_and_numbers_stay_numbers(archive: Path, tmp_path: Path) -> None:
    feed(archive, tmp_path / "landing", pace=0)
    (row,) = _landed(tmp_path / "landing")["2013-10-02.json"]
    assert row == {
        "flight_id": 1,
        "scheduled_departure": "2013-10-03T03:59:00Z",
        "carrier": "B6",
        "tailnum": None,
        "origin": "JFK",
        "dest": "PSE",
        "flight": 739,
        "dep_time": None,
        "dep_delay": None,
        "arr_delay": None,
        "distance": 1617,
    }


def test_the_marker_is_of_no_carrier_and_later_than_everything(archive: Path, tmp_path: Path) -> None:
    feed(archive, tmp_path / "landing", pace=0)
    (marker,) = _landed(tmp_path / "landing")[MARKER]
    assert marker.get("carrier") is None
    assert (
        str(marker["scheduled_departure"])
        > max(flight.scheduled_departure for flight in read_flights(archive)).isoformat()
    )


def test_started_again_it_goes_on(archive: Path, tmp_path: Path) -> None:
    feed(archive, tmp_path / "landing", pace=0, days=1)
    assert list(_landed(tmp_path / "landing")) == ["2013-01-01.json"]
    before = (tmp_path / "landing" / "flights" / "2013-01-01.json").stat()
    feed(archive, tmp_path / "landing", pace=0)
    assert list(_landed(tmp_path / "landing")) == ["2013-01-01.json", "2013-10-02.json", MARKER]
    assert (tmp_path / "landing" / "flights" / "2013-01-01.json").stat().st_ino == before.st_ino
