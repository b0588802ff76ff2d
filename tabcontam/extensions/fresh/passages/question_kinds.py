"""The five kinds of questions, the phrases that mark their answers, and the wordings of the questions.

Li, Guerin and Lin 2024 (LatestEval), sections "The Scope of LatestEval" and "Answer Construction": these sections state
what people ask most about documents, and the phrases. The wordings are ours.
"""

import re
from collections.abc import Mapping
from enum import StrEnum


class QuestionKind(StrEnum):
    """The kind of a question: its subject."""

    TERMINOLOGY = "terminology"
    SUMMARY = "summary"
    PURPOSE = "purpose"
    EXAMPLE = "example"
    FUTURE = "future"


# The phrases of the paper, in their forms.
PHRASES: Mapping[QuestionKind, re.Pattern[str]] = {
    QuestionKind.PURPOSE: re.compile(
        r"\bbecause\b|\baim(?:s|ed|ing)?\b[^.]{0,40}?\bto\b|\ballow(?:s|ed|ing)?\b[^.]{1,60}?\bto\b|"
        r"\bcontribut(?:e|es|ed|ing)\s+to\b|\bl(?:ead|eads|eading|ed)\s+to\b|\bmotivations?\b",
        re.IGNORECASE,
    ),
    QuestionKind.EXAMPLE: re.compile(r"\bfor example\b|\be\.g\.|\bsuch as\b", re.IGNORECASE),
    QuestionKind.FUTURE: re.compile(r"\bfuture works?\b|\bforecasts? shows?\b|\bupcoming features?\b", re.IGNORECASE),
}
SUMMING_UP = re.compile(r"^\W*(?:in summary|to summari[sz]e|tl;?\s?dr)\b", re.IGNORECASE)

QUESTIONS: Mapping[QuestionKind, tuple[str, ...]] = {
    QuestionKind.TERMINOLOGY: (
        "What does {topic} mean in this passage?",
        "How does the author explain the term {topic}?",
        "What is {topic}?",
    ),
    QuestionKind.SUMMARY: (
        "What is this passage about, in short?",
        "What are the main points of this passage?",
        "How would its author sum this passage up?",
    ),
    QuestionKind.PURPOSE: (
        "What is the purpose of {topic}?",
        "What is the reason for {topic}?",
        "What does {topic} lead to, or make possible?",
    ),
    QuestionKind.EXAMPLE: (
        "What is an example of {topic}?",
        "Which examples of {topic} does the author give?",
        "By which cases does the author illustrate {topic}?",
    ),
    QuestionKind.FUTURE: (
        "What is said about the future of {topic}?",
        "What is expected of {topic} next?",
        "What is planned for {topic}?",
    ),
}
# Texts that replace a masked answer in the passage.
PLACEHOLDERS: Mapping[QuestionKind, str] = {
    QuestionKind.TERMINOLOGY: "What {topic} means is explained here.",
    QuestionKind.SUMMARY: "The author sums up here.",
    QuestionKind.PURPOSE: "The reason for {topic}, or its purpose, is given here.",
    QuestionKind.EXAMPLE: "Examples of {topic} are given here.",
    QuestionKind.FUTURE: "What is to come of {topic} is said here.",
}
