#!/usr/bin/env python3
"""Builds plug-ins outside the sources against a fresh installation, and shows that what they bring acts and that what is
wrong with one is told and no crash."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
HEAD = "version 1.0;\n"


class Plugins(unittest.TestCase):
    build: pathlib.Path
    folder: pathlib.Path

    def nnefc(self, *words: object, breaks: str = "") -> subprocess.CompletedProcess:
        environment = dict(os.environ, NNEFC_BREAK=breaks)
        done = subprocess.run(["../prefix/bin/nnefc", *map(str, words)], cwd=self.models, env=environment,
                              capture_output=True, text=True, timeout=60)
        self.assertIn(done.returncode, (0, 1, 2), f"{words}: {done.returncode}\n{done.stderr}")
        return done

    def good(self, *words: object) -> str:
        done = self.nnefc(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def bad(self, rule: str, text: str, *words: object, code: int = 1, breaks: str = "") -> None:
        """One error, of that rule and with that text."""
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

    # ---- what a plug-in brings ----

    def test_library_checks_and_expands(self) -> None:
        name = self.model("smooth.nnef", "y = acme_smooth(x, beta = 1.5)")
        self.bad("binding.undeclared-operation", "`acme_smooth`", "check", name)
        self.good("check", name, "--extensions", self.example)
        flat = self.good("expand", name, "--extensions", self.example)
        self.assertIn("acme_swish(x, beta = 1.5)", flat)
        (self.models / "flat.nnef").write_text(flat)
        self.good("check", "flat.nnef", "--extensions", self.example)
        self.assertEqual(self.good("expand", "flat.nnef", "--extensions", self.example), flat)

    def test_mistakes_in_invocations_are_told_as_of_ours(self) -> None:
        wrong = (("y = acme_swish(x, gamma = 1.0)", "binding.unknown-argument"),
                 ("y = acme_swish(x, beta = 'a')", "type.mismatch"),
                 ("y = acme_running_sum(x, axis = 2)", "acme.axis"))
        for assignment, rule in wrong:
            name = self.model("wrong.nnef", assignment)
            self.bad(rule, f"{name}:5:", "check", name, "--extensions", self.example)

    def test_document_defines_a_fragment_of_the_name(self) -> None:
        (self.models / "own.nnef").write_text(
            "version 1.0;\nextension KHR_enable_fragment_definitions;\n"
            "fragment acme_swish( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n{\n    y = relu(x);\n}\n"
            "graph net( x ) -> ( y )\n{\n    x = external(shape = [2,3]);\n    y = acme_swish(x);\n}\n")
        self.assertIn("relu(x)", self.good("expand", "own.nnef", "--extensions", self.example))

    def test_document_declares_the_primitive(self) -> None:
        (self.models / "declared.nnef").write_text(
            "version 1.0;\nextension KHR_enable_fragment_definitions;\n"
            "fragment acme_running_sum( x: tensor<scalar>, axis: integer ) -> ( y: tensor<scalar> );\n"
            "graph net( x ) -> ( y )\n{\n    x = external(shape = [2,3]);\n    y = acme_running_sum(x, axis = 1);\n}\n")
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        found = self.outputs("declared.nnef", x, "--extensions", self.example)
        np.testing.assert_allclose(found["y"], np.cumsum(x, axis=1), rtol=1e-6)

    def test_operations_run(self) -> None:
        name = self.model("net.nnef", "y = acme_smooth(x, beta = 1.5)", "s = acme_running_sum(y, axis = 0)",
                          "t = acme_running_sum(y)")
        x = np.random.default_rng(1).normal(size=(2, 3)).astype(np.float32)
        y = x / (1 + np.exp(-1.5 * x)) + 0.5 * x
        for backend in ("reference", "onednn"):
            found = self.outputs(name, x, "--extensions", self.example, "--backend", backend)
            np.testing.assert_allclose(found["y"], y, rtol=1e-5)
            np.testing.assert_allclose(found["s"], np.cumsum(y, axis=0), rtol=1e-5)
            np.testing.assert_allclose(found["t"], np.cumsum(y, axis=1), rtol=1e-5)

    def test_operation_is_written_to_ir_and_read(self) -> None:
        name = self.model("one.nnef", "y = acme_smooth(x, beta = 1.5)")
        self.good("compile", name, "--extensions", self.example, "-o", "one.xml")
        self.assertIn('type="Swish" version="acme"', (self.models / "one.xml").read_text())
        x = np.random.default_rng(2).normal(size=(2, 3)).astype(np.float32)
        expected = x / (1 + np.exp(-1.5 * x)) + 0.5 * x
        found = self.outputs("one.xml", x, "--extensions", self.example)
        np.testing.assert_allclose(found["y"], expected, rtol=1e-5)
        self.good("compile", "one.xml", "--extensions", self.example, "-o", "again.xml")
        self.assertEqual((self.models / "one.xml").read_text(), (self.models / "again.xml").read_text())
        self.good("compile", "one.xml", "--extensions", self.example, "-o", "one.ir")
        np.testing.assert_allclose(self.outputs("one.ir", x, "--extensions", self.example)["y"], expected, rtol=1e-5)
        self.bad("openvino.unknown-operation", "`acme`", "run", "one.xml", "--random-inputs", "1")
        text = (self.models / "one.xml").read_text()
        (self.models / "damaged.xml").write_text(text.replace('beta="1.5"', 'beta="much"'))
        shutil.copy(self.models / "one.bin", self.models / "damaged.bin")
        self.bad("openvino.xml-attribute-value", "`beta`", "run", "damaged.xml", "--random-inputs", "1",
                 "--extensions", self.example)

    def test_what_stays_has_no_form(self) -> None:
        name = self.model("stays.nnef", "y = acme_running_sum(x)")
        self.bad("openvino.no-openvino-form", "`acme_running_sum`", "compile", name, "-o", "stays.xml", "--extensions",
                 self.example)

    def test_transformation_acts(self) -> None:
        name = self.model("parts.nnef", "y = x * sigmoid(x)")
        words = ("--extensions", self.example, "--disable-transformations", "middle.SwishFusion")
        text = (self.models / name).read_text().replace(HEAD, HEAD + "extension KHR_enable_operator_expressions;\n")
        (self.models / name).write_text(text)
        self.assertIn("acme.Swish", self.good("compile", name, *words))
        self.assertIn("AcmeSwish", self.good("transform", name, "--list-transformations", "--extensions", self.example))
        self.assertNotIn("acme.Swish", self.good("compile", name, *words, "--disable-transformations", "AcmeSwish"))
        x = np.random.default_rng(3).normal(size=(2, 3)).astype(np.float32)
        np.testing.assert_allclose(self.outputs(name, x, *words)["y"], x / (1 + np.exp(-x)), rtol=1e-5)

    def test_a_file_named_twice_is_loaded_once(self) -> None:
        name = self.model("smooth.nnef", "y = acme_smooth(x)")
        self.good("check", name, "--extensions", self.example, "--extensions", self.example)

    def test_every_command_takes_them(self) -> None:
        name = self.model("smooth.nnef", "y = acme_smooth(x)")
        for words in (("inspect", name), ("lint", name), ("bench", name, "--iterations", "1"),
                      ("transform", name, "--only", "AcmeSwish")):
            self.good(*words, "--extensions", self.example)

    # ---- what is wrong with one ----

    def test_files_that_are_no_plugins(self) -> None:
        name = self.model("relu.nnef", "y = relu(x)")
        whole = self.example.read_bytes()
        for size in (0, 3, 20, 64, 4096, len(whole) // 2, len(whole) - 64):
            (self.models / "part.so").write_bytes(whole[:size])
            self.bad("plugin.not-a-plug-in", "`part.so`", "check", name, "--extensions", "part.so")
        (self.models / "text.so").write_text("not a library\n" * 100)
        self.bad("plugin.not-a-plug-in", "it is no shared library", "check", name, "--extensions", "text.so")
        self.bad("plugin.unreadable", "`none.so`", "check", name, "--extensions", "none.so", code=2)
        self.bad("plugin.unreadable", "not a regular file", "check", name, "--extensions", ".", code=2)
        self.library("empty.so", "")
        self.bad("plugin.not-a-plug-in", "without `NNEFC_EXTENSION`", "check", name, "--extensions", "empty.so")

    def library(self, name: str, body: str, interface: str = "") -> None:
        """A shared library in C, with the text of an interface."""
        text = f'__attribute__((section("nnefc_interface"), used)) const char text[] = "{interface}";\n'
        (self.models / "library.c").write_text((text if interface else "") + "int other;\n" + body)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", name, "library.c"], cwd=self.models, check=True)

    def interface(self) -> str:
        whole = self.example.read_bytes()
        begin = whole.index(b"headers ")
        return whole[begin:whole.index(b"\0", begin)].decode()

    def test_another_interface_is_refused_before_any_code_runs(self) -> None:
        name = self.model("relu.nnef", "y = relu(x)")
        aborts = ("#include <stdlib.h>\n__attribute__((constructor)) void begin(void) { abort(); }\n"
                  "void nnefc_register_extension(void* r) { abort(); }\n")
        self.library("other.so", aborts, self.interface().replace("headers ", "headers 0"))
        self.bad("plugin.interface", "it was built for another nnefc", "check", name, "--extensions", "other.so")

    def test_missing_symbols(self) -> None:
        name = self.model("relu.nnef", "y = relu(x)")
        self.library("missing.so", "void _ZN4acme6AbsentEi(void);\n"
                     "void nnefc_register_extension(void* r) { _ZN4acme6AbsentEi(); }\n", self.interface())
        self.bad("plugin.not-loadable", "undefined symbol: acme::Absent(int)", "check", name, "--extensions", "missing.so")
        self.library("mute.so", "", self.interface())
        self.bad("plugin.not-a-plug-in", "`nnefc_register_extension`", "check", name, "--extensions", "mute.so")

    def test_registrations_that_are_wrong(self) -> None:
        name = self.model("relu.nnef", "y = relu(x)")
        wrong = {
            "registration": ("plugin.registration", "no licence"),
            "registration-int": ("plugin.registration", "no std::exception"),
            "null": ("plugin.entry", "is null"),
            "unmade": ("plugin.registration", "no parts"),
            "duplicate": ("plugin.duplicate", "`Twice` is registered twice"),
            "taken": ("plugin.duplicate", "nnefc has a transformation"),
            "library-syntax": ("plugin.library-text", "2:35: expected `)`"),
            "library-standard": ("plugin.library-text", "`relu`"),
            "library-primitive": ("plugin.entry", "no operation is registered for it"),
            "library-strings": ("plugin.entry", "`names` of `broken` is of type string[]"),
            "operation-shapeless": ("plugin.entry", "no shape function"),
            "operation-undeclared": ("plugin.entry", "no library of it declares"),
            "operation-standard": ("plugin.duplicate", "nnefc has an operation `opset1.Add`"),
            "operation-opset": ("plugin.entry", "a set of the plug-in's own"),
            "kernel-alone": ("plugin.entry", "`opset1.ReLU`"),
            "lowering-alone": ("plugin.entry", "`relu`"),
        }
        for breaks, (rule, text) in wrong.items():
            with self.subTest(breaks):
                self.bad(rule, text, "run", name, "--random-inputs", "1", "--extensions", self.broken, breaks=breaks)
        self.bad("plugin.duplicate", "example.so` already", "check", name, "--extensions", self.example,
                 "--extensions", self.broken, breaks="example-id")

    def test_what_throws_later(self) -> None:
        relu = self.model("relu.nnef", "y = relu(x)")
        broken = self.model("broken.nnef", "y = broken(x)")
        wrong = {
            "transformation": (relu, "transform.failed", "it threw"),
            "shape": (broken, "node.shape-function", "no such axis"),
            "lowering": (broken, "lower.failed", "no form"),
            "lowering-nothing": (broken, "lower.failed", "left an output unset"),
            "lowering-unknown": (broken, "lower.failed", "no operation `acme.Nonesuch`"),
            "kernel": (broken, "run.failed", "no numbers"),
        }
        for breaks, (name, rule, text) in wrong.items():
            with self.subTest(breaks):
                self.bad(rule, text, "run", name, "--random-inputs", "1", "--extensions", self.broken, breaks=breaks)

    def test_machines_are_told_too(self) -> None:
        done = self.nnefc("check", self.model("relu.nnef", "y = relu(x)"), "--extensions", self.broken, "--format", "json",
                          breaks="registration")
        self.assertEqual(json.loads(done.stderr)["diagnostics"][0]["rule"], "plugin.registration")

    def test_lists_without_a_model(self) -> None:
        self.bad("plugin.registration", "no licence", "transform", "--list-transformations", "--extensions", self.broken,
                 breaks="registration")


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
        Plugins.folder = pathlib.Path(sys.argv.pop(1))
        if (Plugins.folder / "CMakeCache.txt").exists():
            prepare(Plugins.folder, pathlib.Path(name))
            Plugins.folder = pathlib.Path(name)
        unittest.main(verbosity=0)
