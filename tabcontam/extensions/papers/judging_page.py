"""The page on which a person judges pairs of texts. It hides a pair's source, and saves a file for `judge --from`."""

from collections.abc import Sequence

from tabcontam.evidence.completion_pairs import Likeness
from tabcontam.report.environment import embedded, environment
from tabcontam.version import __version__

FORM = "tabcontam judgements 1"  # the name of the form, written in a file that the page saves
MEANINGS = {
    Likeness.EXACT: "the same words and values in the same order; white space, capitals, quotes and final marks may "
    "differ",
    Likeness.NEAR: "the true ending can be recognised as the source; a few words or values are left out, added or "
    "exchanged",
    Likeness.NONE: "anything else, however fluent or plausible",
}
Pair = tuple[str, str, str, str, Likeness | None]  # digest, beginning, true ending, completion, judgement


def render_judging(by: str, pairs: Sequence[Pair]) -> str:
    """Return the page for the person `by`. It loads and sends nothing, and stores judgements until they are saved."""
    (style, style_hash), (script, script_hash) = embedded("style.css", "judging.css"), embedded("judging.js")
    embeds = {"style": style, "style_hash": style_hash, "script": script, "script_hash": script_hash}
    meanings = {word.value: meaning for word, meaning in MEANINGS.items()}
    template = environment().get_template("judging.html.jinja")
    return template.render(by=by, pairs=pairs, form=FORM, meanings=meanings, version=__version__, **embeds)
