"""The settings of a run. Each setting is stated once: in `RunConfig`, or by an extension.

From the settings are made: the options of `run` and `gate`, the arguments of `tabcontam.run` and of pytest's mark, the
keys of `[tool.tabcontam]`, the checks for contradictions, the settings in results.json, and pages of the docs. An
extension adds settings by an entry point of the group `tabcontam.settings`, which names a tuple of `Setting`.

This module imports nothing of the package. A value that needs more, such as a table, is checked where it is used.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, NamedTuple, TypeVar, cast, overload

if TYPE_CHECKING:  # importing one of these modules takes as long as starting Python
    from decimal import Decimal
    from pathlib import Path

Value = TypeVar("Value")
Kept = TypeVar("Kept", covariant=True)

CALIBRATED: Final = "calibrated"
PAPER: Final = "paper"
RULES = (CALIBRATED, PAPER)
LLM: Final = "llm"
ALL: Final = "all"
# the results that share an error budget: one LLM's, or all LLMs'
FAMILY_OVER: "tuple[Literal['llm', 'all'], ...]" = (LLM, ALL)
FORMS = ("auto", "chat", "completion")  # "auto" means the chat form if the model has one
HELD = "structured"  # one more form: chat, with answers to row tests that must fit a JSON schema
FAILURES = ("contaminated", "undecided", "knowledge")

# The surfaces on which a setting appears.
RUN, GATE, PYTHON, MARK, FILE, GATE_FILE, RESULTS, RESCORE = range(8)
EVERYWHERE = (RUN, GATE, PYTHON, MARK, FILE, RESULTS)
TYPED = (RUN, GATE, PYTHON)  # a file cannot set it
ASKED = (*TYPED, FILE)
CONDITION = (GATE, GATE_FILE, MARK)

# The groups of the options, in the order of --help-all.
MAIN, TABLES, SPECIAL, MODELS, ASKING, LIMITS, MACHINES, REPORT, CONDITIONS = GROUPS = (
    "main options", "tables and queries", "tables with rows or digits of your own", "further models",
    "asking and judging", "limits, cost and stored replies", "machines for hf: and vllm: models", "the report",
    "when a table is clean",
)  # fmt: skip


class Kind(Generic[Kept]):
    """A kind of value.

    `wanted` describes it in messages, and `python` is its annotation. `check` returns a value as it is kept; `text`
    makes a value from typed text. Both raise an error for an unfit value.
    """

    def __init__(
        self, wanted: str, python: str, check: Callable[[Any], Kept], text: Callable[[str], object] = str
    ) -> None:
        self.wanted, self.python, self._check, self._text = wanted, python, check, text

    def take(self, value: object) -> Kept:
        """Return a value as it is kept. Raises ValueError with the words for what is wanted."""
        try:
            return self._check(value)
        except (ValueError, TypeError, ArithmeticError):
            raise ValueError(self.wanted) from None

    def read(self, text: str) -> Kept:
        """Return the value of typed text. Raises ValueError with the whole message."""
        try:
            return self._check(self._text(text))
        except (ValueError, TypeError, ArithmeticError):
            raise ValueError(f"{text!r} is not {self.wanted}") from None


class RunShard(NamedTuple):
    """One part of a run: part `number`, from 1, of `of` parts."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @classmethod
    def read(cls, text: object) -> "RunShard":
        """Return the part that a text such as `3/8` names. Raises ValueError for any other text."""
        first, _, last = str(text).partition("/")
        shard = cls(_digits(first), _digits(last))
        _must(1 <= shard.number <= shard.of)
        return shard


def _must(right: object) -> None:
    if not right:
        raise ValueError


def _digits(text: str) -> int:
    _must(text.isdecimal())
    return int(text)


def _whole(value: Any) -> int:
    _must(not isinstance(value, bool) and hasattr(value, "__index__"))
    return int(value.__index__())


def _count(value: Any) -> int:
    _must(_whole(value) > 0)
    return _whole(value)


def _number(value: Any) -> float:
    _must(isinstance(value, int | float) and not isinstance(value, bool))
    return float(value)


def _share(value: Any) -> float:
    _must(0 < _number(value) < 1)
    return _number(value)


def _temperature(value: Any) -> float:
    _must(0 < _number(value) <= 2)
    return _number(value)


def _dollars(value: Any) -> "Decimal":
    from decimal import Decimal

    found = Decimal(str(value))
    _must(found.is_finite() and found > 0)
    return found


def _name(value: Any) -> str:
    _must(isinstance(value, str) and value.strip())
    return str(value)


def _path(value: Any) -> "Path":
    from pathlib import Path

    _must(str(value).strip())
    return Path(value)


def _boolean(value: Any) -> bool:
    _must(isinstance(value, bool))
    return bool(value)


def _text(value: Any) -> str:
    _must(isinstance(value, str))
    return str(value)


SWITCH = Kind("True or False", "bool", bool)
HEADER = Kind("True, False or None", "bool", _boolean)
COUNTED = Kind("the number of times that the option is written", "int", _whole)
TEXT = Kind("a text", "str", _text)
NAME = Kind("a name", "str", _name)
FILE_NAME = Kind("a file", "str | Path", lambda value: _name(str(_path(value))))
PATH = Kind("a path", "str | Path", _path)
WHOLE = Kind("a whole number", "int", _whole, int)
COUNT = Kind("a whole number above 0", "int", _count, _digits)
QUERIES: "Kind[Any]" = Kind(
    f"a whole number above 0, or {PAPER!r}",
    f"int | Literal[{PAPER!r}]",
    lambda value: value if value == PAPER else _count(value),
    lambda text: text if text == PAPER else _digits(text),
)
SHARE = Kind("a number between 0 and 1", "float", _share, float)
TEMPERATURE = Kind("a number above 0 and at most 2", "float", _temperature, float)
DOLLARS = Kind("a sum of US dollars above 0", "float | Decimal | str", _dollars)
SHARD = Kind("a part of a run; write for example 3/8, the third of eight parts", "str", RunShard.read)
SUMMARY = Kind("made of the letters cnuaspAN", "str", lambda value: _letters(_text(value)))


def _letters(value: str) -> str:
    _must(set(value) <= set("cnuaspAN"))
    return value


class Setting(Generic[Value]):
    """A setting of a run.

    `about` is its text in --help and in the docs; `on` are its surfaces. `flag` and `also` are its options where these
    are not made from its name. A setting of the group `MAIN` is in the short --help. `several`: it can be repeated, and
    its value is a tuple. `needs` and `excludes` map the names of other settings to the sentence of the error; a key
    `NAME=WORD` means that value alone. A `{name}` in a sentence is that option. `most` is the largest value, with the
    sentence of the error. `why_not` says why a file cannot set it. `fixed`: a continued run must have the same value.
    `of_models`: it has no meaning if only corpora are searched.
    """

    def __init__(
        self,
        kind: Kind[Any],
        default: Value,
        group: str,
        on: Iterable[int],
        metavar: str,
        about: str,
        *,
        name: str = "",
        flag: str = "",
        also: tuple[str, ...] = (),
        choices: tuple[str, ...] = (),
        python: str = "",
        needs: Mapping[str, str] = {},
        excludes: Mapping[str, str] = {},
        most: "tuple[int, str] | None" = None,
        why_not: str = "a file cannot set it",
        fixed: bool = False,
        of_models: bool = False,
    ) -> None:
        self.name, self.kind, self.default, self.group, self.on = name, kind, default, group, frozenset(on)
        self.about = about.replace("{default}", str(default))
        self.metavar, self.choices, self.also, self._flag, self._python = metavar, choices, also, flag, python
        self.needs, self.excludes, self.most = needs, excludes, most
        self.why_not, self.fixed, self.of_models = why_not, fixed, of_models

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, config: None, owner: type) -> "Setting[Value]": ...
    @overload
    def __get__(self, config: "RunConfig", owner: type) -> Value: ...
    def __get__(self, config: "RunConfig | None", owner: type) -> "Setting[Value] | Value":
        return self if config is None else self.of(config)

    def of(self, config: "RunConfig") -> Value:
        """Return the value of this setting in a configuration."""
        return cast("Value", config.values.get(self.name, self.default))

    @property
    def several(self) -> bool:
        """True if the setting can be repeated: its value is a tuple."""
        return self.default == ()

    @property
    def switch(self) -> bool:
        """True if the option takes no value and is either written or not."""
        return self.kind in (SWITCH, HEADER)

    @property
    def counted(self) -> bool:
        """True if the option takes no value and counts how often it is written."""
        return self.kind is COUNTED

    @property
    def flag(self) -> str:
        """The option on the command line; for a switch that is on by default, the one that switches it off."""
        off = self.default is True or self.kind is HEADER
        return self._flag or f"--{'no-' * off}{self.name.replace('_', '-')}"

    @property
    def key(self) -> str:
        """The key in a file: the option without dashes."""
        return self.flag.lstrip("-")

    @property
    def annotation(self) -> str:
        """The annotation of the argument in Python."""
        kind = self._python or self.kind.python
        if self.several:
            return self._python or f"{kind} | Sequence[{kind}]"
        return f"{kind} | None" if self.default is None else kind

    @property
    def in_python(self) -> str:
        """The line of the docstring of `tabcontam.run`: the argument and its text, with options named as in Python."""
        known = {one.flag: name for name, one in settings(PYTHON).items()}
        about = re.sub(
            r"(?<![\w-])--?[a-z][a-z-]*",
            lambda word: f"`{known[word.group()]}`" if word.group() in known else word.group(),
            self.about,
        )
        return f"`{self.name}{'=False' * self.flag.startswith('--no-')}`: {about}"

    def take(self, value: Any) -> Any:
        """Return an argument in Python as it is kept. Raises ValueError with the words for what is wanted."""
        if value is None and self.default in (None, ()):
            return self.default
        if not self.several:
            return self.kind.take(value)
        alone = isinstance(value, str) or not isinstance(value, Sequence)
        try:
            return tuple(map(self.kind.take, [value] if alone else value))
        except ValueError as error:
            raise ValueError(f"{error}, or several") from None

    def is_set(self, config: "RunConfig") -> bool:
        """Return whether its value is not the default."""
        return self.name in config.values


class RunConfig:
    """The settings of a run, checked. A setting that is not given, or None, has its default."""

    # fmt: off
    llm: "Setting[tuple[str, ...]]" = Setting(
        NAME, (), MAIN, ASKED, "[LABEL=]SPEC",
        "the LLM under test: a name from list llms, PROVIDER:MODEL, or documents to search (corpus:PATH). #MY_KEY "
        "after an address names the variable that holds its key; LABEL= in front is your own name for reports",
        python="str | Sequence[str] | Mapping[str, str]",
    )
    dataset: "Setting[tuple[Any, ...]]" = Setting(
        NAME, (), MAIN, ASKED, "NAME[@EDITION][#SPLIT]|FILE[#TABLE][#SPLIT]|URL",
        "a name from list datasets, a table (CSV, JSON, Excel, Parquet, SQLite, …; also compressed), its address "
        "(https://…), openml:ID, hf:datasets/OWNER/NAME, sklearn:NAME, or a dataset card of your own (TOML). SPLIT is "
        "a split such as test, or all; if the rows of a card have dates, before-cutoff or after-cutoff (the end of the "
        "model's training data), before-YYYY-MM or after-YYYY-MM. No test asks about rows that are in several splits",
        python="Dataset | Sequence[Dataset]",
    )
    target: "Setting[str | None]" = Setting(
        TEXT, None, MAIN, (*ASKED, MARK), "COLUMN",
        "the column of a FILE that a classification predicts",
    )
    tests: "Setting[str | None]" = Setting(
        TEXT, None, MAIN, ASKED, "EXPR",
        "run only the tests whose id matches EXPR, as in pytest",
        flag="-k",
    )
    marks: "Setting[str | None]" = Setting(
        TEXT, None, MAIN, ASKED, "EXPR",
        "run only the tests whose marks match EXPR, as in pytest: a family (knowledge, rows, likelihood, order, "
        "corpus, score), paper, a source (ronval2024), or a need (text, logprobs, corpus); list tests -v shows all "
        "marks",
        flag="-m",
    )
    until_decided = Setting(
        SWITCH, False, MAIN, (*ASKED, MARK), "",
        "ask the row tests in turns, the most informative query first, and stop once a table has its verdict, often "
        "after ten queries. The paper's own queries are left out, unless -m chooses them",
        of_models=True,
        excludes={
            "temperature":
            "{until_decided} asks row tests once each; leave {temperature} out, or write it with {samples 5}",
            "rules=paper": "{until_decided} decides by the calibrated rules; leave {rules paper} out",
            "queries=paper":
            "{until_decided} leaves the paper's own queries out; leave {queries paper} out, or add {marks paper}",
        },
    )
    send_rows = Setting(
        SWITCH, False, MAIN, (*TYPED, MARK), "",
        "allow rows of a FILE, a URL or a private card to be sent to a model on another machine",
        why_not="only the user of the command may let rows leave this machine",
    )
    dry_run = Setting(
        SWITCH, False, MAIN, (RUN, GATE), "",
        "print the planned queries and the most that they can cost; ask nothing",
    )
    max_cost: "Setting[Decimal | None]" = Setting(DOLLARS, None, MAIN, ASKED, "X", "spend at most X US dollars")
    out: "Setting[Path | None]" = Setting(
        PATH, None, MAIN, TYPED, "DIR",
        "the folder of the run; the same command continues it",
        why_not="a run's folder belongs to one command",
    )
    json = Setting(SWITCH, False, MAIN, (RUN,), "", "print results.json instead of the report")
    open = Setting(SWITCH, False, MAIN, (RUN,), "", "open the finished report in the browser")
    serializer: "Setting[tuple[str, ...]]" = Setting(
        NAME, (), TABLES, (*ASKED, MARK), "NAME|FILE",
        "the form in which rows are written: a name from list serializers, or a TOML file of your own",
    )
    prompts: "Setting[tuple[str, ...]]" = Setting(
        NAME, (), TABLES, (*ASKED, MARK), "NAME|FILE",
        "the wording of the queries: a name from list prompts, or a TOML file of your own",
    )
    queries: "Setting[Any]" = Setting(
        QUERIES, None, TABLES, (*ASKED, MARK), "N|paper",
        "ask at most N queries for each result (one test of one model on one table), or only the paper's own",
    )
    rows: "Setting[int | None]" = Setting(
        COUNT, None, TABLES, (*ASKED, MARK), "N",
        "in classification and memory's share, ask about N rows of each table (default: 100; at most 1,000), or about "
        "all rows if the table has fewer; a larger N keeps the rows of a smaller one and adds others",
    )
    memory_share = Setting(
        SWITCH, False, TABLES, ASKED, "",
        "also measure how much of an accuracy is memory: ask for the class of 100 rows and of their unseen twins, "
        "whichever tests are chosen",
    )
    name: "Setting[str | None]" = Setting(
        TEXT, None, TABLES, ASKED, "TEXT",
        "the name of a FILE in prompts (default: the file's name without its ending)",
    )
    delimiter: "Setting[str | None]" = Setting(
        TEXT, None, TABLES, ASKED, "SIGN",
        "the character between the cells of a text FILE, or tab",
    )
    encoding: "Setting[str | None]" = Setting(
        TEXT, None, TABLES, ASKED, "NAME",
        "the encoding of a text FILE, such as cp1252",
    )
    header: "Setting[bool | None]" = Setting(
        HEADER, None, TABLES, TYPED, "",
        "the first line of a FILE is a row, no header (by default header, delimiter and encoding are detected)",
    )
    header_line: "Setting[int | None]" = Setting(
        WHOLE, None, TABLES, ASKED, "N",
        "line N of a text FILE (row N of a sheet) names the columns; lines above it are not read",
    )
    split_column: "Setting[str | None]" = Setting(
        TEXT, None, TABLES, TYPED, "COLUMN",
        "the column of a FILE whose values name the split of each row; FILE#SPLIT then asks about one of them",
    )
    known: "Setting[tuple[Any, ...]]" = Setting(
        FILE_NAME, (), TABLES, (*ASKED, MARK), "FILE",
        "rows that the model may know, such as a training split: no test asks about them, and the baseline learns "
        "from them",
        python="Dataset | Sequence[Dataset]",
    )
    withheld: "Setting[tuple[str, ...]]" = Setting(
        FILE_NAME, (), SPECIAL, TYPED, "FILE",
        "rows from a dataset's source that were never published, with the dataset's columns. A test then compares "
        "their likelihood with that of the dataset's rows. They are sent to other machines only with --send-rows",
    )
    fresh: "Setting[tuple[str, ...]]" = Setting(
        FILE_NAME, (), SPECIAL, TYPED, "FILE",
        "rows with a dataset's columns and classes that no model can have read, such as rows published after training "
        "data end. memory_share then compares the accuracy on the dataset's rows with that on these rows, not on "
        "perturbed twins. They are sent to other machines only with --send-rows",
    )
    trained_on: "Setting[tuple[str, ...]]" = Setting(
        NAME, (), MODELS, (*TYPED, MARK), "LLM=DOCUMENTS",
        "documents on which a model of the run was trained, as LLM=corpus:PATH, with LLM as in --llm. The run "
        "searches them, and rows that it finds are evidence about this model only",
        python="str | Sequence[str] | Mapping[str, str | Sequence[str]]",
    )
    reference: "Setting[tuple[str, ...]]" = Setting(
        NAME, (), MODELS, (*ASKED, MARK), "SPEC",
        "a model that has not read the tables, such as an older one: a value that it also answers is no evidence of "
        "memory, and memory's share is compared with its loss of accuracy on the same twins. If repeated, memory's "
        "share is compared with all references; in other tests only the first reference counts",
        of_models=True,
    )
    controls = Setting(
        SWITCH, True, MODELS, ASKED, "",
        "do not ask the two control models; models of --control are still asked",
    )
    control: "Setting[tuple[str, ...]]" = Setting(
        NAME, (), MODELS, TYPED, "[LABEL=]SPEC",
        "another control: a model that has read each row of the tables a known number of times, such as hf:DIR made "
        "by expose. The report shows its results; it is not under test",
        python="str | Sequence[str] | Mapping[str, str]",
    )
    rules = Setting(
        TEXT, CALIBRATED, ASKING, ASKED, "",
        "the rules that turn answers into verdicts (default: {default})",
        choices=RULES,
    )
    alpha = Setting(
        SHARE, 0.01, ASKING, ASKED, "A",
        "the level: the share of a model's contaminated results in a family of tests that may be wrong on average "
        "(default: {default})",
    )
    family_over: "Setting[Literal['llm', 'all']]" = Setting(
        TEXT, LLM, ASKING, ASKED, "",
        "llm: apply the level to the results of each model in each family of tests, so the levels of all models add "
        "up; all: apply it to the results of all models together (default: {default})",
        choices=FAMILY_OVER,
    )
    seed = Setting(
        WHOLE, 0, ASKING, ASKED, "N",
        "the same seed sends the same prompts (default: {default})",
        fixed=True,
    )
    samples: "Setting[int | None]" = Setting(
        COUNT, None, ASKING, ASKED, "N",
        "if a chosen test needs log-probabilities but can count answers instead, ask models that are not known to "
        "give log-probabilities N times in words, at temperature 1 (at most 200 times); each time is a request",
        fixed=True, of_models=True,
        most=(200, "each time is a request: ask at most 200 times, or a model that gives log-probabilities (hf:DIR)"),
    )
    temperature: "Setting[float | None]" = Setting(
        TEMPERATURE, None, ASKING, ASKED, "T",
        "with --samples N: ask every query of the row tests and the quiz N times at this temperature. Each cell "
        "counts once, by the best of its N answers; the null model then uses the chance that any of them is right",
        fixed=True, of_models=True,
        needs={
            "samples": "{temperature} needs {samples N}; leave {temperature} out, or write it with {samples 5}",
        },
    )
    shots: "Setting[int | None]" = Setting(
        COUNT, None, ASKING, ASKED, "N",
        "show chat models N demonstrations before each question of a row test: the same question about tables of the "
        "library scikit-learn, with the right answers (at most 16)",
        fixed=True, of_models=True,
        most=(16,
            "show at most 16 demonstrations"),
    )
    batch_size = Setting(
        COUNT, 16, ASKING, ASKED, "N",
        "the number of prompts that an hf: model answers at a time (default: {default})",
    )
    batch_api = Setting(
        SWITCH, False, ASKING, TYPED, "",
        "ask through the batch API of the model's maker, for half the price. Answers come within a day; the same "
        "command with the same --out fetches them, also after an interruption",
        of_models=True,
        excludes={
            "until_decided":
            "{batch_api} asks everything at once, and {until_decided} one by one; leave one of them out",
            "stop_at_first":
            "{batch_api} asks everything at once, and {stop_at_first} one by one; leave one of them out",
        },
    )
    form = Setting(
        TEXT, FORMS[0], ASKING, (*ASKED, RESULTS), "",
        "the form of the prompts (default: chat, if the model has it); structured: chat, and servers that can make "
        "answers follow a JSON schema do so for cells of rows",
        choices=(*FORMS, HELD),
    )
    stop_at_first = Setting(
        SWITCH, False, ASKING, (*ASKED, RESULTS), "",
        "stop asking a model after its first contaminated result",
        flag="-x",
    )
    max_connections: "Setting[int | None]" = Setting(
        COUNT, None, LIMITS, ASKED, "N",
        "send at most N requests at a time to a model (default: as many as its server takes)",
    )
    max_requests: "Setting[int | None]" = Setting(
        COUNT, None, LIMITS, ASKED, "N",
        "send at most N requests in all, including repeated ones",
    )
    prices: "Setting[Path | None]" = Setting(
        PATH, None, LIMITS, TYPED, "FILE",
        "a TOML file of prices, in place of the shipped one",
        why_not="only the user who pays may set them",
    )
    cache = Setting(
        SWITCH, True, LIMITS, ASKED, "",
        "do not use stored replies of earlier runs, and store none (see the cache command)",
    )
    retry_unanswered = Setting(
        SWITCH, False, LIMITS, ASKED, "",
        "ask again if the stored reply is a refusal, cut off or empty",
    )
    shard: "Setting[RunShard | None]" = Setting(
        SHARD, None, MACHINES, (RUN, PYTHON), "I/N",
        "ask only part I of the run's N parts, such as 3/8. Each part needs its own folder and may run on its own "
        "machine; the report command joins all N folders (docs/how-to-shard.md)",
        excludes={
            "stop_at_first":
            "{stop_at_first} needs the results of all tables of a model, and a part of a run has only its own; leave "
            "{stop_at_first} or {shard *} out",
        },
    )
    verbose = Setting(
        COUNTED, 0, REPORT, (RUN,), "",
        "print each result, with the replies that could not be read",
        flag="-v", also=("--verbose",),
    )
    quiet = Setting(COUNTED, 0, REPORT, (RUN,), "", "print only the summary", flag="-q", also=("--quiet",))
    summary = Setting(
        SUMMARY, "caus", REPORT, (RUN, FILE), "CHARS",
        "the results that the summary lists: c contaminated, n not detected, u uninformative, a no answer, s skipped, "
        "p scores without a verdict, A all, N none (default: {default})",
        flag="-r",
    )
    durations: "Setting[int | None]" = Setting(
        COUNT, None, REPORT, (RUN, FILE), "N",
        "list the N results whose answers took longest",
    )
    color = Setting(
        TEXT, "auto", REPORT, (RUN, FILE), "",
        "colour the report (default: {default}, on a terminal only)",
        choices=("auto", "always", "never"),
    )
    no_defaults = Setting(SWITCH, False, REPORT, (RUN, GATE), "", "ignore [tool.tabcontam] in pyproject.toml")
    progress = Setting(SWITCH, False, REPORT, (PYTHON,), "", "print the progress to standard error")
    fail_on: "Setting[tuple[str, ...]]" = Setting(
        TEXT, (), CONDITIONS, CONDITION, "",
        "exit with 1 in one more case: undecided, if the tests cannot tell; knowledge, if tests of knowledge detect "
        "that the model knows the dataset, even if it has read no row",
        choices=FAILURES,
    )
    min_power = Setting(
        SHARE, 0.25, CONDITIONS, (*CONDITION, RUN, PYTHON), "P",
        "call a table clean only if the tests would have detected a model that remembers the share P of its rows "
        "(0.2: a fifth); otherwise the gate cannot tell. --until-decided stops asking about a table once the tests "
        "would have detected such a model (default with --until-decided: {default})",
    )
    max_memory_share: "Setting[float | None]" = Setting(
        SHARE, None, CONDITIONS, CONDITION, "S",
        "exit with 1 also if the whole 95% interval of memory's share is above S (0.05: five of 100 answers), and "
        "with 6 if the interval contains S or nothing was measured; the output then says how many rows would decide "
        "it. A new run measures the share, as with --memory-share",
    )
    baseline: "Setting[Path | None]" = Setting(
        PATH, None, CONDITIONS, (GATE, GATE_FILE), "RUN_DIR",
        "fail only on new results: if a table was already contaminated for a model in this earlier run, it does not "
        "fail",
    )
    # fmt: on

    # What commands add to the settings: contamination tests that replace those chosen by name and mark, whether the
    # paper's own queries were chosen, the command as typed, a line on the settings of a file, and the time of the order
    own_tests: "Setting[tuple[Any, ...]]" = Setting(TEXT, (), "", (), "", "")
    papers_too = Setting(SWITCH, False, "", (), "", "")
    command = Setting(TEXT, "", "", (), "", "")
    defaults = Setting(TEXT, "", "", (), "", "")
    began = Setting(TEXT, 0.0, "", (), "", "")

    def __init__(self, **given: Any) -> None:
        known = settings()
        if strange := [name for name in given if name not in known]:
            raise TypeError(f"a run has no setting {strange[0]!r}")
        values = {name: value for name, value in given.items() if value is not None}
        kept = {name: tuple(value) if known[name].several else value for name, value in values.items()}
        self.values = {name: value for name, value in kept.items() if value != known[name].default}

    def replace(self, **changes: Any) -> "RunConfig":
        """Return the same settings with some changes."""
        return RunConfig(**self.values | changes)

    @property
    def structured(self) -> bool:
        """True if answers to row tests must fit a JSON schema."""
        return self.form == HELD

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RunConfig) and self.values == other.values

    def __hash__(self) -> int:
        return hash(tuple(sorted(self.values.items())))

    def __repr__(self) -> str:
        return f"RunConfig({', '.join(f'{name}={value!r}' for name, value in self.values.items())})"


CORE: Mapping[str, Setting[Any]] = {name: item for name, item in vars(RunConfig).items() if isinstance(item, Setting)}
FURTHER: dict[str, Setting[Any]] = {}  # the settings of extensions, once they are loaded


def settings(*on: int) -> dict[str, Setting[Any]]:
    """Return the settings by name: all, or those on one of these surfaces."""
    return {name: one for name, one in {**CORE, **FURTHER}.items() if not on or one.on & set(on)}
