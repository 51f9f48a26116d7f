"""tools/release.sh makes the files of a release from a clean clone, which here has small scripts instead of the builds."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BUILDS = {"wheel": "wheels/nnefc.whl", "packages": "packages/nnefc.deb", "archive": "archives/nnefc.tar.gz"}
CHANGES = "# Changes\n\n## Unreleased\n\n### Added\n- A thing.\n\n## 0.1.0\n\nThe first version.\n"


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout


@pytest.fixture()
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "A. Tester")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "tester@example.org")
    folder = tmp_path / "repository"
    (folder / "tools/release").mkdir(parents=True)
    (folder / ".github").mkdir()
    (folder / "tools/api/views/page").mkdir(parents=True)
    for path in ("tools/release.sh", "tools/setup.sh", "tools/release/sbom.py", "tools/api/views/page/dagre.min.js"):
        shutil.copy(ROOT / path, folder / path)
    sbom = folder / "tools/release/sbom.py"
    sbom.write_text(re.sub(r"LIBRARIES = \{.*?\n\}", 'LIBRARIES = {"dpkg": "GPL-2.0-or-later"}', sbom.read_text(), flags=re.DOTALL))
    for name, made in BUILDS.items():
        script = folder / f"tools/{name}.sh"
        script.write_text(f'#!/bin/sh -e\ncd "$(dirname "$0")/.."\nmkdir -p "build/{Path(made).parent}"\ncp CMakeLists.txt "build/{made}"\n')
        script.chmod(0o755)
    (folder / "CMakeLists.txt").write_text("project(nnefc VERSION 0.1.0 LANGUAGES C CXX)\n")
    (folder / ".github/CHANGELOG.md").write_text(CHANGES)
    (folder / ".github/CITATION.cff").write_text("version: 0.1.0\nlicense: Apache-2.0\n")
    (folder / ".gitignore").write_text("build/\n")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Start")
    return folder


def release(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["tools/release.sh", *words], cwd=folder, capture_output=True, text=True, check=False, env={**os.environ})


def test_a_new_version_is_set_committed_and_made(repository: Path) -> None:
    done = release(repository, "0.2.0")
    assert done.returncode == 0, done.stdout + done.stderr
    folder = repository / "build/release-0.2.0"
    made = {"nnefc.whl", "nnefc.deb", "nnefc.tar.gz", "nnefc-0.2.0.cdx.json"}
    assert {path.name for path in folder.iterdir()} == made | {"SHA256SUMS"}
    assert (folder / "nnefc.whl").read_text() == "project(nnefc VERSION 0.2.0 LANGUAGES C CXX)\n"
    sums = dict(reversed(line.split("  ")) for line in (folder / "SHA256SUMS").read_text().splitlines())
    assert sums == {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in made}
    changes = (repository / ".github/CHANGELOG.md").read_text()
    assert re.search(r"\n## Unreleased\n\n## 0\.2\.0 \(\d{4}-\d\d-\d\d\)\n\n### Added\n- A thing\.\n\n## 0\.1\.0\n", changes), changes
    assert "version: 0.2.0\n" in (repository / ".github/CITATION.cff").read_text()
    assert git(repository, "log", "-1", "--format=%s") == "Release nnefc 0.2.0\n"
    assert git(repository, "status", "--porcelain") == ""
    bill = json.loads((folder / "nnefc-0.2.0.cdx.json").read_text())
    assert [component["name"] for component in bill["components"]] == ["dpkg", "dagre"]
    assert f"dagre {bill['components'][1]['version']}," in (ROOT / "tools/api/views/page/dagre.min.js").read_text()
    application = bill["metadata"]["component"]
    assert application["version"] == "0.2.0"
    assert {file["name"]: file["hashes"][0]["content"] for file in application["components"]} == {
        name: sums[name] for name in made - {"nnefc-0.2.0.cdx.json"}
    }


def test_a_version_that_the_sources_have_is_made_as_it_is(repository: Path) -> None:
    before = git(repository, "rev-parse", "HEAD")
    done = release(repository, "0.1.0")
    assert done.returncode == 0, done.stdout + done.stderr
    assert git(repository, "rev-parse", "HEAD") == before
    assert (repository / "build/release-0.1.0/nnefc.deb").exists()


@pytest.mark.parametrize(("words", "message"), [
    ([], "the first argument is a version such as 0.2.0"),
    (["0.2"], "the first argument is a version such as 0.2.0"),
    (["v0.2.0"], "the first argument is a version such as 0.2.0"),
    (["0.2.0", "--sign"], "unknown arguments after the version"),
    (["0.2.0", "--sign", "nobody@example.org"], "gpg has no secret key nobody@example.org"),
])  # fmt: skip
def test_wrong_arguments_are_reported(repository: Path, words: list[str], message: str) -> None:
    done = release(repository, *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert not (repository / "build").exists()


def test_changes_that_are_not_committed_are_reported(repository: Path) -> None:
    (repository / "new").write_text("")
    done = release(repository, "0.2.0")
    assert done.returncode == 2
    assert "there are changes that are not committed" in done.stderr


def test_a_release_without_changes_is_reported(repository: Path) -> None:
    (repository / ".github/CHANGELOG.md").write_text(CHANGES.replace("### Added\n- A thing.\n\n", ""))
    git(repository, "commit", "-q", "-a", "-m", "Empty")
    done = release(repository, "0.2.0")
    assert done.returncode == 2
    assert "lists no unreleased changes" in done.stderr


def test_a_failed_build_makes_no_release(repository: Path) -> None:
    (repository / "tools/archive.sh").write_text("#!/bin/sh\nexit 1\n")
    git(repository, "commit", "-q", "-a", "-m", "Fail")
    done = release(repository, "0.1.0")
    assert done.returncode == 2
    assert "the artefacts could not be made" in done.stderr
    assert not (repository / "build/release-0.1.0").exists()


def test_checksums_are_signed_with_a_key(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not shutil.which("gpg"):
        pytest.skip("gpg is not installed")
    home = tmp_path / "gpg"
    home.mkdir(mode=0o700)
    monkeypatch.setenv("GNUPGHOME", str(home))
    key = "tester@example.org"
    subprocess.run(["gpg", "-q", "--batch", "--passphrase", "", "--quick-generate-key", key, "ed25519"], check=True)
    done = release(repository, "0.1.0", "--sign", key)
    assert done.returncode == 0, done.stdout + done.stderr
    sums = repository / "build/release-0.1.0/SHA256SUMS"
    assert subprocess.run(["gpg", "-q", "--verify", f"{sums}.asc", str(sums)], check=False).returncode == 0
    sums.write_text(sums.read_text().replace("nnefc.whl", "other.whl"))
    assert subprocess.run(["gpg", "-q", "--verify", f"{sums}.asc", str(sums)], check=False).returncode != 0
