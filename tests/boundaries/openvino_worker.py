"""OpenVINO's results of boundary cases, computed in a separate process: some nodes end the process, and that is not an answer.

    python openvino_worker.py DESCRIPTOR    a socket: each question that arrives is answered"""

from __future__ import annotations

import socket
import subprocess
import sys
from multiprocessing.connection import Connection

import numpy as np
import openvino as ov

# OpenVINO's result for a model: ("refused", why), ("not compiled", why), ("read", (types, shapes)) or ("computed", arrays);
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


class Worker:
    """A process that answers questions; another one takes over where a question ends it or takes longer than `max_seconds`. The
    process does not read standard input: OpenVINO starts another process, which would wait for it."""

    def __init__(self, max_seconds: float = 60) -> None:
        self.max_seconds = max_seconds
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen([sys.executable, __file__, str(theirs.fileno())], pass_fds=[theirs.fileno()],
                                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.connection = Connection(ours.detach())

    def stop(self) -> None:
        if self.process is not None:
            self.connection.close()
            self.process.kill()
            self.process.wait()
            self.process = None

    def answer(self, question: Question) -> Answer:
        if self.process is None:
            self.start()
        try:
            self.connection.send(question)
            if self.connection.poll(self.max_seconds):
                return self.connection.recv()
        except (EOFError, OSError):
            pass
        self.stop()
        return None


def main(descriptor: str) -> None:
    core, connection = ov.Core(), Connection(int(descriptor))
    while True:
        try:
            question = connection.recv()
        except EOFError:
            return
        connection.send(answer(core, *question))


if __name__ == "__main__":
    main(*sys.argv[1:])
