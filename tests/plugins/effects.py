"""The effects of a plug-in: its library, operations, kernels and transformations."""

import json
import os
import pathlib
import shutil
import struct
import subprocess

import numpy as np

from plugin_test import PluginTest


class PluginEffects(PluginTest):
    """The effects of a plug-in in each command and interface."""

    def test_library_checks_and_expands(self) -> None:
        name = self.model("smooth.nnef", "y = acme_smooth(x, beta = 1.5)")
        self.bad("binding.undeclared-operation", "`acme_smooth`", "check", name)
        self.good("check", name, "--extensions", self.example)
        flat = self.good("expand", name, "--extensions", self.example)
        self.assertIn("acme_swish(x, beta = 1.5)", flat)
        (self.models / "flat.nnef").write_text(flat)
        self.good("check", "flat.nnef", "--extensions", self.example)
        self.assertEqual(self.good("expand", "flat.nnef", "--extensions", self.example), flat)

    def test_mistakes_in_invocations_are_reported(self) -> None:
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

    def test_layer_that_only_its_user_knows(self) -> None:
        """A kernel belongs to the type and the version of a layer of IR."""
        name = self.model("layer.nnef", "y = acme_smooth(x, beta = 1.5)")
        self.good("compile", name, "--extensions", self.example, "-o", "acme.xml")
        text = (self.models / "acme.xml").read_text()
        shutil.copy(self.models / "acme.bin", self.models / "layer.bin")
        (self.models / "layer.xml").write_text(text.replace('type="Swish" version="acme"', 'type="MyLayer" version="extension"'))
        x = np.random.default_rng(2).normal(size=(2, 3)).astype(np.float32)
        expected = x / (1 + np.exp(-1.5 * x)) + 0.5 * x
        for backend in ("reference", "fast"):
            found = self.outputs("layer.xml", x, "--extensions", self.example, "--backend", backend)
            np.testing.assert_allclose(found["y"], expected, rtol=1e-5)
        # The layer is kept by `compile`, and what it writes runs, too.
        self.good("compile", "layer.xml", "--extensions", self.example, "-o", "kept.xml")
        self.assertIn('type="MyLayer" version="extension"', (self.models / "kept.xml").read_text())
        np.testing.assert_allclose(self.outputs("kept.xml", x, "--extensions", self.example)["y"], expected, rtol=1e-5)
        self.bad("openvino.unknown-operation", "`--extensions FILE.so`", "run", "layer.xml", "--random-inputs", "1")
        for wrong in ('type="MyLayer" version="acme"', 'type="Swish" version="extension"'):
            (self.models / "layer.xml").write_text(text.replace('type="Swish" version="acme"', wrong))
            self.bad("openvino.unknown-operation", "is unknown", "run", "layer.xml", "--random-inputs", "1", "--extensions", self.example)

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

    def test_lint_reports_the_library(self) -> None:
        done = self.nnefc("lint", self.model("smooth.nnef", "y = acme_smooth(x)"), "--extensions", self.example)
        self.assertIn("it is taken from the plug-in library acme, which other tools do not have", done.stderr)
