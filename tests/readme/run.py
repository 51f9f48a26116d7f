#!/usr/bin/env python3
"""Runs every nnefc command of the README in an empty folder, and checks that CI runs the others: run.py NNEFC"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BINARY = "build/release/bin/nnefc"


# The scripts of continuous integration.
SCRIPTS = [".ci/run", "tools/dev/check_install.sh"]
INSTALLING = ("tools/", "pip install", "sudo cmake --install")


def lines(name: str) -> list[str]:
    """Returns the command lines of a README's `sh` blocks."""
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def commands() -> list[str]:
    """Returns the commands of the README that start nnefc."""
    return [line for line in lines("README.md") if line.startswith(BINARY)]


def installations() -> list[str]:
    """Returns the commands of the READMEs that build or install from a clone."""
    found = [line.partition("#")[0].strip() for name in ("README.md", "tools/python/README.md") for line in lines(name)]
    return [line for line in found if line.startswith(INSTALLING)]


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
    scripts = "".join((ROOT / name).read_text(encoding="utf-8") for name in SCRIPTS)
    for command in installations():
        if command.removeprefix("sudo ") not in scripts:
            failed += 1
            print(f"{command}\n  is in a README, but none of {', '.join(SCRIPTS)} runs it")
    count = len(commands()) + len(installations())
    print(f"{count - failed} passed, {failed} failed")
    return 1 if failed or not commands() or not installations() else 0


if __name__ == "__main__":
    sys.exit(main())
