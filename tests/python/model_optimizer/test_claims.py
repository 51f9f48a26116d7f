"""Every claim of the Model Optimizer's page has tests whose names cite it: `claims.py`."""

import ast
import pathlib
import re

import printed_page
import pytest
from claims import CLAIMS, SENTENCES

SECTIONS = ("common", "pattern", "operation", "generic", "scope", "points", "general", "middle", "back")


def tests_of_claims():
    names = set()
    for path in pathlib.Path(__file__).parent.glob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and re.match(rf"test_({'|'.join(SECTIONS)})_\d", node.name):
                names.add(node.name)
    return names


def items(numbers):
    """Returns the numbers of a text such as "1-3 5"."""
    found = []
    for part in numbers.split():
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def citations(name):
    """Returns the items that the name of a test cites, as texts such as "common 4"."""
    section, cited, is_range = "", [], False
    for word in name.split("_")[1:]:
        if word in SECTIONS:
            section = word
        elif word.isdigit() and section:
            first = int(cited[-1].split()[1]) + 1 if is_range else int(word)
            cited += [f"{section} {number}" for number in range(first, int(word) + 1)]
            is_range = False
        elif word == "to":
            is_range = True
        elif word != "and":
            break
    return cited


def test_citations_of_names():
    assert citations("test_common_4_and_5_nothing_is_1") == ["common 4", "common 5"]
    assert citations("test_points_3_to_6_rules") == ["points 3", "points 4", "points 5", "points 6"]
    assert citations("test_scope_1_points_2_and_general_1_need") == ["scope 1", "points 2", "general 1"]


@pytest.mark.parametrize(("item", "claim", "tests"), CLAIMS, ids=[item.replace(" ", "_") for item, _, _ in CLAIMS])
def test_each_claim_has_tests_that_cite_it(item, claim, tests):
    assert claim
    assert tests
    for name in tests:
        assert name in tests_of_claims(), name
        assert item in citations(name), name


def test_each_item_of_a_sentence_is_a_claim():
    known = [item for item, _, _ in CLAIMS]
    assert len(set(known)) == len(known)
    assert {item for heading in SENTENCES for item in heading} - {"-"} == set(known)
    for heading in SENTENCES:
        numbers = sorted(number for numbers in heading.values() for number in items(numbers))
        assert numbers == list(range(1, len(numbers) + 1))


@printed_page.needs_page
def test_each_sentence_of_the_page_has_an_item():
    is_sentence = re.compile("[\u3040-\u30ff\u4e00-\u9fff]").search
    parts = re.split(r"^.*¶$", printed_page.text(), flags=re.MULTILINE)[1:]
    counts = [sum(is_sentence(sentence) is not None for sentence in part.split("。")) for part in parts]
    assert counts == [sum(len(items(numbers)) for numbers in heading.values()) for heading in SENTENCES]
