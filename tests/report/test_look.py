"""How a report looks, from its title to its first figures, as a browser shows it."""

import base64
import io
from pathlib import Path

import numpy as np
import pytest
from browser import page
from figures import picture
from matplotlib import get_data_path, image
from matplotlib.figure import Figure
from matplotlib.testing.compare import compare_images
from selenium.webdriver import Chrome

import rai_sim as rai

#: CSS pixels of the page, and those of a picture's inch.
_WIDTH, _DPI = 1080, 80
#: Another Chromium draws letters a little otherwise.
_TOLERANCE = 8.0
STUDY = """
algorithms = ["vanilla", "butterscotch", "lucb"]
delta = [0.1, 0.01]
replications = 200
[[instances]]
name = "top three"
table_task = 2
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of six tasks."""
    folder = tmp_path_factory.mktemp("look")
    (folder / "dishes.toml").write_text(STUDY)
    results = rai.Study.from_toml(folder / "dishes.toml").run(folder / "dishes.study")
    results.report(folder / "report.html")
    return folder / "report.html"


def use_one_font(browser: Chrome) -> None:
    """Set the page in matplotlib's own font, whatever fonts this machine has."""
    font = Path(get_data_path(), "fonts", "ttf", "DejaVuSans.ttf").read_bytes()
    source = f"url(data:font/ttf;base64,{base64.b64encode(font).decode()})"
    browser.set_script_timeout(60)
    browser.execute_async_script(
        "const [source, done] = arguments;"
        "const font = new FontFace('one', source); document.fonts.add(font);"
        "document.body.style.fontFamily = 'one'; document.body.style.backgroundColor = 'white';"
        "font.load().then(() => document.fonts.ready).then(() => done());",
        source,
    )


def seen(browser: Chrome) -> Figure:
    """Return what the page shows down to its first row of figures, pixel for pixel."""
    end = browser.execute_script(
        "const one = document.querySelectorAll('figure');"
        "return Math.ceil(Math.max(...[...one].slice(0, 2).map(x => x.getBoundingClientRect().bottom)))"
    )
    size = {"width": _WIDTH, "height": end + 12, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    shown = image.imread(io.BytesIO(browser.get_screenshot_as_png()))
    figure = Figure(figsize=(shown.shape[1] / _DPI, shown.shape[0] / _DPI), dpi=_DPI)
    figure.figimage((255 * shown).astype(np.uint8))
    return figure


@pytest.mark.slow
@picture.with_args(savefig_kwargs={"dpi": _DPI}, tolerance=_TOLERANCE)
def test_picture_of_a_report(file: Path) -> Figure:
    """Title, contents, tables and two figures: the README shows it."""
    with page(file, _WIDTH) as browser:
        use_one_font(browser)
        return seen(browser)


@pytest.mark.slow
def test_a_changed_report_is_noticed(file: Path, tmp_path: Path) -> None:
    """Negative control of the comparison: without a column of a table the page is another one at
    the same tolerance."""
    expected = tmp_path / "expected.png"
    stored = Path(__file__).parent / "baseline" / "test_picture_of_a_report.png"
    expected.write_bytes(stored.read_bytes())
    drawn = tmp_path / "drawn.png"
    with page(file, _WIDTH) as browser:
        use_one_font(browser)
        browser.execute_script(
            "for (const row of document.querySelector('table.sorts').rows) row.deleteCell(2);"
        )
        seen(browser).savefig(drawn, dpi=_DPI)
    assert compare_images(str(expected), str(drawn), tol=_TOLERANCE) is not None
