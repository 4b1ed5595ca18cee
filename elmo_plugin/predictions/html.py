"""Predictions as HTML, by spaCy's displacy."""

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise

from elmo_plugin.predictions.views import Bars, MarkedText, Part, percent

# The colors of spans, by the numbers of `views`.
_COLORS = ("#a9d1f7", "#b6e3b6", "#f7e08f", "#e3bdf0", "#a5e3e3", "#f5b8b1", "#c9cdf5", "#d3eb9a")
HEAD = """<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>{title}</title></head>
<body style="font-family: sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem">
"""
FOOT = "</body></html>\n"


def to_html(inputs: Mapping[str, str], parts: Sequence[Part], otherwise: str = "") -> str:
    """Returns the texts of an input and the parts of a prediction, or another text if there are none."""
    lines = [f"<p><b>{escape(name)}</b> {escape(text)}</p>" for name, text in inputs.items()]
    lines += [_table(part) if isinstance(part, Bars) else _marked(part) for part in parts]
    return "\n".join(lines if parts else [*lines, f"<p>{escape(otherwise)}</p>"])


def _table(bars: Bars) -> str:
    rows = []
    for bar in bars.bars:
        tag = "th" if bar.is_best else "td"
        cells = f"<{tag}>{escape(bar.label)}</{tag}><{tag}>{percent(bar.value)}</{tag}>"
        rows.append(f"<tr style='text-align: left'>{cells}</tr>")
    return f"<table>{''.join(rows)}</table>"


def _marked(part: MarkedText) -> str:
    """Returns entities in color, or spans under the text if some are in others. Labels are an archive's."""
    from spacy import displacy  # here, as it takes a second

    spans = sorted(part.spans)
    colors = {escape(span.label): _COLORS[span.color] for span in spans}
    if all(one.end <= other.start for one, other in pairwise(spans)):
        style = "ent"
        marks = [{"start": each.start, "end": each.end, "label": escape(each.label)} for each in spans]
        shown = {"text": part.text, "ents": marks}
    else:
        style, ends = "span", {place for span in spans for place in span[:2]}
        starts = [m.start() for m in re.finditer(r"(?<!\S)\S", part.text)]
        cuts = sorted({*starts, *ends})
        tokens = [part.text[start:end].strip() for start, end in pairwise([*cuts, len(part.text)])]
        marks = [
            {
                "start_token": bisect_left(cuts, each.start),
                "end_token": bisect_left(cuts, each.end),
                "label": escape(each.label),
            }
            for each in spans
        ]
        shown = {"tokens": tokens, "spans": marks}
    title = f"<p><b>{escape(part.title)}</b></p>" if part.title else ""
    return title + displacy.render(shown, style=style, manual=True, jupyter=False, options={"colors": colors})
