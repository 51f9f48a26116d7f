"""Blocks of pixels in channels."""

from __future__ import annotations

from nnefc.conversion.layers import Layer
from nnefc.conversion.writer import Table, Unsupported, Writer


def _depth_to_space(writer: Writer, layer: Layer) -> None:
    if layer.inputs[0].rank != 4:
        raise Unsupported(f"a tensor of rank {layer.inputs[0].rank}; ONNX has images of rank 4")
    mode = "CRD" if layer.text("mode") == "depth_first" else "DCR"
    size = layer.integer("block_size", 1)
    writer.node("DepthToSpace", [layer.inputs[0].name], layer.output, blocksize=size, mode=mode)


def _space_to_depth(writer: Writer, layer: Layer) -> None:
    if layer.inputs[0].rank != 4 or layer.text("mode") == "depth_first":
        raise Unsupported("ONNX has images of rank 4 and the mode `blocks_first`")
    writer.node("SpaceToDepth", [layer.inputs[0].name], layer.output, blocksize=layer.integer("block_size", 1))


TABLE: Table = {"DepthToSpace": _depth_to_space, "SpaceToDepth": _space_to_depth}
