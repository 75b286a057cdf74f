"""Names that others give to the paper's datasets, models and reasons, and what counts as no answer."""

from __future__ import annotations

import re
from collections.abc import Mapping

from swaplaw.paper.published import published

# Where a dataset's name or path says which of the paper's it is; the first that fits counts.
DATASETS = (
    *(("supergpqa", "supergpqa"), ("gpqamain", "gpqa-main"), ("gpqaextended", "gpqa-extended")),
    *(("gpqa", "gpqa-diamond"), ("forensic", "forensic"), ("cyber", "forensic")),
)
OPTIONS = {"supergpqa": 10, "gpqa-diamond": 4}
"""The most options that a question has."""
MODELS = (
    *(("diffusiongemma", "DiffusionGemma-26B"), ("medgemma", "MedGemma-27B"), ("gemma431b", "Gemma-4-31B")),
    *(("gemma426b", "Gemma-4-26B-A4B"), ("qwen3627b", "Qwen3.6-27B"), ("qwen330b", "Qwen3-30B-Think.")),
    *(("glm47flash", "GLM-4.7-Flash"), ("nemotron3nano", "Nemotron-3-Nano"), ("nemotron", "Nemotron-3-Nano")),
    *(("gptoss20b", "GPT-OSS-20B"), ("magistral", "Magistral-Small")),
)
REASONS = (
    *(("trunc", "truncated"), ("length", "truncated"), ("maxtoken", "truncated"), ("tokencap", "truncated")),
    *(("parse", "no_parse"), ("unans", "unanswered"), ("noanswer", "unanswered"), ("notsubmitted", "unanswered")),
    *(("refus", "refused"), ("contentfilter", "refused"), ("timeout", "error"), ("error", "error")),
)
NOT_A_REASON = ("", "none", "null", "nan", "ok", "success", "stop", "eos", "endturn", "answered", "parsed")
"""What stands in a column of reasons where there is nothing to say."""
NULLS = (
    *("", "null", "nullvote", "novote", "abstain", "abstained", "abstention", "abstentions", "unparseable", "unparsed"),
    *("noanswer", "unanswered", "notanswered", "notsubmitted", "nosubmission", "nan"),
)
CHOICE_NULLS = ("none", "na", "1x", "unknown", "invalid", "noparse", "parseerror", "parsefailure", "parsefailed")
"""No answer to a multiple-choice question either, where free text could mean it."""
GRADES: Mapping[str, bool] = {
    **dict.fromkeys(("true", "1", "1.0", "correct", "right", "yes", "pass"), True),
    **dict.fromkeys(("false", "0", "0.0", "incorrect", "wrong", "no", "fail"), False),
}


def plain(text: str) -> str:
    """A name without case, spaces and punctuation."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


def known(text: str, table: tuple[tuple[str, str], ...]) -> str | None:
    """The name that a text contains, of a table of needles and names."""
    found = plain(text)
    return next((name for needle, name in table if needle in found), None)


def dataset_in(path: str) -> str | None:
    """The paper's dataset that a path names, in a file's name before its folders'."""
    return next((name for part in reversed(path.split("/")) if (name := known(part, DATASETS))), None)


def model_name(text: str) -> str | None:
    """The paper's name of a model, from its full name, a repository's name or the paper's short code."""
    codes = {plain(code): name for name, code in published().codes.items()}
    return codes.get(plain(text)) or known(text, MODELS)


def is_choice(dataset: str) -> bool:
    """Whether a dataset's questions have options."""
    return dataset != "forensic"
