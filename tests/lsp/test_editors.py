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
FORMATTED = "version 1.0;\n\ngraph net( image ) -> ( y )\n{\n    image = external(shape = [1, 4]);\n    y = relu(image);\n}"

# Runs in Neovim and writes the results to RESULT. Waits end when their condition is true.
SCRIPT = """
local result = {}
local function lines() return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n') end
local function wait(condition) return vim.wait(60000, condition, 20) end
local function at(line, column) vim.api.nvim_win_set_cursor(0, { line + 1, column }) end
local function float()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= '' then return window end
  end
end

wait(function() return #vim.diagnostic.get(0) > 0 end)
result.diagnostics = vim.tbl_map(function(each) return { each.lnum, each.col, each.message } end, vim.diagnostic.get(0))

vim.ui.select = function(items, options, choose)
  result.actions = vim.tbl_map(options.format_item or tostring, items)
  choose(items[1], 1)
end
at(5, 11)
vim.lsp.buf.code_action()
wait(function() return lines():find('relu') ~= nil end)
wait(function() return #vim.diagnostic.get(0) == 0 end)
result.remaining = #vim.diagnostic.get(0)

at(5, 11)
vim.lsp.buf.hover()
wait(float)
result.hover = table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(float()), 0, -1, false), '\\n')
vim.api.nvim_win_close(float(), true)

at(5, 15)
vim.lsp.buf.definition()
wait(function() return vim.api.nvim_win_get_cursor(0)[1] ~= 6 end)
result.definition = vim.api.nvim_win_get_cursor(0)

at(5, 15)
vim.lsp.buf.rename('image')
wait(function() return lines():find('%(image%);') ~= nil end)

local params = { textDocument = vim.lsp.util.make_text_document_params(0), position = { line = 4, character = 23 } }
for _, answer in pairs(vim.lsp.buf_request_sync(0, 'textDocument/completion', params, 60000)) do
  local items = vim.lsp.util.text_document_completion_list_to_complete_items(answer.result, '')
  result.completions = vim.tbl_map(function(each) return each.word end, items)
end

if vim.lsp.buf.format then vim.lsp.buf.format({ timeout_ms = 60000 }) else vim.lsp.buf.formatting_sync(nil, 60000) end
result.text = lines()
local file = io.open(os.getenv('RESULT'), 'w')
file:write(vim.json and vim.json.encode(result) or vim.fn.json_encode(result))
file:close()
vim.cmd('qall!')
"""

# The same in Emacs. Batch mode has no idle time, so the script itself connects and sends the changes.
EMACS = r"""
(package-activate-all)
(load-file (getenv "CONFIGURATION"))
(require 'eglot)
(setq eglot-sync-connect 60 eglot-confirm-server-initiated-edits nil)
(find-file "net.nnef")
(run-hooks 'post-command-hook)

(defun wait-for (condition)
  (with-timeout (60 nil)
    (while (not (funcall condition))
      (accept-process-output nil 0.02))
    t))
(defun errors ()
  (mapcar (lambda (each) (list (1- (line-number-at-pos (flymake-diagnostic-beg each))) (flymake-diagnostic-text each)))
          (flymake-diagnostics)))
(defun at (word) (goto-char (point-min)) (search-forward word) (goto-char (match-beginning 0)))

(let ((result (list :mode (symbol-name major-mode))))
  (wait-for #'eglot-current-server)
  (flymake-start)
  (wait-for #'errors)
  (setq result (plist-put result :diagnostics (vconcat (mapcar #'vconcat (errors)))))

  (at "rleu")
  (cl-letf (((symbol-function 'completing-read) (lambda (_ choices &rest _) (caar choices)))
            (last-nonmenu-event ?x)) ; no menu of the mouse
    (eglot-code-actions (point) nil "quickfix" t))
  (eglot--signal-textDocument/didChange)
  (wait-for (lambda () (null (errors))))
  (setq result (plist-put result :remaining (length (errors))))

  (at "relu")
  (let (hover)
    (eglot-hover-eldoc-function (lambda (text &rest _) (setq hover text)))
    (wait-for (lambda () hover))
    (setq result (plist-put result :hover (substring-no-properties hover))))

  (at "x);")
  (let ((location (xref-item-location (car (xref-backend-definitions 'eglot (xref-backend-identifier-at-point 'eglot))))))
    (with-current-buffer (marker-buffer (xref-location-marker location))
      (setq result (plist-put result :definition (line-number-at-pos (xref-location-marker location))))))

  (at "x);")
  (eglot-rename "image")

  (at "shape")
  (let ((completions (eglot-completion-at-point)))
    (setq result (plist-put result :completions
                            (vconcat (mapcar #'substring-no-properties (all-completions "" (nth 2 completions)))))))

  (eglot-format-buffer)
  (setq result (plist-put result :text (buffer-substring-no-properties (point-min) (point-max))))
  (with-temp-file (getenv "RESULT") (insert (json-serialize result)))
  (eglot-shutdown (eglot-current-server)))
"""


def run_editor(folder: Path, command: list[str]) -> dict:
    """Returns what a script writes that an editor runs in a folder with a document."""
    (folder / "net.nnef").write_text(TEXT, encoding="utf-8")
    environment = os.environ | {"PATH": f"{Path(NNEFC).parent}:{os.environ['PATH']}", "RESULT": str(folder / "result.json"),
                                "XDG_CACHE_HOME": str(CACHE), "HOME": str(folder)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert (folder / "result.json").exists(), done.stdout + done.stderr
    return json.loads((folder / "result.json").read_text(encoding="utf-8"))


def check_edits(result: dict) -> None:
    """Checks the results after the fix of the wrong name, the renaming of `x` and the formatting."""
    assert result["remaining"] == 0
    assert "relu" in result["hover"] and "[1,4]" in result["hover"]
    assert "shape" in " ".join(result["completions"])
    assert result["text"].rstrip("\n") == FORMATTED


@pytest.mark.skipif(shutil.which("nvim") is None, reason="no Neovim: install `neovim`")
def test_neovim(tmp_path: Path) -> None:
    (tmp_path / "script.lua").write_text(SCRIPT, encoding="utf-8")
    result = run_editor(tmp_path, ["nvim", "--headless", "--clean", "-c", f"luafile {EDITORS / 'neovim.lua'}", "-c", "edit net.nnef",
                                   "-c", "luafile script.lua"])
    assert result["diagnostics"][0][:2] == [5, 10] and "rleu" in result["diagnostics"][0][2]
    assert "relu" in result["actions"][0]
    assert result["definition"] in ([3, 11], [5, 4])
    check_edits(result)


def has_eglot() -> bool:
    """Whether there is an Emacs with a client: Emacs 29, or 28 with the package `elpa-eglot`."""
    command = ["emacs", "-q", "--batch", "--eval", "(progn (package-activate-all) (require 'eglot))"]
    return shutil.which("emacs") is not None and subprocess.run(command, capture_output=True, timeout=120, check=False).returncode == 0


@pytest.mark.skipif(not has_eglot(), reason="no Emacs with eglot: install `emacs-nox` and, for Emacs 28, `elpa-eglot`")
def test_emacs(tmp_path: Path) -> None:
    (tmp_path / "script.el").write_text(EMACS, encoding="utf-8")
    result = run_editor(tmp_path, ["env", f"CONFIGURATION={EDITORS / 'emacs.el'}", "emacs", "-q", "--batch", "-l", "script.el"])
    assert result["mode"] == "nnef-mode"
    assert result["diagnostics"][0][0] == 5 and "rleu" in result["diagnostics"][0][1]
    assert result["definition"] in (3, 5)
    check_edits(result)


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
