#!/usr/bin/env python3
"""Executes the steps of a Dockerfile without Docker (as root): dockerfile.py DOCKERFILE CONTEXT ROOT --run WORD...

Each stage starts from a copy of the folder ROOT, a minimal Debian system as debootstrap creates it. Instructions are executed in
it by chroot. `--run` starts the entry point of the last stage with these arguments, with `--mount FOLDER` at its working
directory. `--made STAGE=FOLDER` does not execute a stage: its files are those of FOLDER. Only the instructions FROM, RUN,
COPY, WORKDIR and ENTRYPOINT are known.
"""

from __future__ import annotations

import argparse
import dataclasses
import glob
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


@dataclasses.dataclass
class Stage:
    root: pathlib.Path
    folder: str = "/"
    entry: list[str] = dataclasses.field(default_factory=list)


def instructions_of(text: str) -> list[tuple[str, str]]:
    """Returns the instructions with their arguments; lines that end in a backslash continue."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    pairs = [line.strip().split(None, 1) for line in joined.splitlines() if line.strip()]
    return [(name.upper(), arguments) for name, arguments in pairs]


def inside(stage: Stage, command: list[str]) -> None:
    proc = str(stage.root / "proc")
    subprocess.run(["mount", "-t", "proc", "proc", proc], check=True)
    try:
        program = ["/bin/sh", "-c", 'cd "$0" && exec "$@"', stage.folder, *command]
        done = subprocess.run(["chroot", str(stage.root), *program], check=False)
    finally:
        subprocess.run(["umount", proc], check=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\nexit code {done.returncode}")


def copy(source: pathlib.Path, stage: Stage, words: list[str]) -> None:
    """Copies files that match the patterns, relative to `source`; a folder copies its contents."""
    *patterns, target = words
    folder = stage.root / target.lstrip("/")
    found = [path for pattern in patterns for path in glob.glob(str(source / pattern.lstrip("/")))]
    if not found:
        raise SystemExit(f"COPY: {' '.join(patterns)} match no file of {source}")
    folder.mkdir(parents=True, exist_ok=True)
    for path in map(pathlib.Path, found):
        if path.is_dir():
            shutil.copytree(path, folder, dirs_exist_ok=True, symlinks=True, ignore=shutil.ignore_patterns("build", ".venv"))
        else:
            shutil.copy(path, folder)


def execute(options: argparse.Namespace, room: pathlib.Path) -> Stage:
    made = dict(text.split("=", 1) for text in options.made)
    stages: dict[str, Stage] = {}
    stage, is_skipped = None, False
    for name, arguments in instructions_of(options.dockerfile.read_text()):
        if name == "FROM":
            match = re.fullmatch(r"(\S+)(?:\s+AS\s+(\S+))?", arguments, re.IGNORECASE)
            assert match, arguments
            label = match[2] or f"stage {len(stages)}"
            is_skipped = label in made
            stage = Stage(pathlib.Path(made[label]) if is_skipped else room / label)
            stages[label] = stage
            if not is_skipped:
                subprocess.run(["cp", "-a", str(options.root), str(stage.root)], check=True)
        elif is_skipped:
            continue
        elif stage is None:
            raise SystemExit(f"{name}: the first instruction must be FROM")
        elif name == "RUN":
            inside(stage, ["/bin/sh", "-c", arguments])
        elif name == "COPY":
            words = arguments.split()
            source = options.context
            if words[0].startswith("--from="):
                source = stages[words.pop(0).removeprefix("--from=")].root
            copy(source, stage, words)
        elif name == "WORKDIR":
            stage.folder = arguments
            (stage.root / arguments.lstrip("/")).mkdir(parents=True, exist_ok=True)
        elif name == "ENTRYPOINT":
            stage.entry = json.loads(arguments)
        else:
            raise SystemExit(f"the instruction {name} is unknown")
    assert stage is not None
    return stage


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dockerfile", type=pathlib.Path)
    parser.add_argument("context", type=pathlib.Path)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--made", action="append", default=[], metavar="STAGE=FOLDER")
    parser.add_argument("--mount", type=pathlib.Path)
    parser.add_argument("--run", nargs=argparse.REMAINDER, default=[])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        stage = execute(options, pathlib.Path(name))
        if options.mount:
            shutil.copytree(options.mount, stage.root / stage.folder.lstrip("/"), dirs_exist_ok=True)
        if options.run:
            inside(stage, [*stage.entry, *options.run])
    return 0


if __name__ == "__main__":
    sys.exit(main())
