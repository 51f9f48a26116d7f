#!/usr/bin/env python3
"""Labels, names in archives and links that point outside a model: commands write and read no file outside.

    paths.py NNEFC
"""

from __future__ import annotations

import io
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

OUTSIDE = ("../victim/v", "a/../../victim/v", "../../../../victim/v", "/../victim/v", "..\\\\victim\\\\v", "/", "a/..")
TRACT = "extension tract_registry tract_core;\nextension tract_registry tract_resource;\n"


def ratified(*lines: str, extensions: str = "") -> str:
    body = "".join(f"    {line};\n" for line in lines)
    return f"version 1.0;\n{extensions}graph net( x ) -> ( y )\n{{\n{body}}}\n"


def provisional(*lines: str) -> str:
    return ratified(*lines).replace(";", "")


def labelled(label: str) -> tuple[str, ...]:
    return ("x = external(shape = [1, 2])", f"v = variable(shape = [1, 2], label = '{label}')", "y = add(x, v)")


class Paths(unittest.TestCase):
    nnefc = ""

    def setUp(self) -> None:
        self.temporary = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.temporary.name)
        self.work = self.root / "deep" / "work"
        self.work.mkdir(parents=True)
        for victim in (self.root / "victim", self.root / "deep" / "victim", self.work / "victim"):
            victim.mkdir()
            (victim / "v.dat").write_text("precious")

    def tearDown(self) -> None:
        self.temporary.cleanup()

    def run_nnefc(self, *words: str) -> subprocess.CompletedProcess:
        done = subprocess.run([self.nnefc, *words], cwd=self.work, capture_output=True, text=True, timeout=60)
        self.assertIn(done.returncode, (0, 1, 2), f"{words}: {done.returncode}\n{done.stderr}")
        return done

    def outside(self) -> dict[str, bytes]:
        """Returns the files outside of the folder `out` of the work folder."""
        kept = self.work / "out"
        return {str(path.relative_to(self.root)): path.read_bytes() for path in self.root.rglob("*")
                if path.is_file() and kept not in path.parents}

    def refuses(self, said: str, *words: str) -> None:
        before = self.outside()
        done = self.run_nnefc(*words)
        self.assertNotEqual(done.returncode, 0, f"{words} succeeded")
        self.assertIn(said, done.stderr)
        self.assertEqual(self.outside(), before)
        self.assertFalse((self.work / "out").exists())

    def test_labels(self) -> None:
        for label in OUTSIDE:
            for dialect in (ratified, provisional):
                with self.subTest(label, dialect=dialect.__name__):
                    text = dialect(*labelled(label))
                    (self.work / "net.nnef").write_text(text)
                    (self.work / "model").mkdir(exist_ok=True)
                    (self.work / "model" / "graph.nnef").write_text(text)
                    (self.work / "model" / "other.dat").write_text("")
                    for model in ("net.nnef", "model", "model/graph.nnef"):
                        self.refuses("[variable.label]", "check", model)
                        self.refuses("[variable.label]", "run", model, "--random-weights", "1", "--random-inputs", "1",
                                     "--save-weights", "out")
                        self.refuses("[variable.label]", "upgrade", model, "-o", "out")
                        self.refuses("[variable.label]", "compile", model, "-o", "net.xml")

    def test_labels_within_the_folder_are_written_where_they_are_read(self) -> None:
        random = ("--random-inputs", "1")
        for label in ("v", "/v", "a//v", "./a/v", "a/../v", "a\\\\v", "..v", "v/"):
            with self.subTest(label):
                (self.work / "net.nnef").write_text(ratified(*labelled(label)))
                before = self.outside()
                done = self.run_nnefc("run", "net.nnef", "--random-weights", "1", *random, "--save-weights", "out", "-o",
                                      "out.npz")
                self.assertEqual(done.returncode, 0, done.stderr)
                done = self.run_nnefc("run", "out", *random, "--compare", "out.npz")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                (self.work / "out.npz").unlink()
                self.assertEqual(self.outside(), before)
                shutil.rmtree(self.work / "out")

    def test_resources_and_models_inside(self) -> None:
        (self.root / "deep" / "secret.json").write_text('{"size": 3}')
        (self.root / "deep" / "graph.nnef").write_text(ratified("x = external(shape = [1, 2])", "y = relu(x)"))
        model = self.work / "model"
        model.mkdir()
        for line, said in (("y = reshape(x, shape = [tract_resource_get('../../secret', '$.size')])", "[resource.missing]"),
                           ("y = tract_core_submodel(x, label = '../..')", "[submodel.missing]"),
                           ("y = tract_core_submodel(x, label = '../../../deep')", "[submodel.missing]")):
            with self.subTest(line):
                text = ratified("x = tract_core_external(shape = [1, 2], datum_type = 'f32')", line, extensions=TRACT)
                (model / "graph.nnef").write_text(text)
                self.refuses(said, "check", "model")

    def test_archives(self) -> None:
        text = ratified(*labelled("v")).encode()

        def archive(*more: tarfile.TarInfo) -> None:
            with tarfile.open(self.work / "net.tgz", "w:gz") as file:
                graph = tarfile.TarInfo("graph.nnef")
                graph.size = len(text)
                file.addfile(graph, io.BytesIO(text))
                for info in more:
                    file.addfile(info)

        link = tarfile.TarInfo("v.dat")
        link.type, link.linkname = tarfile.SYMTYPE, "../victim/v.dat"
        hard = tarfile.TarInfo("v.dat")
        hard.type, hard.linkname = tarfile.LNKTYPE, "../victim/v.dat"
        for entry, said in ((tarfile.TarInfo("../victim/v.dat"), "[archive.outside]"),
                            (tarfile.TarInfo("a/../../v.dat"), "[archive.outside]"), (link, "[archive.link]"),
                            (hard, "[archive.link]")):
            with self.subTest(entry.name, type=entry.type):
                archive(entry)
                self.refuses(said, "check", "net.tgz")
                self.refuses(said, "upgrade", "net.tgz", "-o", "out")

    def test_links_in_the_output(self) -> None:
        (self.work / "net.nnef").write_text(ratified(*labelled("v")))
        os.symlink(self.root / "victim", self.work / "link")
        done = self.run_nnefc("run", "net.nnef", "--random-weights", "1", "--random-inputs", "1", "--save-weights", "link")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual((self.root / "victim" / "v.dat").read_text(), "precious")

    def test_names_of_tensors_in_an_archive(self) -> None:
        (self.work / "net.ir").write_text(
            'graph "g" {\n  %0 = opset1.Parameter "../x" {element_type = f32, shape = shape[2]} : f32[2]\n'
            '  %1 = opset1.ReLU "r" (%0) : f32[2]\n  opset1.Result "y" (%1)\n}\n')
        self.refuses("would lead out of a folder", "run", "net.ir", "--random-inputs", "1", "--save-inputs", "in.npz")
        self.refuses("would lead out of a folder", "run", "net.ir", "--random-inputs", "1", "--dump", "../x", "-o", "o.npz")


if __name__ == "__main__":
    Paths.nnefc = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main(verbosity=0)
