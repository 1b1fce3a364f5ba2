"""The estimate of a training run against published runs, and what it says of memory, precision and exchange."""

from __future__ import annotations

import pytest

from clustergen.catalogue.figures import figure
from clustergen.catalogue.hardware import gpus
from clustergen.catalogue.training import precisions_of, tflops
from clustergen.features.facility.estimates import all_reduces, ring_latency, tree_latency
from clustergen.features.facility.training import Form, Machine, Model, best, fits, forms, memory, shape, step
from strategies.pages import ROOT
from strategies.training_runs import PublishedRun, days_of, form_of, machine_of, model_of, published_runs, runs_filled
from strategies.trees import cluster_of, codes_of, manifest

RUN = {"parameters": "7B", "token_count": "100B"}


@pytest.mark.parametrize("run", published_runs(), ids=lambda run: run.run)
def test_a_published_run_is_within_the_band(run: PublishedRun) -> None:
    assert run.days / days_of(run) == pytest.approx(1, abs=figure("band"))


def test_the_page_has_todays_estimates() -> None:
    text = (ROOT / "docs" / "facility.md").read_text(encoding="utf-8")
    assert runs_filled(text) == text, "tools/update-docs docs/facility.md writes it"


@pytest.mark.parametrize("run", [run for run in published_runs() if run.gpus < 10000], ids=lambda run: run.run)
def test_a_published_run_fits_as_it_ran(run: PublishedRun) -> None:
    """Llama 3.1 keeps fewer activations than the formula by a schedule of its own."""
    assert fits(machine_of(run), model_of(run), form_of(run))


@pytest.mark.parametrize(
    ("parameters", "layers", "hidden"), [(175e9, 96, 12288), (70e9, 80, 8192), (7e9, 32, 4096), (1.3e9, 24, 2048)]
)
def test_the_shape_of_a_model_that_states_none(parameters: float, layers: int, hidden: int) -> None:
    derived = shape(parameters)
    assert derived[0] == pytest.approx(layers, rel=0.25)
    assert derived[1] == pytest.approx(hidden, rel=0.25)
    assert 12 * derived[0] * derived[1] ** 2 == pytest.approx(parameters, rel=0.01)


def test_memory_by_form() -> None:
    """16 bytes of a parameter, as ZeRO counts them: 7.5 billion take 120 GB, and 1.9 GB on 64 GPUs when divided."""
    host = Machine(64, 8, 8, 80e9, 312e12, 0.6, 300e9, 200e9)
    size = Model(7.5e9, 1000, 1, 1, 1e6, "bf16")  # no activations, and layers of no size
    assert memory(host, size, Form("data")) == pytest.approx(120e9, rel=0.01)
    assert memory(host, size, Form("sharded")) == pytest.approx(1.9e9, rel=0.05)
    assert memory(host, size, Form("tensor", 8)) < memory(host, size, Form("tensor", 4))


def test_activations_are_a_third_more_work_where_they_are_computed_twice() -> None:
    host, size = Machine(8, 8, 8, 80e9, 312e12, 0.6, 300e9, 0), Model(1e9, 24, 2048, 4096, 4e6, "bf16")
    once, twice = (step(host, size, Form("data", recompute=recompute)) for recompute in (False, True))
    assert twice.compute_s / once.compute_s == pytest.approx(4 / 3, rel=0.01)
    assert twice.memory < once.memory


def test_a_slower_network_lowers_the_efficiency_and_one_gpu_has_none() -> None:
    size = Model(13e9, 40, 5120, 2048, 262144, "bf16")
    speeds = [best(Machine(64, 8, 8, 80e9, 312e12, 0.6, 300e9, outer), size) for outer in (200e9, 25e9, 1.25e9)]
    efficiencies = [one.efficiency for one in speeds if one]
    assert len(efficiencies) == 3
    assert efficiencies == sorted(efficiencies, reverse=True)
    assert efficiencies[0] > efficiencies[2]
    alone = best(Machine(1, 8, 8, 80e9, 312e12, 0.6, 300e9, 0), Model(1e9, 24, 2048, 2048, 1e6, "bf16"))
    assert alone is not None
    assert alone.efficiency == 1


def test_a_batch_that_is_too_small_leaves_gpus_idle() -> None:
    host = Machine(64, 8, 8, 80e9, 312e12, 0.6, 300e9, 200e9)
    half, whole = (step(host, Model(1e9, 24, 2048, 2048, 2048 * n, "bf16"), Form("data")) for n in (32, 64))
    assert half.compute_s == whole.compute_s
    assert half.ideal_s == whole.ideal_s / 2


def test_a_form_divides_the_gpus_and_the_layers() -> None:
    host, size = Machine(96, 8, 8, 80e9, 312e12, 0.6, 300e9, 200e9), Model(20e9, 44, 6144, 2048, 3e6, "fp16")
    for form in forms(host, size):
        assert 96 % (form.tensor * form.pipeline) == 0
        assert form.tensor <= 8
        assert form.pipeline <= 44


def test_latency_of_the_steps() -> None:
    """NCCL's tuning: 2 (n - 1) steps of a ring, of which 2 (nodes - 1) leave a node; a tree has log2(nodes) levels."""
    assert ring_latency(8, 1) == pytest.approx(14 * 1.9e-6)
    assert ring_latency(64, 8) == pytest.approx((112 * 1.9 + 14 * 4.0) * 1e-6)
    assert tree_latency(64, 8) == pytest.approx(2 * (7 * 1.2 + 3 * 8.5) * 1e-6)
    assert tree_latency(2048, 256) < ring_latency(2048, 256)


@pytest.mark.slow
def test_small_messages_take_the_tree(tmp_path) -> None:
    data = manifest(node_types={"gpu": {"system": "dgx-h100"}}, facility={"estimates": {"all_reduce": ["8B", "16GiB"]}})
    data["nodes"][1] |= {"name": "c[1-64]", "address": "10.0.0.[11-74]"}
    small, large = all_reduces(cluster_of(data, tmp_path))[-1].times
    assert small.tree_s is not None
    assert large.tree_s is not None
    assert small.tree_s < small.ring_s
    assert large.ring_s == pytest.approx(large.tree_s, rel=0.05)


def test_precisions_of_a_generation() -> None:
    assert "bf16" not in precisions_of(gpus()["v100-sxm2-16"])
    assert "fp8" not in precisions_of(gpus()["a100-sxm-80"])
    assert tflops(gpus()["h100-sxm"], "fp8") == pytest.approx(1979, rel=0.01)
    assert tflops(gpus()["a100-sxm-80"], "fp32") == pytest.approx(19.5)
    assert {gpu.id for gpu in gpus().values() if gpu.sm and not precisions_of(gpu)} == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("run", "codes"),
    [
        ({}, ()),
        ({"parameters": "70B", "parallelism": "data"}, ("training-too-large",)),
        ({"parameters": "2T"}, ("training-too-large",)),
        ({"precision": "fp4"}, ("training-precision",)),
        ({"type": "none"}, ("training-without-gpus",)),
        ({"tensor": 3}, ("training-too-large",)),
        ({"parameters": "0B"}, ("unit-wrong",)),
        ({"parameters": "70GB"}, ("unit-wrong",)),
    ],
)
def test_findings_about_training(run: dict[str, object], codes: tuple[str, ...], tmp_path) -> None:
    data = manifest(facility={"estimates": {"training": {"base": RUN | run}}})
    reported = [code for code in codes_of(data, tmp_path) if code.startswith(("training", "unit"))]
    assert tuple(reported) == codes


@pytest.mark.slow
def test_the_rate_of_a_gpu_without_a_confirmed_one_can_be_stated(tmp_path) -> None:
    data = manifest()
    data["node_types"]["gpu"] |= {"gpus": {"model": "rtx-4090", "count": 4}}
    for more, expected in (({}, ["training-rate-unknown"]), ({"tflops": 165}, [])):
        data["facility"] = {"estimates": {"training": {"base": RUN | {"parameters": "500M"} | more}}}
        assert [code for code in codes_of(data, tmp_path) if code.startswith("training")] == expected
