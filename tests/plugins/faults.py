"""Files that are not plug-ins, and plug-ins with one fault each."""

import json
import subprocess

from plugin_test import PluginTest


class PluginFaults(PluginTest):
    """Faults of plug-ins: each is reported, and none ends the program."""

    def test_files_that_are_no_plugins(self) -> None:
        name = self.model("relu.nnef", "y = relu(x)")
        whole = self.example.read_bytes()
        for size in (0, 3, 20, 64, 4096, len(whole) // 2, len(whole) - 64):
            (self.models / "part.so").write_bytes(whole[:size])
            self.bad("plugin.not-a-plug-in", "`part.so`", "check", name, "--extensions", "part.so")
        (self.models / "text.so").write_text("not a library\n" * 100)
        self.bad("plugin.not-a-plug-in", "it is not a shared library", "check", name, "--extensions", "text.so")
        self.bad("plugin.unreadable", "`none.so`", "check", name, "--extensions", "none.so", code=2)
        self.bad("plugin.unreadable", "takes folders of Python modules", "check", name, "--extensions", ".", code=2)
        self.library("empty.so", "")
        self.bad("plugin.not-a-plug-in", "without `NNEFC_EXTENSION`", "check", name, "--extensions", "empty.so")

    def library(self, name: str, body: str, interface: str = "") -> None:
        """Builds a shared library in C with the text of an interface."""
        text = f'__attribute__((section("nnefc_interface"), used)) const char text[] = "{interface}";\n'
        (self.models / "library.c").write_text((text if interface else "") + "int other;\n" + body)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", name, "library.c"], cwd=self.models, check=True)

    def interface(self) -> str:
        whole = self.example.read_bytes()
        begin = whole.index(b"headers ")
        return whole[begin:whole.index(b"\0", begin)].decode()

    def test_another_interface_is_refused_before_any_code_runs(self) -> None:
        name = self.model("relu.nnef", "y = relu(x)")
        aborts = ("#include <stdlib.h>\n__attribute__((constructor)) void begin(void) { abort(); }\n"
                  "void nnefc_register_extension(void* r) { abort(); }\n")
        self.library("other.so", aborts, self.interface().replace("headers ", "headers 0"))
        self.bad("plugin.interface", "it was built for another nnefc", "check", name, "--extensions", "other.so")

    def test_missing_symbols(self) -> None:
        name = self.model("relu.nnef", "y = relu(x)")
        self.library("missing.so", "void _ZN4acme6AbsentEi(void);\n"
                     "void nnefc_register_extension(void* r) { _ZN4acme6AbsentEi(); }\n", self.interface())
        self.bad("plugin.not-loadable", "undefined symbol: acme::Absent(int)", "check", name, "--extensions", "missing.so")
        self.library("mute.so", "", self.interface())
        self.bad("plugin.not-a-plug-in", "`nnefc_register_extension`", "check", name, "--extensions", "mute.so")

    def test_registrations_that_are_wrong(self) -> None:
        name = self.model("relu.nnef", "y = relu(x)")
        wrong = {
            "registration": ("plugin.registration", "no licence"),
            "registration-int": ("plugin.registration", "other than a std::exception"),
            "null": ("plugin.entry", "is null"),
            "unmade": ("plugin.registration", "no parts"),
            "duplicate": ("plugin.duplicate", "`Twice` is registered twice"),
            "taken": ("plugin.duplicate", "nnefc has a transformation"),
            "library-syntax": ("plugin.library-text", "2:35: expected `)`"),
            "library-standard": ("plugin.library-text", "`relu`"),
            "library-primitive": ("plugin.entry", "no operation is registered for it"),
            "library-strings": ("plugin.entry", "`names` of `broken` is of type string[]"),
            "operation-shapeless": ("plugin.entry", "no shape function"),
            "operation-undeclared": ("plugin.entry", "no library of it declares"),
            "operation-standard": ("plugin.duplicate", "nnefc has an operation `opset1.Add`"),
            "operation-opset": ("plugin.entry", "a set of the plug-in's own"),
            "kernel-alone": ("plugin.entry", "`opset1.ReLU`"),
            "lowering-alone": ("plugin.entry", "`relu`"),
        }
        for breaks, (rule, text) in wrong.items():
            with self.subTest(breaks):
                self.bad(rule, text, "run", name, "--random-inputs", "1", "--extensions", self.broken, breaks=breaks)
        self.bad("plugin.duplicate", "example.so` already", "check", name, "--extensions", self.example,
                 "--extensions", self.broken, breaks="example-id")

    def test_what_throws_later(self) -> None:
        relu = self.model("relu.nnef", "y = relu(x)")
        broken = self.model("broken.nnef", "y = broken(x)")
        wrong = {
            "transformation": (relu, "transform.failed", "broken.so` failed: it threw"),
            "shape": (broken, "node.shape-function", "no such axis"),
            "lowering": (broken, "lower.failed", "no form"),
            "lowering-nothing": (broken, "lower.failed", "left an output unset"),
            "lowering-unknown": (broken, "lower.failed", "no operation `acme.Nonesuch`"),
            "kernel": (broken, "run.failed", "no numbers"),
        }
        for breaks, (name, rule, text) in wrong.items():
            with self.subTest(breaks):
                self.bad(rule, text, "run", name, "--random-inputs", "1", "--extensions", self.broken, breaks=breaks)

    def test_every_function_of_a_transformation_may_throw(self) -> None:
        name = self.model("relu.nnef", "y = relu(x)")
        (self.models / "entries.json").write_text('[{"id": "NONE", "match_kind": "general", "custom_attributes": {}}]')
        words = ("transform", name, "--extensions", self.broken, "--transformations-config", "entries.json")
        described = ("phase", "kind", "RunBefore", "RunAfter", "Description", "Example", "ExampleOperations", "is_anchor",
                     "replacement_id")
        for function in described:
            with self.subTest(function):
                text = f"transformation `ThrowsIn` failed: its `{function}` threw: no answer"
                self.bad("plugin.registration", text, *words, breaks=f"in-{function}")
                self.bad("plugin.registration", text, "explain", "ThrowsIn", "--extensions", self.broken,
                         breaks=f"in-{function}")
        for function in ("graph_condition", "Configure", "MayChange"):
            with self.subTest(function):
                done = self.nnefc(*words, breaks=f"in-{function}")
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("transformation `ThrowsIn` of the plug-in ", done.stderr)
                self.assertIn(f"broken.so` failed: its `{function}` threw: no answer [transform.failed]", done.stderr)
        done = self.nnefc("transform", name, "--extensions", self.broken, breaks="in-graph_condition-int")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("its `graph_condition` threw: something other than a std::exception", done.stderr)
        for breaks in ("in-GetPattern", "in-test", "in-ReplacePattern", "op-ReplaceOp", "op-ReplaceSubGraph",
                       "op-GenerateSubGraph", "op-InputEdgesMatch", "op-OutputEdgesMatch", "op-NodesToRemove"):
            with self.subTest(breaks):
                self.bad("transform.failed", "no answer", "transform", name, "--extensions", self.broken, breaks=breaks)

    def test_every_function_of_an_operation_may_throw(self) -> None:
        name = self.model("broken.nnef", "y = broken(x)")
        words = ("run", name, "--random-inputs", "1", "--extensions", self.broken)
        wrong = {
            "kernel-in-add": ("run.failed", "the kernel of `nnef.broken` cannot be added: no registry"),
            "kernel-in-add-int": ("run.failed", "the kernel of `nnef.broken` cannot be added: it threw something other than"),
            "kernel-in-factory": ("run.failed", "the kernel of `nnef.broken` failed: no kernel"),
            "kernel-in-factory-int": ("run.failed", "the kernel of `nnef.broken` failed: it threw something other than"),
            "kernel-in-NewState": ("run.failed", "the kernel of `nnef.broken` failed: no state"),
            "kernel-in-Run": ("run.failed", "the kernel of `nnef.broken` failed: no numbers"),
            "shape-int": ("node.shape-function", "broken.so"),
        }
        for breaks, (rule, text) in wrong.items():
            with self.subTest(breaks):
                for backend in ("reference", "fast"):
                    self.bad(rule, text, *words, "--backend", backend, breaks=breaks)
        # These are only reported, or have an alternative.
        for breaks in ("kernel-in-implementation", "kernel-in-nothing", "view", "products"):
            with self.subTest(breaks):
                done = self.nnefc(*words, "--profile", breaks=breaks)
                self.assertEqual(done.returncode, 0, done.stderr)
                done = self.nnefc("compile", name, "--extensions", self.broken, "-o", "broken.ir", breaks=breaks)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_throws_the_second_time(self) -> None:
        name = self.model("relu.nnef", "y = relu(x)")
        self.bad("plugin.registration", "a transformation cannot be made: no second one", "transform", name,
                 "--extensions", self.broken, breaks="second")

    def test_a_loader_of_folders_may_throw(self) -> None:
        (self.models / "folder").mkdir(exist_ok=True)
        self.bad("plugin.registration", "it cannot load folders: it threw something other than a std::exception", "check",
                 self.model("relu.nnef", "y = relu(x)"), "--extensions", self.broken, "--extensions", "folder",
                 breaks="folders")

    def test_faults_are_reported_as_json(self) -> None:
        done = self.nnefc("check", self.model("relu.nnef", "y = relu(x)"), "--extensions", self.broken, "--format", "json",
                          breaks="registration")
        self.assertEqual(json.loads(done.stderr)["diagnostics"][0]["rule"], "plugin.registration")

    def test_lists_without_a_model(self) -> None:
        self.bad("plugin.registration", "no licence", "transform", "--list-transformations", "--extensions", self.broken,
                 breaks="registration")
