"""A portable reader of the pinned word files. It gives the same answers as hunspell 1.7.

It reads the parts of the hunspell format (man 5 hunspell) that these files use: PFX and SFX rules of one level,
ONLYINCOMPOUND, COMPOUNDRULE, ICONV, the default BREAK at hyphens. NOSUGGEST and REP concern suggestions only.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from tabcontam.reading.thresholds import MOST_HYPHENS

NUMBER = re.compile(r"[0-9]+(?:[-,.][0-9]+)*")  # single separators between digits


@dataclass(frozen=True)
class Affix:
    """One line of a PFX or SFX rule. For a root that matches `condition`, `strip` is replaced by `add`."""

    flag: str
    cross: bool
    strip: str
    condition: re.Pattern[str]


@dataclass
class AffixRules:
    """The rules of the affix file."""

    prefixes: dict[str, list[Affix]] = field(default_factory=dict)
    suffixes: dict[str, list[Affix]] = field(default_factory=dict)
    conversions: list[tuple[str, str]] = field(default_factory=list)
    compounds: list[str] = field(default_factory=list)
    only_in_compound: str = ""

    @classmethod
    def read(cls, path: Path) -> "AffixRules":
        """Return the rules in an affix file in UTF-8."""
        rules = cls()
        crossing: dict[str, bool] = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            match line.split():
                case ["PFX" | "SFX", flag, "Y" | "N" as cross, _]:
                    crossing[flag] = cross == "Y"
                case ["PFX" | "SFX" as kind, flag, strip, add, condition]:
                    affixes, shape = (rules.prefixes, "^{}") if kind == "PFX" else (rules.suffixes, "{}$")
                    affix = Affix(flag, crossing[flag], strip.strip("0"), re.compile(shape.format(condition)))
                    affixes.setdefault(add, []).append(affix)
                case ["ICONV", old, new]:
                    rules.conversions.append((old, new))
                case ["COMPOUNDRULE", pattern] if not pattern.isdigit():
                    rules.compounds.append(pattern)
                case ["ONLYINCOMPOUND", flag]:
                    rules.only_in_compound = flag
        return rules

    def without_prefix(self, word: str) -> Iterator[tuple[str, Affix]]:
        """Yield each root that becomes `word` by a prefix, with this prefix."""
        starts = [add for add in self.prefixes if word.startswith(add) and len(word) > len(add)]
        pairs = ((affix.strip + word[len(add) :], affix) for add in starts for affix in self.prefixes[add])
        return ((root, affix) for root, affix in pairs if affix.condition.search(root))

    def without_suffix(self, word: str) -> Iterator[tuple[str, Affix]]:
        """Yield each root that becomes `word` by a suffix, with this suffix."""
        ends = [add for add in self.suffixes if word.endswith(add) and len(word) > len(add)]
        pairs = ((word[: -len(add)] + affix.strip, affix) for add in ends for affix in self.suffixes[add])
        return ((root, affix) for root, affix in pairs if affix.condition.search(root))


@dataclass(frozen=True)
class WordFiles:
    """An affix file and a word file, which together decide whether a word is spelled right."""

    rules: AffixRules = field(repr=False)
    words: dict[str, list[str]] = field(repr=False)  # word: the flags of each of its entries
    capitals: dict[str, list[str]] = field(repr=False)  # the same for NASA and McDonald, as "Nasa" and "Mcdonald"

    @classmethod
    def read(cls, affixes: Path, words: Path) -> "WordFiles":
        """Return the content of both files in UTF-8."""
        rules = AffixRules.read(affixes)
        entries: dict[str, list[str]] = {}
        capitals: dict[str, list[str]] = {}
        for line in words.read_text(encoding="utf-8").splitlines()[1:]:  # the first line is the number of words
            word, _, flags = line.partition("/")
            entries.setdefault(word, []).append(flags)
            if word[1:] != word[1:].lower() and (flags or not _all_capitals(word)):
                capitals.setdefault(_initial(word.lower()), []).append(flags)
        for word in capitals.keys() & entries.keys():
            del capitals[word]
        return cls(rules, entries, capitals)

    def knows(self, word: str) -> bool:
        """Return whether `word` is spelled right."""
        for old, new in self.rules.conversions:
            word = word.replace(old, new)
        word = word.lstrip(" ")
        base = word.rstrip(".")
        if not base or NUMBER.fullmatch(base):
            return True
        dotted = ("", ".") if base != word else ("",)
        if _capitalised(base) or _all_capitals(base):
            if self._knows_capitals(base, dotted):
                return True
            base = _initial(base.lower())
        elif any(self._has(base + dot) for dot in dotted):
            return True
        return self._knows_parts(base)

    def _knows_capitals(self, word: str, dotted: tuple[str, ...]) -> bool:
        """Return whether a word in capitals, or with a capital initial, is known with one of the ends `dotted`."""
        loud = _all_capitals(word)
        lower = word.lower()
        if loud:
            if any(self._has(word + dot) for dot in dotted):
                return True
            before, apostrophe, after = lower.partition("'")  # O'CONNOR: O'Connor
            starts = (_initial(before), before) if after else ()
            if any(self._has(start + apostrophe + _initial(after), loud) for start in starts):
                return True
        return any(self._has(_initial(lower) + dot, loud) or self._has(lower + dot) for dot in dotted)

    def _knows_parts(self, word: str) -> bool:
        """Return whether a word's parts are known after the default BREAK: at hyphens at its ends or between words."""
        if word.count("-") >= MOST_HYPHENS:
            return False
        if len(word) > 1 and word[0] == "-" and self.knows(word[1:]):
            return True
        if len(word) > 1 and word[-1] == "-" and self.knows(word[:-1]):
            return True
        inner = [place for place, letter in enumerate(word) if letter == "-" and 0 < place < len(word) - 1]
        # hunspell tries the second hyphen, then the first. The recursion tries the others.
        return any(self.knows(word[:place]) and self.knows(word[place + 1 :]) for place in inner[1::-1])

    def _has(self, word: str, loud: bool = True) -> bool:
        """Return whether `word`, in exactly this case, is an entry, a derived form or a compound.

        With `loud`, an entry may have further capitals.
        """
        if any(self._usable(flags) for flags in self._entries(word, loud)):
            return True
        if any(self._takes(root, loud, suffix) for root, suffix in self.rules.without_suffix(word)):
            return True
        if any(self._takes(rest, loud, prefix) for rest, prefix in self.rules.without_prefix(word)):
            return True
        return self._has_both(word, loud) or (word[0].isdigit() and self._compound.fullmatch(word) is not None)

    def _entries(self, word: str, loud: bool) -> list[str]:
        found = self.words.get(word)
        if found is not None:
            return found
        return self.capitals.get(word, []) if loud else []

    def _usable(self, flags: str) -> bool:
        return not self.rules.only_in_compound or self.rules.only_in_compound not in flags

    def _takes(self, root: str, loud: bool, *affixes: Affix) -> bool:
        """Return whether an entry of this root allows all these affixes."""
        entries = filter(self._usable, self._entries(root, loud))
        return any(all(affix.flag in flags for affix in affixes) for flags in entries)

    def _has_both(self, word: str, loud: bool) -> bool:
        """Return whether `word` is a root with a prefix and a suffix."""
        return any(
            suffix.cross and self._takes(root, loud, suffix, prefix)
            for rest, prefix in self.rules.without_prefix(word)
            if prefix.cross
            for root, suffix in self.rules.without_suffix(rest)
        )

    @cached_property
    def _compound(self) -> re.Pattern[str]:
        """The compound rules (patterns of flags) as one pattern of letters. In these files they build ordinals."""
        members: dict[str, list[str]] = {}
        for word, entries in self.words.items():
            if word[0].isdigit():
                for flag in "".join(entries):
                    members.setdefault(flag, []).append(re.escape(word))
        parts = {flag: f"(?:{'|'.join(words)})" for flag, words in members.items()}
        rules = ("".join(parts.get(sign, sign) for sign in rule) for rule in self.rules.compounds)
        return re.compile("|".join(rules))


def _initial(word: str) -> str:
    """Return the word with a capital initial, if the capital is a single letter (the capital of ß is two letters)."""
    capital = word[:1].upper()
    return capital + word[1:] if len(capital) == 1 else word


def _capitalised(word: str) -> bool:
    """Return whether the first letter of a word is its only capital."""
    return word[0] != word[0].lower() and word[1:] == word[1:].lower()


def _all_capitals(word: str) -> bool:
    """Return whether a word has capital letters only, ignoring letters without a capital form."""
    return word == word.upper() and word != word.lower()
