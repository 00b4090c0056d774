"""The files of a new study as templates."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources

from jinja2 import Environment, StrictUndefined


def rendered(name: str, values: Mapping[str, object]) -> str:
    """The text of the template `name` of this folder."""
    environment = Environment(undefined=StrictUndefined, autoescape=False)  # noqa: S701 - YAML, no HTML
    environment.keep_trailing_newline = environment.trim_blocks = environment.lstrip_blocks = True
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False}
    text = resources.files("virtperf.new_study").joinpath(name).read_text(encoding="utf-8")
    return environment.from_string(text).render(values)
