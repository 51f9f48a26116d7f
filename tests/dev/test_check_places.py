"""tools/dev/check_places.py reports each missing entry of a definition in a small source tree, and nothing if all are there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "tools" / "dev" / "check_places.py"
FILES = {
    "tools/nnefc/show.cpp": "void AddShow(CLI::App& app, int& exit_code) {\n}\n",
    "tools/nnefc/program.cpp": '{"show", AddShow},\n',
    "tests/golden/cli/show.golden": "== command: nnefc show net.nnef\n",
    "tools/docs/pages/tour.md": "    nnefc show net.nnef\n",
    "compiler/lower/rules.h": "NNEFC_DEFINE_RULES(kLowerRules, NNEFC_LOWER_RULES)\n",
    "compiler/lint/rule_book.cpp": "  Add(lower::kLowerRules);\n",
    "tools/api/report.cpp": '  static constexpr Rule kFull{"disk.full", Severity::kError, ""};\n',
    "tools/python/nnefc/conversion/read.py": '_RULE = "convert.unread-model"\n',
    "tools/api/facts/tool_rules.h": 'RULE(kFull, "disk.full", kError, "")\nRULE(kUnread, "convert.unread-model", kError, "")\n',
    "compiler/transform/middle/pads.cpp": "class FusePads : public MiddleReplacementPattern {\n};\n"
                                          "void RegisterPads(TransformationList& list) {\n  list.Add<FusePads>();\n}\n",
    "compiler/transform/pipeline/standard.cpp": "  middle::RegisterPads(list);\n",
    "tests/unit/compiler/transform/pads_test.cpp": 'Run("FusePads");\n',
    "stdlib/ratified.nnef": "fragment fold(x: tensor<scalar>) -> (y: tensor<scalar>);\n",
    "tests/unit/compiler/ir/ops/fold_test.cpp": 'Infer({"fold", {}});\n',
    "compiler/support/tensor/element_type.h": "enum class ElementType : uint8_t {\n  kF32,  // of kNumbers\n};\n",
    "tests/unit/compiler/support/tensor_value_test.cpp": "ElementType::kF32\n",
}


def check(folder: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    done = subprocess.run([sys.executable, str(SCRIPT), str(folder)], capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == done.stdout.endswith(" 0 without an entry\n"), done.stdout + done.stderr
    return done.stdout


def test_nothing_is_missing(tmp_path: Path) -> None:
    assert check(tmp_path, FILES) == "11 places, 0 without an entry\n"


@pytest.mark.parametrize(("name", "text", "message"), [
    ("tools/nnefc/program.cpp", "", "`AddShow` has no row in tools/nnefc/program.cpp"),
    ("tests/golden/cli/show.golden", "== command: nnefc showing\n", "`nnefc show` has no golden"),
    ("tools/docs/pages/tour.md", "nnefc shown\n", "`nnefc show` has no command in tools/docs/pages/tour.md"),
    ("compiler/lint/rule_book.cpp", "Add(kLowerRulesOfOthers);", "`kLowerRules` has no entry"),
    ("tools/api/report.cpp", 'const Rule kFull{"disk.fuller", Severity::kError, ""};\n', "`disk.fuller` has no row in a list of rules"),
    ("tools/python/nnefc/conversion/read.py", '_error("convert.unread", message)\n', "`convert.unread` has no row in a list of rules"),
    ("compiler/transform/pipeline/standard.cpp", "", "`RegisterPads` has no call in standard.cpp"),
    ("compiler/transform/middle/pads.cpp", FILES["compiler/transform/middle/pads.cpp"].replace("Add<FusePads>", "Add<FusePadsToo>"),
     "`FusePads` has no registration"),
    ("tests/unit/compiler/transform/pads_test.cpp", 'Run("FusePadsToo");\n', "`FusePads` has no test"),
    ("tests/unit/compiler/ir/ops/fold_test.cpp", 'Infer({"unfold", {}});\n', "`fold` has no unit test"),
    ("tests/unit/compiler/support/tensor_value_test.cpp", "ElementType::kF16\n", "`ElementType::kF32` has no test"),
])
def test_a_missing_entry_is_reported(name: str, text: str, message: str, tmp_path: Path) -> None:
    report = check(tmp_path, {**FILES, name: text})
    assert f"error: {message}" in report
    assert " 1 without an entry" in report


def test_a_base_class_needs_no_registration(tmp_path: Path) -> None:
    text = FILES["compiler/transform/middle/pads.cpp"].replace("FusePads : public MiddleReplacementPattern", "FusePads : public Fusion")
    base = "class Fusion : public MiddleReplacementPattern {\n};\n"
    assert " 0 without an entry" in check(tmp_path, {**FILES, "compiler/transform/middle/pads.cpp": base + text})
