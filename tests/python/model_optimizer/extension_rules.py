"""The statements of the Model Optimizer's page about graph transformation extensions: common parts of their tests.

The name of a test cites the section and the paragraph, or the item of a list, that states the rule: `common` are the
attributes and methods of all classes; `pattern`, `operation`, `generic`, `scope`, `points` and `general` the kinds of front
transformations; `middle` and `back` those of the other phases.
"""

import json

import numpy as np
import pytest

import nnefc

X = np.linspace(-3, 3, 6, dtype=np.float32).reshape(2, 3)
HEADER = """
import numpy as np
from nnefc.mo.back.replacement import BackReplacementPattern
from nnefc.mo.front.common.partial_infer.utils import int64_array
from nnefc.mo.front.common.replacement import *
from nnefc.mo.front.tf.replacement import FrontReplacementFromConfigFileGeneral, FrontReplacementFromConfigFileSubGraph
from nnefc.mo.graph.graph import Node
from nnefc.mo.middle.replacement import MiddleReplacementPattern
from nnefc.mo.ops.const import Const
from nnefc.mo.ops.op import Op
from nnefc.mo.ops.result import Result
from nnefc.mo.utils.error import Error


def make(graph, op, *sources, **attributes):
    return Op(graph, {"op": op, **attributes}).create_node(list(sources))


def note(graph, text):
    # Adds a parameter-free mark to the name of the first result.
    result = graph.get_op_nodes(op="Result")[0]
    result.name = result.name + text


"""


def document(*lines, inputs=("x",), outputs=("y",), shape="[2, 3]"):
    externals = "".join(f"    {name} = external(shape = {shape});\n" for name in inputs)
    body = "".join(f"    {line};\n" for line in lines)
    return f"version 1.0;\ngraph net({', '.join(inputs)}) -> ({', '.join(outputs)})\n{{\n{externals}{body}}}\n"


EXP_RELU = document("a = exp(x)", "y = relu(a)")


def transform(room, text, configuration=None, variables=None, **modules):
    """Transforms a model by modules of a folder of extensions in `room`."""
    for name, body in modules.items():
        path = room / "extensions" / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEADER + body)
    words = {}
    if configuration is not None:
        (room / "configuration.json").write_text(json.dumps(configuration))
        words["configuration"] = room / "configuration.json"
    return nnefc.load(text, variables=variables).transform(extensions=room / "extensions", **words)


def outputs(model, **inputs):
    return model.compile(threads=1)(**(inputs or {"x": X}))


def messages(run, *arguments, **modules):
    """Returns the errors of the transformation of a model."""
    with pytest.raises(nnefc.ModelError) as caught:
        run(*arguments, **modules).compile()
    return "\n".join(item.message for item in caught.value.report.errors)


def marks(body, phase="front", **members):
    """Returns a class that marks the name of the result; `body` are the classes to mark."""
    base = {"front": "FrontReplacementPattern", "middle": "MiddleReplacementPattern", "back": "BackReplacementPattern"}[phase]
    text = ""
    for name in body:
        text += f"class {name}({base}):\n"
        text += "".join(f"    {member} = {value}\n" for member, value in members.get(name, {}).items())
        text += f"    def find_and_replace_pattern(self, graph):\n        note(graph, '{name}')\n\n\n"
    return text


def result_name(model):
    lowered = model.lower()
    return lowered.rpartition("Result \"")[2].partition('"')[0]
