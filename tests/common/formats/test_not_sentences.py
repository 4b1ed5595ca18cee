"""Data are told from sentences, and unusual sentences are not taken for data."""

import pytest

from elmo_plugin.common.formats.not_sentences import kind_of_data


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("subtitles", "1\n00:00:01,000 --> 00:00:02,000\nHello there.\n"),
        ("subtitles", "WEBVTT\n\n00:01.000 --> 00:02.000\nHi"),
        ("subtitles", "0:00:01.000,0:00:02.000\nHello there\n\n0:00:03.000,0:00:04.000\nBye"),
        ("subtitles", "[Script Info]\nTitle: x\n"),
        ("subtitles", "[00:12.00]Line one\n[00:17.20]Line two"),
        ("words with their tags", "Mira|NNP left|VBD Riga|NNP .|.\nShe|PRP ran|VBD .|."),
        ("words with their tags", "Mira/NNP left/VBD Riga/NNP .\nShe/PRP ran/VBD ."),
        ("words with their tags", "Mira|NNP and/or|CC Riga|NNP .|.\nkm/h|NN ran|VBD .|."),
        ("words with their tags", "The/at jury/nn said/vbd that/cs the/at end/nn came/vbd ./."),
        ("a table, CSV", "text\nThe film was good.\nNot so good."),
        ("a table, CSV", "word,tag\nruns,VERB\nsings,VERB"),
        ("a table, CSV", "name,age\nAda,36\nOla,41"),
        ("columns of words and tags", "Ola a NNP\nran b VBD\nfar c RB\n. d ."),
        ("a table, CSV", 'text\n"The film, was good."\n"Not so good."'),
        ("a table, CSV", '"The film, was good."\n"It is ""fine"", too"'),
        ("a table, CSV", "Review ID,Review Text\n1,The film was good.\n2,Bad."),
        ("a table, CSV", "1;The film was good.;pos\n2;Bad.;neg"),
        ("a table, CSV", 'Satz und Urteil,pos\n"Der Film, gut.",pos\n"Nein, schlecht.",neg'),
        ("a table of Markdown", "| text | label |\n|---|---|\n| Hi there | x |"),
        ("brat's annotations", "T1\tPER 0 4\tAnna\nR1\tIn Arg1:T1 Arg2:T2"),
        ("columns of words and tags", "EU NNP B-ORG\nsaid VBZ O\n\nPeter NNP B-PER"),
        ("columns of words and tags", "The DT\ndog NN\nbarks VBZ\n. .\n\nIt PRP\nran VBD"),
        ("XML or HTML", "<div>\n<p>Hi</p>"),
        ("XML or HTML", '<mediawiki xmlns="http://a.b/c">\n  <page>'),
        ("XML or HTML", "<s>\nThe\tDT\ndog\tNN\n</s>\n<s>"),
        ("RTF or LaTeX", "{\\rtf1\\ansi\nThe dog barks.\\par"),
        ("RTF or LaTeX", "\\documentclass{article}\n\\begin{document}"),
        ("pieces of words", "The m@@ ill bur@@ nt .\nIt st@@ ood ."),
        ("pieces of words", "\u2581The \u2581m ill\n\u2581It \u2581stood"),
        ("sentences between <s> and </s>", "<s> The dog barks </s>\n<s> It ran </s>"),
        ("columns between tabs", "a\tb\tc\td\te\tf\tg\th\ttext\tlabel\n" + "1\t" * 9 + "x"),
        ("fastText's labels and texts", "__label__pos good film here\n__label__neg bad film"),
        ("trees", "(S (NP (DT The) (NN dog)) (VP (VBZ barks)))"),
    ],
)
def test_data_are_recognized_by_their_first_lines(kind: str, text: str) -> None:
    assert kind_of_data(text.split("\n")) == kind


@pytest.mark.parametrize(
    "text",
    [
        "Tyger Tyger, burning bright,\nIn the forests of the night,\nWhat immortal hand or eye,",
        "eggs\nmilk\nbread\nbutter",
        "- buy eggs\n- buy milk\n- call Anna",
        "1. Buy eggs.\n2. Buy milk.\n3. Call.",
        "[12:01] Anna: hi there\n[12:02] Ben: hello\n[12:03] Anna: bye",
        "12:01 Anna: hi\n12:02 Ben: hello, you\n12:03 Anna: bye, Ben",
        "He/she left the room.\nIt was and/or maybe.\nDone.",
        "his/her and/or\nblack/white yes/no",
        "01/02/2020 03/04/2020 05/06/2020 07/08/2020",
        "http://a.b/c http://d.e/f g/h i/j",
        '"Hello," he said.\n"Bye," she said.\n"No."',
        '"Hello."\n"Who is there?"\n"It is me."',
        "THE DOG BARKS\nTHE CAT RUNS\nTHE END COMES\nTHE BIRD FLIES",
        "The dog barks .\nIt ran away .\nThe cat sat .\nWe left it .",
        "Hello.",
        "我们去北京。\n你好，世界。",  # noqa: RUF001
        "(see (b) below) it works",
        "[Music]\nHello.\n[Laughs]",
        "<laughs>\nHello.\n<music>",
        "Mail me @@ home.\nI am at home now.\nCall.",
        "1,000 people came.\n2,000 people left.",
        "HAMLET\nTo be, or not to be.\n\nOPHELIA\nGood my lord,",
        "Yes, no\nMaybe, so\nHi, there",
        "I love USA\nWe hate UK\nYou like EU\nThey left NATO",
        "apples,oranges\npears,plums\nnuts,figs",
        "Yes,sir\nNo, thank you\nWell, no",
        "a | b | c\nd | e | f",
    ],
)
def test_unusual_sentences_are_not_taken_for_data(text: str) -> None:
    assert kind_of_data(text.split("\n")) == ""
