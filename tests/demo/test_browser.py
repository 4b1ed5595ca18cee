"""The page in a browser: what is seen, keys, windows, colours, the console, the network, and accessibility.

`DEMO_ARCHIVES=FOLDER DEMO_BILM=tiny DEMO_SCREENSHOTS=docs/images pytest --slow tests/demo/test_browser.py`
makes the pictures of docs/demo.md. `AXE=axe.min.js` names the file of axe-core; without it npm is asked.
"""

import io
import json
import os
import shutil
import subprocess
import tarfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
import uvicorn
from PIL import Image

from elmo_plugin.demo import LoadedArchive, LoadedBiLm, TaskTab, load_archives, make_tabs
from elmo_plugin.demo.page import make_app, make_config, make_report, open_socket
from elmo_plugin.demo.tasks import examples
from tests.demo.archives import TASKS
from tests.demo.stubs import coref_output, first_word_is, stub
from tests.trained_bilm import random_bilm, write_training

selenium = pytest.importorskip("selenium", reason="selenium is not installed")
from selenium import webdriver  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
AXE_VERSION = "4.14.1"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (BROWSER and DRIVER), reason="needs chromium and chromedriver"),
]
Browser = Any
PICTURES = ("ner", "srl", "coref", "squad")  # that docs/demo.md shows


def open_browser(*options: str) -> Browser:
    chosen = webdriver.ChromeOptions()
    for each in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars", *options):
        chosen.add_argument(each)
    chosen.binary_location = BROWSER or ""
    chosen.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=chosen, service=Service(DRIVER))


@pytest.fixture(scope="module")
def address(archives: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serves all archives, those of one task side by side, and a biLM with its softmax."""
    folder = tmp_path_factory.mktemp("bilm") / "run"
    bilm = os.environ.get("DEMO_BILM") or str(write_training(folder, random_bilm()))
    tabs = make_tabs(load_archives([str(path) for path in archives.values()]), LoadedBiLm(bilm))
    opened = open_socket("127.0.0.1", 0)
    server = uvicorn.Server(make_config(make_app(tabs)))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
    thread.start()
    yield f"http://127.0.0.1:{opened.getsockname()[1]}"
    server.should_exit = True
    thread.join()
    for executor in (each for tab in tabs for each in tab.executors):
        executor.shutdown()


@pytest.fixture(scope="module")
def shared_browser() -> Iterator[Browser]:
    browser = open_browser("--window-size=1200,900")
    yield browser
    browser.quit()


@pytest.fixture
def browser(shared_browser: Browser, address: str) -> Iterator[Browser]:
    """A window whose test must leave no message in the console, and ask no other host for anything."""
    shared_browser.set_window_size(1200, 900)
    shared_browser.get_log("browser"), shared_browser.get_log("performance")
    yield shared_browser
    assert shared_browser.get_log("browser") == []
    entries = [json.loads(each["message"])["message"] for each in shared_browser.get_log("performance")]
    asked = [
        each["params"]["request"]["url"] for each in entries if each["method"] == "Network.requestWillBeSent"
    ]
    assert {urlsplit(url).netloc for url in asked if url.startswith("http")} <= {urlsplit(address).netloc}


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The source of axe-core, which is not part of this repository."""
    if os.environ.get("AXE"):
        return Path(os.environ["AXE"]).read_text()
    folder = tmp_path_factory.mktemp("axe")
    npm = shutil.which("npm")
    command = [npm or "", "pack", "--silent", f"axe-core@{AXE_VERSION}"]
    if npm is None or subprocess.run(command, cwd=folder, capture_output=True, timeout=120).returncode:
        pytest.skip("needs axe-core, which npm cannot get here")
    (packed,) = folder.glob("*.tgz")
    with tarfile.open(packed) as archive:
        source = archive.extractfile("package/axe.min.js")
        assert source is not None
        return io.TextIOWrapper(source, encoding="utf-8").read()


def example(tab: str, number: int = 0) -> dict[str, str]:
    return {name: text for name, text in examples(tab)[number].items() if name != "source"}


def go(browser: Browser, address: str, tab: str, **values: str) -> None:
    browser.get(f"{address}/{tab}" + (f"?{urlencode(values)}" if values else ""))


def texts(browser: Browser, selector: str) -> list[str]:
    return [each.text for each in browser.find_elements(By.CSS_SELECTOR, selector)]


def wait(condition: Callable[[], Any]) -> Any:
    for _ in range(300):
        if found := condition():
            return found
        time.sleep(0.1)
    raise AssertionError("it did not come")


def save(browser: Browser, name: str, width: int = 1000) -> None:
    """Keeps a picture of the whole page, if pictures are wanted."""
    folder = os.environ.get("DEMO_SCREENSHOTS")
    if folder:
        browser.set_window_size(width, 400)
        height = browser.execute_script("return document.querySelector('main').scrollHeight") + 60
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        path = Path(folder) / f"demo_{name}.png"
        picture = Image.open(io.BytesIO(browser.get_screenshot_as_png())).convert("RGB")
        picture.quantize(64).save(path, optimize=True)
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        assert path.stat().st_size < 150_000


@pytest.mark.parametrize("task", TASKS)
def test_each_task_shows_what_its_example_gives(browser: Browser, address: str, task: str) -> None:
    go(browser, address, task)
    browser.find_element(By.CSS_SELECTOR, ".examples a").click()
    wait(lambda: browser.find_elements(By.CSS_SELECTOR, "article"))
    assert texts(browser, "nav a[aria-current]") == texts(browser, "h1")
    assert browser.find_elements(By.CSS_SELECTOR, ".marked, .bars")
    if task in PICTURES:
        save(browser, task)
    for summary in browser.find_elements(By.CSS_SELECTOR, "summary"):
        summary.click()
    shown = [json.loads(text) for text in texts(browser, "article pre") if text.startswith("{")]
    url = urlsplit(browser.current_url)
    with urllib.request.urlopen(f"{address}/{task}.json?{url.query}") as answer:
        fetched = json.load(answer)
    assert shown == [each["prediction"] for each in fetched]


def test_two_archives_stand_side_by_side_and_differences_are_marked(browser: Browser, address: str) -> None:
    go(browser, address, "ner", **example("ner"))
    first, second = browser.find_elements(By.CSS_SELECTOR, "article")
    assert first.rect["y"] == second.rect["y"] and first.rect["x"] < second.rect["x"]
    spans = [
        {(mark.text, mark.get_attribute("data-group")) for mark in each.find_elements(By.TAG_NAME, "mark")}
        for each in (first, second)
    ]
    marked = len(browser.find_elements(By.CSS_SELECTOR, "mark.differs"))
    assert (marked > 0) == (spans[0] != spans[1])


def test_the_words_of_the_bilm_are_links_with_maps_and_surprisal(browser: Browser, address: str) -> None:
    go(browser, address, "bilm", **example("bilm"))
    assert len(texts(browser, "article .heat")) == len(texts(browser, "article svg.map")) >= 2
    if not os.environ.get("DEMO_BILM"):
        assert texts(browser, ".surprisal")[0].startswith("→ ")
    save(browser, "bilm")
    browser.find_elements(By.CSS_SELECTOR, ".word a")[8].click()
    wait(lambda: texts(browser, ".word a.chosen") == ["made"])
    assert "made" in texts(browser, "h2")[-1]


ODD = {
    "empty": "",
    "10,000 words": "word " * 10_000,
    "script": "<script>document.title = 'bad'</script><img src=x onerror=\"document.title='bad'\">",
    "quotes": "\"'` \"><b>x</b>' onfocus=alert(1) autofocus '",
    "emoji": "😀 👩‍👩‍👧 is 🇩🇪 here",
    "right to left": "שלום עולם مرحبا (abc) 123 \u202e x",
}


@pytest.mark.parametrize("task", [*TASKS, "bilm"])
def test_odd_texts_stay_texts(browser: Browser, address: str, task: str) -> None:
    for name, text in ODD.items():
        go(browser, address, task)
        boxes = browser.find_elements(By.CSS_SELECTOR, "textarea, input:not([name=predicates])")
        for box in boxes:
            browser.execute_script("arguments[0].value = arguments[1]", box, text)
        browser.find_element(By.CSS_SELECTOR, "button[type=submit]").click()
        if name == "10,000 words":
            error = browser.find_element(By.ID, "error").text
            assert "has 50,000 characters, and at most 10,000 are read here" in error
            continue
        wait(lambda: urlsplit(browser.current_url).query)
        wait(lambda: browser.find_elements(By.CSS_SELECTOR, "#answer, #error:not([hidden])"))
        assert ("is empty" in texts(browser, "#error")[0]) == (name == "empty")
        assert "bad" not in browser.title
        kept = browser.find_element(By.CSS_SELECTOR, "textarea").get_property("value")
        assert kept == text


def test_two_users_at_once_get_their_own_answers(browser: Browser, address: str) -> None:
    other = open_browser()
    try:
        users = {"first": browser, "second": other}

        def use(name: str) -> None:
            for number in range(5):
                go(users[name], address, "sst", sentence=f"{name} {number} is good")
                pre = users[name].find_element(By.CSS_SELECTOR, "article pre").get_attribute("textContent")
                assert json.loads(pre)["words"][:2] == [name, str(number)]
            done.append(name)

        done: list[str] = []
        threads = [threading.Thread(target=use, args=(name,)) for name in users]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(done) == ["first", "second"]
    finally:
        other.quit()


def test_everything_can_be_done_by_keys(browser: Browser, address: str) -> None:
    go(browser, address, "sst")

    def press(*keys: str) -> Any:
        chain = webdriver.ActionChains(browser)
        chain.send_keys(*keys).perform()
        return browser.switch_to.active_element

    for _ in range(20):
        if press(Keys.TAB).tag_name == "textarea":
            break
    outline = "return getComputedStyle(document.activeElement).outlineStyle"
    assert browser.execute_script(outline) == "solid"
    webdriver.ActionChains(browser).send_keys("It isn't bad.").key_down(Keys.CONTROL).send_keys(
        Keys.ENTER
    ).key_up(Keys.CONTROL).perform()
    wait(lambda: texts(browser, "article .bars"))
    reached = []
    for _ in range(30):
        reached.append(press(Keys.TAB).text)
        if reached[-1] == "JSON":
            press(Keys.ENTER)
            break
    assert wait(lambda: [text for text in texts(browser, "article details[open] pre") if '"words"' in text])
    go(browser, address, "ner", **example("ner"))
    for mark in browser.find_elements(By.CSS_SELECTOR, "mark")[:1]:
        browser.execute_script("arguments[0].focus()", mark)
        assert "lit" in mark.get_attribute("class")


def open_report(browser: Browser, folder: Path, archives: list[LoadedArchive], *lines: str) -> None:
    tabs = [tab for tab in make_tabs(archives) if isinstance(tab, TaskTab)]
    report = make_report(tabs, [("a line", line) for line in lines])
    (folder / "report.html").write_text(report, encoding="utf-8")
    browser.get((folder / "report.html").as_uri())


def test_a_hover_lights_up_the_whole_cluster(browser: Browser, tmp_path: Path) -> None:
    text = "Anna saw Ben . She waved . He laughed ."
    archive = stub("coref", lambda inputs: coref_output(text, ["Anna", "She"], ["Ben", "He"]))
    open_report(browser, tmp_path, [archive], text)
    anna, ben, she, he = browser.find_elements(By.TAG_NAME, "mark")
    for pointed, lit in ((she, {anna, she}), (ben, {ben, he})):
        webdriver.ActionChains(browser).move_to_element(pointed).perform()
        assert {mark for mark in (anna, ben, she, he) if "lit" in mark.get_attribute("class")} == lit


def test_a_report_from_a_disk_has_its_colours_and_its_script(browser: Browser, tmp_path: Path) -> None:
    """Its policy lets in its own style and script, by their digests, and nothing else."""
    archives = [stub("ner", first_word_is(kind), kind) for kind in ("PER", "LOC")]
    open_report(browser, tmp_path, archives, "Ada lives", "Ben <script>left</script>")
    mark = browser.find_element(By.TAG_NAME, "mark")
    assert mark.value_of_css_property("border-top-style") == "dashed"
    browser.execute_script("arguments[0].focus()", mark)
    assert "lit" in mark.get_attribute("class")
    assert len(texts(browser, "article")) == 4 and len(browser.find_elements(By.TAG_NAME, "script")) == 1


@pytest.mark.parametrize("tab", [*TASKS, "bilm"])
def test_a_window_of_400_pixels_is_wide_enough(browser: Browser, address: str, tab: str) -> None:
    size = {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    go(browser, address, tab, **example(tab))
    assert browser.execute_script("return innerWidth") == 400
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 400
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("tab", [*TASKS, "bilm"])
def test_axe_finds_no_serious_fault(browser: Browser, address: str, axe: str, tab: str, scheme: str) -> None:
    feature = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", feature)
    go(browser, address, tab, **example(tab))
    background = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")
    if scheme == "dark" and tab == "ner":
        save(browser, "dark")
    browser.execute_script("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    # Evaluated by the debugger's protocol, to which the page's policy does not apply.
    browser.execute_cdp_cmd("Runtime.evaluate", {"expression": axe})
    result = browser.execute_async_script("axe.run().then(arguments[0])")
    serious = [
        (each["id"], each["impact"], [node["html"] for node in each["nodes"]][:3])
        for each in result["violations"]
        if each["impact"] in ("serious", "critical")
    ]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert serious == [] and len(result["passes"]) > 10
