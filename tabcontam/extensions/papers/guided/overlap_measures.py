"""Overlaps for Algorithm 1: ROUGE-L or, with the extra `hf`, the likeness of two texts by a model that reads both.

ROUGE-L (Lin 2004) is the overlap of the words of two texts in the same order, with which Golchin and Surdeanu 2024,
section 3.2, compare completions. It is computed as in the package rouge-score without stemming.

BLEURT (Sellam, Das and Parikh 2020, section 4) is a regression head on an encoder that reads the true text and the
other as a pair. BERTScore (Zhang et al. 2020, section 3) matches each token with the token of the other text whose
contextual embedding has the largest cosine. Models are read from a folder or the Hugging Face hub, only in the format
safetensors; code in such a folder never runs.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from tabcontam.errors import UsageError
from tabcontam.extensions.papers.thresholds import MOST_OVERLAP_TOKENS, OVERLAP_LAYER_SHARE

ROUGE, BLEURT, BERTSCORE = "rouge", "bleurt", "bertscore"
TOKEN = re.compile(r"[a-z0-9]+")
FORMS = (ROUGE, f"{BLEURT}:FOLDER", f"{BERTSCORE}:FOLDER")


def tokens(text: str) -> list[str]:
    """Return the words that are compared: runs of the letters a to z and of digits, in lower case."""
    return TOKEN.findall(text.lower())


def rouge_l(expected: str, answer: str) -> float:
    """Return the F-measure of the longest common subsequence of the words of two texts, from 0 to 1.

    The precision is the subsequence's share of the answer's words, the recall its share of the expected words. The
    result is 0 if a text has no words.
    """
    from rapidfuzz.distance import LCSseq

    true, own = tokens(expected), tokens(answer)
    if not true or not own:
        return 0.0
    return 2 * LCSseq.similarity(true, own) / (len(true) + len(own))


@dataclass(frozen=True)
class OverlapMeasure:
    """A measure of the overlap of two texts, with the `name` of its model. Equal measures compute a score once.

    A `joined` measure reads the first piece of a single text before both texts.
    """

    name: str = ""
    kind: ClassVar[str] = ROUGE
    called: ClassVar[str] = "ROUGE-L"
    joined: ClassVar[bool] = False

    @property
    def spec(self) -> str:
        """The measure as a user writes it after `--overlap`; a folder has its absolute path."""
        return f"{self.kind}:{self.name}" if self.name else self.kind

    @property
    def title(self) -> str:
        """The name of the measure in sentences, with that of the model: for a folder, the last part of its path."""
        name = Path(self.name).name if Path(self.name).is_absolute() else self.name
        return f"{self.called} ({name})" if name else self.called

    def score(self, expected: str, answer: str) -> float:
        """Return the similarity of two texts; a larger number means more similar."""
        raise NotImplementedError


class Rouge(OverlapMeasure):
    """ROUGE-L between the second pieces."""

    def score(self, expected: str, answer: str) -> float:
        return rouge_l(expected, answer)


class Bleurt(OverlapMeasure):
    """The score of a BLEURT model. As published, single texts include their first pieces, and pairs do not."""

    kind = BLEURT
    called = "BLEURT"
    joined = True

    def score(self, expected: str, answer: str) -> float:
        import torch

        model, tokenizer = _loaded(self.name, head=True)
        inputs = tokenizer(expected, answer, truncation=True, max_length=_room(model, tokenizer), return_tensors="pt")
        with torch.inference_mode():
            return float(model(**inputs).logits.reshape(-1)[0])


class BertScore(OverlapMeasure):
    """The F1 of BERTScore between the second pieces, without weights for rare words."""

    kind = BERTSCORE
    called = "BERTScore"

    def score(self, expected: str, answer: str) -> float:
        true, own = self._embedded(expected), self._embedded(answer)
        if not len(true) or not len(own):
            return 0.0
        alike = own @ true.T
        precision, recall = float(alike.max(dim=1).values.mean()), float(alike.max(dim=0).values.mean())
        return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0

    def _embedded(self, text: str) -> Any:
        """Return the embeddings of a text's tokens, each of length 1, without the tokenizer's special tokens."""
        import torch

        model, tokenizer = _loaded(self.name, head=False)
        room: dict[str, Any] = {"truncation": True, "max_length": _room(model, tokenizer)}
        inputs = tokenizer(text, return_tensors="pt", return_special_tokens_mask=True, **room)
        kept = inputs.pop("special_tokens_mask")[0] == 0
        with torch.inference_mode():
            states = model(**inputs, output_hidden_states=True).hidden_states
        layer = round(OVERLAP_LAYER_SHARE * (len(states) - 1))
        return torch.nn.functional.normalize(states[layer][0][kept].float(), dim=-1)


def measure_of(spec: str, load: bool = True) -> OverlapMeasure:
    """Return the measure that a user names as `rouge`, `bleurt:MODEL` or `bertscore:MODEL`, loaded if `load`.

    Raises `UsageError` for any other text, a missing extra or folder, and a model that cannot be read safely.
    """
    kind, _, name = spec.partition(":")
    if spec == ROUGE:
        return Rouge()
    if kind not in (BLEURT, BERTSCORE) or not name:
        raise UsageError(f"{spec!r} is no measure of overlap; type one of {', '.join(FORMS)}")
    folder = Path(name).expanduser()
    if not folder.is_dir() and (folder.is_absolute() or name.startswith((".", "~"))):
        raise UsageError(f"the overlap model {name} does not exist: there is no such folder")
    if any(find_spec(module) is None for module in ("torch", "transformers")):
        raise UsageError(f'the overlap model {name} needs the extra hf; type: pip install "tabcontam[hf]"')
    name = str(folder.resolve()) if folder.is_dir() else name
    if load:
        _loaded(name, head=kind == BLEURT)
    return Bleurt(name) if kind == BLEURT else BertScore(name)


@lru_cache(maxsize=2)
def _loaded(name: str, head: bool) -> tuple[Any, Any]:
    """Return a model and its tokenizer. Raises `UsageError` if they cannot be loaded or give more than one score."""
    from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer

    where = f"the overlap model {name}"
    safely: dict[str, Any] = {"trust_remote_code": False, "local_files_only": Path(name).is_absolute()}
    try:
        kind = AutoModelForSequenceClassification if head else AutoModel
        model = kind.from_pretrained(name, use_safetensors=True, **safely).eval()
        tokenizer = AutoTokenizer.from_pretrained(name, **safely)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
        raise UsageError(f"{where} cannot be loaded: {first}") from error
    if head and model.config.num_labels != 1:
        raise UsageError(f"{where} gives {model.config.num_labels} scores, and a BLEURT model gives one")
    return model, tokenizer


def _room(model: Any, tokenizer: Any) -> int:
    """Return the largest number of tokens that the model accepts."""
    most = getattr(model.config, "max_position_embeddings", None) or MOST_OVERLAP_TOKENS
    return min(int(most), int(tokenizer.model_max_length), MOST_OVERLAP_TOKENS)
