"""Conversion of models to and from the formats of other frameworks.

`export_onnx` writes ONNX: `layers` reads the lowered graph, `table` has a translation for each OpenVINO operation, in one
file for each family of operations, and `writer` collects the nodes. `frameworks` turns models of other frameworks into NNEF
through OpenVINO. `command` is `python -m nnefc convert`.
"""
