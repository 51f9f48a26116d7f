#!/usr/bin/env python3
"""Runs every nnefc command of the README in an empty folder: run.py NNEFC"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BINARY = "build/release/bin/nnefc"


def commands() -> list[str]:
    """The command lines of the README's `sh` blocks that start nnefc."""
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.startswith(BINARY)]


def main() -> int:
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        (place / "tests").symlink_to(ROOT / "tests")
        (place / BINARY).parent.mkdir(parents=True)
        (place / BINARY).symlink_to(pathlib.Path(sys.argv[1]).resolve())
        for command in commands():
            done = subprocess.run(command, shell=True, cwd=place, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                failed += 1
                print(f"{command}\n  exit code {done.returncode}\n{done.stdout}{done.stderr}")
    count = len(commands())
    print(f"{count - failed} passed, {failed} failed")
    return 1 if failed or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
