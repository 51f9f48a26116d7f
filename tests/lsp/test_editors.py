"""Neovim with the configuration of tools/lsp/editors, and the syntax of the other configurations."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tomllib
import xml.etree.ElementTree
from pathlib import Path

import pytest
from conftest import CACHE, NNEFC, ROOT

EDITORS = ROOT / "tools" / "lsp" / "editors"
TEXT = "version 1.0;\n\ngraph net( x ) -> ( y )\n{\n    x = external(shape = [1, 4]);\n    y =   rleu(x);\n}\n"

# Runs in Neovim and writes the results to RESULT.
SCRIPT = """
local result = {}
local function request(method, line, column)
  local params = { textDocument = vim.lsp.util.make_text_document_params(0), position = { line = line, character = column },
                   options = { tabSize = 4, insertSpaces = true } }
  local answers = vim.lsp.buf_request_sync(0, method, params, 20000) or {}
  for _, answer in pairs(answers) do return answer.result end
end
vim.wait(20000, function() return #vim.diagnostic.get(0) > 0 end, 20)
result.before = vim.tbl_map(function(each) return { each.lnum, each.col, each.message } end, vim.diagnostic.get(0))
vim.api.nvim_buf_set_text(0, 5, 10, 5, 14, { 'relu' })
vim.wait(20000, function() return #vim.diagnostic.get(0) == 0 end, 20)
result.after = #vim.diagnostic.get(0)
result.hover = request('textDocument/hover', 5, 11).contents.value
result.definition = request('textDocument/definition', 5, 15).range.start
vim.lsp.util.apply_text_edits(request('textDocument/formatting', 0, 0), 0, 'utf-16')
result.formatted = vim.api.nvim_buf_get_lines(0, 5, 6, false)[1]
local file = io.open(os.getenv('RESULT'), 'w')
file:write(vim.json and vim.json.encode(result) or vim.fn.json_encode(result))
file:close()
vim.cmd('qall!')
"""


@pytest.mark.skipif(shutil.which("nvim") is None, reason="no Neovim: install `neovim`")
def test_neovim(tmp_path: Path) -> None:
    (tmp_path / "net.nnef").write_text(TEXT, encoding="utf-8")
    (tmp_path / "script.lua").write_text(SCRIPT, encoding="utf-8")
    environment = os.environ | {"PATH": f"{Path(NNEFC).parent}:{os.environ['PATH']}", "RESULT": str(tmp_path / "result.json"),
                                "XDG_CACHE_HOME": str(CACHE), "HOME": str(tmp_path)}
    done = subprocess.run(["nvim", "--headless", "--clean", "-c", f"luafile {EDITORS / 'neovim.lua'}", "-c", "edit net.nnef",
                           "-c", "luafile script.lua"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert (tmp_path / "result.json").exists(), done.stdout + done.stderr
    result = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert result["before"][0][:2] == [5, 10] and "rleu" in result["before"][0][2]
    assert result["after"] == 0
    assert "relu" in result["hover"] and "[1,4]" in result["hover"]
    assert result["definition"] == {"line": 4, "character": 4} or result["definition"] == {"line": 2, "character": 11}
    assert result["formatted"] == "    y = relu(x);"


def test_the_other_configurations_are_valid() -> None:
    helix = tomllib.loads((EDITORS / "helix.toml").read_text(encoding="utf-8"))
    server = helix["language-server"]["nnefc"]
    assert [server["command"], *server["args"]] == ["nnefc", "lsp"]
    assert helix["language"][0]["language-servers"] == ["nnefc"]
    kate = json.loads((EDITORS / "kate.json").read_text(encoding="utf-8"))
    assert kate["servers"]["nnef"]["command"] == ["nnefc", "lsp"]
    syntax = xml.etree.ElementTree.parse(EDITORS / "kate.xml").getroot()
    assert syntax.get("name") == kate["servers"]["nnef"]["highlightingModeRegex"].strip("^$")
    emacs = (EDITORS / "emacs.el").read_text(encoding="utf-8")
    assert emacs.count("(") == emacs.count(")") and '("nnefc" "lsp")' in emacs
    # A command as the configurations start it.
    assert subprocess.run([NNEFC, "lsp"], input=b"", capture_output=True, timeout=60, check=False).returncode == 1
