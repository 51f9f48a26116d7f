"""Transformations in Python, with the classes of OpenVINO's Model Optimizer.

A module that was an extension of it works with other imports: `from nnefc.mo.front.common.replacement import
FrontReplacementOp` where it had `openvino.tools.mo.front..`. A folder of them, with modules in `front`, `middle`, `back`
and `ops` or beside those, is what `Model.transform(extensions=..)` takes.
"""
