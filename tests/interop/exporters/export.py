"""Exports the modules of torch_modules.py by torch_to_nnef.

    python export.py FOLDER [NAME...]

Writes FOLDER/TARGET/NAME.nnef.tgz for both targets, and FOLDER/NAME.npz with the inputs (`x0`, ..) and torch's outputs
(`y0`, ..). FOLDER/refused.txt lists the modules that an exporter refuses.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch_to_nnef.export import export_model_to_nnef
from torch_to_nnef.inference_target import KhronosNNEF, TractNNEF

import torch_functions
import torch_modules
import torch_networks
import torch_quantized
from torch_cases import Case

CASES = [*torch_modules.CASES, *torch_functions.CASES, *torch_networks.CASES, *torch_quantized.CASES]

TRACT_VERSION = "0.23.4"


def tensor(spec) -> torch.Tensor:
    if isinstance(spec[0], tuple):
        shape, bound = spec
        return torch.randint(bound, shape)
    if spec[-1] == "half":
        return torch.randn(spec[:-1]).half()
    return torch.randn(spec)


def prepare(module: torch.nn.Module) -> torch.nn.Module:
    """Sets running averages as after training: zeros and ones would hide a confusion of the two."""
    for part in module.modules():
        if isinstance(part, torch.nn.modules.batchnorm._BatchNorm) and part.running_mean is not None:
            part.running_mean.normal_(0, 0.2)
            part.running_var.uniform_(0.6, 1.4)
    return module.eval()


def stand_in(folder: Path) -> Path:
    """Replaces tract's command line: without checks, the exporter only queries its version."""
    script = (folder / "tract").absolute()
    script.write_text(f"#!/bin/sh\necho tract {TRACT_VERSION}\n")
    script.chmod(0o755)
    return script


def targets(case: Case, names: list[str]):
    open_axes = {names[index]: axes for index, axes in case.dynamic.items()}
    with tempfile.TemporaryDirectory() as temporary:
        yield "tract", TractNNEF(TRACT_VERSION, check_io=False, dynamic_axes=open_axes, dump_identity_properties=False,
                                 specific_tract_binary_path=stand_in(Path(temporary)))
    if not case.dynamic:
        yield "khronos", KhronosNNEF("1.0.5", check_io=False)


def export(case: Case, folder: Path) -> list[str]:
    torch.manual_seed(1)
    module, inputs = prepare(case.make()), tuple(tensor(spec) for spec in case.inputs)
    with torch.no_grad():
        outputs = module(*inputs)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    names = [f"x{i}" for i in range(len(inputs))]
    arrays = dict(zip(names, (each.numpy() for each in inputs)))
    arrays.update({f"y{i}": (each.dequantize() if each.is_quantized else each).numpy() for i, each in enumerate(outputs)})
    np.savez(folder / f"{case.name}.npz", **arrays)
    refused = []
    for name, target in targets(case, names):
        (folder / name).mkdir(exist_ok=True)
        try:
            export_model_to_nnef(module, inputs, folder / name / f"{case.name}.nnef", target, input_names=names,
                                 output_names=[f"y{i}" for i in range(len(outputs))], log_level=40, compression_level=1)
        except Exception as error:  # any exception of an exporter is its result
            refused.append(f"{name} {case.name}: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
    return refused


def main() -> None:
    folder, wanted = Path(sys.argv[1]), set(sys.argv[2:])
    folder.mkdir(parents=True, exist_ok=True)
    refused = []
    for case in CASES:
        if wanted and case.name not in wanted:
            continue
        try:
            refused += export(case, folder)
        except Exception as error:  # torch lacks this operation in 8 bits
            refused.append(f"torch {case.name}: {type(error).__name__}: {(str(error).splitlines() or [''])[0]}")
        print(case.name, flush=True)
    (folder / "refused.txt").write_text("".join(line + "\n" for line in refused))


if __name__ == "__main__":
    main()
