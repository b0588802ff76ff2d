"""Tables of texts made for tests: every sentence is put together from invented words."""

from dataclasses import replace
from functools import lru_cache
from random import Random

from tabcontam.tables.table import Table
from tabcontam.tables.text_tasks import TextForm, TextTask
from tests.made_tables import made_table

ENDS = ("ble", "dor", "fen", "gar", "lith", "mop", "nax", "quil", "rost", "sil", "tarn", "vog", "wex", "zand")
LABELS = {"1": "Harbour", "2": "Orchard"}


def sentence(rng: Random, count: int) -> str:
    """A sentence of so many invented words, no two texts of which have four words in a row in common."""
    made = ["".join(rng.choice(ENDS) for _ in range(2)) for _ in range(count)]
    return f"{' '.join(made).capitalize()}."


@lru_cache(maxsize=8)
def news(rows: int = 60, form: TextForm = TextForm.CLASSIFICATION, sentences: int = 4) -> Table:
    """Texts of so many sentences with a label; of a pair the first and the second text have one sentence each."""
    rng = Random(f"news {form}")
    count = 1 if form in (TextForm.PAIR, TextForm.SENTENCE) else sentences
    texts = [
        (" ".join(sentence(rng, 10) for _ in range(count)), sentence(rng, 14), rng.choice(list(LABELS)))
        for _ in range(rows)
    ]
    labelled = form in (TextForm.CLASSIFICATION, TextForm.PAIR)
    columns = ("first", "second", "topic") if form is TextForm.PAIR else ("text", "other", "topic")
    read = columns[:2] if form is TextForm.PAIR else columns[:1]
    task = TextTask(form, read, "topic" if labelled else None, LABELS if labelled else {})
    table = made_table(columns, texts, name="courier")
    return replace(table, title="Zand Courier", names=("Zand Courier",), split="test", target="topic", text=task)
