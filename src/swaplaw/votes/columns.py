"""Which column is what: the one guesser, for tables of votes, of questions and of the paper's corpus.

Names are compared without letter case, spaces and punctuation (`answerKey` is `Answer Key` is `answer_key`); nested
fields have dotted names. What is declared counts before what is guessed, and every column is taken once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

_IDS = (
    *("question_id", "question_uuid", "question_number", "question_no", "qid", "uuid", "record_id", "instance_id"),
    *("sample_score.sample_id", "item_id", "problem_id", "example_id", "doc_id", "prompt_id", "task_id"),
)
HUMAN = ("human", "human_label", "human_verdict", "human_vote", "human_judgment", "human_preference", "human_score")
NAMES: Mapping[str, tuple[str, ...]] = {
    # Of a vote.
    "dataset": ("dataset", "dataset_name", "benchmark", "task", "task_name", "eval", "corpus"),
    "question": ("question", *_IDS, "id", "sample_id", "item", "index", "prompt", "input", "question_text"),
    "model": ("model", "model_name", "model_id", "sampler", "system", "engine", "llm", "voter"),
    "sample": (
        *("sample", "sample_number", "sample_no", "sample_index", "sample_idx", "epoch", "repeat", "repetition"),
        *("replicate", "rep", "trial", "attempt", "run", "seed", "iteration", "rollout", "draw"),
    ),
    "answer": (
        *("canonical_answer", "canonical", "canonical_category", "answer_category", "vote_category", "canonical_vote"),
        *("normalised_answer", "normalized_answer", "normalised", "normalized"),
        *("extracted_answer", "extracted_prediction", "sample_score.score.extracted_prediction", "parsed_answer"),
        *("final_answer", "submitted_answer", "model_answer", "mapped_output", "prediction", "pred", "predicted"),
        *("predicted_answer", "predicted_letter", "vote", "choice", "answer", "answer_text", "given_answer"),
        *("submission", "submitted", "submitted_text", "agent_answer", "final_submission"),
        *("sample_score.score.prediction", "response", "output", "completion", "model_output", "predicted_text"),
        *("canonical_answers", "parsed_answers", "answers", "samples", "responses", "predictions", "completions"),
    ),
    "gold": (
        *("gold", "target", "correct_answer", "gold_answer", "gold_label", "gold_letter", "answer_key"),
        *("ground_truth", "reference", "expected", "correct_option", "expected_answer", "reference_answer"),
        *HUMAN,
        *("answer_letter", "label", "truth", "solution", "key", "answer"),
    ),
    "cluster": ("cluster",),
    "reason": ("reason", "abstention_reason", "abstain_reason", "null_reason"),
    "correct": (
        *("correct", "is_correct", "graded_correct", "passed", "score", "acc", "accuracy", "exact_match"),
        *("sample_score.score.value.acc", "sample_score.score.value.exact_match", "grade"),
    ),
    "cost": ("cost", "total_cost"),
    "tokens": ("tokens", "total_tokens", "completion_tokens"),
    # Of a judgment: the judge votes, and what it judges is the question.
    "judge": ("judge", "judge_name", "judge_model", "judge_id", "grader", "grader_model", "annotator", "rater"),
    "verdict": ("verdict", "judgment", "judgement", "winner", "preference", "rating", "grade", "decision"),
    # Of a question that is to be asked.
    "id": ("id", *_IDS, "sample_id"),
    "text": ("question", "question_text", "text", "input", "prompt", "query", "stem", "problem"),
    "options": ("options", "choices", "answer_choices", "candidates", "endings"),
    "right_letter": ("answer_letter", "answer_key", "correct_letter", "correct_option", "gold_letter"),
    "right_index": ("answer_index", "answer_idx", "gold_index", "correct_index"),
    "right_answer": ("answer", "target", "gold", "correct_answer", "correct", "label", "cop"),
    "right_option": ("correct_answer", "correct", "best_answer"),
    "wrong_options": ("incorrect_answers", "incorrect", "wrong_answers", "distractors"),
    # Of the paper's corpus.
    "votes": ("votes", "count", "vote_count", "n_votes", "num_votes", "n", "vote_counts", "counts", "answer_counts"),
    "finish": ("finish_reason", "stop_reason", "finish", "finish_reasons", "termination_reason", "termination"),
    "parse": ("error_reason", "parse_reason", "parse_status", "parse_outcome", "error", "status", "outcome"),
    "abstained": ("abstained", "is_abstention", "is_null", "abstain"),
    "parsed": ("parsed", "parse_ok", "is_parsed"),
}
"""For each part of a vote or a question, the names that its column may have, likeliest first."""
PARTS = ("gold", "dataset", "question", "model", "sample", "answer", "cluster", "reason", "correct", "cost", "tokens")
"""The parts of a vote. Gold comes before the answer: where a table has a prediction and an answer, that is the key."""
LIKELY_CLUSTERS = ("subject", "category", "topic", "discipline", "field", "domain")
"""Columns that may say what questions are nested in; a benchmark's fixed strata are no sampled clusters, so they are
never taken for clusters unasked."""
INDEXES = ("", "unnamed0", "level0", "indexlevel0", "row", "rownumber", "rownum", "column1")
"""Plain names of columns that only number the rows."""


@cache
def plain(name: str) -> str:
    """A column's name without letter case, spaces and punctuation; the dots of nested fields stay.

    >>> plain("Answer Key"), plain("sample_score.isCorrect")
    ('answerkey', 'samplescore.iscorrect')
    """
    return ".".join("".join(re.findall(r"[^\W_]+", part)) for part in name.casefold().split("."))


def by_plain(columns: Sequence[str]) -> dict[str, str]:
    """The columns by their plain names; of several that are alike, the first."""
    return {plain(name): name for name in reversed(columns)}


def candidates(columns: Sequence[str], names: Sequence[str]) -> list[str]:
    """The columns that have one of these names, likeliest first."""
    known = by_plain(columns)
    return [known[name] for name in dict.fromkeys(map(plain, names)) if name in known]


def guess(
    columns: Sequence[str], declared: Mapping[str, str] | None = None, parts: Sequence[str] = PARTS
) -> dict[str, str]:
    """Say which column holds which part.

    Parameters
    ----------
    columns : sequence of str
        The names of a table's columns.
    declared : mapping, optional
        Part to column, where that is known: no such column is taken for anything else.
    parts : sequence of str
        The parts that are looked for, of `NAMES`; earlier ones choose first.

    Returns
    -------
    dict
        Part to column, for the parts that were declared or found.

    Examples
    --------
    >>> guess(["Question ID", "LLM", "prediction", "answer"])
    {'gold': 'answer', 'question': 'Question ID', 'model': 'LLM', 'answer': 'prediction'}
    """
    found = dict(declared or {})
    judging = {"model": candidates(columns, NAMES["judge"]), "answer": candidates(columns, NAMES["verdict"])}
    if all(judging.values()) and not judging.keys() & found.keys() and judging.keys() <= set(parts):
        found |= {part: names[0] for part, names in judging.items()}
    # Inspect's `samples_df` has `score_NAME`, the grade, beside `score_NAME_answer`.
    scored = [name for name in columns if name.startswith("score_") and f"{name}_answer" in columns]
    if len(scored) == 1 and not {"answer", "correct"} & found.keys() and "answer" in parts:
        found |= {"correct": scored[0], "answer": f"{scored[0]}_answer"}
    for part in parts:
        if part in found:
            continue
        taken = set(found.values())
        free = [name for name in candidates(columns, NAMES[part]) if name not in taken]
        if part == "gold" and len(free) == 1 and plain(free[0]) == "answer" and "answer" in parts:
            # An answer is the key only beside other answers.
            others = [name for name in candidates(columns, NAMES["answer"]) if name not in free]
            free = free if others or "answer" in found else []
        if free:
            found[part] = free[0]
    return found
