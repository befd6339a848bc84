"""The page in a real Chromium: what it asks for, what it says to keyboards and screen readers, and how it fits.

`.ci/run` installs what is needed, and there a missing browser is a failure; elsewhere these tests are left out.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.report.hostile import TEXTS
from tracker.model import Kind, Report, Site
from tracker.report.html import render
from tracker.report.screen import Screen

try:
    from playwright.sync_api import expect, sync_playwright
except ImportError:
    sync_playwright = None  # type: ignore[assignment]

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
MISSING = (
    "there is no Chromium: install Debian's package chromium"
    if CHROMIUM is None
    else "playwright is not installed: make browser"
    if sync_playwright is None
    else ""
)
if MISSING and "BROWSER_TESTS" not in os.environ:
    pytest.skip(f"the HTML report was not looked at in a browser: {MISSING}", allow_module_level=True)

pytestmark = pytest.mark.browser

WIDTHS = (360, 768, 1280)


@pytest.fixture(scope="module")
def browser():
    assert not MISSING, MISSING
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM)
        yield running
        running.close()


@pytest.fixture
def visit(browser, tmp_path) -> Iterator:
    """visit(report, **context) -> the page, opened from a file; at the end, it must have been quiet and alone."""
    said: list[str] = []
    asked: list[str] = []
    contexts = []

    def opened(report: Report, width: int = 1280, **context):
        file = tmp_path / "report.html"
        file.write_text(render(report, Screen()), encoding="utf-8")
        contexts.append(browser.new_context(viewport={"width": width, "height": 800}, **context))
        page = contexts[-1].new_page()
        page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(file.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert said == []
    assert set(asked) == {(tmp_path / "report.html").as_uri()}


@pytest.fixture
def hostile(report) -> Report:
    """A report in which upstream wrote the worst it can, everywhere."""
    drifts = []
    for n, text in enumerate(TEXTS[:-2]):
        one = report.drifts[n % 2]
        before = replace(one.before, message=text, scope=text, path=f"pkg/{text[:200]}.py", guard=(text,))
        after = one.after and replace(one.after, message=f"{text} {text}", exception=text)
        cause = replace(report.drifts[0].cause, subject=text, author=text)
        excerpts = tuple(one and replace(one, lines=(text, text, text)) for one in report.drifts[0].excerpts)
        drifts.append(replace(one, before=before, after=after, cause=cause, excerpts=excerpts))
    text = TEXTS[0] + TEXTS[1]
    return replace(
        report, drifts=tuple(drifts), notices=(text,), partial={text: text}, pages={"0123456789abcdef": text}
    )


def large(report: Report, number: int) -> Report:
    """A report with so many drifts in more than a line, and three times as many moved ones."""
    first, moved = report.drifts[0], replace(report.drifts[5], entry=None)

    def put(one: Site, n: int) -> Site:
        return replace(one, path=f"pkg/sub{n % 40}/module{n % 97}.py", line=one.line + n, end_line=one.line + n)

    loud = [replace(first, before=put(first.before, n), after=put(first.after, n)) for n in range(number)]
    quiet = [replace(moved, before=put(moved.before, n), after=put(moved.after, n)) for n in range(3 * number)]
    return replace(report, drifts=(*loud, *quiet))


def says(page, text: str) -> None:
    """Wait until the page says how much it shows."""
    expect(page.get_by_role("status")).to_have_text(text)


def shown(page) -> int:
    return page.locator("[data-item]:not([hidden])").count()


def width_of(page) -> int:
    """How wide the page is with everything unfolded and laid out, what is out of sight too."""
    return page.evaluate(
        """() => {
            document.styleSheets[0].insertRule(".card { content-visibility: visible !important }");
            document.querySelectorAll("details").forEach(one => one.open = true);
            return document.documentElement.scrollWidth;
        }"""
    )


def test_it_asks_for_nothing_and_says_nothing(visit, report):
    page = visit(report)
    assert page.title() == "Errors of a/b: v1 to v2"
    assert page.locator("article").count() == 6
    assert page.locator("svg[role=img]").count() == 2


def test_hostile_texts_are_only_shown(visit, hostile):
    page = visit(hostile, width=360)
    assert page.locator("script, img, iframe, svg[onload]").count() == 1  # the script of our own
    assert any(TEXTS[0] in text for text in page.locator("h3").all_text_contents())
    assert width_of(page) == 360


def test_another_script_would_not_run(browser, report):
    page = browser.new_page()
    page.set_content(render(report, Screen()))
    refused = page.evaluate(
        """() => new Promise(resolve => {
            const said = event => resolve([event.effectiveDirective, window.ran ?? null]);
            addEventListener("securitypolicyviolation", said);
            const script = document.createElement("script");
            script.textContent = "window.ran = true";
            document.body.append(script);
        })"""
    )
    page.close()
    assert refused == ["script-src-elem", None]


@pytest.mark.parametrize("width", WIDTHS)
def test_it_fits(visit, report, width):
    page = visit(large(report, 30), width=width)
    assert width_of(page) == width


def test_the_filters_work_by_keyboard_and_say_what_is_left(visit, report):
    page = visit(report)
    count = page.get_by_role("status")
    assert (shown(page), count.inner_text()) == (7, "All 7 are shown.")
    page.get_by_role("searchbox", name="File, function or page").focus()
    page.keyboard.type("c.py")
    says(page, "1 of 7 are shown.")
    assert page.locator("[data-section]:not([hidden]) h2").all_inner_texts() == ["Another exception 1"]
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.press("Delete")
    page.keyboard.press("Tab")
    page.keyboard.type("warn")
    says(page, "5 of 7 are shown.")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    says(page, "4 of 7 are shown.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    says(page, "All 7 are shown.")


@pytest.mark.parametrize(
    ("kinds", "number"), [(["new"], 1), (["moved"], 2), (["removed", "retyped"], 2), ([kind.value for kind in Kind], 7)]
)
def test_kinds(visit, report, kinds, number):
    page = visit(report)
    for kind in kinds:
        page.locator(f"input[value={kind}]").focus()
        page.keyboard.press("Space")
    said = f"{number} of 7 are shown." if number < 7 else "All 7 are shown."
    says(page, said)
    assert shown(page) == number


def test_every_stop_of_the_keyboard_can_be_seen(visit, report):
    page = visit(report)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the errors"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
    for _ in range(40):
        page.keyboard.press("Tab")
        style = page.evaluate(
            """() => {
                const one = document.activeElement.closest(".chip") ?? document.activeElement;
                return one === document.body ? "" : getComputedStyle(one).outlineStyle;
            }"""
        )
        assert style in ("solid", "")


def test_light_and_dark(visit, report):
    def paper(page) -> str:
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    light, dark = "rgb(251, 251, 250)", "rgb(22, 24, 27)"
    assert paper(visit(report, color_scheme="light")) == light
    page = visit(report, color_scheme="dark")
    button = page.get_by_role("button", name="Theme: automatic")
    assert paper(page) == dark
    for theme, colour in (("light", light), ("dark", dark), ("automatic", dark)):
        page.get_by_role("button", name="Theme").press("Enter")
        assert (page.locator("#theme span").inner_text(), paper(page)) == (theme, colour)
    assert button.is_visible()


def test_without_a_script_everything_is_shown(visit, report):
    page = visit(report, java_script_enabled=False)
    assert page.locator("article").count() == 6
    assert page.locator("#filters, #theme").locator("visible=true").count() == 0


def test_a_large_report_is_filtered_at_once(visit, report):
    page = visit(large(report, 1200))
    assert shown(page) == 4800
    page.get_by_role("searchbox").fill("sub7/")
    says(page, "120 of 4,800 are shown.")
    assert page.locator("[data-count]").all_text_contents() == ["30 of 1,200", "90 of 3,600"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_nothing(visit, report, hostile, scheme, width):
    from axe_playwright_python.sync_playwright import Axe

    for one in (report, hostile):
        page = visit(one, width=width, color_scheme=scheme)
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()


def test_it_can_be_printed(visit, report, tmp_path: Path):
    page = visit(report)
    page.emulate_media(media="print")
    assert not page.locator("#filters").is_visible()
    assert page.locator("article").first.is_visible()
