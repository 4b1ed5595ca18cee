"""The page in a browser: what is seen, and the console.

`DEMO_SCREENSHOTS=docs/images pytest --slow tests/demo/test_browser.py` makes the pictures of
docs/demo.md: 1280 pixels wide, and `…_narrow.png`, 390 as on a telephone.
"""

import io
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from elmo_plugin.common.bundled import trained_models
from elmo_plugin.demo.app import make_app
from elmo_plugin.demo.bilm_view import BiLmTab
from elmo_plugin.demo.server import make_server, open_socket
from elmo_plugin.demo.tabs import bundled_tabs

selenium = pytest.importorskip("selenium", reason="selenium is not installed")
from selenium import webdriver  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.support.wait import WebDriverWait  # noqa: E402

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (BROWSER and DRIVER), reason="needs chromium and chromedriver"),
]
Browser = Any
PICTURES = ("ner", "coref", "bilm")  # that docs/demo.md shows
NARROW = {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": False}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Serves what is in the package."""
    with_models = bundled_tabs(10_000)
    for tab in with_models:
        tab.archives[0].loading.result()  # waits for it, as Selenium does not for minutes
    tabs = [*with_models, BiLmTab("base", 10_000)]
    opened = open_socket("127.0.0.1", 0)
    server = make_server(make_app(tabs))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
    thread.start()
    yield f"http://127.0.0.1:{opened.getsockname()[1]}"
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    options = webdriver.ChromeOptions()
    for each in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(each)
    options.binary_location = BROWSER or ""
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield browser
    browser.quit()


@pytest.fixture
def browser(window: Browser) -> Iterator[Browser]:
    """A window whose test must leave no message in the console."""
    window.set_window_size(1200, 900)
    window.get_log("browser")
    yield window
    assert window.get_log("browser") == []


def texts(browser: Browser, selector: str) -> list[str]:
    return [each.text for each in browser.find_elements(By.CSS_SELECTOR, selector)]


def save(browser: Browser, name: str) -> None:
    """Keeps pictures of the whole page, if pictures are wanted."""
    folder = os.environ.get("DEMO_SCREENSHOTS", "")
    for width, end in ((1280, ""), (390, "_narrow")) if folder else ():
        size = {"width": width, "height": 100, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        size["height"] = browser.execute_script("return document.body.scrollHeight")
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        path = Path(folder) / f"demo_{name}{end}.png"
        picture = Image.open(io.BytesIO(browser.get_screenshot_as_png())).convert("RGB")
        picture.quantize(64).save(path, optimize=True)
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("tab", [*sorted(trained_models().keys() - {"srl_predicates"}), "bilm"])
def test_each_tab_shows_its_example_even_in_a_narrow_window(
    browser: Browser, address: str, tab: str
) -> None:
    browser.get(f"{address}/{tab}")
    assert (
        browser.find_elements(By.CSS_SELECTOR, ".marked, .bars, .map")
        and not texts(browser, ".error")[0]
    )
    assert browser.execute_script("return [document.activeElement.tagName, scrollY]") == ["BODY", 0]
    if tab in PICTURES:
        save(browser, tab)
    browser.find_element(By.CSS_SELECTOR, ".examples summary").click()
    browser.find_element(By.CSS_SELECTOR, ".examples a").click()
    WebDriverWait(browser, 300).until(
        lambda _: "?" in browser.current_url and texts(browser, "article")
    )
    # The script that moves the focus runs when the page is there.
    WebDriverWait(browser, 300).until(
        lambda _: browser.execute_script("return document.activeElement.id") == "answer"
    )
    for mark in browser.find_elements(By.CSS_SELECTOR, "mark")[:1]:
        browser.execute_script("arguments[0].dispatchEvent(new MouseEvent('mouseover'))", mark)
        assert "lit" in mark.get_attribute("class")
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", NARROW)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 400
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
