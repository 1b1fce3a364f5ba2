"""`clustergen facility` as a program: figures, formats and exit codes of its verbs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from clustergen.cli import group
from strategies.fabric_nets import superpod

PRICES = """
facility:
  prices: {currency: EUR, items: {dgx-h100: 300000, qm9700: 25000}, gpu_hour: 2}
  estimates: {training: {base: {parameters: 7B, token_count: 100B, gpus: [8, 64]}}}
storage:
  work: {type: nfs, server: 10.0.3.9, path: /work, mount: /work, bandwidth: 1GB/s}
"""


@pytest.fixture(autouse=True)
def designs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    plan = "leaf: qm9700, unit: 2"
    for name, text in (("small", superpod(4, plan=plan)), ("large", superpod(8, plan=plan) + PRICES)):
        Path(name).mkdir()
        (Path(name) / "manifest.yaml").write_text(text.replace("name: pod", f"name: {name}"), encoding="utf-8")


def run(*words: str, text: str | None = None) -> Result:
    return CliRunner().invoke(group, ["facility", "compare", *words], input=text)


def test_figures_of_both_side_by_side() -> None:
    done = run("small", "large", "--format", "json")
    assert done.exit_code == 0
    small, large = json.loads(done.stdout)["designs"]
    assert [small["manifest"], large["manifest"]] == ["small/manifest.yaml", "large/manifest.yaml"]
    assert [small["gpus"], large["gpus"]] == [32, 64]
    # Nodes x eight NDR rails / 2, and 2 (n - 1) / n x 16 GiB / 400 GB/s, beside which latency is little.
    assert [small["bisection_gbit_s"], large["bisection_gbit_s"]] == [4 * 8 * 400 / 2, 8 * 8 * 400 / 2]
    assert large["all_reduce_s"] == pytest.approx(2 * 63 / 64 * 2**34 / 400e9, rel=0.01)
    assert small["cost"] is None
    assert large["cost"] == 8 * 300000 + large["switches"] * 25000
    assert large["cost_per_gpu"] == large["cost"] / 64
    assert large["lines_without_price"] == large["lines"] - 2


def test_text_has_a_row_for_each_figure() -> None:
    lines = run("small", "large").stdout.splitlines()
    cells = {line[:30].strip(): line[30:].split() for line in lines[1:]}
    assert lines[0].split() == ["small", "large"]
    assert cells["GPUs"] == ["32", "64"]
    assert cells["cost"][0] == "-"
    assert cells["bisection, one direction"] == ["6.4", "Tb/s", "12.8", "Tb/s"]
    assert "links without a cable" in cells, "no racks, so no lengths"


def test_equal_names_are_distinguished_by_their_paths() -> None:
    assert run("small", "small").stdout.splitlines()[0].split() == ["small/manifest.yaml"] * 2


def test_markdown_is_one_table() -> None:
    lines = run("small", "large", "--format", "markdown").stdout.splitlines()
    assert lines[:2] == ["|  | small | large |", "|---|---:|---:|"]
    assert {line.count("|") for line in lines} == {4}


def test_one_of_them_from_standard_input() -> None:
    done = run("small", "-", text=Path("large/manifest.yaml").read_text(encoding="utf-8"))
    assert done.exit_code == 0
    assert done.stdout.split()[:2] == ["small", "large"]


@pytest.mark.slow
def test_the_size_of_the_all_reduce() -> None:
    one, other = (
        json.loads(run("small", "large", "--format", "json", "--all-reduce", size).stdout) for size in ("1GiB", "2GiB")
    )
    assert other["designs"][1]["all_reduce_s"] == pytest.approx(2 * one["designs"][1]["all_reduce_s"], rel=0.05)


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        (("small",), 2, "name two manifests or more"),
        (("-", "-"), 2, "one manifest only"),
        (("small", "large", "--all-reduce", "much"), 2, "--all-reduce"),
        (("small", "broken.yaml"), 2, "error["),
        (("small", "none.yaml"), 3, "none.yaml"),
    ],
)
def test_files_that_cannot_be_compared(words: tuple[str, ...], code: int, reason: str) -> None:
    Path("broken.yaml").write_text("name: broken\nnodes: 3\nos: debian-13\n", encoding="utf-8")
    done = run(*words)
    assert (done.exit_code, done.stdout) == (code, "")
    assert reason in done.stderr


def estimate(*words: str) -> Result:
    return CliRunner().invoke(group, ["facility", "estimate", *words])


def test_a_run_of_the_manifest_on_each_number_of_gpus() -> None:
    done = estimate("large", "--format", "json")
    assert done.exit_code == 0, done.output
    data = json.loads(done.stdout)
    assert data["problems"] == []
    one, eight = data["estimates"]
    assert [one["gpus"], eight["gpus"]] == [8, 64]
    assert 1 < one["days"] / eight["days"] <= 8.01
    assert eight["gpu_hours"] == pytest.approx(eight["days"] * 24 * 64)
    assert (eight["price"], eight["currency"]) == (pytest.approx(2 * eight["gpu_hours"]), "EUR")
    # Weights of 2 bytes and 12 of the optimizer for each parameter, once an hour, to 1 GB/s.
    assert one["checkpoint_bytes"] == 14 * 7e9
    assert one["checkpoint_s"] == pytest.approx(98)
    assert one["checkpoint_share"] == pytest.approx(98 / 3698)
    assert one["checkpoints_need_bytes_per_s"] == pytest.approx(98e9 / 72)
    assert one["storage"] == "work"
    fp8 = next(rate for rate in data["rates"] if rate["precision"] == "fp8")
    assert fp8["cluster_tflops"] == pytest.approx(64 * 2 * 989)
    assert fp8["cluster_tflops_per_1000"] < fp8["cluster_tflops"]


@pytest.mark.slow
def test_text_and_markdown_have_a_column_for_each_size() -> None:
    text = estimate("large").stdout
    assert [line.split() for line in text.splitlines()[:2]] == [["base", "base"], ["GPUs", "8", "h100", "64", "h100"]]
    assert "no, 361.1 MB/s lacking" in text
    assert estimate("large", "--format", "markdown").stdout.startswith("|  | base | base |\n|---|---:|---:|\n")


@pytest.mark.slow
def test_options_replace_fields_or_the_run() -> None:
    other = json.loads(estimate("large", "--gpus", "16", "--set", "precision=fp8", "--format", "json").stdout)
    assert [one["gpus"] for one in other["estimates"]] == [16]
    words = ("small", "--parameters", "70B", "--tokens", "1T", "--set", "recompute=true", "--format", "json")
    one = json.loads(estimate(*words).stdout)["estimates"][0]
    assert (one["run"], one["gpus"], one["recompute"]) == ("options", 32, True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        (("small",), 2, "no run: add --parameters and --tokens"),
        (("small", "--parameters", "7B"), 2, "--parameters needs --tokens"),
        (("large", "--run", "bas"), 2, "did you mean 'base'?"),
        (("large", "--set", "precison=fp8"), 2, "did you mean 'precision'?"),
        (("large", "--set", "precision=int8"), 2, "precision: Input should be"),
        (("large", "--gpus", "many"), 2, "gpus: "),
        (("small", "--parameters", "7GB", "--tokens", "1T"), 2, "parameters: 'GB' is not a unit"),
        (("large", "--set", "precision=fp4"), 1, "write precision: bf16"),
        (("large", "--set", "parallelism=data"), 1, "7 billion parameters take 1"),
        (("small", "--parameters", "2T", "--tokens", "1T"), 1, "write gpus: ["),
    ],
)
def test_manifests_that_cannot_be_estimated(words: tuple[str, ...], code: int, reason: str) -> None:
    done = estimate(*words)
    assert done.exit_code == code, done.output
    assert reason in (done.stderr if code == 2 else done.stdout)
