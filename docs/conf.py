"""Sphinx's settings for `make docs`: the pages of this folder, and the reference from docstrings."""

import re
import sys
from pathlib import Path

import virtperf

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.benchmarks import formats

project = "virtperf"
release = version = virtperf.__version__
author = "The virtperf developers"
project_copyright = author
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
exclude_patterns = ["README.md", "examples"]  # index.rst has its text
templates_path = ["templates"]
html_theme = "furo"
html_title = f"virtperf {release}"
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "reports.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_show_sphinx = False
html_copy_source = False
html_last_updated_fmt = None  # the same commit gives the same bytes

myst_heading_anchors = 4
myst_links_external_new_tab = False
suppress_warnings = ["myst.header", "misc.highlighting_failure"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True  # as they are written: a path's value would be this machine's
autodoc_default_options = {"members": True, "show-inheritance": True}
autosummary_generate = True
autosummary_ignore_module_all = False
napoleon_google_docstring = False
napoleon_use_ivar = True
default_role = "code"  # docstrings write names between single backticks

OUTSIDE = re.compile(r"\[([^]]+)\]\(((?:\.\./)+|(?=examples/))([^)#]+)\)")
"""Markdown links to files that are no pages of the documentation."""


def link_outside(app, name, source):
    """Lead links to reports into the copy beside the pages; leave names of other files as text."""

    def replaced(found):
        text, up, path = found.groups()
        if path.startswith("reports/"):
            return f'<a href="{up[3:]}{path}">{text}</a>'
        if "/" in name and up == "../" and not path.startswith(("examples", "src")):
            return found[0]  # from docs/formats to docs
        return text if path in text else f"{text} (`{path}`)"

    source[0] = OUTSIDE.sub(replaced, source[0])


def say_what_changed(app, name, source):
    """Say beside a measured table that the code has changed since."""
    if name == "performance":
        since = formats.changed_since(source[0])
        source[0] = source[0].replace(formats.END, f"{since}\n\n{formats.END}")


def level_of_captions(app, name, template, context, doctree):
    """Give the captions of the sidebar, which are headings, their level, for screen readers."""
    for key in ("furo_navigation_tree", "toctree"):
        if isinstance(context.get(key), str):
            context[key] = context[key].replace('role="heading"', 'role="heading" aria-level="2"')


def setup(app):
    app.connect("html-page-context", level_of_captions, priority=900)
    app.connect("source-read", link_outside)
    app.connect("source-read", say_what_changed)
