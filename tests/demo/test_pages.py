"""The page as a client sees it: addresses, errors, escaping, and what is refused."""

import re
import threading
from html.parser import HTMLParser
from typing import Any

import pytest
from starlette.testclient import TestClient

from elmo_plugin.common.errors import BiLmError
from elmo_plugin.demo.app import make_app
from elmo_plugin.demo.archives import TaskTab
from tests.demo.stubs import SNLI, first_word_is, ner_output, stub

BASE = "http://127.0.0.1:8000"


def client(*archives: Any, max_characters: int = 1_000) -> TestClient:
    tab = TaskTab(archives or [stub("ner", first_word_is("PER"))], max_characters)
    return TestClient(make_app([tab]), base_url=BASE, follow_redirects=False)


class Reader(HTMLParser):
    """Collects the tags of a page, and the text of its marks."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs


def test_the_first_tab_is_where_one_comes_to() -> None:
    answer = client(stub("snli", lambda inputs: SNLI)).get("/")
    assert answer.status_code == 307 and answer.headers["location"] == "/snli"


def test_an_address_with_a_text_shows_its_prediction_for_each_archive() -> None:
    archives = [stub("ner", first_word_is(kind), kind) for kind in ("PER", "LOC")]
    page = client(*archives).get("/ner", params={"sentence": "Ada lives"}).text
    assert page.count("<article") == 2
    assert 'class="color-0 differs" data-group="PER"' in page
    assert 'class="color-1 differs" data-group="LOC"' in page
    assert "load_predictor(&#39;runs/LOC/model.tar.gz&#39;)" in page


def test_without_a_text_there_are_examples_and_no_prediction() -> None:
    page = client().get("/ner").text
    assert "<article" not in page and 'href="/ner?sentence=Florence+moved' in page
    assert re.search(r'<p id="error"[^>]* hidden>', page)


HOSTILE = [
    "<script>alert(1)</script> x",
    "\"'><img src=x onerror=alert(1)> y",
    "</textarea>{{ 7 * 7 }} שלום 😀 \u202e </pre>",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_becomes_a_tag_or_an_attribute(text: str) -> None:
    plain, hostile = (
        Reader(client().get("/ner", params={"sentence": each}).text) for each in ("one two", text)
    )
    assert hostile.tags == plain.tags
    assert {name for name, _ in hostile.attributes} == {name for name, _ in plain.attributes}
    assert dict(hostile.attributes).get("onerror") is None


def test_no_label_of_a_model_becomes_a_tag() -> None:
    page = client(stub("ner", lambda inputs: ner_output("Ada lives", (0, 1, HOSTILE[1]))))
    tags = Reader(page.get("/ner", params={"sentence": "Ada lives"}).text).tags
    assert tags.count("script") == 1 and "img" not in tags


@pytest.mark.parametrize(
    ("text", "message"),
    [("  ", "The sentence is empty"), ("a" * 51, "The sentence has 51 characters; at most 50 are read here")],
)
def test_a_text_that_is_not_read_is_an_error_in_one_sentence(text: str, message: str) -> None:
    page = client(max_characters=50)
    assert f'role="alert">{message}' in page.get("/ner", params={"sentence": text}).text
    answer = page.get("/ner.json", params={"sentence": text})
    assert answer.status_code == 400 and answer.json()["error"].startswith(message)


def test_a_model_that_fails_has_an_error_in_its_own_column(capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(inputs: dict[str, Any]) -> dict[str, Any]:
        raise BiLmError("elmo_ner: there is no word <here>")

    def fail(inputs: dict[str, Any]) -> dict[str, Any]:
        raise ZeroDivisionError("secret")

    archives = [stub("ner", each) for each in (refuse, fail, first_word_is("PER"))]
    answer = client(*archives).get("/ner", params={"sentence": "Ada lives"})
    assert answer.status_code == 200 and answer.text.count("<article") == 3
    assert "there is no word &lt;here&gt;" in answer.text and 'data-group="PER"' in answer.text
    assert "The model failed" in answer.text and "secret" not in answer.text and "differs" not in answer.text
    assert "ZeroDivisionError: secret" in capsys.readouterr().err


def test_the_json_is_the_predictors_json() -> None:
    answer = client().get("/ner.json", params={"sentence": "Ada lives"}).json()
    prediction = ner_output("Ada lives", (0, 1, "PER"))
    assert answer == [{"archive": "runs/stub/model.tar.gz", "prediction": prediction, "error": ""}]


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8000", "localhost", "LOCALHOST:9000", "[::1]:8000", "192.168.0.7:8000"]
)
def test_hosts_that_nobody_else_can_own_are_served(host: str) -> None:
    assert client().get("/ner", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "", "[::1"])
def test_a_name_that_somebody_else_owns_is_refused(host: str) -> None:
    """A page of evil.example that makes its name lead here (DNS rebinding) sends its own name."""
    assert client().get("/ner", headers={"host": host}).status_code == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": BASE}, 200),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:9999"}, 403),
        ({"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}, 200),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, 200),  # a link in a mail
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}, 403),  # an image of another page
    ],
)
def test_what_another_page_asks_for_is_refused(headers: dict[str, str], status: int) -> None:
    answer = client().get("/ner", params={"sentence": "Ada lives"}, headers=headers)
    assert answer.status_code == status


@pytest.mark.parametrize("path", ["/ner", "/static/script.js", "/nothing", "/"])
def test_every_answer_has_a_policy_without_inline_scripts(path: str) -> None:
    headers = client().get(path).headers
    assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self';")
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"


def test_nothing_on_a_page_is_inline_or_from_elsewhere() -> None:
    page = client().get("/ner", params={"sentence": "Ada lives"}).text
    assert not re.search(r"<script(?! src=)|<style|\sstyle=|\son\w+=|https?://", page)


def test_a_page_is_served_while_a_model_computes() -> None:
    started, go_on = threading.Event(), threading.Event()

    def wait(inputs: dict[str, Any]) -> dict[str, Any]:
        started.set()
        assert go_on.wait(60)
        return SNLI

    tabs = [TaskTab([each]) for each in (stub("ner", first_word_is("PER")), stub("snli", wait))]
    with TestClient(make_app(tabs), base_url=BASE) as page:
        answers: list[int] = []
        texts = {"premise": "a", "hypothesis": "b"}
        thread = threading.Thread(target=lambda: answers.append(page.get("/snli", params=texts).status_code))
        thread.start()
        assert started.wait(60)
        assert "PER" in page.get("/ner", params={"sentence": "Ada lives"}).text and not answers
        go_on.set()
        thread.join(60)
    assert answers == [200]


def test_without_a_tagger_predicates_are_chosen_by_their_words() -> None:
    asked: list[Any] = []

    def predict(inputs: dict[str, Any]) -> dict[str, Any]:
        asked.append(inputs.get("predicates"))
        return {"words": inputs["sentence"].split(), "frames": []}

    page = client(stub("srl", predict))
    first = page.get("/srl", params={"sentence": "She wants more"}).text
    assert 'href="/srl?sentence=She+wants+more&amp;predicates=1"' in first
    second = page.get("/srl", params={"sentence": "She wants more", "predicates": "1"}).text
    assert 'predicates=1+2"' in second and 'predicates="' in second  # one more, and none
    assert asked == [[], [1]]
    assert "are numbers of words" in page.get("/srl", params={"sentence": "She", "predicates": "one"}).text


def test_with_a_tagger_no_predicates_are_chosen() -> None:
    page = client(stub("srl", lambda inputs: {"words": ["a"], "frames": []}, tagger="tagger.tar.gz"))
    text = page.get("/srl", params={"sentence": "She wants more", "predicates": "one"}).text
    assert "toggles" not in text and "predicates=&#39;tagger.tar.gz&#39;" in text
