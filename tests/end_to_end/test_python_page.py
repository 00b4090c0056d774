"""The Python examples of the documentation."""

import doctest

import pytest
from matplotlib import pyplot

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


@pytest.mark.parametrize(("page", "examples"), [("python", 16), ("which-question", 10)])
def test_examples_print_the_shown_output(
    root, page: str, examples: int, monkeypatch: pytest.MonkeyPatch
):
    ran = (root / "data" / "runs" / "zvm-xen-2009").is_dir()
    assert ran, "the pipeline has not run: `dvc repro` first"
    monkeypatch.chdir(root)
    try:
        found = doctest.testfile(
            str(root / "docs" / f"{page}.md"), module_relative=False, optionflags=FLAGS
        )
    finally:
        pyplot.close("all")
    assert found.attempted >= examples
    assert not found.failed
