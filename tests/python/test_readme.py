"""Runs the code of the package's README without changes."""

import os
import pathlib
import re
import subprocess
import sys

import numpy as np
from conftest import LINEAR, ROOT
from test_transformations import PACK

import nnefc


def test_the_readme_runs(tmp_path, monkeypatch, capsys):
    text = (ROOT / "tools" / "python" / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 8
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
    # The commands; those that change OpenVINO's folder and that install are not run.
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "none.py").write_text("")
    commands = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)[0].replace("net.nnef", "model.tgz")
    # In a build folder, `nnefc` is a link to the command line without Python.
    commands = commands.replace("\nnnefc run", "\npython -m nnefc run")
    path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    subprocess.run(["bash", "-ec", commands], check=True, env=os.environ | {"PATH": path})
    assert (tmp_path / "net.xml").exists()
