"""Evidence: missing, altered, built, taken from an archive; nothing wrong ever reaches a sandbox."""

import hashlib
import zipfile
from pathlib import Path

import pytest

from swaplaw.errors import InputError, SwaplawError
from swaplaw_forensic.challenges.evidence import build, require, verify
from swaplaw_forensic.challenges.manifest import Challenge, load

CONTENT = b"evidence"


def challenge(folder: Path, *, extra: str = "", content: bytes = CONTENT) -> Challenge:
    folder.mkdir(exist_ok=True)
    digest = hashlib.sha256(content).hexdigest()
    (folder / "challenge.toml").write_text(
        f'id = "mine"\ntitle = "t"\nkind = "real"\nlicence = "l"\nobtain = "Ask me."\nprompt = "p"\n{extra}'
        f'[[evidence]]\nfile = "a.bin"\nbytes = {len(content)}\nsha256 = "{digest}"\n'
        '[[questions]]\nid = "q1"\ntext = "?"\ntype = "text"\ntier = "exact"\n'
    )
    return load(str(folder))


def test_missing_altered_and_right(tmp_path: Path) -> None:
    case, root = challenge(tmp_path / "case"), tmp_path / "evidence"
    assert [row.status for row in verify(case, root)] == ["missing"]
    with pytest.raises(InputError, match=r"'a.bin' is missing .* To get it: Ask me"):
        require(case, root)
    (root / "mine").mkdir(parents=True)
    (root / "mine" / "a.bin").write_bytes(b"evidencE")
    with pytest.raises(InputError, match=r"'a.bin' is altered .*sha256 is"):
        require(case, root)
    (root / "mine" / "a.bin").write_bytes(b"evidence+")
    with pytest.raises(InputError, match="9 bytes, the manifest says 8"):
        require(case, root)
    (root / "mine" / "a.bin").write_bytes(CONTENT)
    folder, hashes = require(case, root)
    assert folder == root / "mine"
    assert hashes == {"a.bin": hashlib.sha256(CONTENT).hexdigest()}


def test_files_may_lie_flat_in_the_folder(tmp_path: Path) -> None:
    case = challenge(tmp_path / "case")
    (tmp_path / "a.bin").write_bytes(CONTENT)
    assert require(case, tmp_path)[0] == tmp_path


def test_build_takes_loose_files(tmp_path: Path) -> None:
    case, source = challenge(tmp_path / "case"), tmp_path / "from"
    source.mkdir()
    with pytest.raises(InputError, match=r"holds neither 'a.bin'"):
        build(case, tmp_path / "evidence", source)
    (source / "a.bin").write_bytes(CONTENT)
    assert (build(case, tmp_path / "evidence", source) / "a.bin").read_bytes() == CONTENT


def test_build_unpacks_only_what_the_manifest_names(tmp_path: Path) -> None:
    source = tmp_path / "from"
    source.mkdir()
    with zipfile.ZipFile(source / "all.zip", "w") as archive:
        archive.writestr("a.bin", CONTENT)
        archive.writestr("../escape", b"x")
        archive.writestr("answers.pdf", b"x")
    case = challenge(tmp_path / "case", extra='[[archives]]\nfile = "all.zip"\n')
    folder = build(case, tmp_path / "evidence", source)
    assert [path.name for path in folder.iterdir()] == ["a.bin"]
    assert not (tmp_path / "escape").exists()


def test_an_altered_archive_or_content_leaves_nothing_behind(tmp_path: Path) -> None:
    source, root = tmp_path / "from", tmp_path / "evidence"
    source.mkdir()
    (source / "a.bin").write_bytes(b"evidencE")
    with pytest.raises(InputError, match="altered"):
        build(challenge(tmp_path / "case"), root, source)
    assert list(root.iterdir()) == []
    with zipfile.ZipFile(source / "all.zip", "w") as archive:
        archive.writestr("a.bin", CONTENT)
    pinned = challenge(tmp_path / "pinned", extra=f'[[archives]]\nfile = "all.zip"\nsha256 = "{"0" * 64}"\n')
    with pytest.raises(InputError, match=r"all.zip is altered"):
        build(pinned, root, source)
    (source / "all.zip").write_bytes(b"no archive")
    with pytest.raises(SwaplawError, match="cannot be unpacked"):
        build(challenge(tmp_path / "case", extra='[[archives]]\nfile = "all.zip"\n'), root, source)


def test_real_evidence_is_not_built_from_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"DFRWS2005-RODEO.zip"):
        build(load("rhino-hunt"), tmp_path, None)


def test_unknown_evidence_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none of its evidence files is known"):
        require(load("mvs2025-ios"), tmp_path)


def test_synthetic_evidence_is_built_on_demand_and_guarded(tmp_path: Path) -> None:
    case = load("synthetic-capture@4")
    folder, _ = require(case, tmp_path)
    file = folder / case.evidence[0].file
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    with pytest.raises(InputError, match="altered"):
        require(case, tmp_path)
    with pytest.raises(InputError, match="move that folder away"):
        build(case, tmp_path, None)
