"""Laws of masking: no spelling of a secret that was remembered is left in a text, and other texts stay."""

import base64
import html
import json
import quopri
import random
import re
import string
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote, quote_plus

import pytest

from flareiac.kernel import secret_masks
from flareiac.kernel.codes import Code
from flareiac.kernel.diagnostics import error
from flareiac.kernel.secret_masks import MASK, masked, masked_json, remember
from flareiac.render.control_characters import printable, visible

SAMPLE, MANY = 300, 20_000
ALPHABETS: Final = (
    string.ascii_letters + string.digits,
    string.ascii_letters + string.digits + "+/=_-.~",
    string.printable.strip() + " ",
    "abcäöü€日本😀xyz0123456789",
)


def lower_percent(text: str) -> str:
    return re.sub(r"%[0-9A-F]{2}", lambda found: found.group().lower(), text)


def in_base64(dice: random.Random, secret: str) -> str:
    before, after = (
        "".join(dice.choices(string.ascii_letters, k=dice.randrange(5))) + mark for mark in (":", "")
    )
    encode = dice.choice([base64.b64encode, base64.urlsafe_b64encode])
    found = encode(f"{before}{secret}{after}".encode()).decode()
    return found.rstrip("=") if dice.random() < 0.5 else found


SPELLINGS: Final[tuple[Callable[[random.Random, str], str], ...]] = (
    lambda _, text: text,
    lambda _, text: quote(text, safe=""),
    lambda _, text: quote(text),
    lambda _, text: quote_plus(text),
    lambda _, text: lower_percent(quote(text, safe="")),
    lambda _, text: quote(quote(text, safe=""), safe=""),
    lambda _, text: "".join(f"%{octet:02X}" for octet in text.encode()),
    lambda _, text: json.dumps(text)[1:-1],
    lambda _, text: json.dumps(text, ensure_ascii=False)[1:-1],
    lambda _, text: json.dumps(json.dumps(text))[1:-1],
    lambda _, text: json.dumps(text)[1:-1].replace("/", "\\/"),
    lambda _, text: html.escape(text),
    lambda _, text: repr(text)[1:-1],
    lambda _, text: quopri.encodestring(text.encode(), quotetabs=True).decode().replace("=\n", ""),
    lambda _, text: " ".join(text.split()),
    in_base64,
)


def some_secret(dice: random.Random) -> str:
    while True:
        found = "".join(dice.choices(dice.choice(ALPHABETS), k=dice.randint(8, 60))).strip()
        if len(found) >= 8 and len(set(found)) > 3:
            return found


def test_no_spelling_of_a_secret_is_left(request: pytest.FixtureRequest) -> None:
    dice = random.Random(6)
    for _ in range(MANY if request.config.getoption("--slow") else SAMPLE):
        secret_masks.forget()
        secret = some_secret(dice)
        remember(secret)
        for spell in SPELLINGS:
            spelled = spell(dice, secret)
            text = f"HTTP 401: rejected: x={spelled}& {spelled} !"
            left = masked(text)
            assert spelled not in left, (secret, spelled, left)
            assert secret not in left
            assert MASK in left
            if spell is in_base64:
                core = base64.b64encode(secret.encode()).decode()[4:-4]
                assert core not in left


def test_other_texts_stay(request: pytest.FixtureRequest) -> None:
    dice = random.Random(7)
    for _ in range(5):
        remember(some_secret(dice))
    for _ in range(MANY if request.config.getoption("--slow") else SAMPLE):
        text = " ".join(some_secret(dice) for _ in range(9))
        assert masked(text) == text
        document = json.dumps({"a": [text, 1, None, {"b": text}]}, indent=2)
        assert visible(document) == document


@pytest.mark.parametrize("secret", ["", "a", "ab", "abc", " ab "])
def test_short_secrets_turn_no_text_into_stars(secret: str) -> None:
    remember(secret)
    text = "abc ab a Error: catalog.abc cannot be read: table abc"
    assert masked(text) == text


def test_secrets_of_a_few_signs_are_masked_as_words() -> None:
    remember("lake")
    assert masked("lakehouse, flakes: Bearer lake&x=lake") == f"lakehouse, flakes: Bearer {MASK}&x={MASK}"


def test_the_secret_behind_a_name_and_each_line_of_a_key_are_masked() -> None:
    key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nAQEFAASCBKcwggSjAgEAAoIB\n-----END KEY-----"
    remember("id77:TOPSECRETtok99")
    remember(key)
    text = f"client_id=id77&client_secret=TOPSECRETtok99 {' '.join(key.split())} MIIEvQIBADANBgkqhkiG9w0"
    assert masked(text) == f"client_id=id77&client_secret={MASK} {MASK} {MASK}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Bearer eyJhbGciOiJIUzI1NiJ9.e30.x9 no", f"Bearer {MASK} no"),
        ("authorization: basic dXNlcjpwYXNz0w==", f"authorization: basic {MASK}"),
        ('{"access_token": "abc", "x": 1}', f'{{"access_token": "{MASK}", "x": 1}}'),
        ("grant_type=x&client_secret=abc&y=2", f"grant_type=x&client_secret={MASK}&y=2"),
        ("Bearer authentication is needed, basic authentication is not", None),
        ("client_secret = secret.login", None),
    ],
)
def test_tokens_that_were_never_resolved_are_known_by_their_place(text: str, expected: str | None) -> None:
    assert masked(text) == (expected or text)


def test_json_stays_json_and_its_names_stay() -> None:
    remember("password1")
    remember('a"b\\c:12345')
    document: dict[str, Any] = {"password1": ['x a"b\\c:12345 y', "password1", 1], "n": {"m": None}}
    found = json.loads(masked_json(json.dumps(document, indent=2)))
    assert found == {"password1": [f"x {MASK} y", MASK, 1], "n": {"m": None}}


def test_a_wrapped_or_stored_complaint_has_no_part_of_it() -> None:
    remember("one-token that has blanks and is long")
    found = error(Code("X", "x"), "it said one-token that has blanks and is long.")
    assert found.detail == f"it said {MASK}."
    assert printable("\x1b[31mone-token that has blanks and is long") == f"\\u001b[31m{MASK}"


def test_looking_for_secrets_in_a_large_text_is_linear() -> None:
    remember("QUJDREVGR0hJSktMTU5PUA")
    for text in ("A" * 3_000_000, "QUJD" * 500_000, "%41" * 300_000, "\\" * 1_000_000):
        assert masked(text) == text
