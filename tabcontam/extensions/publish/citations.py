"""The works that a report cites, as references and as BibTeX: tabcontam, Ronval et al. 2024, other sources of tests.

Facts that could not be verified, such as a paper's journal, are left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tabcontam.config import PAPER
from tabcontam.extensions.publish.tex import escaped
from tabcontam.verdicts.results import RunResults

ABOUT = "contamination tests of LLMs on tabular data"


@dataclass(frozen=True)
class CitedWork:
    """A cited work. `key` is its BibTeX key; `fields` are its BibTeX fields other than author, title and year."""

    key: str
    authors: Sequence[str]
    title: str
    year: str = ""
    kind: str = "misc"
    fields: Mapping[str, str] = field(default_factory=dict)
    team: bool = False  # whether the author is a team; BibTeX would split a person's name

    def __str__(self) -> str:
        """Return the reference in words."""
        year = f" ({self.year})" if self.year else ""
        where = [text for name, text in self.fields.items() if name in ("journal", "note", "howpublished")]
        return f"{', '.join(self.authors)}{year}: {'. '.join([self.title.rstrip('.'), *where])}."

    @property
    def bibtex(self) -> str:
        """The BibTeX entry, in ASCII."""
        names = " and ".join(f"{{{_entered(name)}}}" if self.team else _entered(name) for name in self.authors)
        held = {"author": names, "title": f"{{{_entered(self.title)}}}", "year": self.year}
        held |= {name: _entered(text) for name, text in self.fields.items()}
        lines = [f"  {name} = {{{text}}}," for name, text in held.items() if text]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])


def _entered(text: str) -> str:
    """Return a text as LaTeX with each brace as a character code, because BibTeX counts an escaped brace, too."""
    return escaped(text).replace(r"\{", r"{\char123}").replace(r"\}", r"{\char125}")


RONVAL = CitedWork(
    "ronval2024detection",
    ("Benoît Ronval", "Pierre Dupont", "Siegfried Nijssen"),
    "Detection of Large Language Model Contamination with Tabular Data",
    "2024",
    fields={"note": "Code: github.com/bronval/LLM_tabular_contamination_detection"},
)
GOLCHIN = ("Shahriar Golchin", "Mihai Surdeanu")
PAPERS = {  # papers with published rules, by the `source` of tests
    "ronval2024": RONVAL,
    "golchin2023": CitedWork(
        "golchin2024time", GOLCHIN, "Time Travel in LLMs: Tracing Data Contamination in Large Language Models", "2024"
    ),
    "golchin2025": CitedWork(
        "golchin2025quiz", GOLCHIN,
        "Data Contamination Quiz: A Tool to Detect and Estimate Contamination in Large Language Models", "2025",
    ),
    "sainz2023": CitedWork(
        "sainz2023chatgpt",
        ("Oscar Sainz", "Jon Ander Campos", "Iker García-Ferrero", "Julen Etxaniz", "Eneko Agirre"),
        "Did ChatGPT Cheat on Your Test?", "2023",
    ),
    "li2024": CitedWork(
        "li2024task", ("Changmao Li", "Jeffrey Flanigan"),
        "Task Contamination: Language Models May Not Be Few-Shot Anymore", "2024",
    ),
    "oren2024": CitedWork(
        "oren2024proving",
        ("Yonatan Oren", "Nicole Meister", "Niladri S. Chatterji", "Faisal Ladhak", "Tatsunori B. Hashimoto"),
        "Proving Test Set Contamination in Black Box Language Models", "2024",
    ),
    "bordt2024": CitedWork(
        "bordt2024elephants",
        ("Sebastian Bordt", "Harsha Nori", "Vanessa Rodrigues", "Besmira Nushi", "Rich Caruana"),
        "Elephants Never Forget: Memorization and Learning of Tabular Data in Large Language Models", "2024",
    ),
}  # fmt: skip
BENJAMINI = CitedWork(
    "benjamini1995controlling", ("Yoav Benjamini", "Yosef Hochberg"),
    "Controlling the False Discovery Rate: A Practical and Powerful Approach to Multiple Testing", "1995", "article",
    {"journal": "Journal of the Royal Statistical Society: Series B", "volume": "57", "number": "1",
     "pages": "289-300"},
)  # fmt: skip


def software(version: str) -> CitedWork:
    """Return tabcontam as a cited work, in the version that made a run."""
    stated = {"note": f"Version {version}"}
    return CitedWork("tabcontam", ("The tabcontam authors",), f"tabcontam: {ABOUT}", fields=stated, team=True)


def others_of(view: RunResults) -> tuple[CitedWork, ...]:
    """Return the papers of the tests that were asked, except Ronval et al. 2024, which every report cites."""
    sources = {
        view.facts[result.test].source for result in view.subjects if result.queries and result.test in view.facts
    }
    return tuple(work for source, work in PAPERS.items() if source in sources and work is not RONVAL)


def cited(view: RunResults) -> tuple[CitedWork, ...]:
    """Return the works that a report on this run must cite."""
    benjamini = () if view.run.rules == PAPER else (BENJAMINI,)
    return (software(view.run.version), RONVAL, *others_of(view), *benjamini)


def render_bibtex(view: RunResults) -> str:
    """Return the works that a report on this run must cite, as BibTeX entries."""
    return "\n\n".join(work.bibtex for work in cited(view)) + "\n"
