"""Makes a table with random neighbours, and tells whether all that is alive is as it was.

Neighbours: copies of the table in this catalog, in a declared and in an undeclared one (``register_table``)
with any number of commits of their own; tables in the same location, inside it and around it; files of others
that the table adopted; what killed writers leave; places that are spelled through links, ``..``, doubled
slashes, schemes and names with signs that URIs escape.
"""

import hashlib
import os
import random
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.expressions import AlwaysTrue
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import LongType, NestedField

from flareiac.kernel.data import Reference
from flareiac.sdk.references import Resolved
from flareiac.sdk.requests import ReadRequest
from tests.iceberg.lake import Lake, columns

OPERATIONS: Final = ("orphan_removal", "snapshot_expiry", "purge", "drop")
WEIGHTS: Final = (3, 3, 4, 2)
BODY: Final = {
    "catalog": Reference("catalog.lake"),
    "namespace": "n",
    "name": "t",
    "column": columns(id="long", k="long"),
}
SCHEMA: Final = Schema(NestedField(1, "id", LongType()), NestedField(2, "k", LongType()))
_PARTED: Final = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "k"))
_NAMES: Final = ("t", "a b", "t%20x", "té", "a+b", "日本", "T", "x%2Fy", "q&=;", "t.t", "ΑΣ")
Alive: TypeAlias = dict[tuple[str, str], dict[str, str]]
"""By catalog and name of a table: the digests of its files by location."""
_DELETES: Final = "write.metadata.delete-after-commit.enabled"
_DAYS: Final = 5 * 86_400


class DeclaredLake(Lake):
    """A project that declares a second catalog."""

    def read_request(self, address: str, desired: Any, import_id: str | None = None) -> ReadRequest:
        return _with_declared(super().read_request(address, desired, import_id), self.references)


def _with_declared(request: ReadRequest, references: dict[str, Resolved]) -> ReadRequest:
    connections = {name: item for name, item in references.items() if item.type == "catalog"}
    return replace(request, declared=connections)


@dataclass
class World:
    """A case: everything follows from its seed."""

    root: Path
    seed: int
    operation: str = ""
    lake: DeclaredLake = field(init=False)
    catalogs: dict[str, SqlCatalog] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        (self.operation,) = self.rng.choices(OPERATIONS, WEIGHTS) if not self.operation else (self.operation,)
        self.numbers = iter(range(1, 10_000))
        self.lake = DeclaredLake(self.root)
        other = self.lake.canonical(
            "catalog",
            "other",
            {"uri": f"sqlite:///{self.root}/other.db", "warehouse": f"{self.root}/other"},
        )
        self.lake.references["catalog.other"] = Resolved(
            address="catalog.other", type="catalog", attributes=other
        )
        (self.root / "lake").mkdir(exist_ok=True)
        self.catalogs["lake"] = self.lake.other_made()
        for name in ("other", "hidden"):
            self.catalogs[name] = SqlCatalog(
                name, uri=f"sqlite:///{self.root}/{name}.db", warehouse=f"file://{self.root}/{name}"
            )
        for catalog in self.catalogs.values():
            catalog.create_namespace("n")

    def close(self) -> None:
        for catalog in self.catalogs.values():
            catalog.close()
        self.lake.close()

    # What is made

    def build(self) -> None:
        """The table and its neighbours; every file looks old."""
        rng = self.rng
        self.name = rng.choice(_NAMES)
        self.home = self.root / "lake" / "n" / self.name
        self.home.parent.mkdir(parents=True, exist_ok=True)
        (self.root / "link").symlink_to(self.root / "lake")
        self.catalogs["lake"].create_table(
            "n.t",
            SCHEMA,
            location=self.spelled(self.home),
            partition_spec=_PARTED if rng.random() < 0.3 else PartitionSpec(),
            properties=self._properties(),
        )
        self.append("lake", "n.t")
        steps = [self._step() for _ in range(rng.randint(1, 6))]
        for step in steps:
            self.log.append(step.__name__)
            step()
        self.lake.apply("table.t", self.body(), importing=True, import_id="lake.n.t")
        for _ in range(rng.randint(0, 2)):
            self.append("lake", "n.t")
        if rng.random() < 0.3:
            self.twin_commits()
        self.age()

    def body(self) -> dict[str, Any]:
        return BODY | {"on_destroy": self.mode, "orphan_removal": {}, "snapshot_expiry": {}}

    @property
    def mode(self) -> str:
        """Its ``on_destroy``: ``purge_everywhere`` overrides undeclared copies, as a person may."""
        if self.operation == "purge":
            return "purge_everywhere" if self.seed % 5 == 0 else "purge"
        return "drop" if self.operation == "drop" else "retain"

    def spelled(self, place: Path) -> str:
        """One of the spellings of a local place."""
        text, tail = str(place), str(place.relative_to(self.root))
        (self.root / "x").mkdir(exist_ok=True)
        ways = [
            text,
            f"file://{text}",
            f"file:{text}",
            f"{self.root}//{tail}",
            f"{self.root}/x/../{tail}",
            f"{text}/",
        ]
        if tail.startswith("lake"):
            ways += [f"{self.root}/link{tail.removeprefix('lake')}"] * 3
        return self.rng.choice(ways)

    def _properties(self) -> dict[str, str]:
        rng, found = self.rng, {}
        if rng.random() < 0.5:
            found["write.metadata.previous-versions-max"] = str(rng.choice((1, 1, 2, 3)))
        if rng.random() < 0.15:
            found[_DELETES] = "true"
        if rng.random() < 0.15:
            found["write.metadata.compression-codec"] = "gzip"
        if rng.random() < 0.4:
            place = rng.choice((self.home / "data", self.home / "mine", self.root / "far" / "d"))
            found["write.data.path"] = self.spelled(place).rstrip("/")
        if rng.random() < 0.2:
            place = rng.choice((self.home / "metadata", self.root / "far" / "m"))
            found["write.metadata.path"] = self.spelled(place).rstrip("/")
        return found

    def _step(self) -> Any:
        steps = [
            self.append_here,
            self.append_here,
            self.delete_rows,
            self.register_twin,
            self.register_twin,
            self.twin_commits,
            self.twin_commits,
            self.adopt_files,
            self.adopt_again,
            self.neighbour,
            self.tag,
            self.leave_data,
            self.leave_metadata,
        ]
        return self.rng.choice(steps)

    def append(self, catalog: str, name: str) -> None:
        table = self.catalogs[catalog].load_table(name)
        ids = [next(self.numbers) for _ in range(self.rng.randint(1, 3))]
        rows = {"id": pa.array(ids, pa.int64()), "k": pa.array([each % 2 for each in ids], pa.int64())}
        table.append(pa.table(rows))

    def append_here(self) -> None:
        self.append("lake", "n.t")

    def delete_rows(self) -> None:
        self.table().delete(f"id < {self.rng.randint(1, 6)}")

    def table(self) -> Table:
        return self.catalogs["lake"].load_table("n.t")

    def twins(self) -> list[tuple[str, str]]:
        return [
            (name, ".".join(each))
            for name, catalog in self.catalogs.items()
            for each in catalog.list_tables("n")
            if each[1].startswith("twin")
        ]

    def register_twin(self) -> None:
        """Registers a copy. In an undeclared catalog a purge sees what it has committed, an expiry not."""
        if self.table().properties.get(_DELETES) == "true":
            return  # each of the two would delete the other's current metadata by itself
        places = ["lake", "other"]
        if self.operation != "snapshot_expiry" and self.mode != "purge_everywhere":
            places += ["hidden", "hidden", "hidden"]
        place, name = self.rng.choice(places), f"n.twin{next(self.numbers)}"
        files = [self.table().metadata_location]
        if self.operation not in ("snapshot_expiry", "purge"):
            files += [entry.metadata_file for entry in self.table().metadata.metadata_log]
        self.catalogs[place].register_table(name, self.rng.choice(files))
        if self.operation == "purge" and place == "hidden":
            self.append(place, name)

    def twin_commits(self) -> None:
        for where, name in self.twins():
            if self.rng.random() < 0.6:
                for _ in range(self.rng.choice((1, 1, 2, 4))):
                    self.append(where, name)
            elif self.rng.random() < 0.3:
                with self.catalogs[where].load_table(name).transaction() as change:
                    change.set_properties({"note": "twin"})

    def adopt_files(self) -> None:
        """A file of someone else, or of its own folder under another spelling."""
        place = self.rng.choice((self.root / "far" / "given", self.home / "data"))
        file = place / f"00000-1-{uuid.uuid4()}-00001.parquet"
        file.parent.mkdir(parents=True, exist_ok=True)
        if self.table().spec().fields:
            return
        import pyarrow.parquet as pq

        number = next(self.numbers)
        pq.write_table(pa.table({"id": pa.array([number], pa.int64()), "k": pa.array([1], pa.int64())}), file)
        self.table().add_files([self.spelled(file).rstrip("/")])

    def adopt_again(self) -> None:
        """A file whose rows were deleted comes back under another spelling."""
        there = [task.file.file_path for task in self.table().scan().plan_files()]
        if not there or self.table().spec().fields:
            return
        file = Path(_local(self.rng.choice(there))).resolve()
        if not file.is_relative_to(self.root.resolve()):
            return
        self.table().delete(AlwaysTrue())
        place = self.root / file.relative_to(self.root.resolve())
        self.table().add_files([self.spelled(place).rstrip("/")])

    def neighbour(self) -> None:
        place = self.rng.choice(
            (self.home, self.home / "sub", self.home / "data" / "b", self.home.parent / "u")
        )
        where, name = self.rng.choice(("lake", "other", "hidden")), f"n.b{next(self.numbers)}"
        self.catalogs[where].create_table(name, SCHEMA, location=self.spelled(place))
        for _ in range(self.rng.randint(0, 2)):
            self.append(where, name)

    def tag(self) -> None:
        snapshot = self.rng.choice(self.table().metadata.snapshots)
        self.table().manage_snapshots().create_tag(snapshot.snapshot_id, f"g{next(self.numbers)}").commit()

    def leave_data(self) -> None:
        file = self.home / "data" / f"00000-2-{uuid.uuid4()}-00001.parquet"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"PAR1 left behind")

    def leave_metadata(self) -> None:
        """A killed writer's, whole or torn or empty."""
        own = Path(_local(self.table().metadata_location))
        content = own.read_bytes()
        name = own.name.replace(own.name[6:42], str(uuid.uuid4()))
        cut = self.rng.choice((len(content), len(content) // 2, 0, 40))
        (own.parent / name).write_bytes(content[:cut])

    def age(self) -> None:
        then = time.time() - _DAYS
        for folder, _names, files in os.walk(self.root):
            for file in files:
                os.utime(Path(folder) / file, (then, then), follow_symlinks=False)

    # What is alive

    def alive(self) -> Alive:
        """The files of each table that can be read."""
        found: Alive = {}
        for where, catalog in self.catalogs.items():
            for each in catalog.list_tables("n"):
                with suppress(FileNotFoundError):
                    found[where, ".".join(each)] = dict(_files(catalog.load_table(each)))
        return found

    def lost(self, before: Alive, *, but: str = "") -> list[str]:
        """The files that are no longer as they were."""
        found: list[str] = []
        for key, files in before.items():
            if key != ("lake", but):
                found += [f"{key}: {path}" for path, content in files.items() if _digest(path) != content]
        return found


def _files(table: Table) -> Iterator[tuple[str, str]]:
    yield table.metadata_location, _digest(table.metadata_location)
    for snapshot in table.metadata.snapshots:
        yield snapshot.manifest_list, _digest(snapshot.manifest_list)
        for manifest in snapshot.manifests(table.io):
            yield manifest.manifest_path, _digest(manifest.manifest_path)
            for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=True):
                yield entry.data_file.file_path, _digest(entry.data_file.file_path)


def _local(location: str) -> str:
    return "/" + location.removeprefix("file:").lstrip("/")


def _digest(location: str) -> str:
    try:
        return hashlib.sha256(Path(_local(location)).read_bytes()).hexdigest()
    except FileNotFoundError:
        return "gone"
