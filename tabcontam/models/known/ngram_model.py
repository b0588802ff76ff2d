"""An ∞-gram language model: a corpus, its suffix array, and counts of the tokens after the longest known context.

Source: Liu et al. 2024, "Infini-gram: Scaling Unbounded n-gram Language Models to a Trillion Tokens" (COLM 2024). The
next token is predicted from the longest suffix of the text that occurs in the corpus. A text of the corpus is continued
word for word; any other text is continued as the corpus continues its longest known ending.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain
from math import log
from typing import TYPE_CHECKING, Literal, NamedTuple

from tabcontam.evidence.questions import Token
from tabcontam.models.base import common_prefix_length
from tabcontam.models.thresholds import MOST_CONTROL_WORDS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Tokens = NDArray[np.uint16]
    Positions = NDArray[np.int32]

# A token is a word or number (such as State-gov, 7.2500 or sepal_length) or one other character. A space is a
# separate token, so a prompt can end before or after it.
WORD = re.compile(r"\w+(?:[.\-]\w+)*|\W")
UNKNOWN = 0xFFFF  # a token that is not in the corpus; only in prompts and scored texts
SEPARATOR = 0xFFFE  # ends a document; the largest id, so it loses all ties

Finish = Literal["stop", "length", "end"]

# Contexts (last tokens of one text) that occur in the same places: the length of the longest context, and the range
# of the suffixes that start with it.
ContextRange = tuple[int, range]
Contexts = tuple[ContextRange, ...]


class Continuation(NamedTuple):
    """A continuation: its text without the stop string, the reason why it ended, and its number of tokens."""

    text: str
    finish: Finish
    tokens: int


@dataclass(frozen=True)
class Vocabulary:
    """The tokens of a corpus. An id is an index in `words`. `spelled`: rare and unknown words are stored by letters."""

    words: tuple[str, ...]
    spelled: bool = False

    @cached_property
    def ids(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    def pieces(self, text: str) -> list[str]:
        """Return the tokens of a text, in order. Joined, they are the text."""
        words = WORD.findall(text)
        if not self.spelled:
            return words
        return list(chain.from_iterable([word] if word in self.ids else word for word in words))

    def encode(self, pieces: Iterable[str]) -> list[int]:
        """Return the ids of tokens, or `UNKNOWN` for tokens that are not in the corpus."""
        return [self.ids.get(piece, UNKNOWN) for piece in pieces]


@dataclass(frozen=True)
class InfiniGram:
    """The model: a corpus, and its positions sorted by the text that starts there."""

    vocabulary: Vocabulary
    # Token ids, with `SEPARATOR` after each document. Each has two big-endian bytes, so bytes sort as ids do.
    corpus: bytes = field(repr=False)
    suffixes: "Positions" = field(repr=False)

    def generate(self, prompt: str, max_tokens: int, stop: Sequence[str] = ()) -> Continuation:
        """Return the greedy continuation: always the most frequent next token, and in a tie the first in the corpus.

        It ends before a stop string, after `max_tokens` tokens (a space is none) or with the document.
        """
        stops = [string for string in stop if string]
        text, tokens = "", 0
        for word in self._continuation(prompt):
            if word != " " and tokens == max_tokens:
                return Continuation(text.rstrip(" "), "length", tokens)
            tokens += word != " "
            text += word
            ends = (text.find(string, max(0, len(text) - len(word) - len(string))) for string in stops)
            if found := [end for end in ends if end >= 0]:
                kept = text[: min(found)]
                return Continuation(kept, "stop", sum(piece != " " for piece in self.vocabulary.pieces(kept)))
        return Continuation(text, "end", tokens)

    def score(self, text: str) -> list[Token]:
        """Return the tokens of a text, each with its log-probability in nats given all text before it."""
        pieces = self.vocabulary.pieces(text)
        scores = self.log_probabilities(self.vocabulary.encode(pieces))
        return [Token(*scored) for scored in zip(pieces, scores, strict=True)]

    def log_probabilities(self, ids: Sequence[int]) -> list[float]:
        """Return the log-probability in nats of each id given the ids before it.

        A context of length L gives P_L(t) = (n_L(t) + P_(L-1)(t)) / (n_L + 1), where n_L is the count of the context
        and n_L(t) its count followed by t. Below length 0, all words, the document end and the unknown token are
        equally likely.
        """
        return self._scored(ids, self._begun)[0]

    def compare(self, beginning: str, endings: Sequence[str]) -> list[float]:
        """Return the log-probability (nats) of each ending of a text, minus a constant that all endings share."""
        pieces = self.vocabulary.pieces
        texts = {ending: tuple(self.vocabulary.encode(pieces(beginning + ending))) for ending in endings}
        head = common_prefix_length(texts.values())
        _, begun = self._scored(next(iter(texts.values()))[:head], self._begun)
        found = {ending: sum(self._scored(ids[head:], begun)[0]) for ending, ids in texts.items()}
        return [found[ending] for ending in endings]

    @property
    def _begun(self) -> Contexts:
        """The context without a token, which occurs everywhere."""
        return ((0, range(len(self.suffixes))),)

    def _scored(self, ids: Sequence[int], contexts: Contexts) -> tuple[list[float], Contexts]:
        """Return the log-probabilities of the next tokens after some contexts, and the contexts after them."""
        scores = []
        for token in ids:
            score, contexts = self._step(contexts, token)
            scores.append(score)
        return scores, contexts

    @cached_property
    def _step(self) -> Callable[[Contexts, int], tuple[float, Contexts]]:
        """The function from a token after some contexts to its log-probability and the contexts after it; cached."""
        remembered = 1 << 15  # the most cached results

        @lru_cache(remembered)
        def step(contexts: Contexts, token: int) -> tuple[float, Contexts]:
            extended = self._extended(contexts, _as_bytes([token]))
            score = self._log_probability(_counts(contexts, 0), _counts(extended, 1))
            return score, (*self._begun, *extended)

        return step

    def longest_suffix(self, ids: Sequence[int]) -> tuple[int, range]:
        """Return the length of the longest suffix of `ids` in the corpus, and its range in `suffixes`."""
        pattern = _as_bytes(ids)

        def lacks(length: int) -> bool:  # if an ending occurs, every shorter one does, too
            return not self._find(pattern[-2 * length :])

        length = bisect_left(range(1, len(ids) + 1), True, key=lacks)
        return length, self._find(pattern[len(pattern) - 2 * length :])

    def _continuation(self, prompt: str) -> Iterator[str]:
        """Yield the words after a prompt up to the end of a document. A new token only narrows the range."""
        length, matches = self.longest_suffix(self.vocabulary.encode(self.vocabulary.pieces(prompt)))
        while matches:
            token, matches = self._most_frequent_next(length, matches)
            if token == SEPARATOR:
                return
            yield self.vocabulary.words[token]
            length += 1

    def _most_frequent_next(self, length: int, matches: range) -> tuple[int, range]:
        import numpy as np

        if len(matches) == 1:
            place = 2 * (int(self.suffixes[matches.start]) + length)
            return int.from_bytes(self.corpus[place : place + 2], "big"), matches
        tokens: Tokens = np.frombuffer(self.corpus, dtype=">u2")
        # The suffixes are sorted, so equal next tokens are adjacent, and the smallest id is first.
        following = tokens[self.suffixes[matches.start : matches.stop] + np.int32(length)]
        starts = np.flatnonzero(np.concatenate(([True], following[1:] != following[:-1])))
        counts = np.diff(starts, append=len(following))
        best = int(counts.argmax())
        start = matches.start + int(starts[best])
        return int(following[starts[best]]), range(start, start + int(counts[best]))

    def _extended(self, contexts: Sequence[ContextRange], token: bytes) -> list[ContextRange]:
        extended: list[ContextRange] = []
        for length, matches in contexts:
            found = self._narrowed(length, matches, token)
            if not found:
                break
            if extended and len(extended[-1][1]) == len(found):  # the same places, so they stay equal
                extended.pop()
            extended.append((length + 1, found))
        return extended

    @cached_property
    def _narrowed(self) -> Callable[[int, range, bytes], range]:
        """The function that narrows the `suffixes` of a context to those in which a token follows, with a cache."""
        remembered = 1 << 16  # the most cached results
        corpus, suffixes = self.corpus, self.suffixes.view("i").data  # faster to read than an array

        @lru_cache(remembered)
        def narrowed(length: int, matches: range, token: bytes) -> range:
            after = 2 * length

            def following(position: int) -> bytes:
                start = 2 * position + after
                return corpus[start : start + 2]

            if len(matches) == 1:
                return matches if following(suffixes[matches.start]) == token else range(0)
            start = bisect_left(suffixes, token, matches.start, matches.stop, key=following)
            return range(start, bisect_right(suffixes, token, start, matches.stop, key=following))

        return narrowed

    def _log_probability(self, contexts: Sequence[int], extended: Sequence[int]) -> float:
        probability = 1 / (len(self.vocabulary.words) + 2)
        for context, both in zip(contexts, extended, strict=False):
            probability = (both + probability) / (context + 1)
        # The token never follows the longer contexts. Logarithms are added, because a product of hundreds
        # would underflow.
        return log(probability) - sum(log(context + 1) for context in contexts[len(extended) :])

    def _find(self, pattern: bytes) -> range:
        width = len(pattern)

        def head(position: "np.int32") -> bytes:
            start = 2 * int(position)
            return self.corpus[start : start + width]

        start = bisect_left(self.suffixes, pattern, key=head)
        return range(start, bisect_right(self.suffixes, pattern, lo=start, key=head))


def _counts(contexts: Sequence[ContextRange], shortest: int) -> list[int]:
    counts: list[int] = []
    for length, matches in contexts:
        counts += [len(matches)] * (length + 1 - shortest - len(counts))
    return counts


def build(documents: Iterable[str], largest_vocabulary: int = MOST_CONTROL_WORDS) -> InfiniGram:
    """Return the model of one or more documents, in about a second for 10 MB of text.

    Raises ValueError if the documents have too many distinct characters for the vocabulary.
    """
    from pydivsufsort import divsufsort

    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__  # each new word gets the next number
    tokens = _numbered(documents, numbers)
    vocabulary, corpus = _limited(list(numbers), tokens, largest_vocabulary)
    return InfiniGram(vocabulary, corpus.astype(">u2").tobytes(), divsufsort(corpus))


def _numbered(documents: Iterable[str], numbers: Mapping[str, int]) -> "NDArray[np.uint32]":
    """Return the numbers of all words of the documents. The number 0, of the empty word, ends a document."""
    import numpy as np

    closing = np.array([numbers[""]], np.uint32)
    parts = []
    for document in documents:
        for chunk in _chunks(document):
            words = WORD.findall(chunk)
            parts.append(np.fromiter(map(numbers.__getitem__, words), np.uint32, len(words)))
        parts.append(closing)
    return np.concatenate(parts)


# chunk: characters tokenised at once: as Python objects, the words of a whole corpus would need a gigabyte
def _chunks(document: str, *, chunk: int = 1 << 20) -> Iterator[str]:
    """Yield a document in pieces that end at line ends, because no word continues over a line end."""
    start = 0
    while start < len(document):
        end = document.find("\n", start + chunk) + 1 or len(document)
        yield document[start:end]
        start = end


def _limited(words: Sequence[str], tokens: "NDArray[np.uint32]", largest: int) -> tuple[Vocabulary, "Tokens"]:
    """Return the vocabulary, and the corpus as its ids. If there are too many words, the rarest are spelled."""
    import numpy as np

    spelled = len(words) > largest
    if spelled:
        vocabulary = Vocabulary(_frequent(words, np.bincount(tokens), largest), spelled)
    else:
        vocabulary = Vocabulary(tuple(words[1:]))
    spellings = [[SEPARATOR], *(vocabulary.encode(vocabulary.pieces(word)) for word in words[1:])]
    flat = np.fromiter(chain.from_iterable(spellings), np.uint16)
    if not spelled:
        return vocabulary, flat[tokens]
    lengths = np.fromiter(map(len, spellings), np.int64)
    sizes = lengths[tokens]
    # The index in `flat` of each corpus token: where its word is spelled, plus its place in the word.
    shifts = (np.cumsum(lengths) - lengths)[tokens] - (np.cumsum(sizes) - sizes)
    return vocabulary, flat[np.repeat(shifts, sizes) + np.arange(sizes.sum())]


def _frequent(words: Sequence[str], counts: "NDArray[np.int64]", largest: int) -> tuple[str, ...]:
    """Return all letters and the most frequent words, as many as fit, in the order of first appearance."""
    letters = dict.fromkeys(chain.from_iterable(words))
    room = largest - len(letters)
    if room < 0:
        raise ValueError(f"{len(letters)} distinct characters; room for {largest}")
    by_frequency = (-counts).argsort(kind="stable")
    long = [words[number] for number in by_frequency if len(words[number]) > 1][:room]
    kept = set(long) | set(letters)
    return tuple(dict.fromkeys([*(word for word in words if word in kept), *letters]))


def _as_bytes(ids: Sequence[int]) -> bytes:
    return b"".join(number.to_bytes(2, "big") for number in ids)
