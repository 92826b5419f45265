"""HCL's JSON form: texts, numbers, templates and places, also as Terraform has them."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.sources import Source
from flareiac.lang.evaluate import evaluate
from flareiac.lang.functions import functions
from flareiac.lang.json_body import ANYTHING, VALUES, BodyForm
from flareiac.lang.parse import parse_file
from flareiac.lang.references import references
from flareiac.lang.scope import Scope
from flareiac.lang.values import to_data
from tests.support.terraform_values import Known, answers, is_there

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
VALUES_OF_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**25), 10**25)
    | TEXTS
    | st.sampled_from(["${x}", "%{", "$${a}"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=10,
)
DOCUMENTS = [
    r'"x \n\n  ${~ 1 ~} \n\n y"',
    r'"%{for x in [1,2]~}\n ${x} \n%{endfor~}\nend"',
    r'"%{if true}a%{else}b%{endif}"',
    r'"a\\n$${b} %%{c} $ % $$ {}"',
    r'"$$${1}"',
    r'"${[1, 2]}"',
    r'"${1}"',
    r'"${1} "',
    r'"${\"a\\nb\"}"',
    r'"\ud83d\ude00\/\b\f\u00e9 ${\"\\u0041\"}"',
    r'"\ud800x"',
    r'{"${1 + 1}": 2, "//": 3, "$${a}": null}',
    r'{"a": {"b": [1.10, -0.5, 1e3, true, null, "x"]}}',
    "123456789012345678901234567890",
    "0.1",
    "[]",
    "{}",
    r'"${{ for k, v in { a = 1 } : k => \"${v}x\" }}"',
    r'"line one\nline two"',
    r'"\t${~ \"x\" ~}\t"',
]


def attributes(text: str, form: BodyForm = ANYTHING) -> dict[str, Any]:
    """The values of the members of an object."""
    diagnostics = Diagnostics()
    body = parse_file(Source("x.json", text), diagnostics, form=form)
    scope = Scope(functions=functions(Path()))
    found = {each.name: to_data(evaluate(each.expr, scope, diagnostics)) for each in body.attributes}
    assert not list(diagnostics)
    return found


@pytest.mark.skipif(not is_there(), reason="terraform is not on PATH")
def test_values_are_those_of_terraform(tmp_path: Path) -> None:
    text = "{" + ", ".join(f'"v{at}": {value}' for at, value in enumerate(DOCUMENTS)) + "}"
    (tmp_path / "given.tf.json").write_text(f'{{"locals": {text}}}')
    wanted = answers([f"local.v{at}" for at in range(len(DOCUMENTS))], "", tmp_path)
    found = attributes(text)
    for at, (document, answer) in enumerate(zip(DOCUMENTS, wanted, strict=True)):
        assert isinstance(answer, Known), document
        assert exact(found[f"v{at}"]) == exact(answer.value), document


def exact(data: Any) -> Any:
    """Data with every number as ``Decimal``, in order of names."""
    match data:
        case bool() | str() | None:
            return data
        case int() | float():
            return Decimal(str(data))
        case dict():
            return {name: exact(data[name]) for name in sorted(data)}
        case list() | tuple():
            return [exact(each) for each in data]
        case _:
            return data


@settings(max_examples=200, deadline=None)
@given(VALUES_OF_JSON, st.booleans(), st.sampled_from([None, 1]))
def test_a_file_of_values_means_its_values(value: object, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps({"a": value}, ensure_ascii=ascii_only, indent=indent)
    assert attributes(text, VALUES)["a"] == value


@settings(max_examples=200, deadline=None)
@given(TEXTS, TEXTS, st.booleans())
def test_places_in_a_text_are_those_of_the_file(before: str, after: str, ascii_only: bool) -> None:
    plain = [each.replace("$", "").replace("%", "") for each in (before, after)]
    written = json.dumps({"a": [plain[1], f"{plain[0]}${{var.x}}{plain[1]}"]}, ensure_ascii=ascii_only)
    diagnostics = Diagnostics()
    [reference] = references(parse_file(Source("x.json", written), diagnostics, form=ANYTHING))
    assert not list(diagnostics)
    assert written[reference.span.start.offset : reference.span.end.offset] == "var.x"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", "The text ends where a value should follow."),
        ("{", "The text ends before this { is closed."),
        ('{"a": 1', "The text ends before this { is closed."),
        ('{"a": [1', "The text ends before this [ is closed."),
        ('{"a"', "The text ends before this { is closed."),
        ('{"a" = 1}', "with a colon"),
        ('{"a": 1 "b": 2}', "Expected a comma"),
        ('{"a": 1,}', "no comma after the last member"),
        ("{a: 1}", 'A name stands in double quotes: "a".'),
        ("{'a': 1}", "straight double quotes"),
        ('{"a": 01}', "no number of JSON"),
        ('{"a": +1}', "no number of JSON"),
        ('{"a": .5}', "no number of JSON"),
        ('{"a": 1.}', "no number of JSON"),
        ('{"a": 0x10}', "no number of JSON"),
        ('{"a": 1e99999999999}', "This number cannot be used"),
        ('{"a": True}', 'Did you mean "true"?'),
        ('{"a": NaN}', "JSON has no word NaN."),
        ('{"a": shop}', "A text stands in double quotes."),
        ('{"a": "x\n"}', "A line break in a string is written \\n."),
        ('{"a": "x\t"}', "A string holds no '\\t'"),
        ('{"a": "x', "The line ends before the closing quote."),
        ('{"a": "x\\', "The line ends before the closing quote."),
        ('{"a": "\\x"}', "\\x is not an escape sequence of JSON."),
        ('{"a": "\\u12"}', "\\u12 is not an escape sequence of JSON."),
        ('{"a": 1} // x', "JSON has no comments."),
        ("# x\n{}", "JSON has no comments."),
        ('{"a": 1}{}', "The text goes on after the end of its one value."),
        ("[1]", "an object, or an array of objects"),
        ("null", "an object, or an array of objects"),
        ('{"a": ' + "[" * 200, "nested 100 deep"),
        ('{"a": ' + "[" * 1_000_000, "nested 100 deep"),
        ("\ufeff\ufeff{}", "Expected a value here"),
    ],
)
def test_what_is_no_json_is_one_error(text: str, wanted: str) -> None:
    diagnostics = Diagnostics()
    parse_file(Source("x.json", text), diagnostics)
    [error] = list(diagnostics)
    assert wanted in error.detail
