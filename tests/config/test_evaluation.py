"""From HCL to desired resources: names, instances, references, meta-arguments; and what is complained of,
where.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from flareiac.app.discovery import installed
from flareiac.config.load import Configuration, load
from flareiac.config.variables import Given, Inputs
from flareiac.kernel.data import Reference
from flareiac.kernel.diagnostics import Diagnostics, Severity
from flareiac.model.snapshot import new_snapshot
from flareiac.sdk.project import Project


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Evaluates a project of one file."""

    root: Path

    def __call__(self, text: str, **variables: str) -> tuple[Configuration, Diagnostics]:
        (self.root / "main.flare.hcl").write_text(text, encoding="utf-8")
        diagnostics = Diagnostics()
        given = [Given(name=name, text=value, origin=f"-var {name}") for name, value in variables.items()]
        project = Project(root=self.root, lineage="l")
        found = load(
            project,
            installed().registry,
            lambda _files: Inputs(environment={}, given=given),
            new_snapshot(),
            diagnostics,
        )
        return found, diagnostics

    def good(self, text: str, **variables: str) -> Configuration:
        """The configuration, which has no errors."""
        found, diagnostics = self(text, **variables)
        assert [item.summary for item in diagnostics if item.severity is Severity.ERROR] == []
        return found

    def codes(self, text: str, **variables: str) -> list[str]:
        """The codes of what is complained of, in order."""
        return [item.code for item in self(text, **variables)[1]]


@pytest.fixture
def evaluate(tmp_path: Path) -> Evaluator:
    return Evaluator(tmp_path)


TABLE = 'table "{}" {{\n  namespace = "a"\n  {}\n  column "id" {{ type = "long" }}\n}}\n'


def table(name: str, extra: str = "") -> str:
    return TABLE.format(name, extra)


def test_count_and_for_each_make_instances(evaluate: Evaluator) -> None:
    text = table("n", 'count = 2\n  name = "n${count.index}"') + table(
        "e", 'for_each = { x = "one", y = "two" }\n  comment = each.value'
    )
    resources = evaluate.good(text).desired.resources
    assert [address for address in resources if address.startswith("table")] == [
        "table.n[0]",
        "table.n[1]",
        'table.e["x"]',
        'table.e["y"]',
    ]
    assert resources["table.n[1]"].attributes["name"] == "n1"
    assert resources['table.e["y"]'].attributes["comment"] == "two"


def test_none_of_a_counted_block_is_no_error(evaluate: Evaluator) -> None:
    assert "table.n" not in str(
        list(
            evaluate.good(
                table("n", "count = 0") + 'output "all" { value = table.n[*].name }'
            ).desired.resources
        )
    )


@pytest.mark.parametrize(
    ("meta", "code"),
    [
        ("count = -1", "FIC041"),
        ("count = 1e400", "FIC044"),
        ("count = 1.5", "FIC041"),
        ("count = null", "FIC041"),
        ('for_each = ["a"]', "FIC042"),
        ('for_each = sensitive(toset(["a"]))', "FIC042"),
        ("for_each = null", "FIC042"),
        ('count = 1\n  for_each = toset(["a"])', "FIC040"),
        ("count = table.other.uuid", "FIC043"),
    ],
)
def test_wrong_counts_are_told_once(evaluate: Evaluator, meta: str, code: str) -> None:
    assert evaluate.codes(table("other") + table("n", meta) + 'output "n" { value = table.n }') == [code]


def test_references_are_dependencies(evaluate: Evaluator) -> None:
    text = (
        'catalog "lake" {}\n'
        + table("a", "catalog = catalog.lake")
        + table("b", "comment = table.a.name\n  depends_on = [table.c]")
        + table("c")
    )
    resources = evaluate.good(text).desired.resources
    assert resources["table.a"].attributes["catalog"] == Reference("catalog.lake")
    assert {"table.a", "table.c"} <= set(resources["table.b"].dependencies)
    assert "table.b" not in resources["table.c"].dependencies


def test_the_only_connection_is_the_default_and_two_must_be_named(evaluate: Evaluator) -> None:
    assert evaluate.good('catalog "lake" {}\n' + table("a")).desired.resources["table.a"].attributes[
        "catalog"
    ] == Reference("catalog.lake")
    assert evaluate.good(table("a")).desired.resources["table.a"].attributes["catalog"] == Reference(
        "catalog.embedded"
    )
    assert evaluate.codes('catalog "one" {}\ncatalog "two" {}\n' + table("a")) == ["FIC057"]


def test_a_circle_is_told_and_named(evaluate: Evaluator) -> None:
    _, diagnostics = evaluate("locals {\n  a = local.b\n  b = local.a\n}\n")
    (circle,) = diagnostics
    assert circle.code == "FIC051"
    assert "local.a" in circle.detail
    assert "local.b" in circle.detail


def test_one_mistake_is_told_once(evaluate: Evaluator) -> None:
    text = (
        'variable "v" {}\nlocals { l = "${var.v}x" }\n'
        + table("a", "comment = local.l")
        + 'output "o" { value = table.a.comment }'
    )
    assert evaluate.codes(text) == ["FIC026"]


def test_what_is_beside_a_broken_reference_is_told_too(evaluate: Evaluator) -> None:
    assert evaluate.codes(table("a", "comment = var.nope\n  bogus = 1")) == ["FIC050", "FIL201"]


def test_validation_sees_the_value(evaluate: Evaluator) -> None:
    text = (
        'variable "v" {\n  type = number\n  validation {\n    condition = var.v > 2\n    error_message '
        '= "more than two"\n  }\n}\n'
    )
    evaluate.good(text, v="3")
    _, diagnostics = evaluate(text, v="1")
    assert [(item.code, item.detail) for item in diagnostics] == [("FIC029", "more than two")]


@pytest.mark.parametrize(
    ("declared", "typed", "value"),
    [
        ("type = string", "[1]", "[1]"),
        ("type = number", "12", 12),
        ("type = bool", "true", True),
        ("type = list(string)", '["a", "b"]', ["a", "b"]),
        ("type = map(number)", "{ a = 1 }", {"a": 1}),
        ("", "as typed", "as typed"),
    ],
)
def test_what_is_typed_becomes_the_declared_type(
    evaluate: Evaluator, declared: str, typed: str, value: object
) -> None:
    assert evaluate.good(f'variable "v" {{\n  {declared}\n}}\n', v=typed).desired.variables == {"v": value}


def test_null_falls_back_only_where_the_variable_says_so(evaluate: Evaluator) -> None:
    text = 'variable "v" {{\n  type = list(string)\n  default = ["d"]\n  nullable = {}\n}}\n'
    assert evaluate.good(text.format("true"), v="null").desired.variables == {"v": None}
    assert evaluate.good(text.format("false"), v="null").desired.variables == {"v": ["d"]}


def test_secrets_stay_out_of_resources_outputs_and_variables(evaluate: Evaluator) -> None:
    secret = 'variable "s" {\n  default = "hush"\n  sensitive = true\n}\n'
    assert evaluate.codes(secret + table("a", "comment = var.s")) == ["FIC055"]
    assert evaluate.codes(secret + 'output "o" { value = [var.s] }') == ["FIC054"]
    found = evaluate.good(secret + 'output "o" {\n  value = var.s\n  sensitive = true\n}')
    assert found.desired.outputs["o"].value is None
    assert found.desired.variables == {"s": None}


def test_the_digest_changes_with_values_and_not_with_time(evaluate: Evaluator) -> None:
    text = 'variable "v" { default = "1" }\n'
    assert evaluate.good(text).desired.digest == evaluate.good(text).desired.digest
    assert evaluate.good(text).desired.digest != evaluate.good(text, v="2").desired.digest


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('flareiac { required_version = ">= 99" }', "FIC064"),
        ('flareiac { required_version = "new" }', "FIC063"),
        ("flareiac { color = true }", "FIL201"),
        ('flareiac {\n  backend "s4" {}\n}', "FIS060"),
        ('flareiac {\n  backend "local" {}\n  backend "local" {}\n}', "FIS061"),
        ('flareiac {\n  backend "local" {\n    path = "x"\n  }\n}', "FIL201"),
        ('flareiac {\n  bakend "local" {}\n}', "FIL205"),
        ('module "m" { source = "./m" }', "FIC001"),
        ('variable "v" "w" {}', "FIL207"),
        ('locals "l" {}', "FIL207"),
        ("locals { a = 1 }\nlocals { a = 2 }", "FIC015"),
        ('output "o" {}', "FIC052"),
        ("import { to = table.nope }", "FIC073"),
        ("removed {}", "FIC076"),
    ],
)
def test_blocks_that_can_not_be_read(evaluate: Evaluator, text: str, code: str) -> None:
    assert evaluate.codes(text) == [code]


@pytest.mark.parametrize(
    ("meta", "code"),
    [
        ("lifecycle { prevent_destroy = 3 }", "FIL203"),
        ("lifecycle { bogus = true }", "FIL201"),
        ("lifecycle { create_before_destroy = true }", "FIC072"),
        ("depends_on = []", "FIC070"),
        ("depends_on = [table.nope]", "FIC050"),
        ('depends_on = "table.a"', "FIC070"),
    ],
)
def test_meta_arguments_that_can_not_be_read(evaluate: Evaluator, meta: str, code: str) -> None:
    assert evaluate.codes(table("n", meta)) == [code]


def test_a_link_that_leads_nowhere_is_told(evaluate: Evaluator) -> None:
    (evaluate.root / "gone.flare.hcl").symlink_to(evaluate.root / "nowhere")
    assert evaluate.codes(table("a")) == ["FIC005"]


IMPORT = 'import {{\n  to = {}\n  id = "lake.a.t"\n}}\n'


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (table("t", "nope = 1") + IMPORT.format("table.t"), ["FIL201"]),
        (
            table("t", 'count = 2\n  partition_by = [truncat(3, "id")]') + IMPORT.format("table.t[1]"),
            ["FIL120"],
        ),
        (
            table("t", "comment = local.a")
            + "locals {\n  a = local.b\n  b = local.a\n}\n"
            + IMPORT.format("table.t"),
            ["FIC051"],
        ),
        (table("t", 'partition_by = [truncat(3, "id")]') + IMPORT.format("table.t"), ["FIL120"]),
        (table("t", 'partition_by = [day("ts")]\n  column "ts" { type = "timestamp" }'), ["FII053"]),
        (
            table("t", 'renamed = { a = "s" }\n  column "s" {\n    type = "txt"\n    default = 1\n  }'),
            ["FII053"],
        ),
        (table("t") + IMPORT.format("table.other"), ["FIC074"]),
    ],
)
def test_what_follows_from_another_error_is_not_told(
    evaluate: Evaluator, text: str, codes: list[str]
) -> None:
    assert evaluate.codes(text) == codes


@pytest.mark.parametrize(
    ("text", "code", "part"),
    [
        (
            "removed {\n from = table.gone\n lifecycle {\n destory = true\n }\n}",
            "FIL201",
            'Did you mean "destroy"?',
        ),
        ("removed {\n from = table.gone\n destroy = true\n}", "FIL201", "takes from, for_each, lifecycle"),
        ("removed {\n from = table.gone\n lifecycl {}\n}", "FIL205", 'Did you mean "lifecycle"?'),
        (
            table("t", "lifecycle {\n ignore_changes = [propertis]\n }"),
            "FIC078",
            'Did you mean "properties"?',
        ),
        (table("t", "lifecycle {}\n lifecycle {\n prevent_destroy = true\n }"), "FIL208", "one block"),
        ('output "x" {\n value = 1\n sensitiv = true\n}', "FIL201", 'Did you mean "sensitive"?'),
        (
            'output "x" {\n value = 1\n preconditon {\n condition = false\n error_message = "no"\n }\n}',
            "FIL205",
            "precondition",
        ),
        (
            (
                'variable "x" {\n default = 1\n validation {\n condition = var.x > 0\n error_message = ""\n '
                'severity = "error"\n }\n}'
            ),
            "FIL201",
            "takes condition",
        ),
        ("locals {\n a = 1\n b {}\n}", "FIL205", "name = value"),
        ('flareiac {\n backend "local" {\n path = "elsewhere"\n }\n}', "FIL201", "takes no settings"),
    ],
)
def test_the_languages_own_blocks_refuse_what_they_do_not_take(
    evaluate: Evaluator, text: str, code: str, part: str
) -> None:
    _, diagnostics = evaluate(text)
    (found,) = diagnostics
    assert found.code == code
    assert part in found.detail


SECRET = "VARSECRET_c3"


@pytest.mark.parametrize(
    "kind",
    [
        "number",
        "bool",
        "list(number)",
        "map(number)",
        "object({ a = number })",
        "tuple([number])",
        "set(string)",
    ],
)
@pytest.mark.parametrize(
    "given",
    [SECRET, f'["{SECRET}"]', f'{{ {SECRET} = "x" }}', f'{{ a = "{SECRET}" }}', f'["{SECRET}', f"{SECRET}.x"],
)
def test_no_complaint_shows_the_value_of_a_sensitive_variable(
    evaluate: Evaluator, kind: str, given: str
) -> None:
    text = (
        f'variable "tok" {{\n type = {kind}\n sensitive = true\n}}\noutput "x" {{\n value = '
        "var.tok.zzz\n sensitive = true\n}\n"
    )
    _, diagnostics = evaluate(text, tok=given)
    assert len(diagnostics)
    assert SECRET not in str(list(diagnostics))


@pytest.mark.parametrize(
    "attribute",
    ["identifier = {}", "properties = {}", "format_version = {}", "comment = {}", "partition_by = {}"],
)
@pytest.mark.parametrize(
    "value",
    ["[var.tok]", "{ (var.tok) = 1 }", "var.tok", "{ a = [var.tok] }", "[for x in [var.tok] : x + 1]"],
)
def test_no_complaint_of_a_resource_shows_what_is_sensitive(
    evaluate: Evaluator, attribute: str, value: str
) -> None:
    text = 'variable "tok" {\n type = string\n sensitive = true\n}\n' + table("t", attribute.format(value))
    _, diagnostics = evaluate(text, tok=SECRET)
    assert diagnostics.has_errors
    assert SECRET not in str(list(diagnostics))


@pytest.mark.parametrize(
    ("kind", "example"),
    [
        ("set(string)", """-var 'regions=["a"]'"""),
        ("map(number)", "-var 'regions={ a = 1 }'"),
        ("object({ a = bool, b = list(string) })", """-var 'regions={ a = true, b = ["a"] }'"""),
    ],
)
def test_a_variable_that_is_given_as_a_bare_word_shows_how_to_write_it(
    evaluate: Evaluator, kind: str, example: str
) -> None:
    (found,) = evaluate(f'variable "regions" {{\n type = {kind}\n}}\n', regions="eu")[1]
    assert found.code == "FIC025"
    assert example in found.detail


ODD = (
    "",
    "a b",
    "a.b",
    "a[0]",
    'a[\\"x\\"]',
    "1a",
    "-a",
    "a\\u001b[31m",
    "a\\nb",
    "a/b",
    "../a",
    "é\\u0301",
    "a*",
    "a:b",
    "$${a}",
)
"""Labels in HCL's spelling that are no names."""


@pytest.mark.parametrize("label", ODD)
def test_each_label_of_a_block_is_a_name(evaluate: Evaluator, label: str) -> None:
    kinds = [name for name in installed().registry.types if "." not in name]
    text = (
        "".join(f'{kind} "{label}" {{}}\n' for kind in [*kinds, "variable", "output"])
        + f'data "table" "{label}" {{}}\n'
    )
    assert evaluate.codes(text).count("FIL213") == len(kinds) + 3


@pytest.mark.parametrize("label", ODD)
@pytest.mark.parametrize("kind", ["input", "step", "output"])
def test_the_names_of_the_parts_of_a_job_are_names(evaluate: Evaluator, kind: str, label: str) -> None:
    assert "FIL213" in evaluate.codes(f'job "j" {{\n {kind} "{label}" {{}}\n}}')


@pytest.mark.parametrize("label", ["a", "_a", "a-b", "a_1", "größe", "A"])
def test_letters_digits_underscores_and_dashes_make_a_name(evaluate: Evaluator, label: str) -> None:
    found = evaluate.good(table(label) + f'output "{label}" {{\n value = table.{label}.name\n}}\n')
    assert f"table.{label}" in found.desired.resources


def test_columns_branches_and_tags_are_called_what_they_are_called(evaluate: Evaluator) -> None:
    text = 'column "an amount" { type = "long" }\n branch "a b/c" {}\n tag "v1.0" {}'
    found = evaluate.good(table("t", text)).desired.resources["table.t"].attributes
    assert "an amount" in found["columns"]
    assert set(found["branch"]) == {"a b/c"}


def test_values_from_outside_are_utf_8(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text('variable "a" {}\nvariable "b" {}\n', encoding="utf-8")
    diagnostics = Diagnostics()
    broken = b"x\xff".decode(errors="surrogateescape")
    inputs = Inputs(
        environment={"FLAREIAC_VAR_a": broken}, given=[Given(name="b", text=broken, origin="-var b")]
    )
    load(
        Project(root=tmp_path, lineage="l"),
        installed().registry,
        lambda _files: inputs,
        new_snapshot(),
        diagnostics,
    )
    assert [item.code for item in diagnostics][:2] == ["FIC032", "FIC032"]
    str([item.detail for item in diagnostics]).encode()


@pytest.mark.parametrize(
    "name", ["main.flare.json", "main.FLARE.HCL", "main.flare", "x.vars.json", "FlareIaC.vars.hcl"]
)
def test_a_file_that_looks_like_one_of_a_project_and_is_not_read_is_told(
    evaluate: Evaluator, name: str
) -> None:
    (evaluate.root / name).write_text("{}")
    (found,) = evaluate('output "x" { value = 1 }\n')[1]
    assert (found.code, found.severity) == ("FIC006", Severity.WARNING)
    assert name in found.detail


@pytest.mark.parametrize(
    "name", ["README.md", "a.hcl", "notes.json", "flareiac.vars.hcl", "x.auto.vars.hcl", "a.flare.hcl~"]
)
def test_other_files_are_passed_over(evaluate: Evaluator, name: str) -> None:
    (evaluate.root / name).write_text("")
    assert not evaluate.codes('output "x" { value = 1 }\n')


@pytest.mark.parametrize("name", ["x.flare.hcl", "x.auto.vars.hcl"])
def test_only_plain_files_are_read(evaluate: Evaluator, name: str) -> None:
    os.mkfifo(evaluate.root / "pipe")
    for target, code in (("/dev/zero", "FIC007"), ("pipe", "FIC007"), ("nothing", "FIC005")):
        (evaluate.root / name).unlink(missing_ok=True)
        (evaluate.root / name).symlink_to(target)
        assert evaluate.codes('output "x" { value = 1 }\n') == [code]
    (evaluate.root / name).unlink()
    (found,) = evaluate('output "x" { value = file("pipe") }\n')[1]
    assert "not a plain file" in found.detail


@pytest.mark.parametrize(
    "grow",
    [
        '"${BEFORE}${BEFORE}${BEFORE}${BEFORE}${BEFORE}${BEFORE}${BEFORE}${BEFORE}"',
        'join("", [for i in range(8) : BEFORE])',
        'replace("aaaaaaaa", "a", BEFORE)',
        'format("%s%s%s%s%s%s%s%s", BEFORE, BEFORE, BEFORE, BEFORE, BEFORE, BEFORE, BEFORE, BEFORE)',
        '"%{ for i in range(8) }${BEFORE}%{ endfor }"',
        "flatten([for i in range(8) : [BEFORE]])",
        "concat([], [for i in range(8) : BEFORE]...)",
        "jsonencode([for i in range(8) : BEFORE])",
    ],
)
def test_a_value_that_grows_in_each_step_ends_in_a_complaint(evaluate: Evaluator, grow: str) -> None:
    first = '["x"]' if "concat" in grow else '"xxxxxxxx"'
    steps = "".join(f" a{index + 1} = {grow.replace('BEFORE', f'local.a{index}')}\n" for index in range(12))
    _, diagnostics = evaluate(f"locals {{\n a0 = {first}\n{steps}}}\n")
    (found,) = diagnostics
    assert "has up to" in found.detail or "has more than" in found.detail


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ('toset(["a", null])', "a null is in this set"),
        ("null", "this is null"),
        ('["a"]', "write toset(...)"),
        ("toset([1])", "set of numbers"),
        ('try(bcrypt("a"), {})', "bcrypt"),
        ("try(tabel.t.x, {})", 'no "tabel"'),
        ("try(path.nosuch, {})", 'path has no "nosuch"'),
        ("can(each.key) ? {} : {}", 'no "each"'),
    ],
)
def test_what_for_each_does_not_take_is_named(evaluate: Evaluator, given: str, part: str) -> None:
    _, diagnostics = evaluate(table("t", f"for_each = {given}"))
    (complaint,) = diagnostics
    assert part in complaint.detail
