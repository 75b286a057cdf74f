"""Live votes are votes: recorded as they come, whole after a crash, rotated as they grow."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import httpx
import polars as pl
import pytest

from serve.test_command import server, write
from swaplaw.errors import InputError
from swaplaw.serve.poll import Cast, MemberRecord
from swaplaw.serve.record import Recorder

from support.upstreams import World, ask, serve


def votes_of(*answers: str | None) -> MemberRecord:
    record = MemberRecord([])
    record.cast = [Cast(place, answer, None if answer else "no_parse", 5) for place, answer in enumerate(answers)]
    return record


def test_votes_in_the_tables_form_without_prompts(tmp_path: Path) -> None:
    served = serve("http://127.0.0.1:9/v1", ("first", "1", 2), ("second", "1", 1), name="pool")
    recorder = Recorder(tmp_path / "votes.parquet")
    recorder.add(served, "q1", [votes_of("A", None), votes_of("B")], [{"role": "user", "content": "secret"}])
    recorder.flush()
    frame = pl.read_parquet(tmp_path / "votes.parquet")
    assert frame.select("dataset", "question", "model", "sample", "answer", "gold", "reason", "tokens").rows() == [
        ("pool", "q1", "first", 0, "A", None, None, 5),
        ("pool", "q1", "first", 1, None, None, "no_parse", 5),
        ("pool", "q1", "second", 0, "B", None, None, 5),
    ]
    assert "prompt" not in frame.columns
    assert visible(tmp_path) == ["votes.parquet"]
    asked = Recorder(tmp_path / "asked.parquet", prompts=True)
    asked.add(served, "q1", [votes_of("A"), votes_of("B")], [{"role": "user", "content": "secret"}])
    asked.flush()
    assert "secret" in pl.read_parquet(tmp_path / "asked.parquet")["prompt"][0]


def test_what_a_crash_left_is_taken_up_once(tmp_path: Path) -> None:
    served = serve("http://127.0.0.1:9/v1", ("first", "1", 1))
    Recorder(tmp_path / "live.parquet").add(served, "q1", [votes_of("A")], [])
    whole = (tmp_path / "live.parquet.journal").read_bytes()
    file = tmp_path / "votes.parquet"
    # The last line was being written; the Parquet file was there just before the crash, the journal not yet gone.
    (tmp_path / "votes.parquet.journal").write_bytes(whole + whole[:30])
    (tmp_path / "votes.parquet.journal.turned").write_bytes(whole)
    again = Recorder(file)
    again.add(served, "q2", [votes_of("B")], [])
    again.flush()
    assert pl.read_parquet(file)["question"].to_list() == ["q1", "q2"]


def visible(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def test_votes_of_somebody_else_are_not_touched(tmp_path: Path) -> None:
    file = tmp_path / "votes.parquet"
    pl.DataFrame({"question": ["q1"], "model": ["first"], "answer": ["A"], "gold": ["A"]}).write_parquet(file)
    before = file.read_bytes()
    with pytest.raises(InputError, match="no server has recorded it; name a new one"):
        Recorder(file)
    assert file.read_bytes() == before


def test_a_record_has_one_recorder_at_a_time(tmp_path: Path) -> None:
    served = serve("http://127.0.0.1:9/v1", ("first", "1", 1))
    first = Recorder(tmp_path / "votes.parquet")
    with pytest.raises(InputError, match="another server records into this file"):
        Recorder(tmp_path / "votes.parquet")
    first.add(served, "q1", [votes_of("A")], [])
    first.close()
    second = Recorder(tmp_path / "votes.parquet")
    second.add(served, "q2", [votes_of("B")], [])
    second.close()
    assert pl.read_parquet(tmp_path / "votes.parquet")["question"].to_list() == ["q1", "q2"]


def test_the_same_question_of_two_policies_is_two_questions(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "votes.parquet")
    for name in ("one", "other"):
        recorder.add(serve("http://127.0.0.1:9/v1", ("first", "1", 1), name=name), "q1", [votes_of("A")], [])
        recorder.flush()
    assert pl.read_parquet(tmp_path / "votes.parquet")["dataset"].to_list() == ["one", "other"]


def test_a_long_file_is_put_aside(tmp_path: Path) -> None:
    served = serve("http://127.0.0.1:9/v1", ("first", "1", 1))
    recorder = Recorder(tmp_path / "votes.parquet", longest=2)
    for place in range(5):
        recorder.add(served, f"q{place}", [votes_of("A")], [])
        recorder.flush()
    names = visible(tmp_path)
    assert names == ["votes.0001.parquet", "votes.0002.parquet", "votes.parquet"]
    rows = pl.concat([pl.read_parquet(tmp_path / name) for name in names])
    assert sorted(rows["question"]) == [f"q{place}" for place in range(5)]


@pytest.mark.parametrize(("name", "message"), [("votes.csv", "ends in .parquet"), ("no/votes.parquet", "directory")])
def test_a_place_that_will_not_do_is_refused(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Recorder(tmp_path / name)


def test_the_server_records_and_survives_kill_9(base_url: str, world: World, tmp_path: Path) -> None:
    policy = write(tmp_path / "pool.json", base_url)
    file = tmp_path / "votes.parquet"
    ids = []
    with server(policy, "--record", str(file)) as (process, port):
        url = f"http://127.0.0.1:{port}/v1/chat/completions"
        ids += [httpx.post(url, json=ask(), timeout=30).json()["id"] for _ in range(3)]
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=20)
    assert not file.exists()
    with server(policy, "--record", str(file)) as (process, port):
        url = f"http://127.0.0.1:{port}/v1/chat/completions"
        ids.append(httpx.post(url, json=ask(), timeout=30).json()["id"])
        process.terminate()
        process.wait(timeout=20)
    frame = pl.read_parquet(file)
    assert frame["question"].to_list() == ids
    assert set(frame["answer"]) == {"A"}
    assert "Which?" not in json.dumps(frame.to_dicts())


def test_several_processes_share_a_socket(base_url: str, tmp_path: Path) -> None:
    policy = write(tmp_path / "pool.json", base_url)
    with server(policy, "--workers", "2", "--record", str(tmp_path / "votes.parquet")) as (process, port):
        url = f"http://127.0.0.1:{port}"
        for _ in range(12):
            assert httpx.post(f"{url}/v1/chat/completions", json=ask(), timeout=30).status_code == 200
        metrics = httpx.get(f"{url}/metrics").text
        assert 'swaplaw_requests_total{policy="pool",status="200"} 12.0' in metrics
        process.terminate()
        assert process.wait(timeout=30) == 0
    time.sleep(0.1)
    rows = sum(len(pl.read_parquet(file)) for file in tmp_path.glob("votes.*.parquet"))
    assert rows == 12
