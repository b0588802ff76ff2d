"""Help texts that several commands share, and the long help texts."""

DATASET_FORMS = "NAME[@EDITION][#SPLIT]|FILE[#TABLE][#SPLIT]|URL"
DATASET = (
    "a name from list datasets, a table (CSV, JSON, Excel, Parquet, SQLite, …; also compressed), its address "
    "(https://…), openml:ID, hf:datasets/OWNER/NAME, sklearn:NAME, or a dataset card of your own (TOML)"
)
SERIALIZER = "the form in which rows are written: a name from list serializers, or a TOML file of your own"
PROMPTS = "the wording of the queries: a name from list prompts, or a TOML file of your own"
HELD = "; structured: chat, and servers that can make answers follow a JSON schema do so for cells of rows"
EXPRESSION = "run only the tests whose id matches EXPR, as in pytest"
MARKS = (
    "run only the tests whose marks match EXPR, as in pytest: a family (knowledge, rows, likelihood, order, corpus, "
    "score), paper, a source (ronval2024), or a need (text, logprobs, corpus); list tests -v shows all marks"
)
KNOWN = (
    "rows that the model may know, such as a training split: no test asks about them, and the baseline learns from them"
)
SPLIT = (
    "ask only about this split, such as train or test, or about all splits (default: the splits named after a # or by "
    "--split-column, else the first split of a card). No test asks about rows that are in several splits. If the rows "
    "of a card have dates, NAME may also be before-cutoff or after-cutoff (the end of the model's training data), "
    "before-YYYY-MM or after-YYYY-MM"
)
SPLIT_COLUMN = "the column of a FILE whose values name the split of each row"
WITHHELD = (
    "rows from a dataset's source that were never published, with the dataset's columns. A test then compares their "
    "likelihood with that of the dataset's rows. They are sent to other machines only with --send-rows"
)
FRESH = (
    "rows with a dataset's columns and classes that no model can have read, such as rows published after training data "
    "end. memory_share then compares the accuracy on the dataset's rows with that on these rows, not on perturbed "
    "twins. They are sent to other machines only with --send-rows"
)
KEY = (
    "the key of the digits that plant put into the dataset before it was published; the test named planted then looks "
    "for memory of these digits"
)
LLM = (
    "the LLM under test: a name from list llms, PROVIDER:MODEL, or documents to search (corpus:PATH). #MY_KEY after an "
    "address names the variable that holds its key; LABEL= in front is your own name for reports"
)
TRAINED_ON = (
    "documents on which a model of the run was trained, as LLM=corpus:PATH, with LLM as in --llm. The run searches "
    "them, and rows that it finds are evidence about this model only"
)
REFERENCE = (
    "a model that has not read the tables, such as an older one: a value that it also answers is no evidence of "
    "memory, and memory's share is compared with its loss of accuracy on the same twins. If repeated, memory's share "
    "is compared with all references; in other tests only the first reference counts"
)
CONTROL = (
    "another control: a model that has read each row of the tables a known number of times, such as hf:DIR made by "
    "expose. The report shows its results; it is not under test"
)
JUDGE = (
    "a model, named as in --llm, that judges after the run's queries whether completions match the true text. It also "
    "judges made-up pairs, which show how often it errs; its requests count towards the limits"
)
OVERLAP = (
    "the measure by which Algorithm 1 of Golchin and Surdeanu compares texts: rouge, bleurt:MODEL or bertscore:MODEL, "
    "where MODEL is a folder or a name on the hub with weights in safetensors (extra hf; default: {default})"
)
FAMILY_OVER = (
    "llm: apply the level to the results of each model in each family of tests, so the levels of all models add up; "
    "all: apply it to the results of all models together (default: {default})"
)
BATCH = (
    "ask through the batch API of the model's maker, for half the price. Answers come within a day; the same command "
    "with the same --out fetches them, also after an interruption"
)
ROWS = (
    "in classification and memory's share, ask about N rows of each table (default: 100; at most 1,000), or about all "
    "rows if the table has fewer; a larger N keeps the rows of a smaller one and adds others"
)
SAMPLES = (
    "if a chosen test needs log-probabilities but can count answers instead, ask models that are not known to give "
    "log-probabilities N times in words, at temperature 1 (at most 200 times); each time is a request"
)
TEMPERATURE = (
    "with --samples N: ask every query of the row tests and the quiz N times at this temperature. Each cell counts "
    "once, by the best of its N answers; the null model then uses the chance that any of them is right"
)
ENGINE = (
    "ray: load each hf: and vllm: model in processes of a Ray cluster, one process per replica, on one or more "
    "machines (default: in this process; docs/how-to-ray.md)"
)
RAY_ADDRESS = "the cluster to join, such as auto or HOST:6379 (default: one started on this machine for the run)"
REPLICAS = "the number of processes that answer for each hf: or vllm: model (default: 1)"
GPUS = "the number of GPUs for each replica, if the cluster has GPUs (default: 1)"
SHARD = (
    "ask only part I of the run's N parts, such as 3/8. Each part needs its own folder and may run on its own machine; "
    "the report command joins all N folders (docs/how-to-shard.md)"
)
SHOTS = (
    "show chat models N demonstrations before each question of a row test: the same question about tables of "
    "the library scikit-learn, with the right answers (at most 16)"
)
UNTIL_DECIDED = (
    "ask the row tests in turns, the most informative query first, and stop once a table has its verdict, often "
    "after ten queries. The paper's own queries are left out, unless -m chooses them"
)
MIN_POWER = (
    "call a table clean only if the tests would have detected a model that remembers the share P of its rows (0.2: a "
    "fifth); otherwise the gate cannot tell. --until-decided stops asking about a table once the tests would have "
    "detected such a model (default with --until-decided: {default})"
)
MEMORY_SHARE = (
    "also measure how much of an accuracy is memory: ask for the class of 100 rows and of their unseen twins, "
    "whichever tests are chosen"
)
MAX_MEMORY_SHARE = (
    "exit with 1 also if the whole 95%% interval of memory's share is above S (0.05: five of 100 answers), and with 6 "
    "if the interval contains S or nothing was measured; the output then says how many rows would decide it. A new "
    "run measures the share, as with --memory-share"
)
BASELINE = (
    "fail only on new results: if a table was already contaminated for a model in this earlier run, it does not fail"
)
NAME = "the name of a FILE in prompts (default: the file's name without its ending)"
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
  0  clean: no test detected that the model has read rows of the table, and at least one test would have detected it;
     with --baseline also known: contaminated, but already so in the baseline
  1  contaminated; with --fail-on knowledge also if the dataset is known; with --fail-on undecided also if the tests
     cannot tell
  2  you interrupted the run
  3  an error in tabcontam itself
  4  a bad input, or no model could be reached
  5  no test matches -k and -m
  6  the tests cannot tell: too few usable answers, too weak tests, or a run that was cut short

The two control models check the tests; they decide nothing, unless --llm names them. A test that misses
control:exposed, which has read the table, cannot make the table clean. A test that flags control:unexposed, which has
not read it, or a model of --control that has read none of its rows, cannot make the table contaminated. A miss in a
model of --control that has read rows changes nothing.
"""
