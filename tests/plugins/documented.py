"""The transformations in the documentation of the framework."""

import json
import re

import numpy as np

from plugin_test import PluginTest


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
                               ("nnefc::transform::front::NoOpEraser", "documented::YoloRegionAddon"),
                               ("nnefc::transform::front::StandaloneConstEraser", "documented::YoloRegionAddon"),
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
