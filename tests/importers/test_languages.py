"""Texts in English are told from others."""

import pytest

from elmo_plugin.importers.languages import looks_english

ENGLISH = (
    "In the morning we walked down to the harbour, where the boats had been tied up for the "
    "winter. There was no wind, and the water was as flat as a plate. A man was painting the hull "
    "of his boat, and he told us that it would be ready by the end of the month."
)
GERMAN = (
    "Am Morgen gingen wir zum Hafen hinunter, wo die Boote für den Winter lagen. Es war kein Wind, "
    "und das Wasser war so flach wie ein Teller. Ein Mann strich den Rumpf seines Bootes, und er "
    "sagte uns, dass es Ende des Monats fertig sein würde. In der Stadt war es noch still."
)
PORTUGUESE = (
    "De manhã fomos a pé até ao porto, onde os barcos ficam no inverno. Não havia vento, e a água "
    "estava lisa como um prato. Um homem pintava o casco do seu barco e disse que ia ficar pronto "
    "no fim do mês. Na cidade, as lojas ainda estavam fechadas, e nós voltamos a casa com frio."
)
DANISH = (
    "Om morgenen gik vi ned til havnen, hvor bådene lå for vinteren. Der var ingen vind, og vandet "
    "var fladt som en tallerken. En mand malede skroget på sin båd, og han sagde til os, at den "
    "ville være færdig ved månedens slutning. I byen var der stille, og vi gik hjem i to timer."
)
RUSSIAN = "Утром мы пошли к гавани, где стояли лодки."
HINDI = "सुबह हम बंदरगाह तक पैदल गए।"


@pytest.mark.parametrize("text", [ENGLISH, "Rain.", "", "Best café in São Paulo", "No rain. " * 50])
def test_english_and_what_is_too_short_to_tell_may_be_english(text: str) -> None:
    assert looks_english([text])
    assert looks_english(text.split())


@pytest.mark.parametrize(
    "text",
    [
        GERMAN,
        PORTUGUESE,
        DANISH,
        RUSSIAN,
        HINDI,
        "今天早上我们走到港口去看船的时候风很小水也很平静",
    ],
)
def test_other_languages_are_told_by_their_words_or_letters(text: str) -> None:
    assert not looks_english([text])
    assert not looks_english(text.split())


def test_a_few_frequent_words_of_another_language_are_enough() -> None:
    assert not looks_english(["Wo ist mein Paket?", "Die Rechnung ist nicht da.", "Das und mehr."])
    assert not looks_english(["¿Por qué no llega el paquete?", "Los precios son altos"])
    assert looks_english(["Where is the parcel of Der Spiegel?", "Que sera", "It is in El Paso"])
