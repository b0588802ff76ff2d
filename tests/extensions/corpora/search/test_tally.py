"""What was skipped or mended, added up over processes."""

import json

from tabcontam.extensions.corpora.search.tally import Reason, Tally


def test_tallies_are_added_up_and_carried_as_json() -> None:
    one, two = Tally(2, 10), Tally(1, 5)
    for tally in (one, two):
        tally.note(Reason.CHANGED, "a.txt")
        tally.note(Reason.NO_JSON, "a.jsonl", 3)
    one.add(Tally.from_dict(json.loads(json.dumps(two.as_dict()))))
    assert (one.documents, one.bytes) == (3, 15)
    assert one.counts == {Reason.CHANGED: 1, Reason.NO_JSON: 6}
    assert one.sentence() == (
        "files that changed while they were read: 1 (a.txt); pieces that are not JSON, read as plain text: 6 (a.jsonl)"
    )


def test_a_sentence_names_three_files_at_most() -> None:
    tally = Tally()
    assert tally.sentence() == ""
    for name in "abcde":
        tally.note(Reason.NO_FIELD, name, 1000)
    assert tally.sentence() == "records without the named fields, not read: 5,000 (a, b, c and 2 more)"
