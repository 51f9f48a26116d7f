"""The machine-readable reports against their schemas, and colour.

The documents are those of compiler/explain/rules (every rule broken and satisfied: texts, tensor files, archives,
graph.quant) and several of tests/networks; the schema of SARIF is OASIS' own (schemas/README.md).
"""

from __future__ import annotations

import concurrent.futures
import json
import os
import pty
import re
import shlex
import subprocess
import sys
import urllib.parse
from pathlib import Path

import jsonschema
import pytest

HERE = Path(__file__).resolve().parent.parent
TESTS = HERE.parent
sys.path.insert(0, str(TESTS / "golden"))

import file_forms  # noqa: E402
import rule_file  # noqa: E402

SCHEMAS = HERE / "schemas"
# A tensor file whose header ends early.
DAMAGED = rule_file.Example("breaks", "", "nnefc lint model", "", [
    ("model/graph.nnef", "", "version 1.0;\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [1]);\n"
                             "    w = variable(shape = [1], label = 'w');\n    y = add(x, w);\n}\n"),
    ("model/w.dat", "bytes", "hex 4e ef 01 00\nu32 4 1 1\n")])
NETWORKS = ["googlenet_provisional.nnef", "resnet18_spp.nnef", "alexnet.nnef"]


def _validator(name: str) -> jsonschema.protocols.Validator:
    schema = json.loads((SCHEMAS / name).read_text(encoding="utf-8"))
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema, format_checker=kind.FORMAT_CHECKER)


def _examples(form: str) -> list[tuple[str, rule_file.Example]]:
    """Returns, for every rule, the first example of each kind in each dialect."""
    found = []
    for path in sorted(rule_file.FOLDER.glob("*.rule")):
        seen = set()
        for example in rule_file.read(path).examples:
            words = shlex.split(example.command)
            # A run only reports errors.
            is_report = words[1] in ("check", "lint") or (words[1] == "run" and example.kind == "breaks")
            if not is_report or "--format" in words or (example.kind, example.dialect) in seen:
                continue
            seen.add((example.kind, example.dialect))
            found.append((path.stem, example))
    # A run has its own result, which SARIF cannot express.
    return [item for item in found if form != "sarif" or not item[1].command.startswith("nnefc run")]


# Rules whose example is a missing file: the environment is at fault.
UNREADABLE = {"container.unreadable", "file.unreadable", "plugin.unreadable"}


class Report:
    """The output of a command in one form, and the texts that it refers to."""

    def __init__(self, label: str, command: str, exit_code: int, text: str, files: dict[str, bytes]):
        self.label, self.command, self.exit_code, self.files = label, command, exit_code, files
        try:
            self.value = json.loads(text)
        except json.JSONDecodeError as error:
            raise AssertionError(f"{label}: exit code {exit_code}, no JSON: {text[:500]}") from error


def _report(nnefc: Path, folder: Path, label: str, example: rule_file.Example, form: str) -> Report:
    files: dict[str, bytes] = {}
    document = [("net.nnef", "", example.document)] if example.document else []
    for name, kind, text in document + example.files:
        files[name] = file_forms.make(name, kind, text, files)
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(files[name])
    _, command, *rest = shlex.split(example.command)
    words = [str(nnefc), command, "--format", form, *rest]
    done = subprocess.run(words, cwd=folder, capture_output=True, timeout=60, check=False)
    return Report(label, command, done.returncode, done.stderr.decode("utf-8"), files)


def _reports(nnefc: Path, base: Path, form: str) -> list[Report]:
    examples = _examples(form)
    networks = [("", rule_file.Example("keeps", "", f"nnefc lint {TESTS}/networks/{name} --enable all", ""))
                for name in NETWORKS] + [("damaged", DAMAGED)]
    folders = [base / str(number) for number in range(len(examples) + len(networks))]
    for folder in folders:
        folder.mkdir()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda item: _report(nnefc, item[0], *item[1], form),
                             zip(folders, examples + networks)))


def _faults(validator: jsonschema.protocols.Validator, report: Report) -> list[str]:
    return [f"{report.label}: {fault.json_path}: {fault.message}" for fault in validator.iter_errors(report.value)]


@pytest.fixture(scope="module")
def sarif(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Report]:
    return _reports(nnefc, tmp_path_factory.mktemp("sarif"), "sarif")


@pytest.fixture(scope="module")
def plain(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Report]:
    return _reports(nnefc, tmp_path_factory.mktemp("json"), "json")


def test_schemas_refuse_what_is_wrong() -> None:
    """The validators are effective: each finds small damage."""
    log = {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}, "results": [{"message": {"text": "m"}}]}]}
    assert not list(_validator("sarif-2.1.0.json").iter_errors(log))
    for damage in ({"runs": [{"tool": {"driver": {"name": "x"}}, "results": [{"message": {"text": "m"}, "level": "bad"}]}]},
                   {"runs": [{"tool": {"driver": {}}}]},
                   {"runs": [{"tool": {"driver": {"name": "x"}}, "artifacts": [{"location": {"uri": "a b<"}}]}]},
                   {"version": "2.0"}):
        assert list(_validator("sarif-2.1.0.json").iter_errors(log | damage)), damage
    entry = {"severity": "error", "rule": "a.b", "section": "R 3.1, P 3.1", "message": "m", "notes": [], "fixes": []}
    assert not list(_validator("diagnostics.json").iter_errors({"diagnostics": [entry]}))
    for damage in ({"severity": "bad"}, {"rule": "A B"}, {"section": "3"}, {"line": 1}, {"more": 1}, {"notes": [{}]}):
        assert list(_validator("diagnostics.json").iter_errors({"diagnostics": [entry | damage]})), damage


def test_sarif_follows_the_schema(sarif: list[Report]) -> None:
    validator = _validator("sarif-2.1.0.json")
    faults = [fault for report in sarif for fault in _faults(validator, report)]
    assert not faults, "\n".join(faults[:20])
    assert len(sarif) > 50


def test_json_follows_the_schema(plain: list[Report]) -> None:
    validator = _validator("diagnostics.json")
    faults = [fault for report in plain for fault in _faults(validator, report)]
    assert not faults, "\n".join(faults[:20])


def test_both_forms_say_the_same(sarif: list[Report], plain: list[Report]) -> None:
    for left, right in zip(sarif, [report for report in plain if report.command != "run"], strict=True):
        results = [result for run in left.value["runs"] for result in run["results"]]
        assert [(r["ruleId"], r["level"], r["message"]["text"]) for r in results] == \
            [(d["rule"], d["severity"], d["message"]) for d in right.value["diagnostics"]], left.label
        assert [[fix["properties"]["applicability"] for fix in r.get("fixes", [])] for r in results] == \
            [sorted({fix["applicability"] for fix in d["fixes"]}) for d in right.value["diagnostics"]], left.label
        failed = 2 if left.label in UNREADABLE else 1
        expected = failed if any(r["level"] == "error" for r in results) else 0
        assert left.exit_code == right.exit_code == expected, left.label


def test_sarif_covers_fixes_notes_and_binary_files(sarif: list[Report]) -> None:
    """The documents are sufficient: every part of the form occurs."""
    results = [result for report in sarif for run in report.value["runs"] for result in run["results"]]
    assert sum("fixes" in result for result in results) > 10
    assert sum("relatedLocations" in result for result in results) > 10
    regions = [result["locations"][0]["physicalLocation"].get("region", {}) for result in results if "locations" in result]
    assert any("byteOffset" in region for region in regions)
    assert any("startLine" in region for region in regions)


def test_sarif_rules_are_described(sarif: list[Report]) -> None:
    for report in sarif:
        for run in report.value["runs"]:
            rules = run["tool"]["driver"]["rules"]
            assert len({rule["id"] for rule in rules}) == len(rules)
            for result in run["results"]:
                rule = rules[result["ruleIndex"]]
                assert rule["id"] == result["ruleId"]
                assert rule["help"]["text"] and rule["defaultConfiguration"]["level"] in ("error", "warning", "note")


def _lines(text: bytes) -> list[str]:
    return text.decode("utf-8", "replace").split("\n")


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def test_sarif_regions_lie_within_their_files(sarif: list[Report]) -> None:
    def physical_locations(value):
        if isinstance(value, dict):
            for key in ("physicalLocation",):
                if key in value:
                    yield value[key]["artifactLocation"]["uri"], value[key].get("region")
            if "replacements" in value:
                for replacement in value["replacements"]:
                    yield value["artifactLocation"]["uri"], replacement["deletedRegion"]
            for item in value.values():
                yield from physical_locations(item)
        elif isinstance(value, list):
            for item in value:
                yield from physical_locations(item)

    count = 0
    for report in sarif:
        for uri, region in physical_locations(report.value["runs"]):
            text = report.files.get(urllib.parse.unquote(uri))
            if region is None or text is None:  # the library, a folder, or a member of an archive
                continue
            count += 1
            if "byteOffset" in region:
                assert region["byteOffset"] + region["byteLength"] <= len(text), report.label
                continue
            lines = _lines(text)
            begin, end = (region["startLine"], region["startColumn"]), (region["endLine"], region["endColumn"])
            assert begin <= end, report.label
            for line, column in (begin, end):
                assert line <= len(lines), report.label
                assert column <= _units(lines[line - 1]) + 1, (report.label, region)
    assert count > 100


def _run(nnefc: Path, folder: Path, text: str, *options: str) -> subprocess.CompletedProcess:
    (folder / "net.nnef").write_text(text, encoding="utf-8")
    return subprocess.run([str(nnefc), "check", "net.nnef", *options], cwd=folder, capture_output=True, timeout=60,
                          check=False)


# A character of two UTF-16 code units precedes the mistake.
BROKEN = "version 1.0;\ngraph g( x ) -> ( y ) { x = external(shape = [1]); \U0001F600 y = rleu(x); }\n"


def test_columns_count_utf16_in_sarif_and_bytes_in_json(nnefc: Path, tmp_path: Path) -> None:
    line = BROKEN.split("\n")[1]
    results = json.loads(_run(nnefc, tmp_path, BROKEN, "--format", "sarif").stderr)["runs"][0]["results"]
    regions = [result["locations"][0]["physicalLocation"]["region"] for result in results]
    before = line[:line.index("rleu")]
    assert _units(before) + 1 in [region["startColumn"] for region in regions]
    found = json.loads(_run(nnefc, tmp_path, BROKEN, "--format", "json").stderr)["diagnostics"]
    assert len(before.encode("utf-8")) + 1 in [diagnostic["column"] for diagnostic in found]


def test_a_fix_of_several_parts_is_one_fix(nnefc: Path, tmp_path: Path) -> None:
    (tmp_path / "net.nnef").write_text(
        "version 1.0;\ngraph g( x ) -> ( y ) { x = external(shape = [1]); "
        "y = linear_quantize(x, 0.0, 1.0, bits = 8); }\n", encoding="utf-8")
    done = subprocess.run([str(nnefc), "lint", "net.nnef", "--format", "sarif"], cwd=tmp_path, capture_output=True,
                          check=False)
    (result,) = json.loads(done.stderr)["runs"][0]["results"]
    (fix,) = result["fixes"]
    (change,) = fix["artifactChanges"]
    assert [part["insertedContent"]["text"] for part in change["replacements"]] == \
        ["min_max_linear_quantize", ", signed = false, symmetric = false"]


# The forms of `--format` of each command: a report of diagnostics alone has all; a result that programs read has text
# and JSON.
ALL_FORMS = ("text", "json", "sarif", "github")
FORMS = {"check": ALL_FORMS, "lint": ALL_FORMS, "expand": ALL_FORMS, "upgrade": ALL_FORMS, "compile": ALL_FORMS, "convert": ALL_FORMS,
         "transform": ALL_FORMS,
         "fmt": ("text", "json"), "run": ("text", "json"), "inspect": ("text", "json"), "diff": ("text", "json"), "draw": ("text", "json"), "bench": ("text", "json"),
         "explain": ("text", "json"), "operations": (), "lsp": ()}


def test_the_forms_are_those_of_all_commands(nnefc: Path, tmp_path: Path) -> None:
    text = subprocess.run([str(nnefc), "--help"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True).stdout
    commands = text.split("Subcommands:")[1].split("\n\n")[0]
    assert set(re.findall(r"^  ([a-z]+)", commands, re.MULTILINE)) == set(FORMS)


@pytest.mark.parametrize(("command", "form"), [(command, form) for command in FORMS for form in ALL_FORMS])
def test_every_command_has_or_refuses_a_form(nnefc: Path, tmp_path: Path, command: str, form: str) -> None:
    """For a valid document and an invalid one, the output is in the form, or the form is rejected."""
    right = "version 1.0;\ngraph g( x ) -> ( y ) { x = external(shape = [1]); y = relu(x); }\n"
    (tmp_path / "net.nnef").write_text(right, encoding="utf-8")
    (tmp_path / "wrong.nnef").write_text(right.replace("relu(x)", "relu(x, 3)").replace("shape = [1]", "shape = [1"), encoding="utf-8")
    words = {"run": ["--random-inputs", "1"], "bench": ["--iterations", "1"]}.get(command, [])

    def run(model: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(nnefc), command, *model, *words, "--format", form], cwd=tmp_path, capture_output=True, text=True,
                              timeout=60, check=False)

    done = run({"explain": ["relu"], "operations": [], "lsp": [], "diff": ["net.nnef", "net.nnef"]}.get(command, ["net.nnef"]))
    if form not in FORMS[command]:
        assert (done.returncode, done.stdout) == (2, "")
        assert "`--format`" in done.stderr
        assert not FORMS[command] or "expected text or json, not" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    if command in ("run", "inspect", "diff", "draw", "bench", "explain"):
        assert (form == "json") == done.stdout.startswith("{")
        assert form != "json" or json.loads(done.stdout)
    if command == "explain":
        return
    done = run(["net.nnef", "wrong.nnef"] if command == "diff" else ["wrong.nnef"])
    assert done.returncode == 1
    if form in ("json", "sarif"):
        value = json.loads(done.stderr)
        assert value["diagnostics"] if form == "json" else value["runs"][0]["results"]
    else:
        assert done.stderr.startswith("::error" if form == "github" else "wrong.nnef:2:"), done.stderr


def test_fmt_lists_files_in_json(nnefc: Path, tmp_path: Path) -> None:
    text = "version 1.0;\n\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [1]);\n    y = relu(x);\n}\n"
    (tmp_path / "a.nnef").write_text(text, encoding="utf-8")
    (tmp_path / "b.nnef").write_text(text.replace("    y", "  y"), encoding="utf-8")
    done = subprocess.run([str(nnefc), "fmt", "--check", "--format", "json", "a.nnef", "b.nnef"], cwd=tmp_path, capture_output=True, timeout=60,
                          check=False)
    assert done.returncode == 1
    assert json.loads(done.stdout) == {"would_change": ["b.nnef"]}


@pytest.mark.parametrize("command", [command for command, forms in FORMS.items() if forms and command not in ("explain", "transform")])
def test_every_command_reports_in_every_form(nnefc: Path, tmp_path: Path, command: str) -> None:
    """A mistake of the document, and a missing file."""
    (tmp_path / "net.nnef").write_text(
        "version 1.0;\ngraph g( x ) -> ( y ) { x = external(shape = [1]) y = relu(x, 3); }\n", encoding="utf-8")
    for model, exit_code in (("net.nnef", 1), ("nowhere.nnef", 2)):
        for form, schema in (("json", "diagnostics.json"), ("sarif", "sarif-2.1.0.json")):
            if form not in FORMS[command]:
                continue
            models = [model, model] if command == "diff" else [model]
            done = subprocess.run([str(nnefc), command, *models, "--format", form], cwd=tmp_path, capture_output=True,
                                  timeout=60, check=False)
            assert done.returncode == exit_code, done.stderr
            value = json.loads(done.stderr)
            assert not list(_validator(schema).iter_errors(value))
            assert (value["diagnostics"] if form == "json" else value["runs"][0]["results"])


ESCAPE = b"\x1b["


def test_colours_are_those_of_every_terminal(nnefc: Path, tmp_path: Path) -> None:
    """The sixteen colours of ANSI, which do not depend on TERM or COLORTERM: none of 256, none of 24 bits."""
    text = BROKEN.replace("\U0001F600 ", "").replace("shape = [1]", "shape = [1.0]")
    said = _run(nnefc, tmp_path, text, "--color", "always").stderr
    codes = {int(code) for codes in re.findall(rb"\x1b\[([0-9;]*)m", said) for code in codes.split(b";") if code}
    assert codes and codes <= {0, 1, *range(30, 38), *range(90, 98)}


def test_colour_is_for_terminals_and_on_demand(nnefc: Path, tmp_path: Path) -> None:
    text = BROKEN.replace("\U0001F600 ", "")
    assert ESCAPE not in _run(nnefc, tmp_path, text).stderr
    assert ESCAPE not in _run(nnefc, tmp_path, text, "--color", "never").stderr
    coloured = _run(nnefc, tmp_path, text, "--color", "always").stderr
    assert ESCAPE in coloured
    # Only the colour differs.
    assert re.sub(rb"\x1b\[[0-9;]*m", b"", coloured) == _run(nnefc, tmp_path, text).stderr
    for form in ("json", "sarif"):
        assert ESCAPE not in _run(nnefc, tmp_path, text, "--color", "always", "--format", form).stderr


@pytest.mark.parametrize(("options", "variables", "expected"), [
    ([], {}, True), ([], {"NO_COLOR": "1"}, False), ([], {"NO_COLOR": ""}, True), ([], {"TERM": "dumb"}, False),
    (["--color", "never"], {}, False), (["--color", "always"], {"NO_COLOR": "1"}, True)])
def test_colour_on_a_terminal(nnefc: Path, tmp_path: Path, options: list[str], variables: dict[str, str],
                              expected: bool) -> None:
    (tmp_path / "net.nnef").write_text(BROKEN.replace("\U0001F600 ", ""), encoding="utf-8")
    ours, theirs = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "TERM")}
    with subprocess.Popen([str(nnefc), "check", "net.nnef", *options], cwd=tmp_path, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=theirs,
                          env=environment | variables) as process:
        os.close(theirs)
        said = b""
        try:
            while part := os.read(ours, 65536):
                said += part
        except OSError:  # the other end is closed
            pass
        process.wait(timeout=60)
    os.close(ours)
    assert b"rleu" in said
    # Progress may clear its line; the test is about colours.
    assert bool(re.search(rb"\x1b\[[0-9;]+m", said)) == expected


@pytest.mark.parametrize("words", ["inspect net.nnef", "explain conv", "explain control_flow", "explain binding.duplicate-argument"])
def test_colour_of_what_is_told_on_standard_output(nnefc: Path, tmp_path: Path, words: str) -> None:
    (tmp_path / "net.nnef").write_text(
        "version 1.0;\ngraph g( x ) -> ( y ) { x = external(shape = [1, 2]); y = relu(x); }\n", encoding="utf-8")

    def run(*options: str) -> bytes:
        done = subprocess.run([str(nnefc), *words.split(), *options], cwd=tmp_path, capture_output=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout

    plain = run()
    assert ESCAPE not in plain + run("--color", "never") + run("--color", "always", "--format", "json")
    coloured = run("--color", "always")
    assert ESCAPE in coloured
    assert re.sub(rb"\x1b\[[0-9;]*m", b"", coloured) == plain
    # A file is not a terminal.
    assert run("-o", "report.txt") == b""
    assert (tmp_path / "report.txt").read_bytes() == plain
    ours, theirs = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "TERM")}
    with subprocess.Popen([str(nnefc), *words.split()], cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=theirs,
                          stderr=subprocess.DEVNULL, env=environment) as process:
        os.close(theirs)
        said = b""
        try:
            while part := os.read(ours, 65536):
                said += part
        except OSError:  # the other end is closed
            pass
        process.wait(timeout=60)
    os.close(ours)
    assert said.replace(b"\r\n", b"\n") == coloured
