"""The report: complete, true, small, and it works in a browser; what notebooks show."""

import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from browser import console, page
from matplotlib.axes import Axes
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By

import rai_sim as rai
from rai_sim.plotting import choice
from rai_sim.plotting.drawing import Drawing
from rai_sim.report import report, write_report
from rai_sim.study import StudyResults
from rai_sim.support.errors import ArgumentValueError

#: A problem on which the printed LUCB errs in a fifth of its runs.
WRONG = rai.table_problem(task=2)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    """54 tasks: two of them err far more often than delta."""
    file = tmp_path_factory.mktemp("report") / "fifty.toml"
    file.write_text("""
algorithms = ["vanilla", "butterscotch", "lucb"]
delta = [0.1, 0.01]
replications = 40
[[instances]]
name = "two arms <of & many>"
family = "evenly_spaced"
n = 2
middle = 0.5
gap = [0.8, 0.7, 0.6, 0.5, 0.4]
problem = "best_arm"
[[instances]]
name = "top"
family = "evenly_spaced"
n = [4, 6, 8]
middle = 0.5
gap = 0.12
problem = "top"
k = 1
""")
    gaps = rai.Study.from_toml(file)
    grid = rai.Study.grid(
        {"table": WRONG},
        [rai.LUCB(as_printed=True), rai.Vanilla(), rai.LUCB()],
        [0.1, 0.01],
        replications=40,
    )
    both = rai.Study((*gaps.tasks, *grid.tasks), replications=40)
    return both.run(file.parent / "store")


def page_of(study: StudyResults) -> str:
    """Return the page, with title and definition."""
    return report(
        study, title="<script>alert(1)</script> & arms", definition="delta = [0.1, 0.01]  # <both>"
    )


@pytest.fixture(scope="module")
def text(study: StudyResults) -> str:
    """The page, with the first eight figures."""
    chosen = choice.choose
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choice, "choose", lambda *given, **options: chosen(*given, **options)[:8])
        return page_of(study)


@pytest.fixture(scope="module")
def file(text: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page as a file."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.landing
@pytest.mark.parametrize("all_figures", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_page_is_small_and_asks_for_nothing(
    study: StudyResults, text: str, all_figures: bool
) -> None:
    """Below 2 MB for 54 tasks, a third of that with eight figures of 24; no address but that of the
    namespaces of pictures."""
    assert len(study.tasks) == 54
    text = page_of(study) if all_figures else text
    assert text.count("<figure ") == (24 if all_figures else 8)
    assert len(text.encode()) < (2_000_000 if all_figures else 700_000)
    sources = re.findall(r'(?:src|href)="([^"]{0,40})', text)
    assert sources
    assert all(source.startswith(("data:", "#")) for source in sources)
    assert not re.findall(r"https?://", text)


def test_the_page_says_what_was_run(study: StudyResults, text: str) -> None:
    """Title, definition, instances, algorithms, seeds, runs with versions and processor; names and
    the title are text."""
    assert "<h1>&lt;script&gt;alert(1)&lt;/script&gt; &amp; arms</h1>" in text
    assert "<script>alert" not in text
    assert "delta = [0.1, 0.01]  # &lt;both&gt;" in text
    assert "two arms &lt;of &amp; many&gt;, gap = 0.8" in text
    assert "<of" not in text
    assert "54 tasks, 2,160 of 2,160 replications" in text
    for words in (
        "LUCB(as_printed=True)",
        "seeds: 0",
        "skip_error: 1e-12",
        "replications of each task: 40",
    ):
        assert words in text
    record = study.runs()[0]
    for name in ("rai_sim", "processor", "started"):
        assert html.escape(str(record[name])) in text
    assert record["kernels_sha256"] in text


def test_error_rates_above_delta_are_warned_of(study: StudyResults, text: str) -> None:
    """The two tasks of the printed rule, by name, with the interval; nobody else."""
    frame = study.summary()
    wrong = frame.filter(pl.col("error_verdict") == "above delta")
    assert len(wrong) >= 1
    assert "Verdicts on 54 tasks, all right with probability 95 % (Bonferroni)" in text
    found = re.findall(r'<p class="warning"[^>]*><b>WARNING:</b> ([^<]*)</p>', text)
    assert len(found) == len(wrong)
    assert all("LUCB(as_printed=True)" in words and "lies above delta" in words for words in found)
    assert text.count('<td style="text-align:right" class="warn">lies above delta</td>') == len(
        wrong
    )


def rows_of(browser: Chrome, number: int, column: int) -> list[str]:
    """Return a column of a table as shown."""
    rows = "document.querySelectorAll('table.sorts')[arguments[0]].tBodies[0].rows"
    return list(
        browser.execute_script(
            f"return [...{rows}].map(row => row.cells[arguments[1]].textContent)", number, column
        )
    )


def head(browser: Chrome, number: int, column: int) -> Any:
    """Return the head of a column."""
    return browser.find_elements(By.CSS_SELECTOR, "table.sorts")[number].find_elements(
        By.TAG_NAME, "th"
    )[column]


@pytest.mark.landing
def test_in_a_browser(study: StudyResults, file: Path) -> None:
    """No console message, all figures loaded and as wide as they should be, the warning visible,
    tables sort by click and by key."""
    with page(file) as browser:
        pictures = browser.find_elements(By.CSS_SELECTOR, "figure img")
        assert len(pictures) >= 8
        for picture in pictures:
            assert browser.execute_script(
                "return arguments[0].complete && arguments[0].naturalWidth > 100", picture
            )
            assert picture.get_attribute("alt")
        assert browser.find_element(By.CSS_SELECTOR, ".warning").is_displayed()
        means = [row["pulls_mean"] for row in study.summary().iter_rows(named=True)]
        shown = [f"{mean:,.0f}" if mean >= 1000 else f"{mean:,.1f}" for mean in means]
        assert rows_of(browser, 0, 4) == shown
        head(browser, 0, 4).click()
        assert rows_of(browser, 0, 4) == [shown[i] for i in np.argsort(means, kind="stable")]
        assert head(browser, 0, 4).get_attribute("aria-sort") == "ascending"
        head(browser, 0, 4).send_keys(Keys.ENTER)
        assert rows_of(browser, 0, 4) == [
            shown[i] for i in np.argsort(-np.array(means), kind="stable")
        ]
        assert head(browser, 0, 4).get_attribute("aria-sort") == "descending"
        head(browser, 0, 0).click()
        names = list(dict.fromkeys(rows_of(browser, 0, 0)))
        gaps = [f"two arms <of & many>, gap = {gap}" for gap in (0.4, 0.5, 0.6, 0.7, 0.8)]
        assert names == ["table", "top, n = 4", "top, n = 6", "top, n = 8", *gaps]
        head(browser, 0, 9).click()  # upper bounds: those without one come last, whichever way
        assert rows_of(browser, 0, 9)[-1] == "n/a"
        head(browser, 0, 9).click()
        assert rows_of(browser, 0, 9)[-1] == "n/a"
        assert console(browser) == []


@pytest.mark.landing
def test_contents_come_first_and_lead_everywhere(study: StudyResults, file: Path) -> None:
    """Then tables of all rows, then figures: every link has its place, in the order of the page."""
    with page(file) as browser:
        links = browser.find_elements(By.CSS_SELECTOR, "nav a")
        places = [str(link.get_attribute("href")).partition("#")[2] for link in links]
        tops = [browser.find_element(By.ID, place).location["y"] for place in places]
        assert tops[0] > links[0].location["y"]
        sections = [place for place in places if place.startswith("section-")]
        assert sections == [
            f"section-{name}"
            for name in ("pulls", "errors", "figures", "what-was-run", "provenance")
        ]
        ordered = [browser.find_element(By.ID, place).location["y"] for place in sections]
        assert ordered == sorted(ordered)
        figures = browser.find_elements(By.TAG_NAME, "figure")
        assert [place for place in places if place not in sections] == [
            figure.get_attribute("id") for figure in figures
        ]
        for number in (0, 1):
            assert len(rows_of(browser, number, 0)) == len(study.tasks)
        # nothing scrolls inside of the page downwards: all rows are seen
        high = "return [...document.querySelectorAll('.wide')].every(one => one.clientHeight >= one.scrollHeight)"
        assert browser.execute_script(high)
        assert "a table of 54 rows" in browser.find_element(By.TAG_NAME, "nav").text
        assert console(browser) == []


@pytest.mark.slow
def test_on_a_telephone(file: Path) -> None:
    """390 pixels wide: nothing but tables scrolls sideways, figures fill the width."""
    with page(file, 390) as browser:
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
        for picture in browser.find_elements(By.CSS_SELECTOR, "figure img"):
            assert 300 <= picture.size["width"] <= 390
        assert console(browser) == []


@pytest.mark.landing
def test_the_console_check_can_fail(file: Path) -> None:
    """Negative control: a script that throws is noticed."""
    broken = file.with_name("broken.html")
    broken.write_text(
        file.read_text(encoding="utf-8").replace(
            '"use strict";', '"use strict"; nothing_of_that_name();'
        ),
        encoding="utf-8",
    )
    with page(broken) as browser:
        assert [entry for entry in console(browser) if "nothing_of_that_name" in entry["message"]]


@pytest.mark.landing
def test_writing_replaces_or_leaves_the_file(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure on the way leaves the old page."""
    study = rai.Study.grid([WRONG], [rai.Vanilla()], [0.1], replications=20).run(
        tmp_path_factory.mktemp("small") / "store"
    )
    path = tmp_path / "report.html"
    path.write_text("old")
    monkeypatch.setattr("rai_sim.plotting.drawing.render", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        study.report(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    monkeypatch.undo()
    study.report(path, title="new")
    assert "<h1>new</h1>" in path.read_text(encoding="utf-8")


def test_what_is_no_study_is_refused(tmp_path: Path) -> None:
    """By its name; nothing is written. So is what is no name of a page."""
    with pytest.raises(TypeError, match="results is of type int; give a study's results"):
        write_report(3, tmp_path / "r.html")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"path is '.*r\.pdf'; a report is a page of HTML: give"):
        write_report(3, tmp_path / "r.pdf")  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_a_study_in_which_nothing_finished(tmp_path: Path) -> None:
    """Tables and the warning are there all the same; figures say why there are none."""
    results = rai.Study.grid(
        [rai.table_problem()], [rai.LUCB()], [0.1], replications=3, max_pulls=3
    ).run(tmp_path / "store")
    write_report(results, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "3 replications stopped at their cap of pulls" in page
    assert "No replication finished, and no instance has two caps for error rates" in page
    assert "none finished" in page


def test_budgets_are_drawn_though_nothing_finished(tmp_path: Path) -> None:
    """As `rai-sim plot` draws them."""
    results = rai.Study.grid(
        [rai.table_problem()], [rai.LUCB()], [0.1], replications=3, max_pulls=[3, 6]
    ).run(tmp_path / "store")
    page = report(results)
    assert '<figure id="error-against-budget">' in page
    assert "there is nothing to draw" not in page
    assert "2 tasks, 6 of 6 replications, 0 wrong outputs of 0" in page


@pytest.mark.slow
def test_missing_and_infinite_values_sort(tmp_path: Path) -> None:
    """One replication (no interval), none finished, an infinite gap: columns stay numeric, what is
    missing comes last either way."""
    problems = {
        "one cluster": rai.Problem(rai.Bernoulli([0.5, 0.4]), (2,), (1,)),
        "two": rai.best_arm(rai.Bernoulli([0.9, 0.1])),
        "three": rai.best_arm(rai.Bernoulli([0.9, 0.5])),
        "four": rai.best_arm(rai.Bernoulli([0.9, 0.8])),
    }
    results = rai.Study.grid(problems, [rai.Vanilla()], [0.1], replications=1, max_pulls=500).run(
        tmp_path / "store"
    )
    write_report(results, tmp_path / "report.html")
    with page(tmp_path / "report.html") as browser:
        head(browser, 2, 5).click()
        assert rows_of(browser, 2, 5) == ["0.1", "0.4", "0.8", "inf"]
        head(browser, 2, 5).click()
        assert rows_of(browser, 2, 5) == ["inf", "0.8", "0.4", "0.1"]
        head(browser, 0, 4).click()
        shown = rows_of(browser, 0, 4)
        assert shown[-1] == "n/a"
        assert shown[:-1] == sorted(shown[:-1], key=lambda text: float(text.replace(",", "")))
        head(browser, 0, 5).click()
        assert set(rows_of(browser, 0, 5)) == {"n/a"}
        assert console(browser) == []


@pytest.mark.landing
def test_arms_without_guarantees_are_warned_of(tmp_path: Path) -> None:
    """Bounds and delta mean nothing for them: page, notebook and figures say so."""
    wide = rai.Problem(rai.Gaussian([1.0, 0.0], sd=1.0), (1, 1), (1, 0), strict=False)
    results = rai.Study.grid({"wide": wide}, [rai.Vanilla()], [0.1, 0.01], replications=20).run(
        tmp_path / "store"
    )
    for shown in (report(results), results._repr_html_()):
        assert "guarantees and bounds do not hold for the arms of 1 instance: sd is 1.0" in shown


@pytest.mark.slow
def test_seeds_and_caps_are_told_apart(tmp_path: Path) -> None:
    """Two seeds of one study: tables, warnings and captions name them."""
    grids = [
        rai.Study.grid(
            {"x": WRONG},
            [rai.LUCB(as_printed=True), rai.Vanilla()],
            [0.1, 0.01],
            seed=seed,
            replications=30,
        )
        for seed in (1, 2)
    ]
    both = rai.Study((*grids[0].tasks, *grids[1].tasks), replications=30).run(tmp_path / "store")
    page = report(both)
    assert "x, seed 1" in page
    assert "x, seed 2, δ = 0.01" in page or "x, δ = 0.01, seed 2" in page
    assert "x, seed 2" in both._repr_html_()


def test_what_notebooks_show(study: StudyResults) -> None:
    """Result, summary and study as tables with their warnings; texts are escaped."""
    result = rai.simulate(WRONG, rai.LUCB(as_printed=True), delta=0.01, replications=200, seed=0)
    for shown in (result._repr_html_(), result.summary()._repr_html_()):
        assert f"{result.pulls.mean():,.0f}" in shown
        assert "the error rate lies above delta" in shown
    shown = study._repr_html_()
    assert "two arms &lt;of &amp; many&gt;, gap = 0.8" in shown
    assert "... and 4 more tasks" in shown
    assert shown.count("<tr>") == 51
    assert "WARNING" in shown
    named = rai.best_arm(rai.Bernoulli([0.9, 0.1]).with_names(["<i>A</i>", "B"]))
    assert (
        "&lt;i&gt;A&lt;/i&gt;"
        in rai.simulate(named, rai.Vanilla(), replications=5, seed=0)._repr_html_()
    )


def test_errors_at_the_cap_are_in_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a study over budgets, with the interval; 18 of 30 by Clopper and Pearson."""
    monkeypatch.setattr(choice, "choose", lambda *_, **__: [])
    capped = rai.Study.grid(
        [rai.table_problem(1)], [rai.Butterscotch()], [0.1], replications=30, max_pulls=[4, 500_000]
    ).run(tmp_path)
    errors = report(capped).partition('id="section-errors"')[2].partition("</table>")[0]
    assert re.findall(r"<th[^>]*>([^<]*)</th>", errors)[-2:] == ["errors at cap", "95 % interval"]
    found = [
        re.findall(r"<td[^>]*>([^<]*)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", errors)
    ]
    assert [row[-2:] for row in found[-2:]] == [
        ["60 %", "40.6 % to 77.3 %"],
        ["0 %", "0 % to 11.6 %"],
    ]


def test_the_records_are_json(text: str) -> None:
    """Whoever wants the provenance whole can copy it."""
    record = re.findall(r"<pre>(\[.*?)</pre>", text, re.DOTALL)[-1]
    assert json.loads(html.unescape(record))[0]["status"] == "finished"


def test_a_figure_that_cannot_be_drawn_costs_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page says why there, and has the others."""

    def refuses(ax: Axes) -> Axes:
        raise ArgumentValueError("results", "results has <two> experiments")

    def some(*_: Any, **__: Any) -> list[Drawing]:
        return [Drawing("first", "One.", refuses), Drawing("second", "Two.", lambda ax: ax)]

    results = rai.Study.grid([WRONG], [rai.Vanilla()], [0.1], replications=5).run(tmp_path / "s")
    monkeypatch.setattr(choice, "choose", some)
    page = report(results)
    first = (
        '<figure id="first"><p>Figure first is not drawn: results has &lt;two&gt; experiments</p>'
    )
    assert first in page
    assert page.count("<img") == 1
    assert "1 task, 5 of 5 replications, 0 wrong outputs of 5." in page
