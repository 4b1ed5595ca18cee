"""The page as a client sees it: addresses, errors, escaping, and what is refused."""

import re
from concurrent.futures import Future
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from elmo_plugin.common.bundled import trained_models
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.task_cards import task_cards
from elmo_plugin.demo.app import make_app
from elmo_plugin.demo.tabs import LoadedArchive, TaskTab
from elmo_plugin.predictions.prediction import TASKS
from tests.predictions.stubs import SNLI, SQUAD, coref_output, first_word_is, ner_output, stub

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


def test_the_start_page_shows_the_first_tab() -> None:
    answer = client(stub("snli", lambda inputs: SNLI)).get("/")
    assert answer.status_code == 307 and answer.headers["location"] == "/snli"


def test_an_address_with_a_text_shows_the_prediction_of_each_archive() -> None:
    archives = [stub("ner", first_word_is(kind), kind) for kind in ("PER", "LOC")]
    page = client(*archives).get("/ner", params={"sentence": "Ada lives"}).text
    assert (
        page.count("<article") == 2 and '<h2 id="model-1">Model runs/PER/model.tar.gz</h2>' in page
    )
    assert re.search("<title>Named entities . elmo</title>", page) and "<p>Who and where?" in page
    assert 'class="color-0" data-group="PER"' in page
    assert 'class="color-1" data-group="LOC"' in page
    assert "load_predictor(&#39;runs/LOC/model.tar.gz&#39;)" in page


def test_without_a_text_the_first_example_is_answered_and_the_rest_are_links() -> None:
    page = client().get("/ner").text
    first, second, _ = (each["sentence"] for each in task_cards()["ner"].tab.examples)
    assert f">\n{first}</textarea>" in page and 'data-group="PER"' in page and "<article" in page
    assert f'href="/ner?{urlencode({"sentence": second})}"' in page
    assert re.search(r'<p id="error"[^>]* hidden>', page)


FOREIGN = (  # with nothing between two spaces
    "evil.example:8000 127.0.0.1.evil.example  [::1 evil.example@localhost localhost/evil.example "
    "localhost?a localhost#a ::1:80 localhost: localhost. localhost:x localhost:1:2 [localhost] "
    "[a::%b] 127.1"
)
HOSTILE = [
    "<script>alert(1)</script> x",
    "\"'><img src=x onerror=alert(1)> y",
    "</textarea>{{ 7 * 7 }} שלום 😀 \u202e </pre>",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_and_labels_cannot_inject_html(text: str) -> None:
    def page(word: str) -> str:
        archive = stub("ner", lambda inputs: ner_output("Ada lives", (0, 1, word)))
        return client(archive).get("/ner", params={"sentence": word}).text

    assert tags(page(text)) == tags(page("word"))


INVISIBLE = [
    "",
    "\r\n",
    "\u00a0\u3000",
    "\u200c \u2060\n\ufeff",
    "\x00\x1b",
    "\ufe0f\u0301",
    "\u2028",
]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *[(text, "Enter a sentence, or choose an example.") for text in INVISIBLE],
        ("a" * 51, "The sentence has 51 characters; at most 50 are read here"),
    ],
)
def test_unreadable_text_is_reported_in_one_sentence(text: str, message: str) -> None:
    page = client(max_characters=50)
    assert f'role="alert">{message}' in page.get("/ner", params={"sentence": text}).text
    answer = page.get("/ner.json", params={"sentence": text})
    assert answer.status_code == 400 and answer.json()["error"].startswith(message)


def test_a_failing_model_shows_an_error_in_its_own_column(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def refuse(inputs: dict[str, Any]) -> dict[str, Any]:
        raise BiLmError("elmo_ner: there is no word <here>")

    def fail(inputs: dict[str, Any]) -> dict[str, Any]:
        raise ZeroDivisionError("secret")

    archives = [stub("ner", each) for each in (refuse, fail, first_word_is("PER"))]
    answer = client(*archives).get("/ner", params={"sentence": "Ada lives"})
    assert answer.status_code == 200 and answer.text.count("<article") == 3
    assert "there is no word &lt;here&gt;" in answer.text and 'data-group="PER"' in answer.text
    assert "runs/stub/model.tar.gz failed; the terminal shows how" in answer.text
    assert "secret" not in answer.text
    assert "ZeroDivisionError: secret" in capsys.readouterr().err


def test_a_label_with_an_empty_set_of_probabilities_is_shown() -> None:
    page = client(stub("sst", lambda inputs: {"label": "good", "probabilities": {}}))
    answer = page.get("/sst", params={"sentence": "Ada lives"})
    assert ">good</p>" in answer.text and "failed" not in answer.text


@pytest.mark.parametrize(
    ("task", "output"),
    [
        ("ner", {"words": ["Ada"]}),
        ("sst", {"label": "good", "probabilities": {"good": float("nan")}}),
        ("coref", {"clusters": None}),
        ("snli", {"label": "neutral", "probabilities": object()}),
    ],
)
def test_a_malformed_prediction_does_not_affect_the_other_column(task: str, output: Any) -> None:
    right = {"sst": SNLI, "snli": SNLI, "squad": SQUAD, "coref": coref_output("Ada lives", ["Ada"])}
    expected = right.get(task, ner_output("Ada lives"))
    texts = dict.fromkeys(TASKS[task].text_names, "Ada lives")
    page = client(stub(task, lambda inputs: output, "other"), stub(task, lambda inputs: expected))
    answer = page.get(f"/{task}", params=texts)
    assert (
        answer.status_code == 200
        and "runs/other/model.tar.gz failed; the terminal shows how" in answer.text
    )
    assert answer.text.count('<p class="error" role="alert">') == 1
    assert [column["prediction"] for column in page.get(f"/{task}.json", params=texts).json()] == [
        None,
        expected,
    ]


def test_a_failing_tab_shows_one_sentence_on_its_page() -> None:
    tab = TaskTab([stub("ner", first_word_is("PER"))], 10_000)
    tab.answer = lambda query: 1 / 0  # type: ignore[method-assign,assignment,return-value]
    page = TestClient(make_app([tab]), base_url=BASE)
    answer = page.get("/ner?sentence=Ada")
    assert answer.status_code == 500 and "This failed; the terminal shows how." in answer.text
    assert 'href="/ner"' in answer.text and page.get("/ner.json?sentence=Ada").status_code == 500


def test_a_page_is_served_while_its_model_loads_and_shows_its_error() -> None:
    loading: Future[Any] = Future()
    tab = TaskTab([LoadedArchive("ner", TASKS["ner"], loading)], 10_000)
    page = TestClient(make_app([tab]), base_url=BASE)
    opened = page.get("/ner").text
    assert "still being loaded" in opened and "Marie Curie" in opened and "<article" not in opened
    assert f'<p class="hint">{trained_models()["ner"].note}</p>' in opened
    loading.set_exception(BiLmError("archive ner: damaged"))
    assert "still being loaded" not in page.get("/ner").text
    assert (
        '<p class="error" role="alert">archive ner: damaged</p>'
        in page.get("/ner?sentence=Ada").text
    )


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        *[
            ({"host": host}, 200)
            for host in ("localhost", "LOCALHOST:9000", "[::1]:8000", "192.168.0.7:8000")
        ],
        # A page of evil.example that makes its name lead here (DNS rebinding) sends its own name.
        *[({"host": host}, 403) for host in FOREIGN.split(" ")],
        ({"origin": BASE}, 200),
        *[
            ({"origin": origin}, 403)
            for origin in ("http://evil.example", "null", "http://127.0.0.1:9999")
        ],
        ({"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}, 200),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, 200),  # a link in a mail
        (
            {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
            403,
        ),  # an image of another page
    ],
)
def test_requests_from_other_pages_and_for_other_hosts_are_refused(
    headers: dict[str, str], status: int
) -> None:
    answer = client().get("/ner", params={"sentence": "Ada lives"}, headers=headers)
    assert answer.status_code == status


@pytest.mark.parametrize("path", ["/ner?sentence=Ada", "/static/script.js", "/nothing", "/"])
def test_pages_load_nothing_inline_or_external_and_set_the_policy(path: str) -> None:
    answer = client().get(path)
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self';") and "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert not re.search(r"<script(?! src=)|<style|\sstyle=|\son\w+=|https?://", answer.text)
