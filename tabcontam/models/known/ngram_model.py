"""An ∞-gram language model: a corpus, its suffix array, and counts of what follows the longest known context.

Source: Liu et al. 2024, "Infini-gram: Scaling Unbounded n-gram Language Models to a Trillion Tokens" (COLM 2024). The
next token is counted after the longest suffix of the text that occurs in the corpus. No n is chosen: a text in the
corpus is continued word for word, any other text is continued after its longest known ending.
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

# A token is a word or number (State-gov and 7.2500 are one, underscores included) or one other character. A space is a
# token of its own, so that a prompt may end before it or after it and is continued either way.
WORD = re.compile(r"\w+(?:[.\-]\w+)*|\W")
UNKNOWN = 0xFFFF  # a token that the corpus does not hold; only in prompts and scored texts
SEPARATOR = 0xFFFE  # closes a document; the last id, so that a tie never ends a text

Finish = Literal["stop", "length", "end"]


# Contexts that occur in the same places, the last tokens of one text: the length of the longest, and the range of the
# suffixes that start with it.
ContextRange = tuple[int, range]


class Continuation(NamedTuple):
    """A continuation: its text without the stop string, why it ended, and how many tokens it has."""

    text: str
    finish: Finish
    tokens: int


class _TextState:
    """The state after a text: its known contexts, and the steps to next tokens that were looked up."""

    __slots__ = ("contexts", "steps")

    def __init__(self, contexts: tuple[ContextRange, ...]) -> None:
        self.contexts = contexts
        self.steps: dict[int, tuple[float, _TextState]] = {}


@dataclass(frozen=True)
class Vocabulary:
    """The tokens of a corpus; an id is a place in `words`.

    With `spelled`, the rare words of the corpus did not fit and stand in it letter by letter; so do unknown ones.
    """

    words: tuple[str, ...]
    spelled: bool = False

    @cached_property
    def ids(self) -> dict[str, int]:
        """The id of each word."""
        return {word: number for number, word in enumerate(self.words)}

    def pieces(self, text: str) -> list[str]:
        """Return the tokens of a text, in order; joined, they are the text."""
        words = WORD.findall(text)
        if not self.spelled:
            return words
        return list(chain.from_iterable([word] if word in self.ids else word for word in words))

    def encode(self, pieces: Iterable[str]) -> list[int]:
        """Return the ids of tokens; `UNKNOWN` for those outside the corpus."""
        return [self.ids.get(piece, UNKNOWN) for piece in pieces]


@dataclass(frozen=True)
class InfiniGram:
    """The model. `corpus` holds the token ids, documents closed by `SEPARATOR`, two big-endian bytes each, so that the
    order of the bytes is the order of the ids. `suffixes` holds the corpus positions in the order of the texts they
    start.
    """

    vocabulary: Vocabulary
    corpus: bytes = field(repr=False)
    suffixes: "Positions" = field(repr=False)

    def generate(self, prompt: str, max_tokens: int, stop: Sequence[str] = ()) -> Continuation:
        """Return the greedy continuation: always the most frequent next token, among equals the one first seen in the
        corpus.

        It ends before a stop string ("stop"), after `max_tokens` tokens ("length") or with the document ("end"). A
        space counts with the word after it, as in the tokenizers of other models.
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
        """Return each token of a text with its log-probability in nats given everything before it."""
        pieces = self.vocabulary.pieces(text)
        scores = self.log_probabilities(self.vocabulary.encode(pieces))
        return [Token(*scored) for scored in zip(pieces, scores, strict=True)]

    def log_probabilities(self, ids: Sequence[int]) -> list[float]:
        """Return the log-probability in nats of each id given the ids before it.

        A context of length L gives P_L(t) = (n_L(t) + P_(L-1)(t)) / (n_L + 1), where n_L counts the context and n_L(t)
        the context followed by t; below length 0 all words, the end of a document and the unknown are equally likely.
        """
        return self._scored(ids, self._begun)[0]

    def compare(self, beginning: str, endings: Sequence[str]) -> list[float]:
        """Return the log-probability in nats of each ending of a text, less a number that is equal for all of them.

        At least one ending is given. The common beginning of all texts is scored once.
        """
        pieces = self.vocabulary.pieces
        texts = {ending: tuple(self.vocabulary.encode(pieces(beginning + ending))) for ending in endings}
        head = common_prefix_length(texts.values())
        _, begun = self._scored(next(iter(texts.values()))[:head], self._begun)
        found = {ending: sum(self._scored(ids[head:], begun)[0]) for ending, ids in texts.items()}
        return [found[ending] for ending in endings]

    @property
    def _nothing(self) -> ContextRange:
        """The context without a token, which stands everywhere."""
        return 0, range(len(self.suffixes))

    @property
    def _begun(self) -> "_TextState":
        """The state at the beginning of a text."""
        return self._after((self._nothing,))

    def _scored(self, ids: Sequence[int], begun: "_TextState") -> tuple[list[float], "_TextState"]:
        """Return the log-probabilities of the next tokens after a state, and the state after them."""
        scores, now = [], begun
        for token in ids:
            if token not in now.steps:
                now.steps[token] = self._step(now.contexts, token)
            score, now = now.steps[token]
            scores.append(score)
        return scores, now

    def _step(self, contexts: Sequence[ContextRange], token: int) -> tuple[float, "_TextState"]:
        """Return the log-probability of a token after some contexts, and the state after it."""
        extended = self._extended(contexts, _as_bytes([token]))
        score = self._log_probability(_counts(contexts, 0), _counts(extended, 1))
        return score, self._after((self._nothing, *extended))

    def _after(self, contexts: tuple[ContextRange, ...]) -> "_TextState":
        """Return the state of these contexts. Texts share it: rows of a table end alike however they began."""
        texts = 1 << 14  # states of texts that are cached with their next tokens
        if contexts not in self._texts:
            if len(self._texts) == texts:
                self._texts.clear()
            self._texts[contexts] = _TextState(contexts)
        return self._texts[contexts]

    @cached_property
    def _texts(self) -> dict[tuple[ContextRange, ...], "_TextState"]:
        return {}

    def longest_suffix(self, ids: Sequence[int]) -> tuple[int, range]:
        """Return the length of the longest suffix of `ids` that occurs in the corpus, and its range in `suffixes`."""
        pattern = _as_bytes(ids)

        def lacks(length: int) -> bool:  # every shorter ending of a text that occurs also occurs
            return not self._find(pattern[-2 * length :])

        length = bisect_left(range(1, len(ids) + 1), True, key=lacks)
        return length, self._find(pattern[len(pattern) - 2 * length :])

    def _continuation(self, prompt: str) -> Iterator[str]:
        """Yield the words after a prompt up to the end of a document.

        The longest known context of a longer text is the old one and its new token, so the range only narrows; it
        closes on one place of the corpus, at the latest where the corpus ends.
        """
        length, matches = self.longest_suffix(self.vocabulary.encode(self.vocabulary.pieces(prompt)))
        while matches:
            token, matches = self._most_frequent_next(length, matches)
            if token == SEPARATOR:
                return
            yield self.vocabulary.words[token]
            length += 1

    def _most_frequent_next(self, length: int, matches: range) -> tuple[int, range]:
        """Return the most frequent token after a context of `length` tokens, and the range of the context with it."""
        import numpy as np

        if len(matches) == 1:
            place = 2 * (int(self.suffixes[matches.start]) + length)
            return int.from_bytes(self.corpus[place : place + 2], "big"), matches
        tokens: Tokens = np.frombuffer(self.corpus, dtype=">u2")
        # The suffixes are sorted, so equal next tokens are adjacent and the smallest id comes first.
        following = tokens[self.suffixes[matches.start : matches.stop] + np.int32(length)]
        starts = np.flatnonzero(np.concatenate(([True], following[1:] != following[:-1])))
        counts = np.diff(starts, append=len(following))
        best = int(counts.argmax())
        start = matches.start + int(starts[best])
        return int(following[starts[best]]), range(start, start + int(counts[best]))

    def _extended(self, contexts: Sequence[ContextRange], token: bytes) -> list[ContextRange]:
        """Return the contexts followed by a token, as far as that occurs."""
        extended: list[ContextRange] = []
        for length, matches in contexts:
            found = self._narrowed(length, matches, token)
            if not found:
                break
            if extended and len(extended[-1][1]) == len(found):  # in the same places, so never apart again
                extended.pop()
            extended.append((length + 1, found))
        return extended

    @cached_property
    def _narrowed(self) -> Callable[[int, range, bytes], range]:
        """The function that narrows the `suffixes` of a context of `length` tokens to those in which a token comes
        next.

        The rows of a table repeat one another's words, so that most look-ups were made before.
        """
        remembered = 1 << 16  # contexts with a token whose places in the corpus are cached
        corpus, suffixes = self.corpus, self.suffixes.view("i").data  # whose elements are read faster than an array's

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
        """Return one token's score from the counts of its contexts of length 0, 1, 2… without and with the token."""
        probability = 1 / (len(self.vocabulary.words) + 2)
        for context, both in zip(contexts, extended, strict=False):
            probability = (both + probability) / (context + 1)
        # The token never followed the longer contexts; as logarithms, because a product of hundreds would underflow.
        return log(probability) - sum(log(context + 1) for context in contexts[len(extended) :])

    def _find(self, pattern: bytes) -> range:
        """Return the range of `suffixes` whose texts start with a pattern."""
        width = len(pattern)

        def head(position: "np.int32") -> bytes:
            start = 2 * int(position)
            return self.corpus[start : start + width]

        start = bisect_left(self.suffixes, pattern, key=head)
        return range(start, bisect_right(self.suffixes, pattern, lo=start, key=head))


def _counts(contexts: Sequence[ContextRange], shortest: int) -> list[int]:
    """Return how often contexts occur, for each length from `shortest` on."""
    counts: list[int] = []
    for length, matches in contexts:
        counts += [len(matches)] * (length + 1 - shortest - len(counts))
    return counts


def build(documents: Iterable[str], largest_vocabulary: int = MOST_CONTROL_WORDS) -> InfiniGram:
    """Return the model of some documents, at least one.

    Takes about a second for 10 MB of text, and some 30 bytes of memory a token while it sorts. Raises ValueError if the
    documents have more distinct characters than the vocabulary has room for.
    """
    from pydivsufsort import divsufsort

    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__  # a word gets the next number when it first appears
    tokens = _numbered(documents, numbers)
    vocabulary, corpus = _limited(list(numbers), tokens, largest_vocabulary)
    return InfiniGram(vocabulary, corpus.astype(">u2").tobytes(), divsufsort(corpus))


def _numbered(documents: Iterable[str], numbers: Mapping[str, int]) -> "NDArray[np.uint32]":
    """Return the numbers of all words of the documents; that of the empty word, 0, closes a document."""
    import numpy as np

    closing = np.array([numbers[""]], np.uint32)
    parts = []
    for document in documents:
        for chunk in _chunks(document):
            words = WORD.findall(chunk)
            parts.append(np.fromiter(map(numbers.__getitem__, words), np.uint32, len(words)))
        parts.append(closing)
    return np.concatenate(parts)


# chunk: characters tokenized at once: the words of a whole corpus would fill a gigabyte as Python objects
def _chunks(document: str, *, chunk: int = 1 << 20) -> Iterator[str]:
    """Yield a document in pieces that end with a line, because no word crosses the end of a line."""
    start = 0
    while start < len(document):
        end = document.find("\n", start + chunk) + 1 or len(document)
        yield document[start:end]
        start = end


def _limited(words: Sequence[str], tokens: "NDArray[np.uint32]", largest: int) -> tuple[Vocabulary, "Tokens"]:
    """Return the vocabulary and the corpus in its ids; if there are too many words, the rarest are spelled."""
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
    # The place in `flat` of each corpus token: where its word is spelled, and how far into the word it is.
    shifts = (np.cumsum(lengths) - lengths)[tokens] - (np.cumsum(sizes) - sizes)
    return vocabulary, flat[np.repeat(shifts, sizes) + np.arange(sizes.sum())]


def _frequent(words: Sequence[str], counts: "NDArray[np.int64]", largest: int) -> tuple[str, ...]:
    """Return all letters and as many of the most frequent words as there is room for, by first appearance."""
    letters = dict.fromkeys(chain.from_iterable(words))
    room = largest - len(letters)
    if room < 0:
        raise ValueError(f"{len(letters)} distinct characters; room for {largest}")
    by_frequency = (-counts).argsort(kind="stable")
    long = [words[number] for number in by_frequency if len(words[number]) > 1][:room]
    kept = set(long) | set(letters)
    return tuple(dict.fromkeys([*(word for word in words if word in kept), *letters]))


def _as_bytes(ids: Sequence[int]) -> bytes:
    """Return ids as they stand in the corpus."""
    return b"".join(number.to_bytes(2, "big") for number in ids)
