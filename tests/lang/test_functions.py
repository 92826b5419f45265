"""Functions by example: what they give, and that each tells its own trouble."""

import base64
import gzip
import hashlib
import os
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

from flareiac.kernel.data import UNKNOWN, Data
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.sources import Source
from flareiac.kernel.types import NUMBER, STRING
from flareiac.lang.evaluate import evaluate
from flareiac.lang.functions import functions
from flareiac.lang.parse import parse_expression
from flareiac.lang.scope import Scope
from flareiac.lang.values import to_data
from flareiac.sdk.provider import Function


def half(number: int) -> float:
    if number < 0:
        raise ValueError("the number is below zero")
    return number / 2


LAUGHS = '"a: &a [x, x]\\n{}"'.format(
    "".join(
        f"{after}: &{after} [*{before}, *{before}, *{before}]\\n"
        for before, after in pairwise("abcdefghijklmnop")
    )
)
DEEP = '"v0: &v0 [x]\\n{}"'.format("".join(f"v{at + 1}: &v{at + 1} [*v{at}]\\n" for at in range(150)))

ROWS = "{ x = range(1000) }"
PROVIDED = Function(
    name="half", parameters=(("number", NUMBER),), returns=NUMBER, call=half, description="Half of it."
)
NAMED = Function(
    name="greet",
    parameters=(),
    returns=STRING,
    call=lambda *names: " ".join(names),
    description="",
    variadic=("names", STRING),
)


def result(text: str, root: Path = Path()) -> tuple[Data, Diagnostics]:
    diagnostics = Diagnostics()
    expr = parse_expression(Source("x", text), diagnostics)
    assert expr is not None
    return to_data(
        evaluate(expr, Scope(functions=functions(root, (PROVIDED, NAMED))), diagnostics)
    ), diagnostics


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("ceil(1.2) + floor(-1.2) + signum(-5)", -1),
        ("pow(2, 10)", 1024),
        ('parseint("ff", 16)', 255),
        ('join("-", ["a", "b"], ["c"])', "a-b-c"),
        ('split(",", "a,b")', ["a", "b"]),
        ('replace("a.b.c", "/\\\\.(\\\\w)/", "<$1>")', "a<b><c>"),
        ('regex("(?P<y>\\\\d+)-(?P<m>\\\\d+)", "2024-05")', {"y": "2024", "m": "05"}),
        ('regexall("[a-z]", "a1b")', ["a", "b"]),
        ('substr("héllo", 1, 3)', "éll"),
        ('title("hello big world")', "Hello Big World"),
        ('indent(2, "a\\nb")', "a\n  b"),
        ('formatlist("%s=%d", ["a", "b"], [1, 2])', ["a=1", "b=2"]),
        ('format("%5.1f|%-4s|%x", 3.14159, "ab", 255)', "  3.1|ab  |ff"),
        ("chunklist([1, 2, 3], 2)", [[1, 2], [3]]),
        ('coalesce(null, "", "x")', "x"),
        ('compact(["a", "", null])', ["a"]),
        ("concat([1], [], [2, 3])", [1, 2, 3]),
        ("distinct([3, 1, 3])", [3, 1]),
        ("element([1, 2, 3], 4)", 2),
        ("flatten([[1], [[2], 3]])", [1, 2, 3]),
        ("merge({a = 1, b = 2}, null, {b = 3})", {"a": 1, "b": 3}),
        ('lookup({a = 1}, "b", 7)', 7),
        ("range(3)", [0, 1, 2]),
        ("range(3, 0, -1)", [3, 2, 1]),
        ('sort(["b", "a"])', ["a", "b"]),
        ("toset([2, 1, 2])", [1, 2]),
        ("setunion([1], [2])", [1, 2]),
        ('setproduct(["a"], [1, 2])', [["a", 1], ["a", 2]]),
        ('zipmap(["a", "b"], [1, 2])', {"a": 1, "b": 2}),
        ("one([])", None),
        ('jsondecode("{\\"a\\": [1.5, null]}")', {"a": [1.5, None]}),
        ('base64decode(base64encode("hé"))', "hé"),
        ('urlencode("a b&c")', "a+b%26c"),
        ('md5("x")', "9dd4e461268c8034f5c8564e155c67a6"),
        ('tonumber("1.50")', 1.5),
        ('type([1, "a"])', "tuple([number, string])"),
        ("half(3)", 1.5),
        ('greet("a", 1)', "a 1"),
    ],
)
def test_result(text: str, wanted: Data) -> None:
    found, diagnostics = result(text)
    assert not list(diagnostics)
    assert found == wanted


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ('tonumber("x")', "this is 'x'"),
        ("half(-1)", "below zero"),
        ('half("x")', "number"),
        ('regex("(", "x")', "Invalid regular expression"),
        ('jsondecode("{")', "not JSON"),
        ("range(0, 10, 0)", "step must not be zero"),
        ('format("%d", "x")', "Unsuitable value for %d"),
        ('format("%d")', "Not enough arguments"),
        ('zipmap(["a"], [])', "1 keys and 0 values"),
        ('file("../secret")', "outside of the module's directory"),
        ('file("nothing")', "cannot be read"),
        ('filemd5("nothing")', "cannot be read"),
        ('filebase64("../secret")', "outside of the module's directory"),
        ('cidrhost("10.0.0.0/30", 4)', "has no host 4"),
        ('cidrhost("10.0.0.0/30", -5)', "has no host -5"),
        ('cidrhost("10.0.0.0", 1)', "is not a network such as"),
        ('cidrhost("fe80::%eth0/64", 1)', "is not a network such as"),
        ('cidrnetmask("1::/64")', "Networks of IPv6 have no netmask"),
        ('cidrsubnet("10.0.0.0/8", 8, -1)', "8 more bits have no network -1"),
        ('cidrsubnet("10.0.0.0/30", 4, 0)', "cannot have 4 more"),
        ('cidrsubnets("10.0.0.0/8", 1, 1, 1)', "no room left for a subnet with 9 bits"),
        ('cidrsubnets("10.0.0.0/8", 0)', "1 to 32 more bits"),
        ('csvdecode("")', "text is empty"),
        ('csvdecode("a,a\\n1,2")', 'names "a" twice'),
        ('csvdecode("a,b\\n1")', "Row 1 has 1 fields"),
        ('csvdecode("a\\nx\\"y\\"")', "Line 2 is not CSV"),
        ('formatdate("YYYYY", "2026-01-01T00:00:00Z")', "Write YYYY, YY"),
        ('formatdate("x", "2026-01-01T00:00:00Z")', "between single quotes"),
        ('formatdate("\'a", "2026-01-01T00:00:00Z")', "single quote that is not closed"),
        ('formatdate("D", "2026-02-29T00:00:00Z")', "day is out of range"),
        ('timeadd("2026-01-01", "1h")', "is not a time such as"),
        ('timeadd("2026-01-01T00:00:00Z", "1d")', "the units are ns, us, ms, s, m and h"),
        ('timeadd("2026-01-01T00:00:00Z", "2562048h")', "longer than 292 years"),
        ('timeadd("9999-12-31T23:59:59Z", "1s")', "after the year 9999"),
        ('timecmp("2026-01-01T00:00:00Z", "2026-01-01T00:00:00+00:60")', "less than 60 minutes"),
        ('textencodebase64("😀", "latin1")', "characters that latin1 does not have"),
        ('textencodebase64("a", "rot13")', "not an encoding of texts"),
        ('textencodebase64("a", "idna")', "not an encoding that IANA lists"),
        ('textdecodebase64("gA==", "UTF-8")', "What the text encodes is not UTF-8"),
        ('textdecodebase64("?", "UTF-8")', "The text is not base64"),
        ('uuidv5("moon", "a")', "is not dns, url, oid, x500 or a UUID"),
        ('duration("7 days")', "not a duration"),
        ('yamldecode("")', "holds no document"),
        ('yamldecode("a: 1\\n---\\nb: 2")', "holds a second document"),
        ('yamldecode("[1")', "not YAML: expected ',' or ']'"),
        ('yamldecode("~: 1")', "key must not be null"),
        ('yamldecode("[a]: 1")', "a key is a text"),
        ('yamldecode("a: !x 1")', "cannot have the tag !x"),
        ('yamldecode("a: *b")', "nothing before it has the anchor &b"),
        ('yamldecode("a: &a [*a]")', "*a stands inside of what it names"),
        ('yamldecode("<<: [{a: 1}]")', "a mapping follows the key"),
        ('yamldecode(".inf")', "not a number that can be computed with"),
        ('yamldecode("!!int x")', "is no int"),
        ('yamldecode("\\"\\\\ud800\\"")', "half of a pair"),
        (f'yamldecode("{"[" * 150}{"]" * 150}")', "more than 100 levels"),
        (f"yamldecode({LAUGHS})", "more than 1,000,000 parts"),
        (f"yamldecode({DEEP})", "more than 100 levels"),
        ('bcrypt("x")', "another hash each time"),
        ('rsadecrypt("x", "y")', "private key"),
        ('list("x")', "Write tolist"),
        ('fileset(".", "[")', "not a pattern"),
        ('fileset(".", "{a,b/c}")', "nothing closes the {"),
        ('fileset("..", "*")', "outside of the module's directory"),
        ('fileset(".", "../*")', "leads out of the module's directory"),
        ('templatefile("nothing", {})', "cannot be read"),
        ('templatestring("${1}", {})', "needs no function"),
    ],
)
def test_trouble(text: str, part: str, tmp_path: Path) -> None:
    _, diagnostics = result(text, tmp_path)
    (found,) = diagnostics
    assert part in found.detail


def test_files_inside_the_root(tmp_path: Path) -> None:
    (tmp_path / "query.sql").write_text("SELECT 1\n")
    assert result('file("query.sql")', tmp_path)[0] == "SELECT 1\n"
    assert result('[fileexists("query.sql"), fileexists("other")]', tmp_path)[0] == [True, False]


def test_hashes_of_files_are_those_of_their_bytes(tmp_path: Path) -> None:
    (tmp_path / "data.bin").write_bytes(b"\x00\xff")
    (tmp_path / "query.sql").write_text("SELECT 1\n")
    assert result('filebase64("data.bin")', tmp_path)[0] == "AP8="
    for name in ("md5", "sha1", "sha256", "sha512", "base64sha256", "base64sha512"):
        text = f'file{name}("query.sql") == {name}(file("query.sql"))'
        assert result(text, tmp_path)[0] is True
    assert result('filemd5("data.bin")', tmp_path)[0] == hashlib.md5(b"\x00\xff").hexdigest()


def test_a_sensitive_argument_is_not_told() -> None:
    _, diagnostics = result('tonumber(sensitive("hush"))')
    (found,) = diagnostics
    assert "hush" not in str(found)


TEMPLATES = {
    "greeting": "Hello ${name}!\n",
    "list": "%{ for each in names ~}\n- ${each}\n%{ endfor ~}\n",
    "value": "${value}",
    "text": "${value ~}\n",
    "raw": 'EOT\n"\\n" $${a} %%{b}\r\nEOT',
    "empty": "",
    "marked": "\ufeffx",
    "reader": '${file("value")}',
}


def test_what_a_template_comes_to(tmp_path: Path) -> None:
    for name, text in TEMPLATES.items():
        (tmp_path / name).write_text(text, newline="")

    def rendered(name: str, variables: str) -> Data:
        value, diagnostics = result(f'templatefile("{name}", {variables})', tmp_path)
        assert not list(diagnostics)
        return value

    assert rendered("greeting", '{ name = "you", more = 1 }') == "Hello you!\n"
    assert rendered("list", '{ names = ["a", "b"] }') == "- a\n- b\n"
    assert rendered("value", "{ value = [1, true] }") == [1, True]
    assert rendered("text", "{ value = 5 }") == "5"
    assert rendered("raw", "{}") == 'EOT\n"\\n" ${a} %{b}\r\nEOT'
    assert rendered("empty", "{}") == ""
    assert rendered("marked", "{}") == "x"
    assert rendered("reader", "{}") == "${value}"


@pytest.mark.parametrize(
    ("template", "variables", "part"),
    [
        ("${name}", "{ nam = 1 }", 'At t:1:3: the template is given no variable "name". Did you mean "nam"?'),
        ("a\n${x.y}", "{ x = {} }", "At t:2:3: Unsupported attribute"),
        ("${", "{}", "At t:1:1: Unclosed bracket"),
        ("%{ if x }", "{ x = 1 }", "At t:1:1: Invalid template directive"),
        ('${templatefile("t", {})}', "{}", "a template cannot evaluate another"),
        ("${nosuch(1)}", "{}", 'There is no function "nosuch"'),
        ("${path.module}", "{}", 'no variable "path"'),
        ("${null}", "{}", "The template comes to null"),
        ("x", "[]", "are an object or a map"),
        ("x", '{ "a b" = 1 }', '"a b" cannot be the name of a variable'),
        (
            "%{for a in x}%{for b in x}%{for c in x}.%{endfor}%{endfor}%{endfor}",
            ROWS,
            "1,000,000",
        ),
        ("${[for a in x : [for b in x : [for c in x : a]]] == 1}", ROWS, "1,000,000"),
    ],
)
def test_a_template_says_what_is_wrong(template: str, variables: str, part: str, tmp_path: Path) -> None:
    (tmp_path / "t").write_text(template)
    _, diagnostics = result(f'templatefile("t", {variables})', tmp_path)
    (complaint,) = diagnostics
    assert part in complaint.detail


def test_files_by_pattern(tmp_path: Path) -> None:
    folder = tmp_path / "root"
    names = (
        "a.sql",
        "b.sql",
        "c.txt",
        ".hidden",
        "sub/a.sql",
        "sub/deep/d.sql",
        "[x].sql",
        "{y}.sql",
        "é.sql",
        "n\nl",
    )
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (folder / "linked").symlink_to("sub")
    (folder / "sub" / "up").symlink_to("..")
    (folder / "out").symlink_to(tmp_path)
    (tmp_path / "outside.sql").write_text("")

    def named(pattern: str, path: str = ".") -> Data:
        value, diagnostics = result(f'fileset("{path}", "{pattern}")', folder)
        assert not list(diagnostics)
        return value

    tops = ["[x].sql", "a.sql", "b.sql", "{y}.sql", "é.sql"]
    assert named("*.sql") == tops
    assert named("**/a.sql") == ["a.sql", "linked/a.sql", "sub/a.sql"]
    assert named("sub/**") == ["sub/a.sql", "sub/deep/d.sql"]
    assert named("**", "sub/deep") == ["d.sql"]
    assert named("[a-b].sql") == named("{a,b}.sql") == ["a.sql", "b.sql"]
    assert named("[^ab].sql") == named("[é].sql") == ["é.sql"]
    assert named("\\\\[x\\\\].sql") == ["[x].sql"]
    assert named("?*l") == [*tops[:1], "a.sql", "b.sql", "n\nl", *tops[3:]]
    assert named("../sub/./a.sql", "sub") == ["a.sql"]
    assert named("out/*") == named("nothing/*") == named("*", "nothing") == []
    assert named(f"{'*a' * 60}") == []


def test_a_name_that_is_no_text_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff.sql")).touch()
    (complaint,) = result('fileset(".", "*.sql")', tmp_path)[1]
    assert "whose name is not UTF-8" in complaint.detail


def test_gzip_gives_back_the_text() -> None:
    packed = result('base64gzip("héllo")')[0]
    assert isinstance(packed, str)
    content = base64.b64decode(packed)
    assert gzip.decompress(content).decode() == "héllo"
    assert content[:10] == b"\x1f\x8b\x08\0\0\0\0\0\0\xff"


def test_a_plan_has_one_time_and_knows_no_other() -> None:
    began = datetime(2026, 11, 29, 12, 30, 5, tzinfo=UTC)
    scope = Scope(functions=functions(Path(), began=began))

    def value(text: str) -> Data:
        expr = parse_expression(Source("x", text), Diagnostics())
        assert expr is not None
        return to_data(evaluate(expr, scope, Diagnostics()))

    assert value("plantimestamp()") == "2026-11-29T12:30:05Z"
    assert value("[timestamp(), uuid()]") == [UNKNOWN, UNKNOWN]
