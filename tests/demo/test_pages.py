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


def tags(page: str) -> list[tuple[str, tuple[str, ...]]]:
    """Returns the tags of a page with the names of their attributes."""
    found: list[tuple[str, tuple[str, ...]]] = []
    reader = HTMLParser()
    reader.handle_starttag = lambda tag, attrs: found.append((tag, tuple(dict(attrs))))  # type: ignore[method-assign]
    reader.feed(page)
    return found


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
def test_no_text_and_no_label_becomes_a_tag_or_an_attribute(text: str) -> None:
    def page(word: str) -> str:
        archive = stub("ner", lambda inputs: ner_output("Ada lives", (0, 1, word)))
        return client(archive).get("/ner", params={"sentence": word}).text

    assert tags(page(text)) == tags(page("word"))


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
    ("headers", "status"),
    [
        *[
            ({"host": host}, 200)
            for host in ("localhost", "LOCALHOST:9000", "[::1]:8000", "192.168.0.7:8000")
        ],
        # A page of evil.example that makes its name lead here (DNS rebinding) sends its own name.
        *[({"host": host}, 403) for host in ("evil.example:8000", "127.0.0.1.evil.example", "", "[::1")],
        ({"origin": BASE}, 200),
        *[({"origin": origin}, 403) for origin in ("http://evil.example", "null", "http://127.0.0.1:9999")],
        ({"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}, 200),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, 200),  # a link in a mail
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}, 403),  # an image of another page
    ],
)
def test_requests_of_other_pages_and_for_their_names_are_refused(
    headers: dict[str, str], status: int
) -> None:
    answer = client().get("/ner", params={"sentence": "Ada lives"}, headers=headers)
    assert answer.status_code == status


@pytest.mark.parametrize("path", ["/ner?sentence=Ada", "/static/script.js", "/nothing", "/"])
def test_nothing_is_inline_or_from_elsewhere_and_the_policy_says_so(path: str) -> None:
    answer = client().get(path)
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self';") and "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert not re.search(r"<script(?! src=)|<style|\sstyle=|\son\w+=|https?://", answer.text)


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
