"""README.md of the tree: complete, small, and proof against text that Markdown would take for its own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from clustergen.render.effects import Effect, Kind
from clustergen.render.formats import RenderError, markdown_code, markdown_text, mermaid_label
from clustergen.render.views.tables import phrase
from strategies.trees import COMPUTE, GPU, HEAD, manifest, tree_of

MONITOR = {"name": "mon", "type": "service", "address": "10.0.0.2", "roles": ["monitoring"]}


def readme(directory: Path, **changes: Any) -> str:
    return tree_of(manifest(**changes), directory).files["README.md"].content.decode()


def tables(text: str) -> dict[str, list[dict[str, str]]]:
    """Heading → rows by column, as a renderer of tables splits them."""
    values: dict[str, list[dict[str, str]]] = {}
    for part in re.split(r"^#+ ", text, flags=re.MULTILINE)[1:]:
        lines = [line for line in part.splitlines() if line.startswith("|") and "---" not in line]
        rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
        if rows:
            assert all(len(row) == len(rows[0]) for row in rows), part
            values[part.splitlines()[0]] = [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
    return values


def test_every_file_of_a_node_is_listed_with_what_it_takes(tmp_path: Path) -> None:
    tree = tree_of(manifest(nodes=[HEAD, MONITOR, COMPUTE]), tmp_path)
    values = tables(tree.files["README.md"].content.decode())
    for group in tree.groups:
        files = {f"`{file.target}`": file for file in tree if file.group == group}
        rows = {row["File"]: row for row in values.get(f"`{group}`", [])}
        assert rows.keys() == files.keys(), group
        assert all(rows[name]["Action on change"] == phrase(file.effect) for name, file in files.items())
        assert all(rows[name]["Mode"] == f"{file.mode:04o}" for name, file in files.items())


def test_a_sites_own_file_is_listed_too(tmp_path: Path) -> None:
    place = tmp_path / "site/slurm_compute/etc/motd"
    place.parent.mkdir(parents=True)
    place.write_text("hello\n", encoding="utf-8")
    rows = tables(readme(tmp_path))["`slurm_compute`"]
    assert {row["File"]: row["From"] for row in rows}["`/etc/motd`"] == "`site/slurm_compute/etc/motd`"


def test_the_numbers_of_the_cluster(tmp_path: Path) -> None:
    kinds = {
        "gpu": {**GPU, "power": {"max": "10.2kW"}},
        "cpu": {"cpu": {"cores_per_socket": 8}, "memory": "64GiB", "power": {"max": "400W"}},
    }
    nodes = [HEAD, COMPUTE, {"name": "w[01-10]", "type": "cpu", "address": "10.0.0.[51-60]"}]
    text = readme(tmp_path, node_types=kinds, nodes=nodes)
    values = tables(text)
    assert "| GPUs | 32 |" in text
    assert "| Nodes | 15, 14 compute |" in text
    assert [(row["Nodes"], row["Count"]) for row in values["Nodes"]] == [
        ("`head`", "1"),
        ("`c[1-4]`", "4"),
        ("`w[01-10]`", "10"),
    ]
    assert [(row["Type"], row["Total"]) for row in values["Power"] if row["Each"] != "unknown"] == [
        ("gpu", "40.8 kW"),
        ("cpu", "4.0 kW"),
        ("total of known power", "44.8 kW"),
    ]
    hardware = {row["Type"]: row for row in values["Hardware"]}
    assert hardware["gpu"]["GPUs"] == "8 × NVIDIA H100 80GB HBM3"
    assert hardware["gpu"]["Memory"] == "1TiB"


def test_power_that_is_not_known_is_named(tmp_path: Path) -> None:
    kinds = {"gpu": {**GPU, "power": {"max": "10.2kW"}}, "cpu": {"cpu": {"cores_per_socket": 8}, "memory": "64GiB"}}
    nodes = [HEAD, COMPUTE, {"name": "w[01-10]", "type": "cpu", "address": "10.0.0.[51-60]"}]
    racks = {"r1": {"nodes": "c[1-2],w01", "power": "30kW"}, "r2": {"nodes": "c[3-4]"}}
    text = readme(tmp_path, node_types=kinds, nodes=nodes, racks=racks)
    assert "Not included because their power is unknown: 10 × cpu, 1 × service." in text
    power = {row["Type"]: row["Total"] for row in tables(text)["Power"]}
    assert power == {"service": "unknown", "gpu": "40.8 kW", "cpu": "unknown"}
    assert [(row["Rack"], row["Maximum power of a rack"]) for row in tables(text)["Racks"]] == [
        ("r1", "20.4 kW, unknown for 1"),
        ("r2", "20.4 kW"),
    ]


@pytest.mark.slow
def test_rights_of_accounts_and_qos_in_the_readme(tmp_path: Path) -> None:
    qos = {
        "normal": {"priority": 100, "preempt": ["low"], "max_tres_per_user": {"gres/gpu": 16}},
        "high": {"priority": 1000, "max_jobs_per_user": 8, "flags": ["DenyOnLimit"], "options": {"LimitFactor": 2}},
        "low": {"preempt_mode": "requeue", "grace_time": 120, "usage_factor": 0.25, "exempt_time": 5},
    }
    accounts = {
        "research": {"fairshare": 80, "qos": ["normal", "low"], "default_qos": "low", "coordinators": ["alice"]},
        "nlp": {
            "parent": "research",
            "users": ["alice", "bob"],
            "group_tres_minutes": {"gres/gpu": 600000},
            "user_limits": {"bob": {"max_jobs": 2, "qos": ["normal"]}},
        },
        "ops": {"fairshare": 20, "users": [f"u{n}" for n in range(30)], "qos": ["high"]},
    }
    slurm = {"version": "24.11", "qos": qos, "accounts": accounts, "users": {"alice": {"admin_level": "operator"}}}
    values = tables(readme(tmp_path, slurm=slurm))
    by_qos = {row["QOS"]: row for row in values["QOS"]}
    assert by_qos["`high`"]["Limits and flags"] == "Flags DenyOnLimit; MaxJobsPerUser 8; LimitFactor 2"
    assert by_qos["`normal`"]["Limits and flags"] == "MaxTRESPerUser gres/gpu=16"
    assert by_qos["`low`"]["When preempted"] == "requeue, after 120 s, exempt for the first 00:05:00"
    assert by_qos["`low`"]["Limits and flags"] == "UsageFactor 0.25"
    columns = ("Account", "Share", "Allowed QOS", "Default QOS", "Limits")
    rows = [tuple(row[column] for column in columns) for row in values["Accounts"]]
    assert rows == [
        ("research", "80 of 100", "normal, low", "low", ""),
        ("ops", "20 of 100", "high", "high", ""),
        ("nlp", "1 of 1", "normal, low", "low", "GrpTRESMins gres/gpu=600000"),
        ("nlp", "1", "normal", "normal", "MaxJobs 2"),
    ]
    assert values["Accounts"][0]["Coordinators"] == "alice"
    assert values["Accounts"][1]["Users"].endswith("u19 … (30 users)")
    assert values["Accounts"][3]["Users"] == "bob"
    assert values["Users"] == [{"User": "alice", "Admin level": "operator"}]


def test_text_of_the_manifest_stays_text(tmp_path: Path) -> None:
    nasty = "<script>x</script> *bold* | [a](http://b) # & {{ x }} _y_ !z"
    slurm = {"version": "24.11", "qos": {"fast": {"description": nasty}}}
    text = readme(tmp_path, description=nasty, slurm=slurm)
    escaped = markdown_text(nasty)
    assert text.count(escaped) == 2
    assert "<script" not in text.replace("\\<", "")
    assert tables(text)["QOS"][0]["QOS"] == "`fast`"


@pytest.mark.parametrize("text", ["a`b", "a|b", "a\\b", " a"])
def test_code_that_would_end_early_is_escaped(text: str) -> None:
    assert not markdown_code(text).startswith("`")
    assert re.sub(r"\\(.)", r"\1", markdown_code(text)) == text


def test_a_label_of_the_diagram_cannot_close_itself() -> None:
    assert mermaid_label('a"]-->b["<b>x</b>;`') == '"a#34;]--#62;b[#34;#60;b#62;x#60;/b#62;#59;#96;"'
    assert mermaid_label("a<br/>b") == '"a<br/>b"'
    with pytest.raises(RenderError):
        mermaid_label("a\nb")


def test_every_effect_has_words() -> None:
    assert all(phrase(Effect(kind, "x.service")) for kind in get_args(Kind))
    assert phrase(Effect("restart", "slurmd.service")) == "restart slurmd"


def boxes(text: str) -> list[str]:
    return re.findall(r"^  \w+[\[(].*$", text, re.MULTILINE)


def fat_tree(leaves: int) -> dict[str, Any]:
    """Leaves of 16 nodes, an entry each, below four spines."""
    addresses = "10.[1-2].[0-159].[0-15]" if leaves == 320 else f"10.1.[1-{leaves}].[0-15]"
    switches: list[dict[str, Any]] = [{"name": "spine[1-4]"}]
    for i in range(leaves):
        low = i * 16 + 1
        switches.append(
            {
                "name": f"leaf{i + 1:03}",
                "nodes": f"n[{low:04}-{low + 15:04}]",
                "uplinks": [{"to": "spine[1-4]", "links": 4}],
            }
        )
    return {
        "networks": {
            "management": {"cidr": "10.0.0.0/8"},
            "fabric": {"type": "infiniband", "rate": "NDR", "switches": switches},
        },
        "nodes": [HEAD, {"name": f"n[0001-{leaves * 16:04}]", "type": "gpu", "address": addresses}],
    }


def test_switches_of_one_level_and_model_are_one_box(tmp_path: Path) -> None:
    text = readme(tmp_path, **fat_tree(3))
    assert [box.strip() for box in boxes(text)][-2:] == ['s0(["leaf[001-003] (3)"])', 's1(["spine[1-4] (4)"])']
    assert re.findall(r"^  (s\d) ---(.*) (s\d)$", text, re.MULTILINE) == [("s0", '|"48 cables"|', "s1")]


@pytest.mark.slow
def test_another_model_is_another_box(tmp_path: Path) -> None:
    changes = fat_tree(3)
    changes["networks"]["fabric"]["switches"][1]["model"] = "qm9700"
    text = readme(tmp_path, **changes)
    assert sum("leaf" in box for box in boxes(text)) == 2


@pytest.mark.slow
def test_the_page_stays_small_for_a_large_cluster(tmp_path: Path) -> None:
    text = readme(tmp_path, **fat_tree(320))
    assert len(boxes(text)) == 4  # head, nodes, leaves, spines
    assert '"5120 cables"' in text
    assert len(text) < 20_000
    assert max(map(len, text.splitlines())) < 400


def test_uplinks_in_a_circle_end(tmp_path: Path) -> None:
    from clustergen.cluster.model import Switch
    from clustergen.render.views.diagram import levels

    def switch(name: str, top: str) -> Switch:
        return Switch(
            name=name,
            entry="",
            entry_nodes="",
            index=None,
            rack=None,
            model=None,
            ports=None,
            nics_per_port=1,
            port_gbit=None,
            power_w=None,
            rack_units=1,
            nodes=(),
            rails=(),
            uplinks={top: 1},
        )

    rows = levels((switch("a", "b"), switch("b", "a")))
    assert {one.name for one, _ in rows} == {"a", "b"}


@pytest.mark.slow
def test_files_of_the_operator_are_listed_before_the_tree(tmp_path: Path) -> None:
    """Given secrets, certificates, the drift timer's programs and key, and repositories that nobody hosts."""
    fixtures = Path(__file__).parents[1] / "fixtures/verify"
    supplied = {}
    for name in ("rocky", "roce"):
        document = yaml.safe_load((fixtures / f"{name}.yaml").read_text(encoding="utf-8"))
        page = tree_of(document, tmp_path).files["README.md"].content.decode()
        supplied |= {row["What"]: (row["Nodes"], row["Supply"]) for row in tables(page)["Before you apply"]}
    assert supplied["secret slurmdbd: /etc/slurm/slurmdbd.secret.conf"] == (
        "`head`",
        r"secrets\_given: \{slurmdbd: …\}",
    )
    assert supplied["certificates of the log transport"][0] == "`g[1-4],head,nfs[1-2],oss[1-2],rented[1-2],rtr[1-2],sm`"
    assert supplied["ssh key of the drift timer"] == ("`head`", "a key of root that all nodes accept")
    assert supplied["accounts and users of Slurm"][0] == "`head`"
    assert supplied[r"package repository storage\_scale"][0] == "`g[1-4]`"


@pytest.mark.slow
def test_file_systems_name_their_servers_as_clients_do(tmp_path: Path) -> None:
    storage = {
        "home": {"type": "nfs", "server": "fd00::5", "path": "/export/home", "mount": "/home"},
        "scratch": {"type": "lustre", "mgs": ["10.0.0.5@tcp", "10.0.0.6@tcp"], "mount": "/scratch"},
        "nvme": {"type": "local", "mount": "/local", "device": "/dev/nvme1n1"},
    }
    rows = tables(readme(tmp_path, storage=storage))["File systems"]
    assert [row["Server"] for row in rows] == ["`[fd00::5]:/export/home`", "`10.0.0.5@tcp, 10.0.0.6@tcp`", ""]
