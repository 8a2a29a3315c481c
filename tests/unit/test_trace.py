# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""tools.trace on small trees, and the project's own docs/requirements.md."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tools import trace

ROOT = Path(__file__).resolve().parents[2]

DOCUMENT = """\
| id | statement | evidence |
| --- | --- | --- |
| AA-01 | First. | test |
| AA-02 | Second. | test |
| AA-03 | Third. | docs |

| id | statement | evidence |
| --- | --- | --- |
| BB-001 | Fourth. | test |
| BB-002 | Fifth. | - |
"""


@pytest.fixture
def tree(tmp_path):
    """Writes files into a small checkout: tree({"path": "text"}) -> its root."""

    def write(files, document=DOCUMENT):
        for path, text in {trace.DOCUMENT: document, **files}.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text, encoding="utf-8")
        return tmp_path

    return write


def run(capsys, root, *options):
    status = trace.main([*options, "--root", str(root)])
    captured = capsys.readouterr()
    return status, captured.out.splitlines(), captured.err.splitlines()


def test_rows_are_read_and_headings_are_not(tree):
    found = trace.read_requirements(tree({}))
    assert [(item.id, item.group, item.evidence, item.line) for item in found] == [
        ("AA-01", "AA", "test", 3),
        ("AA-02", "AA", "test", 4),
        ("AA-03", "AA", "docs", 5),
        ("BB-001", "BB", "test", 9),
        ("BB-002", "BB", "-", 10),
    ]
    assert found[1].statement == "Second."


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('@pytest.mark.requirement("AA-01", "AA-02")\ndef test_x(): pass', [("AA-01", 1), ("AA-02", 1)]),
        ('@mark.requirement("AA-01")\nclass TestX: pass', [("AA-01", 1)]),
        ('import pytest\npytestmark = pytest.mark.requirement("AA-01")', [("AA-01", 2)]),
        ('pytestmark = [pytest.mark.slow, pytest.mark.requirement("AA-01")]', [("AA-01", 1)]),
        ('CASES = [\n pytest.param(1, marks=pytest.mark.requirement("AA-01")),\n]', [("AA-01", 2)]),
        ('pytest.param(1, marks=[pytest.mark.requirement("AA-01"), other])', [("AA-01", 1)]),
        ('@pytest.mark.requirement(\n "AA-01",\n "AA-02",\n)\ndef test_x(): pass', [("AA-01", 2), ("AA-02", 3)]),
        ("@pytest.mark.requirement(*IDS)\ndef test_x(): pass", [("*IDS", 1)]),
        ('TEXT = "pytest.mark.requirement(\'AA-01\')"  # pytest.mark.requirement("AA-02")', []),
        ('@pytest.mark.parametrize("requirement", ["AA-01"])\ndef test_x(): pass', []),
    ],
)
def test_marks_in_python(source, expected):
    assert sorted((item.id, item.line) for item in trace.python_mentions(source, "tests/x.py")) == sorted(expected)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("# requirement: AA-01, AA-02", ["AA-01", "AA-02"]),
        ("    #requirement: AA-01 AA-02,", ["AA-01", "AA-02"]),
        ("- name: says requirement: AA-01", []),
        ("name: x  # requirement: AA-01", []),
    ],
)
def test_comment_lines_in_yaml(line, expected):
    found = list(trace.yaml_mentions(f"---\n{line}\n", "molecule/x.yml"))
    assert [item.id for item in found] == expected
    assert all(item.line == 2 for item in found)


FILES = {
    "tests/unit/test_a.py": 'import pytest\npytestmark = pytest.mark.requirement("AA-01")\n',
    "tests/garage/test_b.py": '@pytest.mark.requirement("AA-01", "AA-03")\ndef test_b(): pass\n',
    "tests/integration/targets/bucket/tasks/main.yml": "---\n# requirement: BB-001\n- name: Create\n",
    "tests/output/copy/test_c.py": 'pytestmark = pytest.mark.requirement("AA-02")\n',
    "plugins/x.py": 'pytest.mark.requirement("AA-02")\n',
    "tests/fakes/other.yml": "# requirement: AA-02\n",
}


def test_summary_counts_only_what_asks_for_a_test(tree, capsys):
    status, out, err = run(capsys, tree(FILES))
    assert (status, err) == (0, [])
    assert out == ["AA 1/2", "  tested   AA-01 AA-03", "  no test  AA-02", "BB 1/1", "  tested   BB-001"]


def test_verbose_shows_file_and_line(tree, capsys):
    status, out, _err = run(capsys, tree(FILES), "-v")
    assert status == 0
    assert out == [
        "AA 1/2",
        "  AA-01  tests/garage/test_b.py:1, tests/unit/test_a.py:2",
        "  AA-03  tests/garage/test_b.py:1",
        "  AA-02  no test: Second.",
        "BB 1/1",
        "  BB-001  tests/integration/targets/bucket/tasks/main.yml:2",
    ]


def test_missing_shows_only_what_has_no_test(tree, capsys):
    assert run(capsys, tree(FILES), "--missing") == (0, ["AA-02  Second."], [])


def test_molecule_scenarios_count(tree, capsys):
    root = tree({"molecule/site/converge.yaml": "# requirement: AA-01, AA-02, BB-001\n"})
    assert run(capsys, root, "--missing") == (0, [], [])


def test_no_tests_at_all_is_no_fault(tree, capsys):
    status, out, _err = run(capsys, tree({}))
    assert status == 0
    assert "AA 0/2" in out


@pytest.mark.parametrize("option", ["-v", "--missing"])
def test_unknown_ids_fail_and_are_placed(tree, capsys, option):
    files = {
        "tests/unit/test_a.py": '@pytest.mark.requirement(\n    "AA-99")\ndef test_a(): pass\n',
        "molecule/x/verify.yml": "# requirement: AA-01, ZZ-01\n",
    }
    status, _out, err = run(capsys, tree(files), option)
    assert status == 1
    assert err == [
        "tests/unit/test_a.py:2: AA-99 is not stated in docs/requirements.md",
        "molecule/x/verify.yml:1: ZZ-01 is not stated in docs/requirements.md",
    ]


def test_an_id_stated_twice_fails(tree, capsys):
    status, _out, err = run(capsys, tree({}, document=DOCUMENT + "| AA-02 | Again. | test |\n"))
    assert (status, err) == (1, ["docs/requirements.md:11: AA-02 is stated already in line 4"])


@pytest.mark.parametrize(
    ("files", "document", "expected"),
    [
        ({"tests/unit/test_a.py": "def broken(:\n"}, DOCUMENT, "test_a.py"),
        ({}, "| AA-01 | First. | soon |\n", "'soon'"),
        ({}, "| AA-01 | First. |\n", "requirements.md:1"),
    ],
)
def test_what_cannot_be_read_is_said_without_a_traceback(tree, capsys, files, document, expected):
    status, out, err = run(capsys, tree(files, document=document))
    assert (status, out, len(err)) == (2, [], 1)
    assert expected in err[0]


def test_a_missing_document_is_named(tmp_path, capsys):
    status, _out, err = run(capsys, tmp_path)
    assert status == 2
    assert "requirements.md" in err[0]


def test_the_projects_own_requirements():
    found = trace.read_requirements(ROOT)
    assert Counter(item.group for item in found) == {"MH": 31, "VG": 40, "LW": 55, "TD": 56, "OP": 67, "GS": 18, "FC": 89}
    assert len({item.statement for item in found}) == len(found)


def test_the_projects_own_tests_name_only_stated_ids():
    assert trace.faults(trace.read_requirements(ROOT), trace.read_mentions(ROOT)) == []
