"""The base class of the tests of plug-ins."""

import os
import pathlib
import subprocess
import unittest

import numpy as np

HEAD = "version 1.0; extension KHR_enable_operator_expressions;\n"


class PluginTest(unittest.TestCase):
    """The command line of the package, next to models of the test."""

    folder: pathlib.Path  # holds `prefix` and `build`

    def nnefc(self, *words: object, breaks: str = "", **variables: str) -> subprocess.CompletedProcess:
        environment = dict(os.environ, NNEFC_BREAK=breaks, **variables)
        done = subprocess.run(["../prefix/bin/nnefc", *map(str, words)], cwd=self.models, env=environment,
                              capture_output=True, text=True, timeout=60)
        self.assertIn(done.returncode, (0, 1, 2), f"{words}: {done.returncode}\n{done.stderr}")
        return done

    def good(self, *words: object, **variables: str) -> str:
        done = self.nnefc(*words, **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def bad(self, rule: str, text: str, *words: object, code: int = 1, breaks: str = "") -> None:
        """Expects one error of that rule and with that text."""
        done = self.nnefc(*words, breaks=breaks)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stderr.count("error: "), 1, done.stderr)
        self.assertIn(f"[{rule}]\n", done.stderr)
        self.assertIn(text, done.stderr)

    def setUp(self) -> None:
        self.plugins = self.folder / "build"
        self.models = self.folder / "models"
        self.models.mkdir(exist_ok=True)
        self.example = self.plugins / "example.so"
        self.broken = self.plugins / "broken.so"
        self.documented = self.plugins / "documented.so"

    def model(self, name: str, *assignments: str, extent: str = "[2,3]") -> str:
        outputs = ", ".join(line.split(" =")[0] for line in assignments)
        body = "".join(f"    {line};\n" for line in (f"x = external(shape = {extent})", *assignments))
        (self.models / name).write_text(f"{HEAD}graph net( x ) -> ( {outputs} )\n{{\n{body}}}\n")
        return name

    def outputs(self, name: str, x: np.ndarray, *words: object) -> dict[str, np.ndarray]:
        np.save(self.models / "x.npy", x)
        self.good("run", name, "--input", "x=x.npy", "-o", "out.npz", *words)
        with np.load(self.models / "out.npz") as file:
            return dict(file)
