"""The methods paragraphs as Markdown and as LaTeX, for pasting into a paper."""

import re
from collections.abc import Sequence

from tabcontam.extensions.publish.citations import CitedWork, cited
from tabcontam.extensions.publish.markdown import code, prose
from tabcontam.extensions.publish.methods import Name, Piece, methods
from tabcontam.extensions.publish.tex import escaped
from tabcontam.verdicts.results import RunResults

BROKEN, HYPHENLESS = re.compile(r"[0-9a-f]{16}"), r"\g<0>\\allowbreak{}"  # places in a hash at which a line may break


def markdown_methods(view: RunResults) -> str:
    """Return the paragraphs with numbered references."""
    works = cited(view)
    paragraphs = ["".join(_markdown(piece, works) for piece in paragraph) for paragraph in methods(view)]
    references = [f"{number}. {prose(str(work))}" for number, work in enumerate(works, start=1)]
    return "\n\n".join(["## How contamination was tested", *paragraphs, "\n".join(references)]) + "\n"


def _markdown(piece: Piece, works: Sequence[CitedWork]) -> str:
    match piece:
        case Name():
            return code(piece.text)
        case CitedWork():
            return rf"\[{works.index(piece) + 1}\]"
    return " " * piece.startswith(" ") + prose(piece) + " " * piece.endswith(" ")


def latex_methods(view: RunResults) -> str:
    r"""Return the paragraphs. `\cite` refers to the entries that `report --format bibtex` writes."""
    return "\n\n".join("".join(map(_latex, paragraph)) for paragraph in methods(view)) + "\n"


def _latex(piece: Piece) -> str:
    match piece:
        case Name():
            return rf"\texttt{{{BROKEN.sub(HYPHENLESS, escaped(piece.text))}}}"
        case CitedWork():
            return rf"\cite{{{piece.key}}}"
    return escaped(piece)
