"""The quiz tests: the model picks the original row, or the original cell of a row, among options."""

from dataclasses import dataclass, replace
from typing import ClassVar

from tabcontam.evidence.rows.quiz.quiz_answers import QuizRule
from tabcontam.evidence.rows.quiz.quiz_test import QuizTest
from tabcontam.evidence.thresholds import PUBLISHED_QUIZ_QUESTIONS


@dataclass(frozen=True)
class Quiz(QuizTest):
    """Of four rows, of which one stands in the dataset and three are altered in a cell, the model picks the original.

    Measures: whether rows are known exactly. A row test: it can show that rows were seen.

    Queries: 64 questions, each asked five times: with the original at each of the places A to D, and once with four
    altered rows, which shows the letters that the model prefers. Choice E means that none is right. The altered cells
    are drawn by the baseline, given the row's other cells: the own cell and the others come from one distribution. Four
    features are altered, each in other rows: those in which two solvers, which learned from other rows, recognize the
    own cell least; if only three or two can be altered, there are 72 or 96 questions. One solver names the likeliest by
    the baseline, the other is gradient boosting. Features are left out whose change arithmetic or general knowledge
    reveals, as in `matched_membership`. The asked rows are those of which the solvers are least sure. With `--queries
    paper` there are 100 questions, as in the paper.

    Null: the answers stay, and the option that is the original is drawn again, with the chance that the surer of the
    two solvers gives it, never less than a fourth. All places of one question are one draw: a letter that is always
    named earns nothing, and one lucky answer counts once. Contaminated: the originals are chosen more often than that
    explains.

    Published rule: the levels of contamination, from lowest to highest, of the Data Contamination Quiz. Letters that
    the model names in fewer than a fifth of the quizzes without an original are not preferred; the highest level is the
    share of right answers with the original at the best of these places, the lowest that share beyond the letter's own
    (kappa), or that of the second-best place if it is larger. It has no verdict and no null. A language model writes
    its distractors, which can be recognized.

    Needs: two features or more that can be altered unnoticed, 130 rows for each, and a model that understands a
    question; the controls take no part. Tables of texts are skipped: a baseline draws no texts.

    Cannot show: memory of few rows. A model that knows a formula that the baseline does not find sees it broken if any
    of its cells is altered, so that this evidence lies in several columns; a verdict of contaminated has to hold
    without any one column, and next to tests of other kinds this one, like `matched_membership`, takes no part in the
    table's p-value.

    Source: Golchin and Surdeanu 2025, "Data Contamination Quiz: A Tool to Detect and Estimate Contamination in Large
    Language Models", section 3; for rows of tables the existence probe of Silvestri et al. 2025, "Evaluating Latent
    Knowledge of Public Tabular Datasets in Large Language Models". Distractors and null are ours.

    Example: `A) The age is 39, ... B) The age is 41, ... E) None of these` is answered with `A`.
    """

    id: ClassVar[str] = "quiz"
    published = QuizRule("originals were picked at the best place", share=None, source="golchin2025")
    every_place: ClassVar[bool] = True

    def as_published(self) -> "Quiz":
        """Return the test with the 100 questions of the paper."""
        return replace(self, asked=PUBLISHED_QUIZ_QUESTIONS)


@dataclass(frozen=True)
class QuizCompletion(QuizTest):
    """Shown a row without one cell and four values for it, the model picks the row's own.

    Measures: whether a model that sees the rest of a row knows its cell. A row test: it can show that rows were seen.

    Queries: 64 questions about other rows than those of `quiz`, made in the same way, each asked once; the own value
    stands at each of the four places equally often. Choice E means that it is none of these.

    Null: the answers stay, and the value that is the row's own is drawn again, with the chance that the surer of two
    solvers gives it, never less than a fourth. Contaminated: more answers are right than that explains.

    Published rule: none with a verdict; the paper compares shares of right answers.

    Needs: what `quiz` needs.

    Cannot show: what `quiz` cannot.

    Source: the completion probe of Silvestri et al. 2025, "Evaluating Latent Knowledge of Public Tabular Datasets in
    Large Language Models". Distractors and null are ours.

    Example: a row without its age, and `A) 39 B) 41 C) 28 D) 50 E) None of these`, is answered with `A`.
    """

    id: ClassVar[str] = "quiz_completion"
    part: ClassVar[int] = 1
    whole_rows: ClassVar[bool] = False


@dataclass(frozen=True)
class QuizObfuscated(QuizTest):
    """The questions of `quiz`, with the features' names and the categories replaced by signs.

    Measures: whether the model picks rows by their numbers and places alone, when no word has a meaning. Compare it
    with `quiz`: if a model picks the originals only while names and categories carry a meaning, the meaning reveals
    them.

    Queries: the 64 questions of `quiz`, each asked once, the original at each of the four places equally often. The
    features are called x1, x2 and so on, and each category of a feature is a letter. Numbers and the dataset's name
    stay.

    Null: that of `quiz`. Its p-value is reported, and decides nothing: the test asks about the same cells as `quiz`,
    and memory must not count twice.

    Published rule: none with a verdict; the paper compares shares of right answers.

    Needs: what `quiz` needs.

    Cannot show: that a model which fails here has not seen the rows: it may have seen them under their own names.

    Source: Silvestri et al. 2025, "Evaluating Latent Knowledge of Public Tabular Datasets in Large Language Models",
    who find a signal only where names and values carry a meaning.

    Example: `A) The x1 is 39, The x2 is c, ...` next to three rows that differ in one cell.
    """

    id: ClassVar[str] = "quiz_obfuscated"
    decides: ClassVar[bool] = False
    hides_meaning: ClassVar[bool] = True
    draws_as: ClassVar[str] = Quiz.id


@dataclass(frozen=True)
class QuizCompletionObfuscated(QuizTest):
    """The questions of `quiz_completion`, with the features' names and the categories replaced by signs.

    Measures: what `quiz_obfuscated` measures, if a cell is left out.

    Queries: the 64 questions of `quiz_completion`, each asked once, the own value at each of the four places equally
    often. The features are called x1, x2 and so on, and each category of a feature is a letter.

    Null: that of `quiz_completion`. Its p-value is reported, and decides nothing: the test asks about the same cells.

    Published rule: none with a verdict; the paper compares shares of right answers.

    Needs: what `quiz` needs.

    Cannot show: that a model which fails here has not seen the rows: it may have seen them under their own names.

    Source: Silvestri et al. 2025, "Evaluating Latent Knowledge of Public Tabular Datasets in Large Language Models".

    Example: a row without its x1, and `A) 39 B) 41 C) 28 D) 50 E) None of these`.
    """

    id: ClassVar[str] = "quiz_completion_obfuscated"
    decides: ClassVar[bool] = False
    hides_meaning: ClassVar[bool] = True
    part: ClassVar[int] = 1
    whole_rows: ClassVar[bool] = False
    draws_as: ClassVar[str] = QuizCompletion.id
