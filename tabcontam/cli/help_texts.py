"""Help texts that several commands share, and the longer help texts of the command line."""

DATASET = "NAME[@EDITION][#SPLIT]|FILE[#TABLE][#SPLIT]|URL"
DATASET_HELP = (
    "a name of list datasets, a table (CSV, JSON, Excel, Parquet, SQLite, …; also packed), its address (https://…), "
    "openml:ID, hf:datasets/OWNER/NAME, sklearn:NAME, or a dataset card of your own (TOML)"
)
SERIALIZER_HELP = "how rows are written: a name of list serializers, or a TOML file of your own"
PROMPTS_HELP = "how queries are worded: a name of list prompts, or a TOML file of your own"
HELD_HELP = "; structured: chat, and where it can the server holds answers that are cells of a row to a JSON schema"
EXPRESSION_HELP = "run only the tests whose id matches EXPR, as in pytest"
MARKS_HELP = (
    "run only the tests whose marks match EXPR, as in pytest: a family (knowledge, rows, likelihood, order, corpus, "
    "score), paper, the source (ronval2024), what is needed (text, logprobs, corpus); list tests -v shows them"
)
KNOWN_HELP = "a table whose rows the LLM may know, as a training split: they are not asked, and teach who guesses"
SPLIT_HELP = (
    "ask about this split alone, as train or test, or about all (default: all that are named behind a # or by "
    "--split-column, else the first of a card's); rows that stand in several splits are never asked. Of a card whose "
    "rows have dates: before-cutoff and after-cutoff of the LLM's training data, or before-YYYY-MM and after-YYYY-MM"
)
SPLIT_COLUMN_HELP = "the column of a FILE whose values say which split a row is of"
WITHHELD_HELP = (
    "rows of a dataset's source that were never published, with its columns: adds the test that compares "
    "them with the dataset's rows; they are sent to other machines with --send-rows alone"
)
FRESH_HELP = (
    "rows with a dataset's columns and classes that no LLM can have read, as those published after its training data "
    "end: memory_share compares the accuracy on the dataset's rows with that on these, in place of perturbed twins; "
    "they are sent to other machines with --send-rows alone"
)
KEY_HELP = "the key of a dataset that was planted before it was published (see plant): adds the test planted"
LLM_HELP = (
    "a name or PROVIDER:MODEL, see list llms, or documents to be searched (corpus:PATH); #MY_KEY behind an address "
    "names the variable that holds the key for it, LABEL= before it all a name of your own for reports"
)
TRAINED_ON_HELP = (
    "documents that an LLM of the run was trained on, as LLM=corpus:PATH: they are searched, and rows that they hold "
    "count for this LLM and no other; the LLM is named as behind --llm"
)
REFERENCE_HELP = (
    "an LLM that did not see the tables, as an older one: what it answers, too, counts for nothing; memory's share is "
    "said beside what it loses on the same unseen twins (repeatable: then beside all of them, and what the first one "
    "answers alone counts for nothing)"
)
CONTROL_HELP = (
    "a control beside the two: an LLM of which it is known how often it has read each row of the tables, as hf:DIR of "
    "what expose made; the report says what the tests find in it, and it is none of the LLMs under test"
)
JUDGE_HELP = (
    "an LLM that says of completions which the tests compare whether they match, once they are there: any that --llm "
    "takes; it is asked about made pairs, too, which show how often it errs, and counts against the limits"
)
OVERLAP_HELP = (
    "by what Algorithm 1 of Golchin and Surdeanu compares texts: rouge, or bleurt:MODEL or bertscore:MODEL, a folder "
    "or a name of the hub with its weights in safetensors (extra hf; default: {default})"
)
FAMILY_OVER_HELP = (
    "whose cells of a family of tests share the level: those of each LLM, so that the levels add up over LLMs, or "
    "those of all LLMs (default: {default})"
)
BATCH_HELP = (
    "ask by the batch API of the LLM's maker, for half the price: the answers come within a day, and the same command "
    "with the same --out takes them, also after an interruption"
)
ROWS_HELP = (
    "ask about N rows of each table where rows are to be classified and memory's share is measured (default: 100), or "
    "as many as there are: at most 1,000; the first rows are always the same ones"
)
SAMPLES_HELP = (
    "ask an LLM that is not known to tell log-probabilities in words, N times at temperature 1 (200 at most), where a "
    "chosen test needs them and can count answers in their place; each of the N is a request"
)
TEMPERATURE_HELP = (
    "with --samples N: ask every query of the row tests and the quiz N times, each answer drawn at this temperature; a "
    "cell counts once, by the best of its answers, at the chance that one of them is right"
)
ENGINE_HELP = (
    "ray: load each hf: and vllm: model in processes of a Ray cluster, one a replica, on this machine or on many "
    "(default: in this process; docs/how-to-ray.md)"
)
RAY_ADDRESS_HELP = "the cluster to join, as auto or HOST:6379 (default: one is started on this machine, and ended)"
REPLICAS_HELP = "how many processes answer for each hf: or vllm: model (default: 1)"
GPUS_HELP = "how many GPUs each of them gets, where the cluster has some (default: 1)"
SHARD_HELP = (
    "ask the I-th of N parts of the run alone, as 3/8, each part on a machine of its own and in a folder of its own; "
    "report with all N folders joins them (docs/how-to-shard.md)"
)
SHOTS_HELP = (
    "in row tests show chat models N demonstrations before each question: the same asked of tables that scikit-learn "
    "carries, with the answers (16 at most)"
)
UNTIL_DECIDED_HELP = (
    "ask the row tests in turns, the most telling query first, and stop at a table once its verdict is reached: often "
    "after ten queries; without the paper's own queries, unless -m asks for them"
)
MIN_POWER_HELP = (
    "call a table clean only if the tests would have found an LLM that remembers the share P of its rows (0.2: a "
    "fifth); otherwise they cannot tell. With --until-decided a table is let go as soon as that is so (default there: "
    "{default})"
)
MEMORY_SHARE_HELP = (
    "ask as well how much of an accuracy is memory: the class of 100 rows and of their unseen twins, whichever tests "
    "are chosen"
)
MAX_MEMORY_SHARE_HELP = (
    "exit with 1 also if more than the share S of all answers is right by memory (0.05: five of 100), by the 95%% "
    "interval, and with 6 if the interval spans S or nothing was measured; the line says how many rows settle it. "
    "A run that is made now asks for it, as with --memory-share"
)
BASELINE_HELP = (
    "fail on what is new alone: what was contaminated in this earlier run, for the same LLM and table, is known and "
    "fails no more"
)
NAME_HELP = "the name of a FILE in prompts (default: the file's name without its ending)"
EXAMPLES = """\
examples:
  python -m tabcontam run
  python -m tabcontam run --llm llama3 --dataset titanic
  python -m tabcontam run --llm openai:NAME@http://127.0.0.1:8000/v1 --dataset adult
  python -m tabcontam run --dataset my.csv --target label -k completion
  python -m tabcontam gate --llm llama3 --dataset adult
  python -m tabcontam list tests -v
"""
COMPLETION_EXAMPLES = """\
examples:
  eval "$(tabcontam completion bash)"      in ~/.bashrc
  eval "$(tabcontam completion zsh)"       in ~/.zshrc
  tabcontam completion fish > ~/.config/fish/completions/tabcontam.fish
"""
GATE_CODES = """\
exit codes:
  0  clean: no test found that the LLM had seen rows of the table, and at least one test would have found it;
     with --baseline also known: contaminated, but it was so in the baseline
  1  contaminated; with --fail-on knowledge also if the dataset is known, with --fail-on undecided if they cannot tell
  2  you interrupted the run
  3  an error in tabcontam itself
  4  a bad input, or no LLM could be reached
  5  no test matches -k and -m
  6  the tests cannot tell: too few usable answers, too weak tests, or a run that was cut short

The two control models of a run have no say of their own, unless you name them with --llm. They check the tests: a test
that misses control:exposed, which has read the table, cannot make the table clean; a test that flags
control:unexposed, which has not read it, cannot make the table contaminated. So it is with an LLM behind --control
that has read none of its rows; what is missed in one that has read them makes no difference here.
"""
