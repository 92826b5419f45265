"""The same work for both sides: N blocks of sixteen lines or so, ten columns each, with location,
partitioning and properties.
"""

from pathlib import Path

_TYPES = (
    "long not null",
    "timestamptz",
    "string",
    "decimal(12,2)",
    "int",
    "boolean",
    "double",
    "date",
    "string",
    "long",
)


def write_tables(directory: Path, count: int) -> None:
    """A FlareIaC project of Iceberg tables in its embedded catalog."""
    columns = "\n".join(f'  column "c{number}" {{ type = "{kind}" }}' for number, kind in enumerate(_TYPES))
    blocks = [
        f"""table "t{number:05d}" {{
  namespace    = "bench"
{columns}
  location     = "file://{directory}/warehouse/t{number:05d}"
  partition_by = [day("c1")]
  properties   = {{ "write.target-file-size-bytes" = "134217728" }}
}}
"""
        for number in range(count)
    ]
    (directory / "main.flare.hcl").write_text("\n".join(blocks))


def write_nothings(directory: Path, count: int) -> None:
    """A FlareIaC project of resources that do nothing."""
    columns = "\n".join(f'  column "c{number}" {{ type = "{kind}" }}' for number, kind in enumerate(_TYPES))
    blocks = [
        f"""nothing "t{number:05d}" {{
  namespace  = "bench"
{columns}
  location   = "file://{directory}/warehouse/t{number:05d}"
  properties = {{ "write.target-file-size-bytes" = "134217728", "partition_by" = "day(c1)" }}
}}
"""
        for number in range(count)
    ]
    (directory / "main.flare.hcl").write_text("\n".join(blocks))


def write_instances(directory: Path, count: int) -> None:
    """A FlareIaC project of so many tables by ``for_each``, each of which refers to one of as many others."""
    (directory / "main.flare.hcl").write_text(
        f"""locals {{ names = toset([for number in range({count}) : tostring(number)]) }}
table "first" {{
  for_each  = local.names
  namespace = "bench"
  name      = "first_${{each.key}}"
  column "id" {{ type = "long" }}
}}
table "second" {{
  for_each  = local.names
  namespace = table.first[each.key].namespace
  name      = "second_${{each.key}}"
  column "id" {{ type = "long" }}
}}
"""
    )


def write_terraform(directory: Path, count: int) -> None:
    """The same content as inputs of terraform's built-in resource."""
    columns = "\n".join(f'    c{number}         = "{kind}"' for number, kind in enumerate(_TYPES))
    blocks = [
        f"""resource "terraform_data" "t{number:05d}" {{
  input = {{
    namespace    = "bench"
{columns}
    location     = "file://{directory}/warehouse/t{number:05d}"
    partition_by = ["day(c1)"]
    properties   = {{ "write.target-file-size-bytes" = "134217728" }}
  }}
}}
"""
        for number in range(count)
    ]
    (directory / "main.tf").write_text("\n".join(blocks))
