"""Runs the code of the package's README without changes."""

import re

import numpy as np
from conftest import LINEAR, ROOT
from test_transformations import PACK

import nnefc


def test_the_readme_runs(tmp_path, monkeypatch, capsys):
    text = (ROOT / "tools" / "python" / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 5
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.nnef").write_text(LINEAR)
    (tmp_path / "extensions" / "front").mkdir(parents=True)
    (tmp_path / "extensions" / "front" / "pack.py").write_text(PACK)
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)
    assert names["report"]
    assert "linear(" in capsys.readouterr().out
    assert nnefc.load("folder").variables["w"].tolist() == np.ones((4, 3)).tolist()
    assert "fc/w" in nnefc.load("model.tgz").variables
