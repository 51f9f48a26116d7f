#!/usr/bin/env python3
"""Builds plug-ins outside the source tree against a fresh installation. Checks that they take effect, and that their
faults are reported without a crash."""

import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
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


class Plugins(PluginTest):
    # ---- effects of a plug-in ----

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
        for backend in ("reference", "fast"):
            found = self.outputs(name, x, "--extensions", self.example, "--backend", backend)
            np.testing.assert_allclose(found["y"], y, rtol=1e-5)
            np.testing.assert_allclose(found["s"], np.cumsum(y, axis=0), rtol=1e-5)
            np.testing.assert_allclose(found["t"], np.cumsum(y, axis=1), rtol=1e-5)

    def test_every_command_that_runs_has_the_kernels(self) -> None:
        name = self.model("all.nnef", "y = acme_smooth(x, beta = 1.5)", "s = acme_running_sum(y, axis = 0)")
        inputs = ("--random-inputs", 1, "--extensions", self.example)
        self.good("run", name, *inputs, "--check-finite")
        self.good("bench", name, *inputs, "--iterations", 1)
        text = self.good("transform", name, *inputs, "--bisect")
        self.assertIn("keep the outputs", text)
        # Running the graphs between transformations finds one that changes the outputs.
        (self.models / "wrong.json").write_text(json.dumps(
            [{"id": "Wrong", "match_kind": "points", "instances": {"start_points": ["s"], "end_points": ["s"]}, "op": "Sin",
              "custom_attributes": {}}]))
        done = self.nnefc("transform", name, *inputs, "--bisect", "--transformations-config", "wrong.json")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("Wrong` is the first transformation", done.stdout)

    # A model with an operation of the plug-in, a sub-model, weights in a `.safetensors` and a value in a `.json`.
    WHOLE = """version 1.0;
extension KHR_enable_operator_expressions;
extension tract_registry tract_core;
extension tract_registry tract_resource;
graph net( x ) -> ( y )
{
    x = tract_core_external(shape = [2, 3], datum_type = 'f32');
    w = variable<scalar>(shape = [3, 3], label = 'layer.weight');
    h = matmul(x, w);
    s = acme_swish(h, beta = tract_resource_get('settings', '$.beta'));
    y = tract_core_submodel([s], label = 'part');
}
"""
    PART = """version 1.0;
extension tract_registry tract_core;
graph part( v ) -> ( r )
{
    v = tract_core_external(shape = [2, 3], datum_type = 'f32');
    m = mean_reduce(v, axes = [1]);
    r = sub(v, m);
}
"""

    def whole_model(self) -> tuple[pathlib.Path, np.ndarray, np.ndarray]:
        """Returns the folder, an input and the output by the formulas."""
        folder = self.models / "whole"
        (folder / "part").mkdir(parents=True, exist_ok=True)
        (folder / "graph.nnef").write_text(self.WHOLE)
        (folder / "part" / "graph.nnef").write_text(self.PART)
        (folder / "settings.json").write_text(json.dumps({"beta": 1.5}))
        rng = np.random.default_rng(6)
        w, x = (rng.normal(size=shape).astype(np.float32) for shape in ((3, 3), (2, 3)))
        header = json.dumps({"layer.weight": {"dtype": "F32", "shape": [3, 3], "data_offsets": [0, w.nbytes]}}).encode()
        (folder / "weights.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + w.tobytes())
        h = x.astype(np.float64) @ w
        s = h / (1 + np.exp(-1.5 * h))
        return folder, x, s - s.mean(axis=1, keepdims=True)

    def test_every_way_runs_a_whole_model(self) -> None:
        folder, x, expected = self.whole_model()
        np.save(self.models / "x.npy", x)
        np.savez(self.models / "expected.npz", y=expected.astype(np.float32))
        x.tofile(self.models / "x.f32")
        inputs = ("--input", "x=x.npy", "--extensions", self.example)
        compared = ("--compare", "expected.npz", "--tolerance", "close")

        def run(*words: object) -> None:
            self.good("run", folder, *inputs, *compared, *words)

        def bisect() -> None:
            self.assertIn("keep the outputs", self.good("transform", folder, *inputs, "--bisect"))

        def program(interface: str) -> None:
            done = subprocess.run([self.plugins / "program", self.example, interface, folder, "x.f32", "y.f32"],
                                  cwd=self.models, capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
            found = np.fromfile(self.models / "y.f32", np.float32).reshape(2, 3)
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)

        def python() -> None:
            import nnefc
            model = nnefc.load(folder, extensions=[self.example])
            found = model.compile().run({"x": x})["y"]
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)

        ways = {
            "check": lambda: self.good("check", folder, "--extensions", self.example),
            "run": run,
            "run by the reference": lambda: run("--backend", "reference"),
            "run and check-finite": lambda: run("--check-finite"),
            "bench": lambda: self.good("bench", folder, *inputs, "--iterations", 1),
            "bisect": bisect,
            "C++": lambda: program("c++"),
            "C": lambda: program("c"),
        }
        if "PYTHONPATH" in os.environ:
            ways["Python"] = python
        for way, call in ways.items():
            with self.subTest(way):
                call()
        # Each way notices a wrong input of the model.
        (folder / "settings.json").write_text(json.dumps({"beta": 0.5}))
        self.assertEqual(self.nnefc("run", folder, *inputs, *compared).returncode, 1)

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

    def test_programs_take_them(self) -> None:
        done = subprocess.run([self.plugins / "program", self.example], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_explain_knows_transformations(self) -> None:
        text = self.good("explain", "AcmeSwish", "--extensions", self.example)
        self.assertIn("AcmeSwish: a transformation of the middle phase, MiddleReplacementPattern, enabled", text)
        self.assertIn("x * sigmoid(x) becomes acme.Swish.", text)
        before, after = text.split("After:")
        self.assertIn("opset1.Sigmoid", before)
        self.assertIn('acme.Swish "m" (%0)', after)
        self.assertEqual(self.nnefc("explain", "AcmeSwish").returncode, 2)
        self.bad("plugin.unreadable", "none.so", "explain", "AcmeSwish", "--extensions", "none.so", code=2)

    def test_explain_knows_fragments(self) -> None:
        text = self.good("explain", "acme_smooth", "--extensions", self.example)
        self.assertIn("acme_smooth: library acme of a plug-in", text)
        self.assertIn("y = acme_swish(x, beta = beta) + 0.5 * x;", text)
        text = self.good("explain", "acme_swish", "--extensions", self.example)
        self.assertIn("x / (1 + exp(-beta * x))", text)

    def test_lint_tells_what_others_do_not_have(self) -> None:
        done = self.nnefc("lint", self.model("smooth.nnef", "y = acme_smooth(x)"), "--extensions", self.example)
        self.assertIn("it is taken from the plug-in library acme, which other tools do not have", done.stderr)

    # ---- faults of a plug-in ----

    def test_files_that_are_no_plugins(self) -> None:
        name = self.model("relu.nnef", "y = relu(x)")
        whole = self.example.read_bytes()
        for size in (0, 3, 20, 64, 4096, len(whole) // 2, len(whole) - 64):
            (self.models / "part.so").write_bytes(whole[:size])
            self.bad("plugin.not-a-plug-in", "`part.so`", "check", name, "--extensions", "part.so")
        (self.models / "text.so").write_text("not a library\n" * 100)
        self.bad("plugin.not-a-plug-in", "it is not a shared library", "check", name, "--extensions", "text.so")
        self.bad("plugin.unreadable", "`none.so`", "check", name, "--extensions", "none.so", code=2)
        self.bad("plugin.unreadable", "takes folders of Python modules", "check", name, "--extensions", ".", code=2)
        self.library("empty.so", "")
        self.bad("plugin.not-a-plug-in", "without `NNEFC_EXTENSION`", "check", name, "--extensions", "empty.so")

    def library(self, name: str, body: str, interface: str = "") -> None:
        """Builds a shared library in C with the text of an interface."""
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
            "registration-int": ("plugin.registration", "other than a std::exception"),
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
            "transformation": (relu, "transform.failed", "broken.so` failed: it threw"),
            "shape": (broken, "node.shape-function", "no such axis"),
            "lowering": (broken, "lower.failed", "no form"),
            "lowering-nothing": (broken, "lower.failed", "left an output unset"),
            "lowering-unknown": (broken, "lower.failed", "no operation `acme.Nonesuch`"),
            "kernel": (broken, "run.failed", "no numbers"),
        }
        for breaks, (name, rule, text) in wrong.items():
            with self.subTest(breaks):
                self.bad(rule, text, "run", name, "--random-inputs", "1", "--extensions", self.broken, breaks=breaks)

    def test_every_function_of_a_transformation_may_throw(self) -> None:
        name = self.model("relu.nnef", "y = relu(x)")
        (self.models / "entries.json").write_text('[{"id": "NONE", "match_kind": "general", "custom_attributes": {}}]')
        words = ("transform", name, "--extensions", self.broken, "--transformations-config", "entries.json")
        described = ("phase", "kind", "RunBefore", "RunAfter", "Description", "Example", "is_anchor", "replacement_id")
        for function in described:
            with self.subTest(function):
                text = f"transformation `ThrowsIn` failed: its `{function}` threw: no answer"
                self.bad("plugin.registration", text, *words, breaks=f"in-{function}")
                self.bad("plugin.registration", text, "explain", "ThrowsIn", "--extensions", self.broken,
                         breaks=f"in-{function}")
        for function in ("graph_condition", "Configure", "MayChange"):
            with self.subTest(function):
                done = self.nnefc(*words, breaks=f"in-{function}")
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("transformation `ThrowsIn` of the plug-in ", done.stderr)
                self.assertIn(f"broken.so` failed: its `{function}` threw: no answer [transform.failed]", done.stderr)
        done = self.nnefc("transform", name, "--extensions", self.broken, breaks="in-graph_condition-int")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("its `graph_condition` threw: something other than a std::exception", done.stderr)
        for breaks in ("in-GetPattern", "in-test", "in-ReplacePattern", "op-ReplaceOp", "op-ReplaceSubGraph",
                       "op-GenerateSubGraph", "op-InputEdgesMatch", "op-OutputEdgesMatch", "op-NodesToRemove"):
            with self.subTest(breaks):
                self.bad("transform.failed", "no answer", "transform", name, "--extensions", self.broken, breaks=breaks)

    def test_every_function_of_an_operation_may_throw(self) -> None:
        name = self.model("broken.nnef", "y = broken(x)")
        words = ("run", name, "--random-inputs", "1", "--extensions", self.broken)
        wrong = {
            "kernel-in-add": ("run.failed", "the kernel of `nnef.broken` cannot be added: no registry"),
            "kernel-in-add-int": ("run.failed", "the kernel of `nnef.broken` cannot be added: it threw something other than"),
            "kernel-in-factory": ("run.failed", "the kernel of `nnef.broken` failed: no kernel"),
            "kernel-in-factory-int": ("run.failed", "the kernel of `nnef.broken` failed: it threw something other than"),
            "kernel-in-NewState": ("run.failed", "the kernel of `nnef.broken` failed: no state"),
            "kernel-in-Run": ("run.failed", "the kernel of `nnef.broken` failed: no numbers"),
            "shape-int": ("node.shape-function", "broken.so"),
        }
        for breaks, (rule, text) in wrong.items():
            with self.subTest(breaks):
                for backend in ("reference", "fast"):
                    self.bad(rule, text, *words, "--backend", backend, breaks=breaks)
        # These are only reported, or have an alternative.
        for breaks in ("kernel-in-implementation", "kernel-in-nothing", "view", "products"):
            with self.subTest(breaks):
                done = self.nnefc(*words, "--profile", breaks=breaks)
                self.assertEqual(done.returncode, 0, done.stderr)
                done = self.nnefc("compile", name, "--extensions", self.broken, "-o", "broken.ir", breaks=breaks)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_throws_the_second_time(self) -> None:
        name = self.model("relu.nnef", "y = relu(x)")
        self.bad("plugin.registration", "a transformation cannot be made: no second one", "transform", name,
                 "--extensions", self.broken, breaks="second")

    def test_a_loader_of_folders_may_throw(self) -> None:
        (self.models / "folder").mkdir(exist_ok=True)
        self.bad("plugin.registration", "it cannot load folders: it threw something other than a std::exception", "check",
                 self.model("relu.nnef", "y = relu(x)"), "--extensions", self.broken, "--extensions", "folder",
                 breaks="folders")

    def test_machines_are_told_too(self) -> None:
        done = self.nnefc("check", self.model("relu.nnef", "y = relu(x)"), "--extensions", self.broken, "--format", "json",
                          breaks="registration")
        self.assertEqual(json.loads(done.stderr)["diagnostics"][0]["rule"], "plugin.registration")

    def test_lists_without_a_model(self) -> None:
        self.bad("plugin.registration", "no licence", "transform", "--list-transformations", "--extensions", self.broken,
                 breaks="registration")


class Documented(PluginTest):
    """The transformations in the documentation of the framework."""

    def graph(self, name: str, *nodes: str) -> str:
        body = "".join(f"  {node}\n" for node in nodes)
        (self.models / name).write_text(f'graph "net" {{\n{body}}}\n')
        return name

    def transformed(self, name: str, *words: object, **variables: str) -> list[str]:
        """Returns the operations of the transformed model, each "set.type name (inputs)"."""
        text = self.good("transform", name, "--extensions", self.documented, *words, **variables)
        names = dict(re.findall(r'(%\d+) = \S+ "([^"]*)"', text))
        found = []
        for line in text.splitlines():
            node = re.match(r'  (?:%\d+ = )?(\S+) "([^"]*)"(?: \(([^)]*)\))?', line)
            if node and "Const" not in node[1]:
                inputs = [names[value] or "const" for value in (node[3] or "").split(", ") if value]
                found.append(f"{node[1]} {node[2]}" + (f" ({', '.join(inputs)})" if inputs else ""))
        return found

    def test_all_are_listed_where_they_stand(self) -> None:
        text = self.good("transform", "--list-transformations", "--extensions", self.documented)
        rows = [line.split() for line in text.splitlines()]
        kinds = {row[0]: (row[1], row[2], row[3]) for row in rows}
        self.assertEqual({name: kind for name, kind in kinds.items() if name.startswith("documented::")}, {
            "documented::MishFusion": ("front", "FrontReplacementSubgraph", "enabled"),
            "documented::Pack": ("front", "FrontReplacementOp", "enabled"),
            "documented::SqueezeNormalize": ("front", "FrontReplacementPattern", "enabled"),
            "documented::YoloRegionAddon": ("front", "FrontReplacementFromConfigFileGeneral", "enabled"),
            "documented::L2NormToNorm": ("middle", "MiddleReplacementPattern", "enabled"),
            "documented::CheckForCycle": ("middle", "MiddleReplacementPattern", "enabled"),
            "documented::ShufflenetReLUReorder": ("back", "BackReplacementPattern", "disabled"),
            "documented::GatherNormalizer": ("back", "BackReplacementPattern", "enabled"),
        })
        order = [row[0] for row in rows]
        for earlier, later in (("nnefc::transform::front::SoftplusFusion", "documented::MishFusion"),
                               ("documented::CheckForCycle", "PreMiddleStart"),
                               ("PreMiddleStart", "documented::L2NormToNorm"),
                               ("documented::L2NormToNorm", "MiddleStart")):
            self.assertLess(order.index(earlier), order.index(later))

    def test_mish_fusion(self) -> None:
        name = self.model("mish.nnef", "s = log(exp(x) + 1.0)", "t = tanh(s)", "y = t * x")
        text = (self.models / name).read_text().replace("( s, t, y )", "( y )")
        (self.models / name).write_text(text)
        ours = ("--disable-transformations", "front.MishFusion")
        self.assertEqual(self.transformed(name, *ours), ["opset1.Parameter x", "opset4.Mish y (x)", "opset1.Result y (y)"])
        without = self.transformed(name, *ours, "--disable-transformations", "documented.MishFusion")
        self.assertEqual(len(without), 5, without)
        x = np.random.default_rng(4).normal(size=(2, 3)).astype(np.float32)
        found = self.outputs(name, x, "--extensions", self.documented, *ours)
        np.testing.assert_allclose(found["y"], x * np.tanh(np.log1p(np.exp(x))), rtol=1e-5)
        # A tensor other than that of the softplus.
        name = self.model("near.nnef", "y = mul(neg(x), tanh(softplus(x)))")
        self.assertIn("opset1.Tanh", " ".join(self.transformed(name, *ours)))

    def test_pack(self) -> None:
        name = self.model("pack.nnef", "y = Pack([x, relu(x)], axis = 1)")
        self.assertEqual(self.transformed(name),
                         ["opset1.Parameter x", "opset1.ReLU y_relu (x)", "opset1.Unsqueeze y/Unsqueeze (x, const)",
                          "opset1.Unsqueeze y/Unsqueeze_2 (y_relu, const)",
                          "opset1.Concat y (y/Unsqueeze, y/Unsqueeze_2)", "opset1.Result y (y)"])
        x = np.random.default_rng(5).normal(size=(2, 3)).astype(np.float32)
        found = self.outputs(name, x, "--extensions", self.documented)
        np.testing.assert_array_equal(found["y"], np.stack([x, np.maximum(x, 0)], axis=1))
        wrong = self.model("wrong.nnef", "y = Pack([x, x], axis = 3)")
        self.bad("node.shape-function", "the axis of `Pack` is 3", "check", wrong, "--extensions", self.documented)

    def test_squeeze_normalize(self) -> None:
        parameter = '%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,3]} : f32[1,3]'
        name = self.graph("squeeze.ir", parameter, '%1 = tf.Squeeze "s" (%0) {squeeze_dims = [0]} : f32[3]',
                          'opset1.Result "y" (%1)')
        text = self.good("transform", name, "--extensions", self.documented)
        self.assertNotIn("squeeze_dims", text)
        self.assertIn('"s/Dims" : i64[1] = dense<i64[1]: 0>', text)
        self.assertIn("tf.Squeeze s (x, s/Dims)", self.transformed(name))
        name = self.graph("bare.ir", parameter, '%1 = tf.Squeeze "s" (%0) {} : f32[1,3]', 'opset1.Result "y" (%1)')
        self.bad("transform.failed", "the Squeeze `s` needs two inputs", "transform", name, "--extensions",
                 self.documented)

    def test_yolo_region_addon(self) -> None:
        name = self.model("yolo.nnef", "y = relu(x)", "z = tanh(x)", extent="[1,50,2,2]")
        (self.models / "yolo.json").write_text(json.dumps(
            [{"id": "TFYOLO", "match_kind": "general",
              "custom_attributes": {"classes": 20, "coords": 4, "num": 2, "do_softmax": 0, "mask": [0, 1]}}]))
        self.assertNotIn("Region", " ".join(self.transformed(name)))
        words = (name, "--extensions", self.documented, "--transformations-config", "yolo.json")
        self.good("compile", *words, "-o", "yolo.xml")
        text = (self.models / "yolo.xml").read_text()
        self.assertEqual(text.count('type="RegionYolo" version="opset1"'), 2)
        for attribute in ('classes="20"', 'coords="4"', 'num="2"', 'axis="1"', 'end_axis="-1"'):
            self.assertEqual(text.count(attribute), 2, attribute)
        x = np.random.default_rng(6).normal(size=(1, 50, 2, 2)).astype(np.float32)
        found = self.outputs("yolo.xml", x)
        for name, before in (("y", np.maximum(x, 0)), ("z", np.tanh(x))):
            expected = before.reshape(2, 25, 4)
            logistic = [i for i in range(25) if i not in (2, 3)]  # all except the extents
            expected[:, logistic] = 1 / (1 + np.exp(-expected[:, logistic]))
            np.testing.assert_allclose(found[name].ravel(), expected.ravel(), rtol=1e-5, atol=1e-6)

    def test_l2_norm_to_norm(self) -> None:
        def constant(value: str) -> str:
            return f'opset1.Const "" : f32[] = dense<f32[]: {value}>'

        def model(name: str, exponent: str) -> str:
            return self.graph(
                name, '%0 = opset1.Parameter "x" {element_type = f32, shape = shape[2,3,4]} : f32[2,3,4]',
                f"%1 = {constant('2.0')}", '%2 = opset1.Power "q" (%0, %1) : f32[2,3,4]',
                '%3 = opset1.Const "axes" : i64[1] = dense<i64[1]: 1>',
                '%4 = opset1.ReduceSum "sum" (%2, %3) {keep_dims = true} : f32[2,1,4]', f"%5 = {constant('0.5')}",
                '%6 = opset1.Maximum "max" (%4, %5) : f32[2,1,4]', f"%7 = {constant(exponent)}",
                '%8 = opset1.Power "root" (%6, %7) : f32[2,1,4]', '%9 = opset1.Multiply "m" (%0, %8) : f32[2,3,4]',
                'opset1.Result "y" (%9)')

        ours = ("--disable-transformations", "middle.L2NormToNorm")
        name = model("norm.ir", "-0.5")
        self.assertEqual(self.transformed(name, *ours),
                         ["opset1.Parameter x", "opset1.NormalizeL2 m (x, axes)", "opset1.Result y (m)"])
        self.assertNotIn("NormalizeL2", " ".join(self.transformed(model("near.ir", "-1.0"), *ours)))
        x = np.random.default_rng(7).normal(size=(2, 3, 4)).astype(np.float32)
        found = self.outputs(name, x, "--extensions", self.documented, *ours)
        np.testing.assert_allclose(found["y"], x / np.sqrt(np.maximum((x * x).sum(1, keepdims=True), 0.5)), rtol=1e-5)

    def test_check_for_cycle_runs(self) -> None:
        done = self.nnefc("transform", self.model("relu.nnef", "y = relu(x)"), "--extensions", self.documented,
                          "--time-transformations")
        self.assertRegex(done.stderr, r"documented::CheckForCycle +\S+ ms +\d+ -> \d+ nodes")

    def test_shufflenet_relu_reorder_where_the_environment_says(self) -> None:
        (self.models / "shuffle.nnef").write_text(
            "version 1.0;\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [1,4,4,4]);\n"
            "    filter = variable(shape = [2,4,3,3], label = 'filter');\n    r = relu(x);\n"
            "    a = reshape(r, shape = [1,2,2,4,4]);\n    b = transpose(a, axes = [0,2,1,3,4]);\n"
            "    c = reshape(b, shape = [1,4,4,4]);\n"
            "    y = conv(c, filter, padding = [(1,1),(1,1)]);\n}\n")
        stays = " ".join(self.transformed("shuffle.nnef"))
        self.assertIn("opset1.ReLU r (x)", stays)
        for variable in ("MO_ENABLED_TRANSFORMS", "NNEFC_ENABLED_TRANSFORMS"):
            moved = " ".join(self.transformed("shuffle.nnef", **{variable: "documented.ShufflenetReLUReorder"}))
            self.assertRegex(moved, r"opset1.Reshape a \(x, .*opset1.ReLU r \(c\).*opset1.Convolution y \(r, ")
        x = np.random.default_rng(8).normal(size=(1, 4, 4, 4)).astype(np.float32)
        words = ("--extensions", self.documented, "--random-weights", "1")
        before = self.outputs("shuffle.nnef", x, *words)
        after = self.outputs("shuffle.nnef", x, *words, "--enable-transformations", "documented.ShufflenetReLUReorder")
        np.testing.assert_allclose(after["y"], before["y"], rtol=1e-5, atol=1e-6)

    def test_gather_normalizer(self) -> None:
        parameters = [f'%{i} = opset1.Parameter "{name}" {{element_type = i32, shape = shape[{shape}]}} : i32[{shape}]'
                      for i, (name, shape) in enumerate((("ids", "4,2,3"), ("parents", "4,2,3"), ("length", "2"),
                                                         ("end", "1")))]
        name = self.graph("tree.ir", *parameters, '%4 = tf.GatherTree "g" (%0, %1, %2, %3) : i32[4,2,3]',
                          'opset1.Result "y" (%4)')
        found = self.transformed(name)
        self.assertIn("opset1.Squeeze g/Squeeze (end, const)", found)
        self.assertIn("tf.GatherTree g (ids, parents, length, g/Squeeze)", found)


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
