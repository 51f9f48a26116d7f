"""Makes an ONNX model of a lowered graph."""

from __future__ import annotations

from typing import Any

from nnefc import _nnefc
from nnefc.conversion.layers import Graph, Layer, lowered_graph
from nnefc.conversion.table import REASONS, TABLE
from nnefc.conversion.writer import Unsupported, Writer, onnx_type
from nnefc.errors import ModelError
from nnefc.model import Model
from nnefc.report import Diagnostic, Place, listed_report

_RULE = "convert.unsupported-operation"


def to_onnx(model: Model) -> Any:
    """Returns a model as `onnx.ModelProto`; see `nnefc.export_onnx`.

    Raises:
        nnefc.ModelError: operations have no form in ONNX; the report lists all of them with reasons.
    """
    graph = lowered_graph(model)
    writer = Writer(graph, _translate)
    problems = [problem for layer in graph.layers if (problem := _translate(writer, layer))]
    problems += _problems_of_ports(graph)
    if problems:
        raise ModelError(listed_report([_diagnostic(model, problem) for problem in problems]), "writing ONNX")
    return writer.model(_nnefc.version())


def _translate(writer: Writer, layer: Layer) -> str | None:
    """Adds the nodes of a layer, or returns why it has no form."""
    shown = f"`{layer.output.name if layer.outputs else layer.name}`: {layer.type}"
    translation = TABLE.get(layer.type) if layer.opset else None
    if translation is None:
        return f"{shown} has no form in ONNX: {REASONS.get(layer.type, 'there is no translation of it')}"
    writer.begin(layer)
    try:
        for tensor in (*layer.inputs, *layer.outputs):
            onnx_type(tensor.type)
        translation(writer, layer)
    except Unsupported as reason:
        return f"{shown} has no form in ONNX: {reason}"
    return None


def _problems_of_ports(graph: Graph) -> list[str]:
    problems = []
    for what, tensors in (("input", graph.inputs), ("result", [tensor for _, tensor in graph.results])):
        for tensor in tensors:
            try:
                onnx_type(tensor.type)
            except Unsupported as reason:
                problems.append(f"`{tensor.name}`: {what} has no form in ONNX: {reason}")
    return problems


def _diagnostic(model: Model, message: str) -> Diagnostic:
    return Diagnostic("error", _RULE, "", message, Place(model._shown_name(), 0, 0, 0, 0), (), ())
