"""Any number or text that a machine prints may be wrong: discover and drift report it, and read the other machines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from clustergen.cli import group
from clustergen.hardware.discovery import draft
from clustergen.hardware.discovery.grouping import groups
from clustergen.hardware.discovery.plain import json_of, number
from clustergen.hardware.discovery.recordings import read
from clustergen.hardware.names import in_style_of
from strategies.machines import MANIFEST, healthy, scontrol, slurmd

DIGITS = "9" * 5000
JSON = ["NaN", "1e999", DIGITS, "9" * 400, "null", '"²"']
TEXT = ["9" * 400, "²", "0"]
OTHERS = {
    "lscpu.json": json.dumps(
        {
            "lscpu": [
                {"field": f"{name}:", "data": data}
                for name, data in {"Socket(s)": "2", "Core(s) per socket": "56", "Thread(s) per core": "2",
                                   "NUMA node(s)": "2", "NUMA node0 CPU(s)": "0-55,112-167"}.items()
            ]
        }
    ),
    "lsblk.json": json.dumps({"blockdevices": [{"name": "nvme0n1", "size": 3840755982336, "type": "disk"}]}),
    "meminfo": "MemTotal:       2113740000 kB\n",
    "ibstat": "CA 'mlx5_0'\n\tCA type: MT4129\n\tPort 1:\n\t\tRate: 400\n\t\tLink layer: InfiniBand\n",
    "bmc.json": '{"power": "On", "health": "OK", "failure": ""}',
    "redfish-bios.json": '{"Attributes": {"LogicalProc": "Enabled", "NumaNodesPerSocket": 1}}',
    "tree.json": '{"units": ["munge.service"], "files": ["/etc/a"], "failure": ""}',
    "failures.json": '{"ibstat": "exit status 1"}',
}  # fmt: skip
_VALUE = re.compile(r'(?<=[:\[] )(?:"[^"]*"|-?\d+)|(?<=\[)"[^"]*"')


def variants(files: dict[str, str], payload: str, *, is_json: bool) -> Iterator[dict[str, str]]:
    """The files with one value after the other replaced; of equal lines in text the first."""
    pattern = _VALUE if is_json else re.compile(r"\d+")
    for file, text in files.items():
        if file.endswith(".json") != is_json:
            continue
        for match in list(pattern.finditer(text))[:8]:
            yield {**files, file: text[: match.start()] + payload + text[match.end() :]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("payload", "is_json"),
    [*((payload, True) for payload in JSON), *((payload, False) for payload in TEXT)],
    ids=lambda value: str(value)[:9],
)
def test_every_value_of_a_machine_may_be_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, payload: str, is_json: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    sets = [*variants(healthy(12) | OTHERS, payload, is_json=is_json)]
    sets += variants({"lscpu.json": OTHERS["lscpu.json"]}, payload, is_json=is_json)  # read where slurmd -C is missing
    sets += [{"slurmd-C": slurmd()}]
    for name, files in enumerate(sets, 1):
        directory = Path(f"facts/gpu{name}")
        directory.mkdir(parents=True)
        for file, text in files.items():
            (directory / file).write_text(text, encoding="utf-8")
    last = len(sets) + 10
    assert last < 255
    manifest = MANIFEST.replace("gpu[1-4]", f"gpu[1-{len(sets)}]").replace("[11-14]", f"[11-{last}]")
    Path("manifest.yaml").write_text(manifest, encoding="utf-8")
    Path("facts/head").mkdir()
    Path("facts/head/scontrol-nodes").write_text(re.sub(r"=[0-9]+", f"={payload}", scontrol()), encoding="utf-8")
    for node in read(Path("facts")):
        assert node.name in draft.text(groups([node]))
    done = CliRunner().invoke(group, ["discover", "--facts", "facts"])
    assert (done.exit_code, done.exception) == (0, None)
    assert done.stderr.startswith(f"{len(sets) + 1} nodes of ")
    done = CliRunner().invoke(group, ["drift", "--facts", "facts"])
    assert done.exit_code == 1
    assert isinstance(done.exception, SystemExit)
    assert f" of {len(sets) + 1} nodes" in done.stdout


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", DIGITS, "1" * 19, "[" * 100_000])
def test_json_of_machines_has_finite_numbers(text: str) -> None:
    with pytest.raises(ValueError, match=r"number|nested"):
        json_of(f'{{"a": [{text}]}}' if "[" not in text else text)
    assert json_of('[-1, 0.5, 1e9, 999999999999999999, "NaN"]') == [-1, 0.5, 1e9, 999999999999999999, "NaN"]


@pytest.mark.parametrize("text", ["", "-1", "+1", " 1", "1_0", "²", "٣", "1.0", DIGITS])
def test_a_number_has_digits_alone(text: str) -> None:
    with pytest.raises(ValueError, match="not a number of at most 18 digits"):
        number(text)


def test_a_label_of_many_digits_counts_no_adapters() -> None:
    assert in_style_of("mlx5_3", "HCA-1") == "HCA-4"
    assert in_style_of(f"mlx5_{DIGITS}", "HCA-1") == f"mlx5_{DIGITS}"
