"""Any valid manifest renders, renders again to the same bytes, and Slurm's grammar reads the result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from clustergen import compile as compiler
from clustergen.diagnostics import Severity
from clustergen.slurmconf.parse import parse
from strategies.manifests import manifests

SETTINGS = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])


def compile_data(data: dict[str, Any], directory: Path) -> compiler.Compiled:
    path = directory / "manifest.yaml"
    path.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
    return compiler.validate(path)


@pytest.mark.slow
@SETTINGS
@given(data=manifests())
def test_valid_renders_twice_to_the_same(data: dict[str, Any], tmp_path: Path) -> None:
    compiled = compile_data(data, tmp_path)
    errors = [diagnostic for diagnostic in compiled.diagnostics if diagnostic.severity is Severity.ERROR]
    assert not errors, errors
    path = tmp_path / "manifest.yaml"
    one, diagnostic = compiler.render(compiled, path)
    assert one is not None, diagnostic
    two, _ = compiler.render(compile_data(data, tmp_path), path)
    assert two is not None
    assert one.contents() == two.contents()
    for file in one:
        target = file.target or ""
        if target.startswith("/etc/slurm/") and target.endswith(".conf") and "plugstack" not in target:
            for line in parse(file.content.decode(), file.path):
                assert not line.problems, (file.path, line)
