"""Outputs of the real tools in the forms of public ones, and what broken, empty, huge and forged ones come to."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

FILES = Path(__file__).parents[3] / "playbooks/ansible_collections/clustergen/cluster/roles/accept/files"


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"accept_{name}", FILES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


outputs = loaded("outputs")

NCCL = """\
@output nccl-tests
# nThread 1 nGpus 1 minBytes 1073741824 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: 20 validation: 1
#
# Using devices
#  Rank  0 Group  0 Pid  71001 on    node01 device  0 [0000:1b:00] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid  71002 on    node01 device  1 [0000:43:00] NVIDIA H100 80GB HBM3
#  Rank  2 Group  0 Pid  81001 on    node02 device  0 [0000:1b:00] NVIDIA H100 80GB HBM3
#  Rank  3 Group  0 Pid  81002 on    node02 device  1 [0000:43:00] NVIDIA H100 80GB HBM3
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
  1073741824     268435456     float     sum      -1   4480.1  239.67  359.50      0   4470.0  240.21  360.32      0
  8589934592    2147483648     float     sum      -1  35010.2  245.36  368.03      0  34990.4  245.50  368.24      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 364.02
"""
NVBANDWIDTH = """\
@output nvbandwidth
nvbandwidth Version: v0.8
Running host_to_device_memcpy_ce.
memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)
           0         1
 0     55.31     54.98

SUM host_to_device_memcpy_ce 110.29

Running device_to_device_memcpy_read_ce.
memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)
           0         1
 0       N/A    391.02
 1    389.77       N/A

SUM device_to_device_memcpy_read_ce 780.79
"""
DCGM = {
    "DCGM Diagnostic": {
        "test_categories": [
            {
                "category": "Hardware",
                "tests": [
                    {
                        "name": "memory",
                        "results": [
                            {"entity_group": "GPU", "entity_id": 0, "status": "Pass"},
                            {"entity_group": "GPU", "entity_id": 1, "status": "Fail"},
                        ],
                    }
                ],
            }
        ]
    }
}
IB = """\
@output ib_write_bw
---------------------------------------------------------------------------------------
                    RDMA_Write BW Test
 Dual-port       : OFF          Device         : mlx5_0
 local address: LID 0x12 QPN 0x0048 PSN 0x7cd0e4 RKey 0x1fcd00 VAddr 0x007f2f9f000000
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 65536      7471000          0.00               392.41               0.748460
---------------------------------------------------------------------------------------
"""
GPUS = """\
@output gpus
0, NVIDIA H100 80GB HBM3, 700.00, 1980, 5, 16
1, NVIDIA H100 80GB HBM3, 650.00, 1980, 5, 8
@output reasons
0, 0x0000000000000001
1, 0x0000000000000040
@output rows
00000000:1B:00.0, 0
00000000:43:00.0, 1
"""
LINKS = "@output links\nGPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n" + "".join(
    f"\t Link {number}: {'26.562 GB/s' if number else '<inactive>'}\n" for number in range(18)
)
STRESS = """\
@output stress-ng
stress-ng: info:  [312] setting to a 2 sec run per stressor
stress-ng: metrc: [312] stressor       bogo ops real time  usr time  sys time   bogo ops/s     bogo ops/s
stress-ng: metrc: [312]                           (secs)    (secs)    (secs)   (real time) (usr+sys time)
stress-ng: metrc: [312] cpu                4721      2.00      3.93      0.00      2359.61        1201.27
stress-ng: info:  [312] successful run completed in 2.00 secs
@reading status 0
"""


def fio(direction: str, rate: int) -> str:
    job = {"jobname": "accept", "error": 0, "write": {"bw_bytes": 0}, "read": {"bw_bytes": 0}}
    job[direction] = {"bw_bytes": rate}
    return "@output fio\nfio: a warning\n" + json.dumps({"fio version": "fio-3.39", "jobs": [job]}, indent=2) + "\n"


def labelled(*texts: str) -> str:
    """Lines of tasks in the form of `srun --label`."""
    return "".join(f"{task}: {line}\n" for task, text in enumerate(texts) for line in text.splitlines())


def read(*texts: str) -> Any:
    return outputs.read(labelled(*texts))


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        (NCCL, {"busbw": 368.24, "wrong": 0, "ranks": 4, "hosts": 2}),
        (NVBANDWIDTH, {"host_to_device": 54.98, "device_to_device": 389.77}),
        ("@output dcgmi\n" + json.dumps(DCGM), {"failed": 1, "results": 2}),
        (IB, {"bandwidth": 392.41}),
        (
            GPUS,
            {
                "gpus": 2,
                "power_limit": 650,
                "clock": 1980,
                "pcie_gen": 5,
                "pcie_width": 8,
                "throttled": 1,
                "row_pending": 1,
            },
        ),
        (LINKS, {"links": 17}),
        (STRESS, {"errors": 0, "operations": 2359.61, "status": 0}),
        (fio("write", 2_500_000_000) + fio("read", 4_000_000_000), {"write": 2.5, "read": 4.0}),
    ],
    ids=["nccl", "nvbandwidth", "dcgmi", "ib_write_bw", "gpus", "links", "stress-ng", "fio"],
)
def test_readings_of_a_tool(text: str, readings: dict[str, float]) -> None:
    answer = read(text)
    assert (answer.readings, answer.problems) == (readings, [])


def test_bandwidths_of_several_tasks_add_up_and_of_all_else_the_worst_counts() -> None:
    answer = read(*(f"@host n{n}\n@reading failed {n}\n@reading cpus {n + 4}\n" + fio("write", 10**9) for n in (0, 1)))
    assert answer.readings == {"write": 2.0, "failed": 1, "cpus": 4}
    assert answer.hosts == {0: "n0", 1: "n1"}


def test_a_node_speaks_for_no_other() -> None:
    answer = read("@host n1\n1: @host n2\n@output x\n@host n1")
    assert answer.hosts == {0: "n1"}
    assert outputs.read("@host n1\nsrun: error: no\n").hosts == {}


def test_wrong_values_of_any_size_count() -> None:
    assert read(NCCL.replace("359.50      0", "359.50      3")).readings["wrong"] == 3


@pytest.mark.parametrize("tool", sorted(outputs.TOOLS))
@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0\1\x1b[31m",
        "Segmentation fault",
        "{",
        "{}",
        "[" * 5000,
        '{"jobs": 3}',
        '{"jobs": [{"write": {}}]}',
        "0,1\n,,",
    ],
    ids=["empty", "binary", "fault", "open", "no keys", "deep", "number", "no rate", "columns"],
)
def test_broken_output_is_a_problem_and_no_reading(tool: str, text: str) -> None:
    answer = read(f"@output {tool}\n{text}")
    kept = {metric: value for metric, value in answer.readings.items() if value}
    assert answer.problems or not kept, kept


@pytest.mark.parametrize(
    ("code", "problem"),
    [("28", "fio: No space left on device"), ("4711", "fio: error 4711"), ('"x\\u001b"', "fio: error x")],
)
def test_the_error_of_fio_is_the_problem_once(code: str, problem: str) -> None:
    answer = read(2 * fio("write", 0).replace('"error": 0', f'"error": {code}'))
    (shown,) = answer.problems
    assert shown.startswith(problem)
    assert "\x1b" not in shown


def test_a_huge_output_is_a_problem() -> None:
    assert outputs.read("0: x\n" * (outputs.LIMIT // 4)).problems == [
        f"the output has {outputs.LIMIT // 4 * 5} characters"
    ]


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e999", "many", ""])
def test_a_reading_that_is_no_number_is_a_problem(value: str) -> None:
    answer = read(f"@reading bandwidth {value}")
    assert answer.readings == {}
    assert answer.problems[0].startswith("bandwidth: ")


def test_text_of_a_node_has_no_braces_and_no_control_characters() -> None:
    """ReFrame formats the message of a failed test, and a brace would raise there."""
    (problem,) = read("@why {0.__class__} \x1b[31m %s").problems
    assert problem == "(0.__class__) [31m %s"


@pytest.mark.slow
@given(st.text(max_size=400), st.sampled_from(sorted(outputs.TOOLS)))
def test_any_text_ends_in_an_answer(text: str, tool: str) -> None:
    answer = outputs.read(f"0: @output {tool}\n" + "".join(f"0: {line}\n" for line in text.split("\n")))
    assert all(isinstance(value, int | float) for value in answer.readings.values())
    assert all("{" not in problem for problem in answer.problems)
