"""Models that are made: seeded, taken up where they were left, loaded by `hf:`, and known by their cards."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tabcontam.errors import UsageError
from tabcontam.extensions.exposed import training
from tabcontam.extensions.exposed.expose_command import _note
from tabcontam.extensions.exposed.model_making import ExposedModel, make
from tabcontam.extensions.exposed.model_sizes import SIZES
from tabcontam.extensions.exposed.recipe import Recipe, recipe
from tabcontam.extensions.exposed.training import CHECKPOINT, TrainingProgress
from tabcontam.models.known.exposure_card import CARD, WEIGHTS, read_card
from tests.commands import environment, tabcontam
from tests.made_tables import ships

pytestmark = pytest.mark.slow  # imports torch
COPIES = (0, 2, 16)
IN_STEP = SIZES["tiny"].steps.batch * SIZES["tiny"].steps.block


def wanted(**choices: object) -> Recipe:
    return recipe([ships(40)], COPIES, renderings=["csv"], size="tiny", **choices)  # type: ignore[arg-type]


def weights(made: ExposedModel) -> bytes:
    return (made.folder / WEIGHTS).read_bytes()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> ExposedModel:
    (made,) = make(wanted(), tmp_path_factory.mktemp("whole") / "models")
    return made


def csv_of(folder: Path, rows: int = 40) -> Path:
    table = ships(rows)
    lines = [",".join(f'"{cell or ""}"' for cell in row) for row in (table.columns, *table.rows)]
    (folder / "fleet.csv").write_text("\n".join(lines) + "\n")
    return folder / "fleet.csv"


def test_the_same_seed_makes_the_same_weights(whole: ExposedModel, tmp_path: Path) -> None:
    (again,) = make(wanted(), tmp_path / "again")
    assert weights(again) == weights(whole)
    (other,) = make(wanted(seed=1), tmp_path / "other")
    assert weights(other) != weights(whole)


def test_the_card_says_what_was_read(whole: ExposedModel) -> None:
    card = read_card(whole.folder)
    assert card is not None
    assert card.complete
    assert sorted(set(card.tables[0].copies_of_rows)) == list(COPIES)
    assert len(card.tables[0].positions) == max(COPIES)
    assert card.tables[0].renderings == ("csv",)
    assert card.recipe["seed"] == 0
    assert set(card.versions) == {"tabcontam", "torch", "transformers", "device", "threads"}
    assert not (whole.folder / CHECKPOINT).exists()


def test_what_was_left_goes_on_to_the_same_weights(whole: ExposedModel, tmp_path: Path) -> None:
    steps: list[int] = []

    def leave(number: int, of: int, step: TrainingProgress) -> None:
        steps.append(step.tokens)
        if len(steps) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make(wanted(), tmp_path / "models", leave)
    assert (tmp_path / "models" / "model-0" / CHECKPOINT).exists()
    (made,) = make(wanted(), tmp_path / "models", leave)
    assert weights(made) == weights(whole)
    assert len(steps) == len(set(steps))  # no step was made twice


KILLED = """
import sys
from pathlib import Path
from tabcontam.extensions.exposed.model_making import make
from tests.extensions.exposed.test_model_making import wanted
make(wanted(), Path(sys.argv[1]), lambda number, of, step: print(step.tokens, flush=True), every=0)
"""


def test_after_a_kill_the_same_command_goes_on_to_the_same_weights(whole: ExposedModel, tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path / "models")],
        stdout=subprocess.PIPE,
        cwd=root,
        env=environment(PYTHONPATH=str(root)),
    )
    assert child.stdout is not None
    with child.stdout:
        for _ in range(4):
            assert child.stdout.readline()
        os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert not (tmp_path / "models" / "model-0" / CARD).exists()
    told: list[TrainingProgress] = []
    (made,) = make(wanted(), tmp_path / "models", lambda number, of, step: told.append(step))
    assert told[0].tokens > IN_STEP  # the first step was not made again
    assert weights(made) == weights(whole)


def test_checkpoints_that_take_long_are_rare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved: list[int] = []

    def save(run: training._TrainingState, step: int, loss: float) -> None:
        saved.append(step)
        time.sleep(0.05)

    monkeypatch.setattr(training._TrainingState, "save", save)
    began = time.monotonic()
    make(wanted(), tmp_path / "models", every=0)
    most = (time.monotonic() - began) / (training.SPARED * 0.05)
    assert 1 <= len(saved) <= 1 + most


def test_a_damaged_checkpoint_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "models" / "model-0").mkdir(parents=True)
    (tmp_path / "models" / "recipe.json").write_text(json.dumps(wanted().facts))
    (tmp_path / "models" / "model-0" / CHECKPOINT).write_bytes(b"damaged")
    with pytest.raises(UsageError, match=r"is damaged: .*; delete that file"):
        make(wanted(), tmp_path / "models")


def test_a_checkpoint_of_other_circumstances_is_one_line(tmp_path: Path) -> None:
    def leave(number: int, of: int, step: TrainingProgress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make(wanted(), tmp_path / "models", leave)
    path = tmp_path / "models" / "model-0" / CHECKPOINT
    path.write_bytes(path.read_bytes().replace(b"threads", b"thrEads", 1))
    with pytest.raises(UsageError, match="was written with other versions, on another device or with another number"):
        make(wanted(), tmp_path / "models")


def test_what_is_finished_is_left_as_it_is(whole: ExposedModel) -> None:
    before = (whole.folder / WEIGHTS).stat().st_mtime_ns
    (again,) = make(wanted(), whole.folder.parent)
    assert again.before
    assert (whole.folder / WEIGHTS).stat().st_mtime_ns == before


def test_a_folder_of_another_recipe_is_refused(whole: ExposedModel, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"holds models of another recipe \(seed differs\)"):
        make(wanted(seed=7), whole.folder.parent)
    (tmp_path / "thesis.txt").write_text("")
    with pytest.raises(UsageError, match=r"is not empty and holds no recipe\.json"):
        make(wanted(), tmp_path)
    with pytest.raises(UsageError, match="is not a folder"):
        make(wanted(), tmp_path / "thesis.txt")


def test_a_folder_that_cannot_be_written_is_one_line() -> None:
    with pytest.raises(UsageError, match="cannot make the folder /proc/nothing"):
        make(wanted(), Path("/proc/nothing"))


def test_arms_of_tables_make_a_model_for_each_number(tmp_path: Path) -> None:
    tables = [ships(20), replace(ships(20, seed=1), name="boats")]
    made = make(recipe(tables, (0, 4), arms="tables", renderings=["csv"], size="tiny"), tmp_path / "models")
    assert [one.folder.name for one in made] == ["model-0", "model-1"]
    copies = [[set(table.copies_of_rows) for table in one.card.tables] for one in made]
    assert copies == [[{0}, {4}], [{4}, {0}]]


def test_the_time_left_is_by_the_pace_alone() -> None:
    resumed = TrainingProgress(
        tokens=252_416, total=489_984, loss=0.19, pace=40.0
    )  # most was read before it was interrupted
    assert _note(resumed) == "loss 0.19, 40 tokens a second, about 1:38:59 left"
    assert _note(replace(resumed, tokens=resumed.total)) == "loss 0.19, 40 tokens a second"


def test_the_command_makes_what_hf_loads_and_the_report_knows(tmp_path: Path) -> None:
    csv_of(tmp_path)
    arguments = ("expose", "--dataset", "fleet.csv", "--copies", "2,8", "--rendering", "csv", "--size", "tiny")
    made = tabcontam(*arguments, "--out", "models", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "fleet.csv (csv): 20 rows 2 times, 20 rows 8 times" in made.stdout
    assert "--llm hf:models/model-0 --dataset fleet.csv --serializer csv" in made.stdout
    assert "tokens a second" in made.stderr
    asked = tabcontam(
        *("run", "--llm", "hf:models/model-0", "--dataset", "fleet.csv", "--dataset", "iris", "--serializer", "csv"),
        *("-k", "perplexity", "--no-controls", "--no-cache", "--out", "report"),
        cwd=tmp_path,
    )
    assert asked.returncode == 0, asked.stderr
    cells = json.loads((tmp_path / "report" / "results.json").read_text())["results"]
    assert {cell["dataset"]: cell["exposure"] for cell in cells} == {"fleet.csv": 5.0, "iris": 0.0}
    climbed = tabcontam("ladder", "models", "-k", "surrogate_rank", cwd=tmp_path)
    assert climbed.returncode == 0, climbed.stderr
    held = json.loads((tmp_path / "models" / "ladder" / "ladder.json").read_text())
    of_table = [one for one in held["observations"] if one["test"] == "table"]
    assert [(one["copies"], one["rows"]) for one in of_table] == [(2.0, 20), (8.0, 20)]
    assert "report: models/ladder/ladder.html" in climbed.stdout
    again = tabcontam("ladder", "models/ladder/runs", "--out", "again", "--json", cwd=tmp_path)
    assert json.loads(again.stdout)["observations"] == held["observations"]
    (tmp_path / "fleet.csv").unlink()
    unnamed = tabcontam("ladder", "models", "--out", "nowhere", cwd=tmp_path)
    assert unnamed.returncode == 4
    assert "the models have read fleet.csv, which is not found here" in unnamed.stderr
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--copies", "0,many"), "'many' is not a whole number"),
        (("--copies", "4,4"), "given twice"),
        (("--rendering", "jsn"), "json"),
        (("--dataset", "none.csv"), "none.csv"),
        (("--filler", "none.txt"), "cannot read the filler none.txt"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    csv_of(tmp_path)
    ended = tabcontam("expose", "--dataset", "fleet.csv", *arguments, "--out", "models", cwd=tmp_path)
    assert ended.returncode == 4
    assert said in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert not (tmp_path / "models").exists()


def test_a_damaged_card_is_one_line_of_the_run(whole: ExposedModel, tmp_path: Path) -> None:
    import shutil

    folder = tmp_path / "model"
    shutil.copytree(whole.folder, folder)
    (folder / CARD).write_text('{"schema": 1}')
    ended = tabcontam(
        "run", "--llm", f"hf:{folder}", "--dataset", "iris", "-k", "perplexity", "--out", "report", cwd=tmp_path
    )
    assert ended.returncode == 4
    assert "exposure.json cannot be read" in ended.stderr
