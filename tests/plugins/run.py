#!/usr/bin/env python3
"""Builds plug-ins outside the source tree against a fresh installation. Checks that they take effect, and that their
faults are reported without a crash."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

# `unittest.main` runs the classes of these modules.
from documented import Documented  # noqa: F401
from effects import PluginEffects  # noqa: F401
from faults import PluginFaults  # noqa: F401
from plugin_test import PluginTest

HERE = pathlib.Path(__file__).resolve().parent


def prepare(build: pathlib.Path, folder: pathlib.Path) -> None:
    def run(*command: object) -> None:
        done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}\nexit code {done.returncode}")

    run("cmake", "--install", build, "--prefix", folder / "prefix")
    shutil.copytree(HERE, folder / "sources")
    os.environ["CMAKE_PREFIX_PATH"] = str(folder / "prefix")
    run("cmake", "-S", folder / "sources", "-B", folder / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug")
    run("cmake", "--build", folder / "build")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        PluginTest.folder = pathlib.Path(sys.argv.pop(1))
        if (PluginTest.folder / "CMakeCache.txt").exists():
            prepare(PluginTest.folder, pathlib.Path(name))
            PluginTest.folder = pathlib.Path(name)
        unittest.main(verbosity=0)
