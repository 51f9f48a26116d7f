"""The padding of a transposed window leaves one element of the result, or none, which is refused: at either end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from models import Nnefc


@pytest.mark.parametrize("before, after", [(10, 0), (0, 10), (4, 6)])
def test_padding_of_the_whole_result(before: int, after: int, nnefc: Path, tmp_path: Path) -> None:
    x = np.arange(1, 9, dtype=np.float32).reshape(1, 1, 8)
    whole = np.convolve(x[0, 0], np.ones(3))  # 8 windows of 3 cover 10 elements
    tool = Nnefc(nnefc, tmp_path)
    np.savez(tmp_path / "in.npz", x=x)

    def write(padding: tuple[int, int]) -> Path:
        (tmp_path / "graph.nnef").write_text(
            "version 1.0;\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [1, 1, 8]);\n"
            f"    y = debox(x, size = [1, 1, 3], padding = [(0,0), (0,0), {padding}]);\n}}\n", encoding="utf-8")
        return tmp_path / "graph.nnef"

    done = tool.call("check", write((before, after)))
    assert (done.returncode, "[window.fit]" in done.stderr) == (1, True), done.stderr
    kept = (before - 1, after) if before else (before, after - 1)
    found = tool.run(write(kept), "--inputs", tmp_path / "in.npz")["y"]
    np.testing.assert_array_equal(found, whole[kept[0]:10 - kept[1]].reshape(1, 1, 1).astype(np.float32))
