"""docs/examples/: YAML that parses, commands that exist, and nothing that is installed by a name nobody owns."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Any

import click
import pytest
import yaml

from clustergen.cli import group
from strategies.pages import ROOT

EXAMPLES = sorted(path for path in (ROOT / "docs/examples").iterdir() if path.is_file())
_CALL = re.compile(r"(?<![\w./-])clustergen +([a-z][^|>&;\n']*)")


def _texts(document: Any) -> Iterator[str]:
    """The commands of a workflow: values of `run`, `entry`, `script` and `before_script`."""
    for key, value in document.items() if isinstance(document, dict) else ():
        if key in ("run", "entry", "script", "before_script"):
            yield "\n".join(value) if isinstance(value, list) else str(value)
        else:
            yield from _texts(value)
    for item in document if isinstance(document, list) else ():
        yield from _texts(item)


def _commands() -> Iterator[Any]:
    for path in EXAMPLES:
        text = path.read_text(encoding="utf-8")
        scripts = list(_texts(yaml.safe_load(text))) if path.suffix in (".yml", ".yaml") else [text]
        for number, script in enumerate(scripts):
            yield pytest.param(script, id=f"{path.name}-{number}")


@pytest.mark.parametrize("script", list(_commands()))
def test_every_command_exists_and_takes_its_options(script: str) -> None:
    for call in _CALL.findall(re.sub(r"^ *#.*$", "", script, flags=re.MULTILINE)):
        verb, *words = shlex.split(call.replace('"$', "$").replace('"', ""))
        command = group.get_command(click.Context(group), verb)
        assert command is not None, verb
        options = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("-")} <= options


def test_examples_of_each_kind_are_there() -> None:
    calls = {path.name: len(_CALL.findall(path.read_text(encoding="utf-8"))) for path in EXAMPLES}
    assert calls["review.yml"] >= 3
    assert calls["gitlab-ci.yml"] >= 2
    assert calls["pre-commit"] >= 1


@pytest.mark.parametrize("script", list(_commands()))
def test_nothing_is_installed_by_a_name_that_others_may_own(script: str) -> None:
    for line in re.findall(r"^[^#\n]*pip install ([^#\n]*)", script, re.MULTILINE):
        sources = [word for word in shlex.split(line) if not word.startswith("-")]
        assert sources
        assert all(source.startswith(("./", "git+https://")) for source in sources)
