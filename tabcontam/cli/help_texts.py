"""Help texts that several commands share, and the long help texts."""

DATASET_FORMS = "NAME[@EDITION][#SPLIT]|FILE[#TABLE][#SPLIT]|URL"
DATASET = (
    "a name from list datasets, a table (CSV, JSON, Excel, Parquet, SQLite, …; also compressed), its address "
    "(https://…), openml:ID, hf:datasets/OWNER/NAME, sklearn:NAME, or a dataset card of your own (TOML)"
)
SERIALIZER = "the form in which rows are written: a name from list serializers, or a TOML file of your own"
PROMPTS = "the wording of the queries: a name from list prompts, or a TOML file of your own"
HELD = "; structured: chat, and the server, if it can, makes answers that are cells of a row follow a JSON schema"
EXPRESSION = "run only the tests whose id matches EXPR, as in pytest"
MARKS = (
    "run only the tests whose marks match EXPR, as in pytest: a family (knowledge, rows, likelihood, order, corpus, "
    "score), paper, a source (ronval2024), or a need (text, logprobs, corpus); list tests -v shows all marks"
)
KNOWN = (
    "rows that the model may know, such as a training split: no test asks about them, and the baseline learns from them"
)
SPLIT = (
    "ask only about this split, such as train or test, or about all (default: the splits named after a # or by "
    "--split-column, else the first of a card). Rows that stand in several splits are never asked about. If the rows "
    "of a card have dates, also before-cutoff and after-cutoff (of the model's training data), before-YYYY-MM and "
    "after-YYYY-MM"
)
SPLIT_COLUMN = "the column of a FILE whose values name the split of each row"
WITHHELD = (
    "rows from a dataset's source that were never published, with its columns: adds the test that compares them with "
    "the dataset's rows; they go to other machines only with --send-rows"
)
FRESH = (
    "rows with a dataset's columns and classes that no model can have read, such as rows published after training data "
    "end: memory_share compares the accuracies on the dataset's rows and on these, instead of perturbed twins; they go "
    "to other machines only with --send-rows"
)
KEY = "the key of a dataset that was planted before it was published (see plant): adds the test named planted"
LLM = (
    "the LLM under test: a name from list llms, PROVIDER:MODEL, or documents to search (corpus:PATH). #MY_KEY after an "
    "address names the variable that holds its key; LABEL= in front is your own name for reports"
)
TRAINED_ON = (
    "documents on which a model of the run was trained, as LLM=corpus:PATH: they are searched, and rows found in them "
    "count for this model only; LLM is written as in --llm"
)
REFERENCE = (
    "a model that has not read the tables, such as an older one: values that it also gives count for nothing, and "
    "memory's share is compared with its loss on the same twins. If repeated, memory's share is compared with all "
    "references, and only values that the first one gives count for nothing"
)
CONTROL = (
    "another control: a model that has read each row of the tables a known number of times, such as hf:DIR made by "
    "expose. The report shows its results; it is not under test"
)
JUDGE = (
    "a model, named as in --llm, that judges whether completions match the true text, after the answers are there. It "
    "also judges made-up pairs, which show how often it errs, and counts towards the limits"
)
OVERLAP = (
    "the measure by which Algorithm 1 of Golchin and Surdeanu compares texts: rouge, bleurt:MODEL or bertscore:MODEL, "
    "where MODEL is a folder or a name on the hub with weights in safetensors (extra hf; default: {default})"
)
FAMILY_OVER = (
    "apply the level to the results of each model and family of tests, so that levels add up over models (llm), or to "
    "those of all models together (all) (default: {default})"
)
BATCH = (
    "ask through the batch API of the model's maker, for half the price. Answers come within a day; the same command "
    "with the same --out fetches them, also after an interruption"
)
ROWS = (
    "ask about N rows of each table in classification and memory's share (default: 100), or as many as there are, at "
    "most 1,000; a larger N only adds rows"
)
SAMPLES = (
    "if a chosen test needs log-probabilities but can count answers instead, ask models not known to give these N "
    "times in words, at temperature 1 (at most 200 times); each time is a request"
)
TEMPERATURE = (
    "with --samples N: ask every query of the row tests and the quiz N times at this temperature. A cell counts once, "
    "by the best of its answers, with the chance that one of them is right"
)
ENGINE = (
    "ray: load each hf: and vllm: model in processes of a Ray cluster, one per replica, on this machine or on many "
    "(default: in this process; docs/how-to-ray.md)"
)
RAY_ADDRESS = "the cluster to join, such as auto or HOST:6379 (default: one started on this machine for the run)"
REPLICAS = "the number of processes that answer for each hf: or vllm: model (default: 1)"
GPUS = "the number of GPUs for each replica, if the cluster has GPUs (default: 1)"
SHARD = (
    "ask only part I of N of the run, such as 3/8, each part on its own machine and in its own folder; report joins "
    "all N folders (docs/how-to-shard.md)"
)
SHOTS = (
    "show chat models N demonstrations before each question of a row test: the same question about tables that "
    "scikit-learn carries, with the answers (at most 16)"
)
UNTIL_DECIDED = (
    "ask the row tests in turns, the most informative query first, and stop at a table's verdict, often after ten; "
    "leaves out the paper's own queries, unless -m asks for them"
)
MIN_POWER = (
    "call a table clean only if the tests would have detected a model that remembers the share P of its rows (0.2: a "
    "fifth); otherwise the gate cannot tell. --until-decided stops asking about a table once this holds (default "
    "there: {default})"
)
MEMORY_SHARE = (
    "also measure how much of an accuracy is memory: ask for the class of 100 rows and of their unseen twins, "
    "whichever tests are chosen"
)
MAX_MEMORY_SHARE = (
    "exit with 1 also if memory's share is above S (0.05: five of 100 answers) by its 95%% interval, and with 6 if the "
    "interval spans S or nothing was measured; the line says how many rows would settle it. A new run then measures "
    "the share, as with --memory-share"
)
BASELINE = (
    "fail only on new results: a model and table that were contaminated in this earlier run are known, and fail no more"
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
