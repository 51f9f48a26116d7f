"""Transformations in Python, with the classes of OpenVINO's Model Optimizer.

Extension modules for the Model Optimizer work after a change of their imports: `from nnefc.mo.front.common.replacement
import FrontReplacementOp` instead of `openvino.tools.mo.front..`. `Model.transform(extensions=..)` loads a folder with
modules in `front`, `middle`, `back` and `ops`, or at the top level.
"""

from nnefc.mo.modules import install

install()
