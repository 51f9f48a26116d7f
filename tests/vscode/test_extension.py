"""The extension in VS Code itself: the language server, the commands, and the problem matcher."""

from __future__ import annotations

import re
import subprocess

import pytest
from conftest import ANSWER_MS, ROOM, START_MS, Workbench
from playwright.sync_api import expect


def test_grammar() -> None:
    done = subprocess.run(["npm", "run", "--silent", "test:grammar"], cwd=ROOM / "extension", capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_diagnostic_and_its_fix(workbench: Workbench) -> None:
    workbench.open("net.nnef")
    expect(workbench.errors()).to_have_count(1, timeout=START_MS)
    workbench.command("Problems: Focus on Problems View")
    problems = workbench.page.locator(".markers-panel")
    expect(problems).to_contain_text("rleu", timeout=ANSWER_MS)
    expect(problems).to_contain_text("nnefc")

    workbench.go_to(6, 12)
    workbench.command("Quick Fix...")
    # By keys: the list of actions is below an element that catches clicks.
    expect(workbench.page.locator(".action-widget .monaco-list-row.focused")).to_contain_text("relu", timeout=ANSWER_MS)
    workbench.page.keyboard.press("Enter")
    expect(workbench.errors()).to_have_count(0, timeout=ANSWER_MS)
    assert "y =   relu(x);" in workbench.save("net.nnef")

    workbench.command("Format Document")
    expect(workbench.page.locator(".view-line").filter(has_text="relu")).to_have_text(re.compile(r"=\srelu\(x\);"), timeout=ANSWER_MS)
    assert "    y = relu(x);" in workbench.save("net.nnef")


class TestNetwork:
    @pytest.fixture
    def texts(self) -> dict[str, str]:
        return {"net.nnef": "version 1.0;\nextension KHR_enable_fragment_definitions KHR_enable_operator_expressions;\n\n"
                            "fragment twice(x: tensor<scalar>) -> (y: tensor<scalar>)\n{\n    y = x + x;\n}\n\n"
                            "graph net(x) -> (y)\n{\n    x = external<scalar>(shape = [1, 4]);\n    y = twice(x);\n}\n"}

    def test_hover(self, workbench: Workbench) -> None:
        workbench.open("net.nnef")
        workbench.go_to(12, 10)
        hover = workbench.page.locator(".monaco-hover:not(.hidden) .hover-contents").first
        for _ in range(10):  # the server may still start
            workbench.command("Show or Focus Hover")
            workbench.page.wait_for_timeout(1000)
            if hover.is_visible():
                break
        expect(hover).to_contain_text("twice( x: tensor<scalar> ) -> ( y: tensor<scalar> )", timeout=ANSWER_MS)

    def test_shapes_are_shown(self, workbench: Workbench) -> None:
        workbench.open("net.nnef")
        expect(workbench.page.locator(".view-line").filter(has_text="twice(x);")).to_contain_text("[1,4]", timeout=START_MS)

    def test_expansion(self, workbench: Workbench) -> None:
        workbench.open("net.nnef")
        expect(workbench.page.locator(".view-line").filter(has_text="twice(x);")).to_contain_text("[1,4]", timeout=START_MS)
        workbench.command("NNEF: Show Expansion")
        expect(workbench.page.locator(".view-line").filter(has_text="add(x, x)")).to_have_count(1, timeout=ANSWER_MS)

    def test_expansion_of_a_wrong_document(self, workbench: Workbench) -> None:
        workbench.open("net.nnef")
        expect(workbench.page.locator(".view-line").filter(has_text="twice(x);")).to_contain_text("[1,4]", timeout=START_MS)
        workbench.go_to(12, 9)
        workbench.page.keyboard.type("t")
        workbench.command("NNEF: Show Expansion")
        expect(workbench.page.locator(".notification-toast")).to_contain_text("the document has errors", timeout=ANSWER_MS)

    def test_drawing(self, workbench: Workbench) -> None:
        workbench.open("net.nnef")
        workbench.command("NNEF: Draw Graph")
        tab = workbench.page.locator(".tab").filter(has_text="Graph of net.nnef")
        expect(tab).to_have_count(1, timeout=START_MS)
        page = workbench.page.frame_locator("iframe.webview").frame_locator("iframe#active-frame")
        expect(page.locator("#canvas")).to_contain_text("add", timeout=START_MS)

    def test_drawing_of_a_wrong_document(self, workbench: Workbench) -> None:
        (workbench.folder / "net.nnef").write_text("version 1.0;\n", encoding="utf-8")
        workbench.open("net.nnef")
        workbench.command("NNEF: Draw Graph")
        expect(workbench.page.locator(".notification-toast")).to_contain_text("No graph: ", timeout=ANSWER_MS)

    def test_layers_and_costs(self, workbench: Workbench) -> None:
        """A product of [1, 4] and [4, 3] has 12 multiply-accumulates."""
        (workbench.folder / "net.nnef").write_text("version 1.0;\n\ngraph net(x, w) -> (y)\n{\n    x = external<scalar>(shape = [1, 4]);\n"
                                                   "    w = external<scalar>(shape = [4, 3]);\n    y = matmul(x, w);\n}\n", encoding="utf-8")
        workbench.open("net.nnef")
        workbench.command("NNEF: Show Layers and Costs")
        rows = workbench.page.locator(".terminal-wrapper .xterm-rows").first
        expect(rows).to_contain_text(re.compile(r"MACs\s+12\s*activations"), timeout=START_MS)
        expect(rows).to_contain_text(re.compile(r"100\.0\s+12\s+MatMul\s+y\s+f32\[1,3\]"), timeout=ANSWER_MS)

    def test_run(self, workbench: Workbench) -> None:
        workbench.open("net.nnef")
        workbench.command("NNEF: Run with Random Inputs")
        # The command itself may have scrolled out of view.
        expect(workbench.page.locator(".terminal-wrapper .xterm-rows").first).to_contain_text(
            re.compile(r"y\s+f32\[1,4\]:\s+min"), timeout=START_MS)


class TestMissingProgram:
    @pytest.fixture
    def settings(self) -> str:
        return ', "nnefc.path": "/nowhere/nnefc"'

    def test_message(self, workbench: Workbench) -> None:
        workbench.open("net.nnef")
        toast = workbench.page.locator(".notification-toast")
        expect(toast).to_contain_text('there is no program "/nowhere/nnefc"', timeout=START_MS)
        expect(toast).to_contain_text("How to install it")
        expect(workbench.errors()).to_have_count(0)


class TestTask:
    @pytest.fixture
    def texts(self) -> dict[str, str]:
        text = "version 1.0;\n\ngraph net(x) -> (y)\n{\n    x = external<scalar>(shape = [1, 4]);\n    y = rleu(x);\n}\n"
        return {"net.nnef": text.replace("rleu", "relu"), "wrong.nnef": text}

    def test_problem_matcher(self, workbench: Workbench) -> None:
        workbench.open("net.nnef")
        workbench.choose("Tasks: Run Task", "nnefc", "check wrong.nnef")
        # The terminal shows itself when the task begins, in front of the problems.
        expect(workbench.page.locator(".terminal-wrapper .xterm-rows").first).to_contain_text("undeclared", timeout=START_MS)
        workbench.command("Problems: Focus on Problems View")
        problems = workbench.page.locator(".markers-panel")
        expect(problems).to_contain_text("wrong.nnef", timeout=START_MS)
        expect(problems).to_contain_text("rleu")
