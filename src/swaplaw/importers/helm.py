"""HELM run directories: `display_predictions.json` beside `instances.json` and `run_spec.json`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from swaplaw._parallel import with_bar
from swaplaw.answers.characters import storable
from swaplaw.errors import InputError, listing, quote
from swaplaw.importers import documents
from swaplaw.importers.record import Findings, Options, Reading, Spool, bounded, describe, schema
from swaplaw.importers.registry import Format
from swaplaw.votes.files import Source

PREDICTIONS = "display_predictions.json"
RAW = "scenario_state.json"
"""What `helm-run` writes; the predictions are written by `helm-summarize`."""
STATISTICS = "per_instance_stats.json"
GRADES = (
    "exact_match",
    "quasi_exact_match",
    "prefix_exact_match",
    "quasi_prefix_exact_match",
    "final_number_exact_match",
)
"""The statistics that say whether a prediction is correct, in the order in which they are looked for."""


def read(files: Sequence[Path], options: Options, findings: Findings) -> Source:
    """Spool the votes of HELM runs: an instance and trial is a vote."""
    name = str(files[0]) if len(files) == 1 else f"{len(files)} HELM runs from {files[0].parent.parent}"
    spool = Spool(name, schema(*(["cluster"] if options.cluster else [])))
    perturbed = 0
    for file in with_bar(files, "runs", len(files)):
        if file.name == RAW:
            raise InputError(
                f"{quote(str(file.parent), 200)}: this HELM run has no {PREDICTIONS} yet; write it with "
                "`helm-summarize --suite SUITE`"
            )
        predictions, instances, spec = (
            _load(file.with_name(part)) for part in (PREDICTIONS, "instances.json", "run_spec.json")
        )
        with documents.known(file.parent, "HELM"):
            perturbed += _run(file, predictions, instances, spec, options, spool)
        findings.files.append(describe(file, run=str(spec["name"])))
    findings.reader = options.reader
    if perturbed:
        findings.notes.append(f"{perturbed} predictions on perturbed instances are left out")
    findings.readings += [
        Reading("dataset", "run_spec.name, before the colon", ""),
        Reading("question", "instance_id", ""),
        Reading("model", "adapter_spec.model", ""),
        Reading("sample", "train_trial_index", ""),
        Reading("answer", "mapped_output, or predicted_text", ""),
        Reading("gold", "the reference tagged correct", ""),
        Reading("correct", options.scorer or f"the first of {', '.join(GRADES)}", ""),
    ]
    return spool.source()


def _load(file: Path) -> Any:
    if not file.is_file():
        raise InputError(f"{quote(str(file), 200)}: a HELM run needs this file; copy the whole run directory")
    return documents.load(file)


def _run(file: Path, predictions: Any, instances: Any, spec: Any, options: Options, spool: Spool) -> int:
    references = {str(instance["id"]): instance.get("references", []) for instance in instances}
    dataset, _, arguments = str(spec["name"]).partition(":")
    details = dict(part.split("=", 1) for part in arguments.split(",") if "=" in part)
    model = options.model or str(spec["adapter_spec"].get("model") or details.get("model"))
    choice = str(spec["adapter_spec"].get("method", "")).startswith("multiple_choice")
    if choice and options.reader is not None:
        raise InputError(
            f"{quote(str(file.parent), 200)}: this run is multiple choice, which HELM itself maps to the options' "
            "texts: read it without a reader or pattern"
        )
    perturbed = 0
    statistics = _statistics(file) if any(not prediction.get("stats") for prediction in predictions) else {}
    for prediction in predictions:
        if prediction.get("perturbation"):
            perturbed += 1
            continue
        question = str(prediction["instance_id"])
        golds = [ref["output"]["text"] for ref in references[question] if "correct" in ref.get("tags", [])]
        gold = options.gold(bounded(storable(str(golds[0])))) if golds else "(no reference)"
        trial = int(prediction.get("train_trial_index", 0))
        stats = prediction.get("stats") or statistics.get((question, trial), {})
        mapped = prediction.get("mapped_output")
        text = mapped if mapped is not None or choice else prediction.get("predicted_text", "")
        answer = options.answer(str(text)) if text is not None and str(text).strip() else None
        reason = (
            None
            if answer is not None
            else "no_parse"
            if str(prediction.get("predicted_text", "")).strip()
            else "unanswered"
        )
        vote = {
            "dataset": options.dataset or dataset,
            "question": storable(f"{details['subject']}/{question}" if "subject" in details else question),
            "model": storable(model),
            "sample": trial,
            "answer": answer,
            "gold": gold,
            "reason": reason,
            "correct": answer is not None and _correct(stats, answer == gold, options),
            "run": storable(str(spec["name"])),
        }
        if options.cluster:
            if options.cluster not in details:
                raise InputError(
                    f"{quote(str(file.parent), 200)}: the run's name has no {quote(options.cluster)} for a cluster; "
                    f"there are {listing(list(details))}"
                )
            vote["cluster"] = storable(details[options.cluster])
        spool.add(vote)
    return perturbed


def _statistics(file: Path) -> dict[tuple[str, int], dict[str, float]]:
    """Statistics of each instance and trial: predictions carry only those that HELM's schema shows for the scenario."""
    beside = file.with_name(STATISTICS)
    if not beside.is_file():
        return {}
    found: dict[tuple[str, int], dict[str, float]] = {}
    for entry in _load(beside):
        if not entry.get("perturbation"):
            values = found.setdefault((str(entry["instance_id"]), int(entry["train_trial_index"])), {})
            values |= {stat["name"]["name"]: stat["mean"] for stat in entry["stats"] if "mean" in stat}
    return found


def _correct(stats: dict[str, Any], literal: bool, options: Options) -> bool:
    names = [options.scorer] if options.scorer else [name for name in GRADES if name in stats]
    if options.reader is not None:
        return literal  # HELM graded the whole text, not what was read from it.
    if options.scorer and options.scorer not in stats:
        raise InputError(f"there is no statistic {quote(options.scorer)}; there are {listing(list(stats))}")
    return float(stats[names[0]]) >= options.threshold if names else literal


def _recognises(file: Path) -> bool:
    return file.name == PREDICTIONS or (file.name == RAW and not file.with_name(PREDICTIONS).is_file())


FORMATS = (Format("helm", _recognises, read),)
