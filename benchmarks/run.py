"""Measures clustergen against floors and peers, in turns, and prints ratios. Run by hand or by CI; asserts nothing."""

from __future__ import annotations

import argparse
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import manifests
from timing import CLUSTERGEN, LIMIT_S, ROOT, Timing, in_turns, row, rows_beside
from verbs import bench_verbs, instructions_table

import apply

FLOOR = """
import sys, pickle
import click, jinja2
from pathlib import Path
from clustergen.compile import frozen, load
from clustergen.manifest.model import Manifest
target = Path(sys.argv[2])
Manifest.model_validate(frozen(load(Path(sys.argv[3])).data))
for path, content in pickle.loads(Path(sys.argv[1]).read_bytes()).items():
    place = target / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
"""


def rendered_bytes(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes() for path in directory.rglob("*") if path.is_file()
    }


def bench_floor(work: Path, runs: int) -> list[str]:
    import pickle

    manifest = ROOT / "inventories" / "ml-training" / "manifest.yaml"
    out, floor = work / "out", work / "floor"
    subprocess.run(
        [*CLUSTERGEN, "render", str(manifest), "-o", str(out)], check=True, capture_output=True, timeout=LIMIT_S
    )
    (work / "bytes").write_bytes(pickle.dumps(rendered_bytes(out)))
    timings = in_turns(
        {
            "floor": (
                [sys.executable, "-c", FLOOR, str(work / "bytes"), str(floor), str(manifest)],
                lambda: shutil.rmtree(floor, ignore_errors=True),
            ),
            "render": (
                [*CLUSTERGEN, "render", str(manifest), "-o", str(out)],
                lambda: shutil.rmtree(out, ignore_errors=True),
            ),
        },
        runs,
    )
    ratio = timings["render"].median / timings["floor"].median
    return [
        row("render, 64 GPUs", timings["render"], f"**{ratio:.2f}** times the floor"),
        row("floor: reads the same manifest, writes the same bytes", timings["floor"], ""),
    ]


def bench_scale(work: Path, runs: int) -> list[str]:
    sizes = {"1,024 nodes": (1024, 1), "10,240 nodes": (10240, 1), "10,240 nodes of 10 types": (10240, 10)}
    commands: dict[str, tuple[list[str], Callable[[], None] | None]] = {}
    for name, (nodes, types) in sizes.items():
        directory = work / name.replace(",", "").replace(" ", "-")
        directory.mkdir()
        path = directory / "manifest.yaml"
        path.write_text(manifests.large(nodes, types), encoding="utf-8")
        out = directory / "rendered"
        commands[f"validate, {name}"] = ([*CLUSTERGEN, "validate", str(path)], None)
        commands[f"render, {name}"] = (
            [*CLUSTERGEN, "render", str(path)],
            lambda out=out: shutil.rmtree(out, ignore_errors=True),  # type: ignore[misc]
        )
    timings = in_turns(commands, runs)
    rows = []
    for verb in ("validate", "render"):
        base = timings[f"{verb}, 1,024 nodes"].median
        for name in sizes:
            timing = timings[f"{verb}, {name}"]
            rows.append(
                row(
                    f"{verb}, {name}",
                    timing,
                    "" if name == "1,024 nodes" else f"{timing.median / base:.2f} times 1,024 nodes",
                )
            )
    return rows


def bench_diff(work: Path, runs: int) -> list[str]:
    """Against `render` of the same nodes once: a diff of two manifests renders both."""
    large, small = manifests.large(10240, 1), manifests.large(1024, 1)
    sides = {
        "10,240 nodes, all changed": (large, large.replace("weight: 1}", "weight: 7}")),
        "10,240 nodes, 640 values": (large, manifests.weighed(large, 16)),
        "1,024 nodes, 64 values": (small, manifests.weighed(small, 16)),
        "200 node types, one changed": (manifests.of_types(200, 1), manifests.of_types(200, 9)),
        "2,000 node types, one changed": (manifests.of_types(2000, 1), manifests.of_types(2000, 9)),
    }
    tenfold = {
        "10,240 nodes, 640 values": "1,024 nodes, 64 values",
        "2,000 node types, one changed": "200 node types, one changed",
    }
    commands: dict[str, tuple[list[str], Callable[[], None] | None]] = {}
    for name, texts in sides.items():
        paths = [work / name.replace(",", "").replace(" ", "-") / side / "manifest.yaml" for side in ("old", "new")]
        for path, text in zip(paths, texts, strict=True):
            path.parent.mkdir(parents=True)
            path.write_text(text, encoding="utf-8")
        out = paths[0].parent / "rendered"
        commands[f"render, {name}"] = (
            [*CLUSTERGEN, "render", str(paths[0])],
            lambda out=out: shutil.rmtree(out, ignore_errors=True),  # type: ignore[misc]
        )
        commands[f"diff, {name}"] = ([*CLUSTERGEN, "diff", *map(str, paths)], None)
    timings = in_turns(commands, runs)
    rows = []
    for name in sides:
        remark = f"{_ratio(timings, name):.2f} times one `render` of them"
        if tenth := tenfold.get(name):
            growth = timings[f"diff, {name}"].cpu / timings[f"diff, {tenth}"].cpu
            remark += f", **{growth:.1f}** times the CPU of {tenth}"
        rows.append(row(f"diff, {name}", timings[f"diff, {name}"], remark))
    return rows


def _ratio(timings: dict[str, Timing], name: str) -> float:
    return timings[f"diff, {name}"].median / timings[f"render, {name}"].median


def bench_facts(work: Path, runs: int) -> list[str]:
    """Recorded facts of 10,240 nodes against `render` of their manifest."""
    path = work / "manifest.yaml"
    path.write_text(manifests.large(10240, 1), encoding="utf-8")
    facts = work / "facts"
    manifests.record(facts, 10240)
    timings = in_turns(
        {
            "render": (
                [*CLUSTERGEN, "render", str(path)],
                lambda: shutil.rmtree(work / "rendered", ignore_errors=True),
            ),
            "discover": ([*CLUSTERGEN, "discover", "--facts", str(facts)], None),
            "drift": ([*CLUSTERGEN, "drift", str(path), "--facts", str(facts)], None),
        },
        runs,
    )
    render = timings["render"].median
    return [
        row(f"{verb}, 10,240 recorded nodes", timings[verb], f"{timings[verb].median / render:.2f} times one `render`")
        for verb in ("discover", "drift")
    ]


def bench_adopt(work: Path, runs: int) -> list[str]:
    """Slurm files with a line for each of 1,000 nodes: `adopt` against `import`, and what follows it."""
    manifests.slurm_files(work / "slurm", 1000)
    source = [str(work / "slurm"), "--slurm-version", "24.11", "--os", "debian-13"]
    adopted, changed = work / "adopted" / "manifest.yaml", work / "changed" / "manifest.yaml"
    adopt = [*CLUSTERGEN, "adopt", *source, "--force", "-o", str(adopted.parent)]
    subprocess.run(adopt, check=True, capture_output=True, timeout=LIMIT_S)
    changed.parent.mkdir()
    text = adopted.read_text(encoding="utf-8")
    changed.write_text(text.replace('max_time: "7-0"', "max_time: 3-0"), encoding="utf-8")
    assert changed.read_text(encoding="utf-8") != text, "the diff would be of two equal manifests"
    timings = in_turns(
        {
            "import": ([*CLUSTERGEN, "import", *source, "--force", "-o", str(work / "imported.yaml")], None),
            "adopt": (adopt, None),
            "adopt --next": ([*CLUSTERGEN, "adopt", "--next", str(adopted)], None),
            "diff of an adopted cluster": ([*CLUSTERGEN, "diff", str(adopted), str(changed)], None),
        },
        runs,
    )
    return rows_beside(timings, "import", "1,000 nodes")


PLAYBOOK = """
- hosts: localhost
  gather_facts: false
  connection: local
  tasks:
    - ansible.builtin.template: {src: slurm.conf.j2, dest: DEST, mode: "0644"}
"""
PEER_TEMPLATE = """ClusterName=big
SlurmctldHost=head(10.255.0.1)
{% for node in groups['compute'] %}
{% set n = hostvars[node] %}
NodeName={{ node }} NodeAddr={{ n.ansible_host }} Sockets={{ n.sockets }} CoresPerSocket={{ n.cores }} Gres=gpu:h100:8
{% endfor %}
PartitionName=gpu Nodes={{ groups['compute'] | join(',') }} Default=YES
"""


def bench_ansible(work: Path, runs: int) -> list[str]:
    nodes = 1024
    peer = work / "peer"
    peer.mkdir()
    hosts = "\n".join(
        f"gpu{i:05d} ansible_host=10.{i // 250}.1.{i % 250} sockets=2 cores=56 memory=2000000"
        for i in range(1, nodes + 1)
    )
    (peer / "hosts.ini").write_text(f"[compute]\n{hosts}\n", encoding="utf-8")
    (peer / "slurm.conf.j2").write_text(PEER_TEMPLATE, encoding="utf-8")
    (peer / "site.yml").write_text(PLAYBOOK.replace("DEST", str(peer / "slurm.conf")), encoding="utf-8")
    ours = work / "ours"
    ours.mkdir()
    (ours / "manifest.yaml").write_text(manifests.large(nodes, 1), encoding="utf-8")
    playbook = str(Path(sys.executable).with_name("ansible-playbook"))
    timings = in_turns(
        {
            "ansible": (
                [playbook, "-i", str(peer / "hosts.ini"), str(peer / "site.yml")],
                lambda: (peer / "slurm.conf").unlink(missing_ok=True),
            ),
            "clustergen": (
                [*CLUSTERGEN, "render", str(ours / "manifest.yaml")],
                lambda: shutil.rmtree(ours / "rendered", ignore_errors=True),
            ),
        },
        runs,
    )
    ratio = timings["ansible"].median / timings["clustergen"].median
    return [
        row("clustergen: all files, 1,024 nodes", timings["clustergen"], f"**{ratio:.1f}** times faster"),
        row("Ansible: one slurm.conf with a line per node", timings["ansible"], ""),
    ]


def machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if "model name" in line
        ),
        "",
    )
    return f"{os.cpu_count()} cores ({model}), {memory:.0f} GiB, Python {platform.python_version()}"


def bench_control(work: Path, runs: int) -> list[str]:
    """A fifth of the runs: a play of 1,000 hosts takes most of a minute."""
    empty, ours = apply.control(1000, max(1, runs // 5), work)
    ratio = statistics.median(ours.cpu_seconds) / statistics.median(empty.cpu_seconds)
    remarks = {"empty play": "", "site.yml": f"**{ratio:.2f}** times the CPU of the empty play"}
    return [
        f"| {name}, 1,000 hosts that answer at once | {statistics.median(timing.seconds):.2f} |"
        f" {min(timing.seconds):.2f} | | {remarks[name]} |"
        for name, timing in (("empty play", empty), ("site.yml", ours))
    ]


BENCHES = {
    "verbs": bench_verbs,
    "floor": bench_floor,
    "scale": bench_scale,
    "diff": bench_diff,
    "ansible": bench_ansible,
    "facts": bench_facts,
    "adopt": bench_adopt,
    "control": bench_control,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--write", type=Path, help="also write the page there")
    parser.add_argument("--only", choices=BENCHES, action="append", help="only these tables")
    parser.add_argument("--instructions", action="store_true", help="also count instructions with valgrind (minutes)")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    rows: list[str] = []
    with tempfile.TemporaryDirectory() as directory:
        for name in options.only or BENCHES:
            place = Path(directory) / name
            place.mkdir()
            rows += BENCHES[name](place, options.runs)
        counts = instructions_table(Path(directory)) if options.instructions else []
    page = "\n".join(
        [
            "# Benchmarks",
            "",
            f"Made by `benchmarks/run.py` with {options.runs} runs each, in turns. Machine: {machine()}.",
            "",
            "| what | median s | best s | MB | ratio |",
            "|---|---|---|---|---|",
            *rows,
            *counts,
            "",
        ]
    )
    sys.stdout.write(page)
    if options.write:
        options.write.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
