"""check, lint, format, upgrade and explain."""

import json
import pickle

import pytest
from conftest import ROOT, SUM

import nnefc

NETWORKS = ROOT / "tests" / "networks"
WRONG = SUM.replace("add(a, b)", "ad(a, b)").replace("shape = [2, 3]);\n    b", "shape = [2, 3], shape = [1]);\n    b")


def test_a_right_document_gives_a_true_and_empty_report():
    for report in (nnefc.check(SUM), nnefc.check(NETWORKS / "alexnet.nnef"), nnefc.check(str(NETWORKS / "alexnet.nnef"))):
        assert report
        assert len(report) == 0
        assert str(report) == ""


def test_a_mistake_is_told_with_its_rule_place_and_fix():
    report = nnefc.check(SUM.replace("add(a, b)", "addd(a, b)"), name="net.nnef")
    assert not report
    (mistake,) = report.errors
    assert mistake.severity == "error"
    assert (mistake.place.line, mistake.place.column, mistake.place.end_column) == (6, 9, 13)
    assert mistake.file == "net.nnef"
    assert "`addd`" in mistake.message
    assert str(mistake) in str(report)
    assert mistake.rule in nnefc.explain(mistake.rule)
    assert [fix.text for fix in mistake.fixes] == ["add"]
    assert mistake.fixes[0].place == mistake.place
    assert mistake.fixes[0].applicability == "safe"


def test_all_mistakes_are_told_in_the_order_of_the_text():
    report = nnefc.check(WRONG)
    assert report.error_count == len(report.errors) == 2
    assert [item.place.line for item in report] == sorted(item.place.line for item in report)
    assert report.summary() == "2 errors"
    assert repr(report) == "<nnefc.Report: 2 errors>"


def test_a_report_is_shown_in_terminals_and_notebooks(capsys):
    report = nnefc.check(SUM.replace("add(a, b)", "add(a, '<b>')"))
    report.show()
    plain = capsys.readouterr().err
    assert "error:" in plain
    assert "\x1b[" not in plain
    report.show(color=True)
    assert "\x1b[" in capsys.readouterr().err
    page = report._repr_html_()
    assert ">error:</b>" in page
    assert "<b>'" not in page
    assert "&lt;b&gt;" in page


def test_a_report_is_told_to_machines_and_other_processes():
    report = nnefc.check(WRONG)
    assert len(json.loads(report.to_json())["diagnostics"]) == 2
    assert json.loads(report.to_sarif())["version"] == "2.1.0"
    again = pickle.loads(pickle.dumps(report))
    assert again.diagnostics == report.diagnostics
    assert str(again) == str(report)


def test_a_file_that_is_not_there_is_told(tmp_path):
    report = nnefc.check(tmp_path / "no.nnef")
    assert not report
    assert report.environment_failed
    with pytest.raises(nnefc.SystemFailure, match="no.nnef"):
        nnefc.load(tmp_path / "no.nnef")
    with pytest.raises(OSError):
        nnefc.load(tmp_path / "no.nnef")


def test_the_dialect_can_be_given():
    provisional = NETWORKS / "alexnet_provisional.nnef"
    assert nnefc.check(provisional)
    assert nnefc.check(provisional, dialect="provisional")
    assert not nnefc.check(provisional, dialect="ratified")
    with pytest.raises(ValueError, match="'auto', 'provisional' or 'ratified'"):
        nnefc.check(SUM, dialect="2.0")


def test_what_exporters_write_is_read_as_asked():
    nested = SUM.replace("add(a, b)", "add(a, [[1.0, 2.0, 3.0]])")
    assert not nnefc.check(nested)
    lenient = nnefc.check(nested, lenient=True)
    assert lenient
    assert lenient.warnings
    assert not nnefc.check(nested, lenient=False)


def test_shapes_of_inputs_can_be_given():
    assert nnefc.check(SUM, shapes={"a": [5, 3], "b": (1, 3)})
    assert not nnefc.check(SUM, shapes={"a": [5, 3], "b": [4, 3]})


def test_lint_tells_what_is_surprising_by_its_settings():
    unused = SUM.replace("    y =", "    z = exp(a);\n    y =")
    (finding,) = nnefc.lint(unused).diagnostics
    assert finding.rule == "lint.unused-tensor"
    assert finding.severity == "warning"
    assert not nnefc.lint(unused, disable=["unused-tensor"]).diagnostics
    assert not nnefc.lint(unused, levels={"unused-tensor": "error"})
    with pytest.raises(TypeError, match=r"\['unused-tensor'\]"):
        nnefc.lint(unused, disable="unused-tensor")
    report = nnefc.lint(unused, disable=["unused-tensors"])
    assert "did you mean `unused-tensor`?" in str(report)
    assert not report


def test_lint_finds_the_configuration_of_a_project(tmp_path):
    (tmp_path / ".nnefc.json").write_text('{"lint": {"disable": ["unused-tensor"]}}')
    document = tmp_path / "net.nnef"
    document.write_text(SUM.replace("    y =", "    z = exp(a);\n    y ="))
    assert len(nnefc.lint(document)) == 0
    assert len(nnefc.lint(document, no_config=True)) == 1


def test_format_keeps_comments():
    text = nnefc.format("version 1.0;\ngraph  g( x )->( y ){ # c\nx=external( shape=[1] );y=exp( x );}")
    assert "    y = exp(x);\n" in text
    assert "# c" in text
    assert nnefc.format(text) == text
    with pytest.raises(nnefc.ModelError) as failure:
        nnefc.format("version 1.0;\ngraph")
    assert failure.value.diagnostics


def test_upgrade_gives_a_ratified_document():
    text = nnefc.upgrade(NETWORKS / "alexnet_provisional.nnef")
    assert nnefc.check(text, dialect="ratified")
    with pytest.raises(nnefc.ModelError):
        nnefc.upgrade("version 1.0\ngraph g(x) -> (y) { x = nothing(); }")


def test_explain_tells_of_rules_and_operations():
    assert "groups" in nnefc.explain("conv")
    with pytest.raises(KeyError, match="conv"):
        nnefc.explain("conf")
    with pytest.raises(KeyError):
        nnefc.explain("--list")


def test_what_is_no_text_or_option_is_told(tmp_path):
    with pytest.raises(ValueError, match="not Unicode"):
        nnefc.check("version \ud800 1.0;\n")
    with pytest.raises(ValueError, match="not Unicode"):
        nnefc.check(tmp_path / "a\udcff.nnef")
    (tmp_path / "bytes.nnef").write_bytes(b"version 1.0;\n\xff\n")
    with pytest.raises(nnefc.ModelError, match="bytes.nnef:2:1"):
        nnefc.format(tmp_path / "bytes.nnef")
    report = nnefc.check(tmp_path / "bytes.nnef")
    assert "\\xff" in str(report)
    assert json.loads(report.to_json())
    with pytest.raises(ValueError, match="64 bits"):
        nnefc.load(SUM, random_weights=2**64)
    with pytest.raises(TypeError, match=r"\['unused-tensor'\]"):
        nnefc.lint(SUM, enable="unused-tensor")
    for threads in (-1, 2**64, 1.5):
        with pytest.raises(ValueError, match="threads is"):
            nnefc.load(SUM).compile(threads=threads)
    with pytest.raises(KeyError):
        nnefc.explain("\0")


def test_an_input_may_be_called_as_arguments_are():
    executable = nnefc.load(SUM.replace("(a, b)", "(self, b)").replace("    a =", "    self =")).compile()
    assert executable(self=[[1.0] * 3] * 2, b=[[2.0] * 3] * 2)["y"].tolist() == [[3.0] * 3] * 2
