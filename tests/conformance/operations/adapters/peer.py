"""What adapters share: a loop that answers the requests of run.py (--server) by a tool of Python."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

Arrays = dict[str, np.ndarray]


def serve(run: Callable[[Path, Arrays], Arrays], check: Callable[[Path], None] | None) -> None:
    """Answers each line of standard input. `run` and `check` raise an exception where the tool refuses a model."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # tools that print do not disturb the answers
    for line in sys.stdin:
        request = json.loads(line)
        answer: dict[str, object] = {"ok": True}
        try:
            if "check" in request:
                if check is None:
                    answer = {"unsupported": "the tool has no check"}
                else:
                    check(Path(request["check"]))
            else:
                inputs = dict(np.load(request["inputs"]))
                np.savez(request["outputs"], **run(Path(request["model"]), inputs))
        except BaseException as error:  # noqa: BLE001: whatever a tool raises is a refusal
            if isinstance(error, KeyboardInterrupt):
                raise
            answer = {"error": f"{type(error).__name__}: {str(error).strip().splitlines()[-1] if str(error).strip() else ''}"[:300]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
