"""Write the JSON Schema of what every command prints with --json: `python scripts/schemas.py [COMMAND...]`.

Each schema is made from real output: the runs below, on the bundled votes. What a key means comes from
`docs/reference/keys.toml`; keys that are not explained there are named.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from genson import SchemaBuilder

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "docs" / "reference" / "schemas"
KEYS = ROOT / "docs" / "reference" / "keys.toml"

PAIR = "--primary gpt-4 --secondary mistral-large"
THREE = "--models gpt-4,mistral-large,claude-3-opus-20240229"
RUNS: dict[str, list[str]] = {
    "demo": ["demo"],
    "import": ["import three.csv -o imported.parquet"],
    "checks": ["checks demo", "checks odd.csv", "checks one.csv"],
    "summary": [
        "summary demo",
        "summary odd.csv --canonical exact",
        "summary three.csv --silence ignored --merge-right",
    ],
    "compare": [
        f"compare demo {THREE}",
        f"compare demo {THREE} --by question",
        f"compare demo {THREE} --score single",
        f"compare demo {THREE} --anytime",
    ],
    "labels": [f"labels demo {PAIR}", "labels unlabelled.csv"],
    "pairs": [
        "pairs three.csv",
        "pairs odd.csv --canonical exact",
        "pairs demo",
        "pairs demo --silence ignored --merge-right",
    ],
    "curve": [
        f"curve demo {PAIR} --at 2/3",
        f"curve demo {PAIR} --silence ignored --merge-right",
        "curve demo --primary cohere-command-r-plus --secondary gpt-35-turbo",
    ],
    "panel": ["panel three.csv --size 3", "panel three.csv --size 3 --silence ignored --merge-right"],
    "calibrate": ["calibrate demo -o law.json"],
    "screen": ["screen three.csv --law law.json", "screen three.csv --rule margin"],
    "predictors": ["predictors demo"],
    "combine": [f"combine demo {THREE}"],
    "front": [f"front demo {PAIR}"],
    "recommend": [
        "recommend demo",
        "recommend three.csv",
        f"recommend demo {THREE} -o policy.json",
        "recommend odd.csv --canonical exact",
        "recommend one.csv",
    ],
    "report": ["report three.csv -o report.html"],
    "replay": ["replay demo policy.json"],
    "drift": ["drift policy.json three.csv"],
    "simulate": ["simulate"],
    "twin": ["twin gpqa-diamond -o twin.parquet"],
}


def outputs(command: str, folder: Path) -> Iterator[Any]:
    """What the runs of one command print."""
    for line in RUNS[command]:
        done = subprocess.run(
            [sys.executable, "-m", "swaplaw", *shlex.split(line), "--json"], cwd=folder, capture_output=True, text=True
        )
        if done.returncode:
            sys.exit(f"swaplaw {line} --json: {done.stderr.strip()}")
        yield json.loads(done.stdout)


def schema_of(command: str, documents: list[Any], explained: dict[str, Any]) -> dict[str, Any]:
    """The schema of these documents, with every key explained."""
    builder = SchemaBuilder(schema_uri="https://json-schema.org/draft/2020-12/schema")
    for document in documents:
        builder.add_object(document)
    found: dict[str, Any] = builder.to_schema()
    for missing in _explain(found, explained, command, ""):
        print(f"{KEYS.name} does not explain {missing}", file=sys.stderr)
    head = {"title": f"swaplaw {command}", "description": explained["commands"][command]}
    return {"$schema": found.pop("$schema"), **head, **found}


def _explain(schema: dict[str, Any], explained: dict[str, Any], command: str, place: str) -> Iterator[str]:
    """Add what the keys mean; maps from names that users choose lose the names. Yields what is not explained."""
    for part in schema.get("anyOf", []):
        yield from _explain(part, explained, command, place)
    if "items" in schema:
        yield from _explain(schema["items"], explained, command, place)
    for key, part in schema.get("properties", {}).items():
        path = f"{place}.{key}" if place else key
        meaning = explained.get(command, {}).get(path) or explained["keys"].get(key)
        if meaning is None:
            yield f"{command}: {path}"
            continue
        part["description"] = meaning
        if key in explained["opaque"]:
            for inside in ("properties", "required", "items", "anyOf"):
                part.pop(inside, None)
        elif key in explained["maps"] and "properties" in part:
            _as_map(part)
            yield from _explain(part.get("additionalProperties", {}), explained, command, path)
        else:
            yield from _explain(part, explained, command, path)


def _as_map(schema: dict[str, Any]) -> None:
    """Turn an object whose keys are names of models and the like into a map."""
    values = list(schema.pop("properties", {}).values())
    schema.pop("required", None)
    builder = SchemaBuilder(schema_uri=None)
    for value in values:
        builder.add_schema(value)
    schema["additionalProperties"] = builder.to_schema()


def prepare(folder: Path) -> None:
    """Votes of the kinds that change what is printed: labelled, unlabelled, with things to complain about, single."""
    import polars as pl

    import swaplaw as sl

    frame = sl.demo_votes().frame.collect()
    three = frame.filter(pl.col("model").is_in(["gpt-4", "mistral-large", "claude-3-opus-20240229"]))
    three.write_csv(folder / "three.csv")
    three.with_columns(gold=pl.lit(None, pl.String)).write_csv(folder / "unlabelled.csv")
    misspelt = pl.when(pl.col("model") == "gpt-4").then(pl.col("answer") + ")").otherwise("answer")
    odd = three.with_columns(answer=misspelt)
    odd.write_csv(folder / "odd.csv")
    one = three.unique(["model", "question"], keep="first", maintain_order=True)
    one.write_csv(folder / "one.csv")


def main() -> None:
    """Write one file per command."""
    explained = tomllib.loads(KEYS.read_text())
    SCHEMAS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        prepare(Path(name))
        for command in sys.argv[1:] or RUNS:
            schema = schema_of(command, list(outputs(command, Path(name))), explained)
            (SCHEMAS / f"{command}.json").write_text(json.dumps(schema, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
