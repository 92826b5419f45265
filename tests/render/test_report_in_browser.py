"""The page of a report in a browser: filters, keys, links, print, and nothing that leaves or enters it."""

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("axe_playwright_python", reason="pip install -e '.[all,dev]' brings it")
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from flareiac.model.plan import Plan, PlannedTask
from flareiac.render.report.state_html import state_html
from flareiac.sdk.changes import Action, Effect, Reader, Step
from flareiac.sdk.maintenance import MaintenanceTask
from flareiac.sdk.owner import Owner
from tests.render.plans import change, plan, resource
from tests.render.test_report import BLOCKED, JOB, LOST
from tests.render.test_report import _job as job
from tests.render.test_report_html import html
from tests.render.test_state_report import content as state
from tests.support.browser import Opened, browser, opened

BI = Owner(name="BI & <Sales>", contact="#bi")
READ = replace(
    LOST,
    readers=(Reader(address="consumer.board", owner=BI, columns=("amount",)), Reader(address="job.copy")),
)
STOP = Step(text="stops after its current batch", effect=Effect.RESTART, batch_seconds=61.0, replays=(8,))
HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onfocus=alert(1) autofocus '",
    "<a href=javascript:alert(1)>",
    "<!--",
    "<style>*{display:none}</style>",
    "<base href=//example.com/>",
    "\u202egnp.exe\u200b",
)


def mixed() -> Plan:
    """One of each section, a group, maintenance and a lineage."""
    made = plan(
        resource("table.orders", Action.DELETE, recorded={"name": "orders"}, steps=(READ,)),
        replace(
            resource(
                "job.sums", Action.UPDATE, steps=(STOP,), changes=(change(("sql",), "SELECT 1", "SELECT 2"),)
            ),
            owner=Owner(name="Lake"),
        ),
        resource("job.b", Action.UPDATE, blockers=(BLOCKED,)),
        *(
            resource(f'table.t["{number} %41"]', Action.UPDATE, changes=(change(("retention",), "5d", "7d"),))
            for number in range(30)
        ),
        resource("table.new", Action.CREATE, planned={"name": "needle"}),
        resource('table.caf\u00e9["a/b#c?&<>"]', Action.CREATE, planned={"name": "caf\u00e9"}),
        job("job.copy", ["table.orders"], ["table.new"]),
    )
    task = MaintenanceTask(
        name="expire_snapshots", id="i", due=True, summary="expires 3", forecast={"files": 9}
    )
    return replace(made, tasks=(PlannedTask(address="table.new", task=task),))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("page"), mixed())


def written(folder: Path, made: Plan) -> Path:
    file = folder / "report.html"
    file.write_text(html(made, {"job": JOB}), encoding="utf-8")
    return file


@pytest.fixture
def shown(chromium: Browser, page_file: Path) -> Iterator[Opened]:
    with opened(chromium, page_file) as page:
        yield page


def cards(page: Page) -> list[str]:
    """The names of the entries that are shown."""
    return [
        re.split(r"[:\n]", text.inner_text().strip())[0]
        for text in page.locator("main [data-type]:visible").all()
    ]


def count(page: Page) -> str:
    return str(page.locator("#shown").inner_text())


def test_filters_by_effect_owner_type_and_text(shown: Opened) -> None:
    page = shown.page
    assert count(page) == "Shown: all 36"
    page.get_by_label("Effect").select_option("loses data")
    assert cards(page) == ["table.orders"]
    assert count(page) == "Shown: 1 of 36; hidden: 1 destructive or blocked"
    page.get_by_label("Effect").select_option("restart")
    assert cards(page) == ["job.sums"]
    page.get_by_role("button", name="Clear").click()
    page.get_by_label("Owner").select_option("BI & <Sales> <#bi>")
    assert cards(page) == ["table.orders"], "whom it hits counts, too"
    page.get_by_role("button", name="Clear").click()
    page.get_by_label("Type").select_option("job")
    assert cards(page) == ["job.b", "job.sums"]
    page.get_by_role("button", name="Clear").click()
    page.get_by_label("Text").fill("NEEDLE")
    assert cards(page) == ["table.new"], "differences are searched, too"
    assert page.locator("#part-blocked").is_hidden(), "a part without an entry has no head"
    page.get_by_label("Text").fill("no such text")
    assert cards(page) == []
    assert count(page).startswith("Shown: 0 of 36;")
    page.get_by_role("button", name="Clear").click()
    assert count(page) == "Shown: all 36"


def test_a_text_finds_the_member_of_a_group(shown: Opened) -> None:
    page = shown.page
    page.get_by_label("Text").fill("table.t 17")
    assert count(page).startswith("Shown: 1 of 36;")
    assert page.locator(".addresses > li:visible").all_inner_texts() == ['table.t["17 %41"]']


def test_each_choice_shows_as_many_as_it_says(shown: Opened) -> None:
    page = shown.page
    tried = 0
    for select in page.locator(".filters select").all():
        for option in select.locator("option[value]:not([value=''])").all():
            select.select_option(option.get_attribute("value"))
            said = re.fullmatch(r".* \((\d+)\)", str(option.text_content()))
            assert said is not None
            assert count(page).startswith(f"Shown: {said[1]} of 36")
            tried += 1
        select.select_option("")
    assert tried > 10


def test_expands_and_collapses_what_is_shown(shown: Opened) -> None:
    page = shown.page
    page.get_by_label("Type").select_option("table")
    page.get_by_role("button", name="Expand").click()
    page.get_by_role("button", name="Clear").click()
    assert page.locator("#table\\.orders").get_attribute("open") is not None
    assert page.locator("#job\\.sums").get_attribute("open") is None
    assert page.locator("#job\\.b").get_attribute("open") is not None, "what is blocked begins open"
    page.get_by_role("button", name="Collapse").click()
    assert page.locator("details.card[open]").count() == 0


@pytest.mark.parametrize(
    ("fragment", "address"),
    [
        ("#table.new", "table.new"),
        ("#table.t%5B%2217%20%2541%22%5D", 'table.t["17 %41"]'),
        ("#job.b", "job.b"),
        ('#table.caf\u00e9["a/b#c?&<>"]', 'table.caf\u00e9["a/b#c?&<>"]'),
    ],
)
def test_an_address_is_a_link(chromium: Browser, page_file: Path, fragment: str, address: str) -> None:
    small: dict[str, Any] = {"viewport": {"width": 900, "height": 300}}
    with opened(chromium, page_file, fragment=fragment, **small) as shown:
        there = shown.page.get_by_text(address, exact=True).locator("visible=true").last
        there.wait_for()
        assert in_view(shown.page, address)
        shown.page.wait_for_function("(id) => document.activeElement.closest('[id]')?.id === id", arg=address)
        assert shown.page.locator("details[open]", has_text=address).count() >= 1


def in_view(page: Page, address: str) -> bool:
    box: Any = page.evaluate("(id) => document.getElementById(id).getBoundingClientRect().toJSON()", address)
    return bool(0 <= box["top"] < 300)


def test_a_link_in_the_page_shows_what_a_filter_hides(shown: Opened) -> None:
    page = shown.page
    page.get_by_label("Type").select_option("job")
    assert page.locator("#table\\.orders").is_hidden()
    page.locator("#part-hits a", has_text="table.orders").first.click()
    assert page.locator("#table\\.orders[open]").is_visible()
    assert page.get_by_label("Type").input_value() == ""


def test_the_lineage_leads_to_changes_and_shows_neighbours(shown: Opened) -> None:
    page = shown.page
    node = page.locator("svg a", has_text="table.orders")
    node.hover()
    assert page.locator("svg.chosen .links .near").count() == 2
    node.click()
    assert page.url.endswith("#table.orders")
    assert page.locator("#table\\.orders[open]").is_visible()


def test_everything_is_done_by_keys(shown: Opened) -> None:
    page = shown.page
    page.keyboard.press("/")
    page.keyboard.type("table.new")
    assert count(page).startswith("Shown: 2 of 36;")
    page.keyboard.press("Escape")
    assert count(page) == "Shown: all 36"
    page.keyboard.press("j")
    assert focused(page) == "table.orders"
    page.keyboard.press("Enter")
    assert page.locator("#table\\.orders[open]").count() == 1
    page.keyboard.press("j")
    assert focused(page) == "job.b"
    page.keyboard.press("k")
    page.keyboard.press("k")
    assert focused(page) == "table.orders", "the first stays the first"
    page.keyboard.press("e")
    assert page.locator("details.card:not([open])").count() == 0
    page.keyboard.press("c")
    assert page.locator("details.card[open]").count() == 0
    page.keyboard.press("Control+j")
    assert focused(page) == "table.orders", "keys of the browser are its own"


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.parentElement.id"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_can_be_read_by_everybody(chromium: Browser, page_file: Path, scheme: str, width: int) -> None:
    look: dict[str, Any] = {"color_scheme": scheme, "viewport": {"width": width, "height": 900}}
    with opened(chromium, page_file, **look) as shown:
        shown.page.keyboard.press("e")
        for media in ("screen", "print"):
            shown.page.emulate_media(media=media)
            assert broken_rules(shown.page) == []
        shown.page.emulate_media(media="screen")
        assert shown.page.evaluate("document.documentElement.scrollWidth") <= width, "no sideways scrolling"


def broken_rules(page: Page) -> list[tuple[str, list[str]]]:
    """The rules of accessibility that a page breaks, and where."""
    found = Axe().run(page).response["violations"]
    return [(each["id"], [node["html"] for node in each["nodes"]]) for each in found]


def test_a_print_is_light_and_without_controls(chromium: Browser, page_file: Path) -> None:
    with opened(chromium, page_file, color_scheme="dark") as shown:
        page = shown.page
        assert background(page) == "rgb(13, 17, 23)"
        page.get_by_label("Type").select_option("job")
        page.emulate_media(media="print")
        assert background(page) == "rgb(255, 255, 255)"
        assert page.get_by_label("Text").is_hidden()
        assert page.locator("#shown").is_visible(), "a print of a part says so"
        assert len(page.pdf()) > 1_000


def background(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


def test_without_its_script_it_is_whole(chromium: Browser, page_file: Path) -> None:
    with opened(chromium, page_file, java_script_enabled=False) as shown:
        page = shown.page
        assert page.locator(".filters").is_hidden()
        page.locator("#table\\.new > summary").click()
        assert page.get_by_text('+ name = "needle"').is_visible()


JENKINS = "sandbox allow-same-origin; default-src 'none'; img-src 'self'; style-src 'self'"


def test_a_server_that_forbids_scripts_and_styles_shows_all_of_it(chromium: Browser, page_file: Path) -> None:
    """Jenkins serves artifacts so."""
    page = chromium.new_page()
    headers = {"Content-Security-Policy": JENKINS, "Content-Type": "text/html"}
    page.route("**/*", lambda route: route.fulfill(body=page_file.read_bytes(), headers=headers))
    page.goto("https://ci.example/report.html#table.t%5B%2217%20%2541%22%5D")
    assert page.get_by_text("1 destroyed").is_visible()
    page.locator("#table\\.new > summary").click()
    assert page.get_by_text('+ name = "needle"').is_visible()
    page.close()


@pytest.mark.parametrize("encoding", ["utf-16", "cp437", "latin-1"])
def test_no_shell_changes_its_characters(
    chromium: Browser, page_file: Path, tmp_path: Path, encoding: str
) -> None:
    """PowerShell reads what a program prints in the encoding of the console, and writes UTF-16."""
    file = tmp_path / "report.html"
    file.write_text(page_file.read_bytes().decode("cp437"), encoding=encoding)
    with opened(chromium, file) as shown:
        shown.page.get_by_label("Text").fill("caf\u00e9")
        assert cards(shown.page) == ['table.caf\u00e9["a/b#c?&<>"]']


def test_what_runs_has_a_page_of_the_same_kind(chromium: Browser, tmp_path: Path) -> None:
    file = tmp_path / "state.html"
    file.write_text(state_html(state()), encoding="utf-8")
    with opened(chromium, file, fragment="#job.sums") as shown:
        page = shown.page
        page.get_by_label("State").select_option("failed")
        assert count(page) == "Shown: 1 of 5"
        page.locator("svg a", has_text="table.totals").click()
        assert page.locator("#table\\.totals").is_visible(), "a link shows what a filter hides"
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert broken_rules(page) == []
        page.set_viewport_size({"width": 390, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_no_text_is_markup_or_runs(chromium: Browser, tmp_path: Path) -> None:
    made = plan(
        *(
            replace(
                resource(
                    f'table.t{number}["{text}"]',
                    Action.UPDATE,
                    changes=(change(("sql", text), f"{text}\n{text}", "x", note=text),),
                    steps=(
                        Step(text=text, effect=Effect.LOSES_DATA, why=text, readers=(Reader(address=text),)),
                    ),
                    drift=(text,),
                    blockers=(replace(BLOCKED, summary=text, why=text, ways_out=(f"{text}:\n{text}",)),)
                    * (number % 2),
                ),
                owner=Owner(name=text, contact=text),
            )
            for number, text in enumerate(HOSTILE)
        ),
    )
    with opened(chromium, written(tmp_path, replace(made, workspace=HOSTILE[0]))) as shown:
        page = shown.page
        page.keyboard.press("e")
        for at in range(len(HOSTILE)):
            page.get_by_label("Owner").select_option(index=at + 1)
            assert len(cards(page)) == 1
        page.get_by_role("button", name="Clear").click()
        assert page.locator("script").count() == 1
        assert page.locator("img, iframe, base, [onerror], [onload], [onfocus]").count() == 0
        for text in HOSTILE[:-1]:
            assert page.get_by_text(f'["{text}"]').count() >= 1
        assert page.get_by_text("\\u202egnp.exe\\u200b").count() >= 1


def test_its_policy_refuses_what_it_does_not_need(chromium: Browser, page_file: Path) -> None:
    with opened(chromium, page_file) as shown:
        page = shown.page
        refused = page.evaluate(
            """async () => {
              const refused = [];
              document.addEventListener("securitypolicyviolation", (it) =>
                refused.push(it.effectiveDirective));
              const script = document.createElement("script");
              script.textContent = "window.ran = true";
              document.body.append(script);
              const image = document.createElement("img");
              image.src = "https://example.com/x.png";
              document.body.append(image);
              const style = document.createElement("style");
              style.textContent = "*{color:red}";
              document.body.append(style);
              try { await fetch("https://example.com/"); } catch {}
              await new Promise((done) => setTimeout(done, 100));
              return [!!window.ran, ...refused.sort()];
            }"""
        )
        assert refused == [False, "connect-src", "img-src", "script-src-elem", "style-src-elem"]
        shown.said.clear()
        shown.asked.clear()


def test_two_thousand_changes_are_filtered_without_a_wait(chromium: Browser, tmp_path: Path) -> None:
    made = plan(
        *(
            resource(
                f"table.t{number}",
                Action.CREATE,
                planned={f"column_{at}_of_{number}": "string" for at in range(20)},
                steps=(Step(text="creates it", effect=Effect.METADATA),),
            )
            for number in range(2_000)
        )
    )
    with opened(chromium, written(tmp_path, made), fragment="#table.t1500") as shown:
        page = shown.page
        assert page.locator("#table\\.t1500[open]").is_visible()
        seconds = page.evaluate(
            """() => {
              const text = document.getElementById("by-text");
              return ["t1", "t199", "t1999", "of_77", ""].map((value) => {
                const begun = performance.now();
                text.value = value;
                text.dispatchEvent(new Event("input"));
                document.body.offsetHeight;
                return (performance.now() - begun) / 1000;
              });
            }"""
        )
        assert max(seconds) < 0.75
        assert sorted(seconds)[2] < 0.3
        assert count(page) == "Shown: all 2,000"
        begun = time.monotonic()
        page.keyboard.press("e")
        assert page.locator("details.card[open]").count() == 2_000
        assert time.monotonic() - begun < 10
