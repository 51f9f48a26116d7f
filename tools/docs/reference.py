"""Makes the reference of the documentation from the product: rules and operations from `nnefc explain`, commands from their
help, the Python API from docstrings, the C++ and C API from headers, and two sections of READMEs."""

from __future__ import annotations

import ast
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# Titles of the sections of operations.
SECTIONS = {
    "4.1": "Sources of tensors", "4.2": "Element-wise operations", "4.3": "Sliding windows", "4.4": "Reductions",
    "4.5": "Shapes", "4.6": "Regions of interest", "4.7": "Matrix multiplication", "4.8": "Variables",
    "4.9": "Compound operations",
}
# Modules of the Python package and its optional parts.
MODULES = ["documents", "model", "executable", "report", "errors", "port", "difference", "openvino", "ray", "spark"]
HEADERS = ["model.h", "operation.h", "executable.h", "tensor.h", "report.h", "port.h", "nnefc.h"]
WORKERS = os.cpu_count() or 1


class Product:
    """Queries the binary."""

    def __init__(self, nnefc: pathlib.Path):
        self.nnefc = nnefc

    def text(self, *words: str, folder: str | None = None) -> str:
        done = subprocess.run([str(self.nnefc), *words], cwd=folder, capture_output=True, text=True, check=True)
        return done.stdout

    def json(self, *words: str) -> dict:
        return json.loads(self.text(*words, "--format", "json"))

    def explain_all(self, names: list[str]) -> list[dict]:
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            return list(pool.map(lambda name: self.json("explain", name), names))


class Specification:
    """Links to the sections of the ratified specification."""

    def __init__(self) -> None:
        stored = json.loads((HERE / "sections.json").read_text(encoding="utf-8"))
        self.url, self.anchors = stored["url"], stored["anchors"]

    def link(self, section: str, words: str = "") -> str:
        """Returns "R 4.3.1" as a link with these words, and "P 4.3.1" as text."""
        number = section[2:]
        if section.startswith("R ") and number in self.anchors:
            return f"[{words or f'{number} of NNEF 1.0.5'}]({self.url}#{self.anchors[number]})"
        return f"{number} of {'NNEF 1.0.5' if section.startswith('R ') else 'the provisional NNEF 1.0'}"


def fenced(text: str, language: str = "text") -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n"


def write_rules(product: Product, specification: Specification, folder: pathlib.Path) -> list[str]:
    """Writes one page for each family of rules, the part of a label before the dot."""
    folder.mkdir(parents=True)
    labels = [rule["rule"] for rule in product.json("explain", "--list")["rules"]]
    families: dict[str, list[str]] = {}
    for rule in product.explain_all(labels):
        families.setdefault(rule["rule"].partition(".")[0], []).append(rule_text(rule, specification))
    for family, texts in families.items():
        (folder / f"{family}.md").write_text(f"# {family}\n\n" + "\n".join(texts), encoding="utf-8")
    index = ["# Rules\n", f"nnefc has {len(labels)} rules. A diagnostic ends with the label of its rule, in brackets. "
             "`nnefc explain LABEL` prints the same texts.\n"]
    for family in sorted(families):
        own = [label for label in labels if label.partition(".")[0] == family]
        index.append(f"- [{family}]({family}.md): " + ", ".join(f"[`{label}`]({family}.md#{label})" for label in own))
    (folder / "index.md").write_text("\n".join(index) + "\n", encoding="utf-8")
    return ["reference/rules/index.md", *(f"reference/rules/{family}.md" for family in sorted(families))]


def rule_text(rule: dict, specification: Specification) -> str:
    sections = ", ".join(specification.link(section) for section in rule["sections"] if section[:2] in ("R ", "P "))
    parts = [f"## {rule['rule']} {{ #{rule['rule']} }}\n",
             f"**{rule['severity'].capitalize()}**" + (f", section {sections}" if sections else "") + "\n"]
    if rule["statement"]:
        parts.append(rule["statement"].strip().replace("<", "&lt;") + "\n")
    shown = set()
    for example in rule["examples"]:
        kind = (example["breaks"], example["dialect"])
        if kind in shown:
            continue
        shown.add(kind)
        dialect = f" ({example['dialect']})" if example["dialect"] else ""
        parts.append(f"{'Breaks the rule' if example['breaks'] else 'Satisfies it'}{dialect}:\n")
        for file in example["files"]:
            if file["name"] != "net.nnef" or file["form"] != "text":
                parts.append(f"`{file['name']}`" + (f", {file['form']}" if file["form"] != "text" else "") + ":\n")
            if file["text"]:
                parts.append(fenced(file["text"], "nnef" if file["name"].endswith(".nnef") else "text"))
        if example["diagnostics"]:
            parts.append(fenced(f"$ {example['command']}\n{example['diagnostics']}"))
    return "\n".join(parts)


def write_operations(product: Product, specification: Specification, folder: pathlib.Path) -> list[str]:
    """Writes one page for each section of the standard's operations, and one for each extension."""
    folder.mkdir(parents=True)
    names = [line.split()[0] for line in product.text("operations").splitlines()]
    pages = product.explain_all(names)
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        graphs = dict(zip(names, pool.map(lambda page: lowered(product, page), pages)))
    reasons = dict(line.split(maxsplit=1) for line in product.text("operations", "--without-openvino").splitlines() if line.strip())
    files: dict[str, list[dict]] = {}
    for page in pages:
        key = ".".join(page["section"][2:].split(".")[:2]) if not page["extension"] else page["extension"].split()[-1]
        files.setdefault(key, []).append(page)
    index = ["# Operations\n", f"nnefc knows {len(names)} operations of NNEF documents. `nnefc explain NAME` prints the same texts.\n"]
    files = dict(sorted(files.items()))  # sections, then extensions
    for key, members in files.items():
        title = f"{SECTIONS[key]} ({key})" if key in SECTIONS else f"Extension {key}"
        texts = [operation_text(page, specification, graphs[page["operation"]], reasons.get(page["operation"], "")) for page in members]
        (folder / f"{key}.md").write_text(f"# {title}\n\n" + "\n".join(texts), encoding="utf-8")
        index.append(f"- [{title}]({key}.md): " +
                     ", ".join(f"[`{page['operation']}`]({key}.md#{page['operation']})" for page in members))
    (folder / "index.md").write_text("\n".join(index) + "\n", encoding="utf-8")
    return ["reference/operations/index.md", *(f"reference/operations/{key}.md" for key in files)]


def lowered(product: Product, page: dict) -> str:
    """Returns the graph of OpenVINO operations of the example, or an empty text if there is no example."""
    if not page["example"]:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "net.nnef").write_text(page["example"], encoding="utf-8")
        return product.text("compile", "net.nnef", folder=folder)


def operation_text(page: dict, specification: Specification, graph: str, reason: str) -> str:
    parts = [f"## {page['operation']} {{ #{page['operation']} }}\n"]
    if page["section"].startswith("R "):
        parts.append(f"Section {specification.link(page['section'])}\n")
    if page["summary"]:
        parts.append(page["summary"] + "\n")
    parts.append(fenced(page["signature"], "nnef"))
    if any(parameter["text"] for parameter in page["parameters"]):
        parts.append("| parameter | meaning |\n|---|---|\n" + "".join(
            f"| `{parameter['name']}` | {cell(parameter['text'])} |\n" for parameter in page["parameters"]))
    if page["formula"]:
        parts.append("Formula:\n\n" + fenced(page["formula"]))
    if page["provisional"]:
        parts.append("In the provisional dialect:\n\n" + fenced(page["provisional"], "nnef"))
    if page["example"]:
        parts.append("Example:\n\n" + fenced(page["example"], "nnef"))
    if page["openvino"]:
        parts.append(f"Lowered to {', '.join(page['openvino'])}:\n\n" + fenced(graph))
    if reason:
        parts.append(f"OpenVINO IR has no form of it: {cell(reason)}\n")
    return "\n".join(parts)


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def write_commands(product: Product, path: pathlib.Path) -> None:
    text = product.text("--help")
    commands = re.findall(r"^  ([a-z]+) {2,}", text.partition("Subcommands:")[2], re.MULTILINE)
    parts = ["# Commands\n", fenced(text)]
    for command in commands:
        parts += [f"## {command}\n", fenced(product.text("help", command))]
    parts += ["## Limits\n", fenced(product.text("help", "limits"))]
    path.write_text("\n".join(parts), encoding="utf-8")


def section_of(readme: str, title: str) -> str:
    """Returns the text below a heading of a README."""
    match = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", (ROOT / readme).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    if not match:
        raise SystemExit(f"{readme} has no section `{title}`")
    return match[1].strip() + "\n"


# Commands whose results are JSON, for the document JSON_DOCUMENT.
JSON_DOCUMENT = "version 1.0;\ngraph net(x) -> (y)\n{\n    x = external(shape = [1, 4]);\n    y = relu(x);\n}\n"
JSON_COMMANDS = ("inspect net.nnef --format json", "draw net.nnef --format json", "run net.nnef --random-inputs 1 --format json",
                 "bench net.nnef --iterations 1 --format json", "fmt --check net.nnef --format json", "explain conv.rank --format json",
                 "explain relu --format json")


def shortened(value: object) -> object:
    """Returns a JSON value with the first item of each list, and the beginning of each long text."""
    if isinstance(value, dict):
        return {key: shortened(item) for key, item in value.items()}
    if isinstance(value, list) and len(value) <= 8 and not any(isinstance(item, (dict, list)) for item in value):
        return value
    if isinstance(value, list):
        return [shortened(item) for item in value[:1]] + ([".."] if len(value) > 1 else [])
    return f"{value[:60]}.." if isinstance(value, str) and len(value) > 62 else value


def json_forms(product: Product) -> str:
    """Returns the section with the JSON that commands print as their results."""
    parts = ["## Results of commands\n", "`--format json` also prints the results of these commands as one JSON object. Keys may be added, none is "
             "removed. Lists are shown with their first item, and long texts with their beginning.\n"]
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "net.nnef").write_text(JSON_DOCUMENT, encoding="utf-8")
        for command in JSON_COMMANDS:
            done = subprocess.run([str(product.nnefc), *command.split()], cwd=folder, capture_output=True, text=True, check=False)
            parts += [f"### nnefc {command.split()[0]}: {command.split()[1]}\n" if command.startswith("explain") else f"### nnefc {command.split()[0]}\n",
                      fenced(f"$ nnefc {command}\n{json.dumps(shortened(json.loads(done.stdout)), indent=2)}")]
    return "\n".join(parts)


def write_texts(product: Product, folder: pathlib.Path) -> None:
    settings = section_of("compiler/lint/README.md", "Settings, in order of increasing priority")
    (folder / "configuration.md").write_text(f"# Configuration of lint\n\nSettings, in order of increasing priority:\n\n{settings}", encoding="utf-8")
    reports = section_of("compiler/support/README.md", "Machine-readable reports")
    schema = (ROOT / "tests/interop/schemas/diagnostics.json").read_text(encoding="utf-8")
    (folder / "reports.md").write_text(f"# Reports for programs\n\n{reports}\n## Schema of the JSON form\n\n{fenced(schema, 'json')}\n{json_forms(product)}",
                                       encoding="utf-8")
    parts = ["# C++ and C API\n", "The installed headers, without their implementation files. Include them as `<nnefc/NAME.h>`.\n"]
    for header in HEADERS:
        parts += [f"## {header}\n", fenced((ROOT / "tools/api" / header).read_text(encoding="utf-8"), "c" if header == "nnefc.h" else "cpp")]
    (folder / "cpp-api.md").write_text("\n".join(parts), encoding="utf-8")


def docstring(node: ast.AST) -> str:
    text = ast.get_docstring(node) if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)) else None
    return fenced(text) if text else ""


def signature(node: ast.FunctionDef) -> str:
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return fenced(f"{node.name}({ast.unparse(node.args)}){returns}", "python")


def write_python(path: pathlib.Path) -> None:
    """Writes signatures and docstrings of all public classes and functions, without importing the package."""
    package = ROOT / "tools/python/nnefc"
    parts = ["# Python API\n", docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8")))]
    for name in MODULES:
        module = ast.parse((package / f"{name}.py").read_text(encoding="utf-8"))
        parts += [f"## nnefc.{name}\n", docstring(module)]
        for node in module.body:
            if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or node.name.startswith("_") or not ast.get_docstring(node):
                continue
            parts.append(f"### {node.name} {{ #{name}.{node.name} }}\n")
            if isinstance(node, ast.FunctionDef):
                parts.append(signature(node))
            parts.append(docstring(node))
            for member in node.body if isinstance(node, ast.ClassDef) else []:
                if isinstance(member, ast.FunctionDef) and not member.name.startswith("_") and ast.get_docstring(member):
                    parts += [signature(member), docstring(member)]
    path.write_text("\n".join(parts), encoding="utf-8")


def write(nnefc: pathlib.Path, folder: pathlib.Path) -> dict[str, list[str]]:
    """Writes the reference, and returns the pages of the generated parts of the navigation."""
    product, specification = Product(nnefc), Specification()
    entries = {"RULES": write_rules(product, specification, folder / "rules"),
               "OPERATIONS": write_operations(product, specification, folder / "operations")}
    write_commands(product, folder / "commands.md")
    write_texts(product, folder)
    write_python(folder / "python-api.md")
    return entries
