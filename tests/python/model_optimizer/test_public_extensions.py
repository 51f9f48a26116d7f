"""Extensions of public repositories run without changes, by `--mo-imports`."""

import numpy as np
import pytest
from public_extensions import FRONT, Case
from public_extensions_late import LATE
from public_extensions_operations import OPERATIONS
from public_extensions_third_party import THIRD_PARTY

import nnefc

CASES = FRONT + LATE + THIRD_PARTY + OPERATIONS


def test_many_repositories_have_the_extensions():
    assert len({case.repository for case in CASES} - {""}) >= 11
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_an_extension_runs_unchanged(case: Case, tmp_path, monkeypatch):
    monkeypatch.setenv("NNEFC_MO_IMPORTS", "1")
    folder = tmp_path / "half"
    for name, text in case.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    document = f"version 1.0;\ngraph net(x) -> (y)\n{{\n    x = external<scalar>(shape = {list(case.shape)});\n    {case.body}\n}}\n"
    plain = nnefc.load(document, variables=case.variables or None)
    model = plain.transform(extensions=folder, disable=list(case.disable))
    lowered = model.lower()
    for text in case.present:
        assert text in lowered
    for text in case.absent:
        assert text not in lowered
    x = np.random.default_rng(1).uniform(-2, 2, case.shape).astype(np.float32)
    made = model.compile(threads=1)(x=x)["y"]
    np.testing.assert_allclose(made, case.expected(x), rtol=1e-5, atol=1e-6)
