"""The quiz tests: the model chooses the original row, or the original cell of a row, among options."""

from dataclasses import dataclass, replace
from typing import ClassVar

from tabcontam.evidence.mixins import ShortenedTest
from tabcontam.extensions.papers.quiz.quiz_answers import QuizRule
from tabcontam.extensions.papers.quiz.quiz_test import QuizTest
from tabcontam.extensions.papers.thresholds import PUBLISHED_QUIZ_QUESTIONS


@dataclass(frozen=True)
class Quiz(ShortenedTest, QuizTest):
    """Of four rows, one is in the dataset and three are altered in one cell; the model chooses the original.

    Measures: whether rows are known exactly. This row test can show that rows were seen.

    Queries: 64 questions. Each question is asked with the original at each of the places A to D, and once with four
    altered rows. The answers without an original show the letters that the model prefers. Choice E means that none of
    the rows is right. The baseline draws the altered cells, given the row's other cells, so that the own cell and the
    altered cells come from one distribution. Two solvers that learned from other rows try to recognize the own cell:
    the first solver names the cell that the baseline finds likeliest, and the second is gradient boosting. The four
    features in which the solvers are right least often are altered, each in different rows. If only three or two
    features can be altered, there are 72 or 96 questions. Features are left out if arithmetic or general knowledge
    reveals their change, as in `matched_membership`. The asked rows are those that the solvers predict worst. With
    `--queries paper` there are 100 questions, as in the paper.

    Null: the model's answers are kept, and the original option is drawn again. The original's chance is the one that
    the surer solver gives it, but at least one fourth. The answers at all places of one question are one draw. So a
    letter that is always named counts nothing, and a lucky answer counts once. Contaminated: the originals are chosen
    more often than the null model explains.

    Published rule: the lowest and the highest level of contamination, as in the Data Contamination Quiz. A letter is
    not preferred if the model names it in fewer than a fifth of the quizzes without an original. The highest level is
    the share of right answers with the original at the best of these letters. Kappa corrects this share for the answers
    that the best letter gets without an original. The lowest level is kappa, or the share at the second-best letter if
    this share is larger. The source has no verdict and no null. In the source a language model writes the wrong
    options, which can be recognized.

    Needs: two features or more in which the solvers do not recognize altered cells, 130 rows for each feature, and a
    model that understands a question. The controls are not asked. Tables of texts are skipped, since the baseline draws
    no texts.

    Cannot show: memory of few rows. A model may know a formula that the baseline does not find, and see that an altered
    cell in any of the formula's columns breaks the formula. A verdict of contaminated has to hold without the evidence
    of any one column; this does not exclude such formulas. So if a table has tests of other kinds, the table's p-value
    leaves out this test and `matched_membership`.

    Source: Golchin and Surdeanu 2025, "Data Contamination Quiz: A Tool to Detect and Estimate Contamination in Large
    Language Models", section 3; for rows of tables the existence probe of Silvestri et al. 2025, "Evaluating Latent
    Knowledge of Public Tabular Datasets in Large Language Models". Wrong options and null are the project's own.

    Example: `A) The age is 39, ... B) The age is 41, ... E) None of these` is answered with `A`.
    """

    id: ClassVar[str] = "quiz"
    follows = "guided_match"
    published = QuizRule("originals were picked at the best place", share=None, source="golchin2025")
    every_place: ClassVar[bool] = True

    def as_published(self) -> "Quiz":
        """Return the test with the paper's 100 questions."""
        return replace(self, asked=PUBLISHED_QUIZ_QUESTIONS)


@dataclass(frozen=True)
class QuizCompletion(QuizTest):
    """Given a row without one cell and four values for it, the model chooses the row's own value.

    Measures: whether a model that sees the rest of a row knows its cell. This row test can show that rows were seen.

    Queries: 64 questions, which are made as in `quiz` but about other rows. Each question is asked once. The own value
    is at each of the four places equally often. Choice E means that none of the four is right.

    Null: the model's answers are kept, and the row's own value is drawn again. The own value's chance is the one that
    the surer of two solvers gives it, but at least one fourth. Contaminated: more answers are right than the null model
    explains.

    Published rule: none with a verdict; the paper compares shares of right answers.

    Needs: what `quiz` needs.

    Cannot show: what `quiz` cannot show.

    Source: the completion probe of Silvestri et al. 2025, "Evaluating Latent Knowledge of Public Tabular Datasets in
    Large Language Models". Wrong options and null are the project's own.

    Example: a row without its age, and `A) 39 B) 41 C) 28 D) 50 E) None of these`, is answered with `A`.
    """

    id: ClassVar[str] = "quiz_completion"
    follows = "quiz"
    part: ClassVar[int] = 1
    whole_rows: ClassVar[bool] = False


@dataclass(frozen=True)
class QuizObfuscated(QuizTest):
    """The questions of `quiz`, with the features' names and the categories replaced by signs.

    Measures: whether the model chooses the original rows by their numbers and places alone, without words that have a
    meaning. Compare the result with `quiz`: if a model chooses the originals only in `quiz`, the meaning of names and
    categories reveals the originals.

    Queries: the 64 questions of `quiz`, each asked once. The original is at each of the four places equally often. The
    features are called x1, x2 and so on, and each category of a feature is a letter. Numbers and the dataset's name
    stay.

    Null: the null of `quiz`. The p-value is reported and decides nothing: the test asks about the same cells as `quiz`,
    and memory must not count twice.

    Published rule: none with a verdict; the paper compares shares of right answers.

    Needs: what `quiz` needs.

    Cannot show: that a model has not seen the rows if it fails: it may have seen the rows with their true names.

    Source: Silvestri et al. 2025, "Evaluating Latent Knowledge of Public Tabular Datasets in Large Language Models",
    who find a signal only if names and values have a meaning.

    Example: `A) The x1 is 39, The x2 is c, ...` next to three rows that differ in one cell.
    """

    id: ClassVar[str] = "quiz_obfuscated"
    follows = "quiz_completion"
    decides: ClassVar[bool] = False
    hides_meaning: ClassVar[bool] = True
    draws_as: ClassVar[str] = Quiz.id


@dataclass(frozen=True)
class QuizCompletionObfuscated(QuizTest):
    """The questions of `quiz_completion`, with the features' names and the categories replaced by signs.

    Measures: what `quiz_obfuscated` measures, for a cell that is left out.

    Queries: the 64 questions of `quiz_completion`, each asked once. The own value is at each of the four places equally
    often. The features are called x1, x2 and so on, and each category of a feature is a letter.

    Null: the null of `quiz_completion`. The p-value is reported and decides nothing: the test asks about the same cells
    as `quiz_completion`.

    Published rule: none with a verdict; the paper compares shares of right answers.

    Needs: what `quiz` needs.

    Cannot show: that a model has not seen the rows if it fails: it may have seen the rows with their true names.

    Source: Silvestri et al. 2025, "Evaluating Latent Knowledge of Public Tabular Datasets in Large Language Models".

    Example: a row without its x1, and `A) 39 B) 41 C) 28 D) 50 E) None of these`.
    """

    id: ClassVar[str] = "quiz_completion_obfuscated"
    follows = "quiz_obfuscated"
    decides: ClassVar[bool] = False
    hides_meaning: ClassVar[bool] = True
    part: ClassVar[int] = 1
    whole_rows: ClassVar[bool] = False
    draws_as: ClassVar[str] = QuizCompletion.id
