"""OpenVINO's results of boundary cases, computed in a process of its own: some nodes end it, which is not an answer.

    python openvino_worker.py CASES RESULTS    both are files of pickle; results are appended as they are made
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import openvino as ov

# What OpenVINO makes of a model: ("refused", why), ("not compiled", why), ("read", (types, shapes)) or ("computed", arrays);
# None where the process ended.
Answer = tuple[str, object] | None
# XML, constants and the data of the parameters; without data the model is only read.
Question = tuple[bytes, bytes, dict[str, np.ndarray] | None]


def answer(core: ov.Core, xml: bytes, blobs: bytes, data: dict[str, np.ndarray] | None) -> Answer:
    try:
        model = core.read_model(xml, blobs or b"\0")
    except Exception as error:  # noqa: BLE001
        return "refused", str(error).strip()
    if data is None:
        return "read", ([output.get_element_type().get_type_name() for output in model.outputs],
                        [str(output.get_partial_shape()) for output in model.outputs])
    try:
        compiled = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1})
        request = compiled.create_infer_request()
        request.infer({port: data[port.any_name] for port in compiled.inputs})
        return "computed", [request.get_output_tensor(index).data.copy() for index in range(len(compiled.outputs))]
    except Exception as error:  # noqa: BLE001
        return "not compiled", str(error).strip()


def answers(cases: list[Question], folder: Path) -> list[Answer]:
    """OpenVINO's answer to each question."""
    found: list[Answer] = []
    asked, written = folder / "cases.pickle", folder / "results.pickle"
    while len(found) < len(cases):
        asked.write_bytes(pickle.dumps(cases[len(found):]))
        written.unlink(missing_ok=True)
        subprocess.run([sys.executable, __file__, asked, written], stdin=subprocess.DEVNULL, capture_output=True)
        with written.open("rb") as stream:
            while True:
                try:
                    found.append(pickle.load(stream))
                except (EOFError, pickle.UnpicklingError):
                    break
        if len(found) < len(cases):
            found.append(None)
    return found


def main(asked: str, written: str) -> None:
    core = ov.Core()
    with Path(written).open("wb") as stream:
        for case in pickle.loads(Path(asked).read_bytes()):
            pickle.dump(answer(core, *case), stream)
            stream.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
