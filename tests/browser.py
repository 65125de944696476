"""A headless Chromium, the system's own, for what only a browser can tell."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

#: Set where a missing browser is a failure, not a reason to skip.
REQUIRED = "RAI_SIM_BROWSER"


@contextmanager
def page(path: Path, width: int = 1280) -> Iterator[Chrome]:
    """Open a file as a page of some width in CSS pixels; skip the test where there is no
    browser."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        words = (
            "needs chromium and chromedriver (on Debian: apt-get install chromium chromium-driver)"
        )
        if os.environ.get(REQUIRED):
            pytest.fail(words)
        pytest.skip(words)
    options = Options()
    options.binary_location = chromium
    # As root Chromium has no sandbox; shared memory is small in containers.
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--hide-scrollbars",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = Chrome(options=options, service=Service(driver))
    try:
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.execute_cdp_cmd("Network.enable", {})
        offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
        browser.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
        browser.get(path.as_uri())
        yield browser
    finally:
        browser.quit()


def console(browser: Chrome) -> list[dict[str, Any]]:
    """Return what the browser's console says: errors and warnings, of the page and of loading
    it."""
    entries: list[dict[str, Any]] = browser.get_log("browser")  # type: ignore[no-untyped-call]
    return entries
