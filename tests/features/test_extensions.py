"""Extensions: features of other packages, as their entry points name them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import yaml

from clustergen import feature
from clustergen.cluster.contributions import Group, Unit
from clustergen.diagnostics import Finding
from strategies.diffs import MANIFEST as SMALL
from strategies.terminal import on_a_terminal

GENERATOR = Path(__file__).resolve().parents[2] / "generator"
SECTION = """
from clustergen.manifest.base import Section, field, section

class Motd(Section):
    \"\"\"The message of the day.\"\"\"

    text: str = field("", "Text.")

PLACES = {"motd": (Motd, section(Motd, "The message of the day."))}
"""
RESOLVED = """
from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.records import record
from clustergen_motd.section import Motd

@record
class Message:
    \"\"\"The message of the day.\"\"\"

    text: str

def resolve(section: Motd, cluster: Cluster) -> Message | None:
    return Message(section.text) if section.text else None

RECORDS = {Message: resolve}
"""
FILES = """
from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.render.file import File
from clustergen_motd.resolved import Message

def message(cluster: Cluster) -> Message | None:
    return cluster.get(Message)

FILES = (File("all/etc/motd", message),)
"""
RULES = """
from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding
from clustergen_motd.section import Motd

def motd_loud(_: Cluster, section: Motd) -> Iterator[Finding]:
    if section.text.endswith("!"):
        yield Finding("motd-loud", ("motd", "text"), "the message shouts", "end it with a full stop")
"""
CODES = """
from clustergen.diagnostics.codes.model import WARNING, Code

CODES = ("Message of the day", Code("motd-loud", WARNING, "A message that shouts"))
"""
MOTD = {
    "__init__.py": '"""Message of the day."""\n\nAPI = 1\n',
    "section.py": SECTION,
    "resolved.py": RESOLVED,
    "files.py": FILES,
    "rules.py": RULES,
    "codes.py": CODES,
    "templates/all/etc/motd.j2": "{{ text }}\n",
    "codes/message-of-the-day.md": "# Message of the day\n\n## motd-loud\n\nA message that shouts is not read.\n",
}
MANIFEST = SMALL + "motd: {text: Read the news!}\n"


def install(
    place: Path, name: str = "motd", package: str = "clustergen_motd", wheel: str = "motd", **files: str
) -> None:
    """Lay out an extension as an installation does; `files` are other texts of its modules."""
    metadata = place / f"{wheel}-0.3.dist-info"
    metadata.mkdir()
    (metadata / "entry_points.txt").write_text(f"[clustergen.features]\n{name} = {package}\n")
    for path, text in (
        MOTD | {module if "/" in module else f"{module}.py": text for module, text in files.items()}
    ).items():
        target = place / package / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text.replace("clustergen_motd", package))


def run(place: Path, *words: str, manifest: str = MANIFEST) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command in the directory, which is on the search path."""
    (place / "m.yaml").write_text(manifest, encoding="utf-8")
    command = [sys.executable, "-m", "clustergen", *words]
    environment = {**os.environ, "PYTHONPATH": f"{place}:{GENERATOR}", "NO_COLOR": "1"}
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
def test_an_extension_has_a_section_a_check_a_page_and_a_file(tmp_path: Path) -> None:
    install(tmp_path)
    listed = run(tmp_path, "features")[1]
    assert "motd  " in listed
    assert "(motd 0.3)" in listed
    code, out, _ = run(tmp_path, "render", "m.yaml")
    assert code == 0
    assert "m.yaml:" in out
    assert "warning[motd-loud]: the message shouts" in out
    tree = tmp_path / "rendered"
    assert (tree / "overlays/all/etc/motd").read_text().endswith("Read the news!\n")
    assert '"extensions": {"motd": "motd 0.3"}' in (tree / "clustergen.lock.json").read_text().replace("\n", "")
    assert "is not read" in run(tmp_path, "explain", "motd-loud")[1]
    assert "m.yaml:" in run(tmp_path, "explain", "m.yaml", "/etc/motd")[1]
    assert "text: Read the news!" in run(tmp_path, "resolve", "m.yaml", "--section", "message")[1]


NEEDS = """
from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import SlurmTopic
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.keys.row import Row
from clustergen_motd.resolved import Message

def keys(cluster: Cluster) -> Iterator[Row]:
    if cluster.has(Message):
        yield Row("JobSubmitPlugins", "lua", "greets users")

def topics(cluster: Cluster) -> Iterator[SlurmTopic]:
    yield SlurmTopic("slurm.conf", "Message of the day", keys)
"""


@pytest.mark.slow
def test_an_extension_sets_keys_of_slurm_that_no_other_topic_sets(tmp_path: Path) -> None:
    install(tmp_path, needs=NEEDS)
    assert run(tmp_path, "render", "m.yaml")[0] == 0
    conf = (tmp_path / "rendered/overlays/slurm_node/etc/slurm/slurm.conf").read_text()
    assert re.search(r"\n## Message of the day\nJobSubmitPlugins=lua +# greets users\n", conf)
    assert "key: JobSubmitPlugins" in run(tmp_path, "resolve", "m.yaml", "--section", "slurm_keys")[1]
    (tmp_path / "clustergen_motd/needs.py").write_text(NEEDS.replace("JobSubmitPlugins", "MpiDefault"))
    code, out, err = run(tmp_path, "render", "m.yaml")
    assert code == 3
    assert "'Jobs' and 'Message of the day' both set MpiDefault in slurm.conf" in out + err


EXPORTER_NEEDS = """
from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Daemon, Exported, ScrapeJob
from clustergen.cluster.model import Cluster

def jobs(cluster: Cluster) -> Iterator[ScrapeJob]:
    yield ScrapeJob("motd", cluster.with_role("monitoring"), 9999, interval_s=60)

def daemons(_: Cluster) -> Iterator[Daemon]:
    yield Daemon(9999, None, "motd exporter", "monitoring")

def metrics(_: Cluster) -> Iterator[Exported]:
    yield Exported(("motd_readers",))
"""
EXPORTER_ALERTS = """
from clustergen.cluster.model import Cluster
from clustergen.render.alerts import Alert, Topic

def topic(_: Cluster) -> Topic:
    unread = Alert("MotdUnread", "motd_readers == 0", "1h", "warning", "Nobody reads", "It is long.", "Shorten it.")
    return Topic("motd", "Message of the day.", (), (unread,), look="Read it: `cat /etc/motd`.", page="node")
"""
EXPORTER_DASHBOARDS = """
from clustergen.cluster.model import Cluster
from clustergen.render.dashboards import PageRow, Row, stat

def rows(_: Cluster) -> tuple[PageRow, ...]:
    return (
        PageRow("node", Row("Readers", (stat("Readers", "max(motd_readers)"),)), after="Networks"),
        PageRow("node", Row("Writers", (stat("Writers", "max(motd_writers)"),))),
    )
"""


@pytest.mark.slow
def test_an_exporter_from_outside_has_a_job_an_alert_with_its_runbook_and_a_row(tmp_path: Path) -> None:
    install(tmp_path, needs=EXPORTER_NEEDS, alerts=EXPORTER_ALERTS, dashboards=EXPORTER_DASHBOARDS)
    text = MANIFEST.replace("slurm-accounting]", "slurm-accounting, monitoring]")
    text += "monitoring: {grafana: {}, alertmanager_port: 9999}\n"
    code, out, _ = run(tmp_path, "render", "m.yaml", manifest=text)
    assert code == 2
    assert "Alertmanager and motd exporter would both listen on port 9999 of head" in out
    assert run(tmp_path, "render", "m.yaml", manifest=text.replace(", alertmanager_port: 9999", ""))[0] == 0
    monitoring = tmp_path / "rendered/overlays/monitoring/etc"
    assert "- job_name: motd\n    scrape_interval: 60s\n" in (monitoring / "prometheus/prometheus.yml").read_text()
    assert "head:9999" in (monitoring / "prometheus/sd/motd.yml").read_text()
    assert "/d/clustergen-overview" in (monitoring / "prometheus/rules/motd.yml").read_text()
    assert "<code>cat /etc/motd</code>" in (monitoring / "prometheus/consoles/runbooks.html").read_text()
    panels = json.loads((monitoring / "grafana/dashboards/node.json").read_text())["panels"]
    rows = [panel["title"] for panel in panels if panel["type"] == "row"]
    assert rows[rows.index("Networks") + 1] == "Readers"
    assert "Writers" not in rows, "nobody exports the metric"


@pytest.mark.slow
def test_a_section_of_node_types_has_a_file_for_each(tmp_path: Path) -> None:
    resolved = RESOLVED.replace(
        "section: Motd, cluster: Cluster) -> Message | None", "section: Mapping[str, Motd], _: Cluster)"
    )
    resolved = resolved.replace(
        "Message(section.text) if section.text else None", "Message({k: v.text for k, v in section.items()})"
    )
    files = FILES.replace("(cluster: Cluster) -> Message | None", "(cluster: Cluster, kind: NodeType) -> str | None")
    files = files.replace("cluster.get(Message)", "cluster.of(Message).texts.get(kind.name)").replace(
        "message),", "message, per='type'),"
    )
    install(
        tmp_path,
        section=SECTION.replace('"motd":', '"node_types.*.motd":'),
        resolved=resolved.replace("text: str", "texts: Mapping[str, str]").replace(
            "from clustergen.cluster", "from collections.abc import Mapping\nfrom clustergen.cluster", 1
        ),
        files=files.replace("import Cluster", "import Cluster, NodeType"),
        rules="",
    )
    text = SMALL.replace("memory: 1TiB", "memory: 1TiB, motd: {text: Read}")
    code, out, err = run(tmp_path, "render", "m.yaml", manifest=text)
    assert code == 0, out + err
    (file,) = (tmp_path / "rendered/overlays").rglob("etc/motd")
    assert file.parts[-3] == "all__gpu"
    assert file.read_text().endswith("Read")


@pytest.mark.slow
def test_without_the_package_its_section_is_unknown(tmp_path: Path) -> None:
    install(tmp_path)
    code, out, _ = run(tmp_path, "--no-extensions", "validate", "m.yaml")
    assert code == 2
    assert "the manifest has no key 'motd'" in out
    assert "the package that adds it may be missing (clustergen features)" in out
    assert "motd" not in run(tmp_path, "features", "--no-extensions")[1]


@pytest.mark.slow
def test_a_cluster_that_does_not_use_an_extension_has_the_tree_that_it_has_without(tmp_path: Path) -> None:
    install(tmp_path)
    (tmp_path / "plain.yaml").write_text(SMALL, encoding="utf-8")
    assert run(tmp_path, "render", "plain.yaml")[0] == 0
    assert run(tmp_path, "--no-extensions", "render", "plain.yaml", "--check")[0] == 0


KIND = {
    "section": """
from typing import Literal

from clustergen.manifest.base import field
from clustergen.manifest.mount import Mount

class Juice(Mount):
    \"\"\"A file system of another project.\"\"\"

    type: Literal["juice"] = field(..., "Kind of file system.")
    volume: str = field(..., "Volume.")

PLACES = {"storage.*.juice": Juice}
""",
    "resolved": """
from __future__ import annotations

from collections.abc import Mapping

from clustergen.cluster.entry import Entry, resolved
from clustergen.cluster.file_system import FileSystem
from clustergen.cluster.model import Cluster
from clustergen.records import record
from clustergen_motd import section as manifest

@record
class Juice(Entry):
    \"\"\"A file system of another project.\"\"\"

    volume: str

def resolve(name: str, sections: Mapping[str, manifest.Juice], cluster: Cluster) -> Juice:
    return resolved(Juice, name, sections[name])

FILE_SYSTEM = FileSystem("juice", client_group="juice_client")
""",
    "files": """
from __future__ import annotations

from clustergen.cluster.model import Cluster, NodeType
from clustergen.render.mounts import MountUnit, Source, remote_mount
from clustergen_motd.resolved import Juice

def mount_units(cluster: Cluster, entry: Juice, node_type: NodeType) -> dict[str, MountUnit]:
    return remote_mount(entry, Source(entry.volume, "fuse.juice", ()))
""",
    "rules": "",
    "codes": "CODES = ()\n",
}


@pytest.mark.slow
def test_a_kind_of_file_system_is_mounted(tmp_path: Path) -> None:
    install(tmp_path, "storage.juice", **KIND)
    entry = "storage: {scratch: {type: juice, volume: pool, mount: /scratch}}\n"
    (tmp_path / "juice.yaml").write_text(SMALL + entry, encoding="utf-8")
    assert run(tmp_path, "render", "juice.yaml")[0] == 0
    unit = (tmp_path / "rendered/overlays/mount_scratch/etc/systemd/system/scratch.mount").read_text()
    assert "What=pool\nWhere=/scratch\nType=fuse.juice\n" in unit
    assert "juice_client" in (tmp_path / "rendered/inventory/hosts.ini").read_text()


BROKEN = {
    "fills a kind of ours": (
        {"section": KIND["section"].replace("juice", "nfs")},
        "clustergen.features.storage.nfs.section and the extension motd of motd 0.3 both fill storage.*.nfs",
    ),
    "is a kind by another name": (
        {"section": KIND["section"]},
        "the extension motd of motd 0.3 cannot fill juice of storage.*",
    ),
    "is for another version": (
        {"__init__": "API = 99\n"},
        "the extension motd of motd 0.3 is for API version 99, and this clustergen has API version 1",
    ),
    "names no version": ({"__init__": ""}, "the extension motd of motd 0.3 names no API version"),
    "cannot be imported": (
        {"section": "import nothing_of_this_name\n"},
        "the extension motd of motd 0.3 cannot be loaded: section: ModuleNotFoundError",
    ),
    "takes a section of ours": (
        {"section": SECTION.replace('"motd"', '"logs"')},
        "clustergen.features.logs.section and the extension motd of motd 0.3 both fill logs of the manifest",
    ),
    "takes a field of ours": (
        {"section": SECTION.replace('"motd"', '"nodes"')},
        "the extension motd of motd 0.3 cannot fill nodes of the manifest",
    ),
    "takes a place that is not open": (
        {"section": SECTION.replace('"motd"', '"slurm.motd"')},
        "the extension motd of motd 0.3 cannot fill motd of slurm",
    ),
    "has a code of ours": (
        {"codes": CODES.replace("motd-loud", "key-unknown")},
        "the extension motd of motd 0.3 defines the code key-unknown, which is in use",
    ),
    "has a record of ours": (
        {"resolved": RESOLVED.replace("Message", "Logs")},
        "clustergen.features.logs.resolved and the extension motd of motd 0.3 both have a record Logs",
    ),
    "ends the process": (
        {"__init__": "import sys\nsys.exit(0)\n"},
        "the extension motd of motd 0.3 cannot be loaded: SystemExit: 0",
    ),
    "ends the process in a stage": (
        {"section": "import sys\nsys.exit(0)\n"},
        "the extension motd of motd 0.3 cannot be loaded: section: SystemExit: 0",
    ),
    "ends the process in its check": (
        {"rules": RULES.replace("if section", "if exit(0) or section")},
        "the extension motd of motd 0.3 failed: SystemExit: 0",
    ),
    "fails in its check": (
        {"rules": RULES.replace("if section", "if 1 / 0 and section")},
        "the extension motd of motd 0.3 failed: ZeroDivisionError: division by zero",
    ),
    "fails in its view": (
        {"files": FILES.replace("return cluster.get(Message)", "return cluster.nothing")},
        "the extension motd of motd 0.3 failed: AttributeError: ",
    ),
}


BROKEN |= {
    "names a text as version": (
        {"__init__": "API = '1'\n"},
        "has '1' as API version, which is no whole number\n   hint: write API = 1 in its __init__.py",
    ),
    "names True as version": ({"__init__": "API = True\n"}, "has True as API version, which is no whole number"),
    "has an order that is none": ({"__init__": "API = 1\nORDER = 5\n"}, "cannot be loaded: TypeError: ORDER is 5"),
    "has places that are none": ({"section": "PLACES = 5\n"}, "cannot be loaded: section: TypeError: PLACES is 5"),
    "has a place without a field": (
        {"section": SECTION.replace('(Motd, section(Motd, "The message of the day."))', "Motd")},
        "failed: TypeError: PLACES: motd needs a pair of a type and a field",
    ),
    "has a place of no type": ({"section": SECTION.replace("(Motd, section", "(5, section")}, "motd 0.3 failed: "),
    "has records that are none": ({"resolved": RESOLVED + "RECORDS = [5]\n"}, "resolved: TypeError: RECORDS is [5]"),
    "resolves something else": ({"resolved": RESOLVED.replace("Message(section.text)", "5")}, "5 is no Message"),
    "has no tuple of files": ({"files": FILES.replace("),)", "))")}, "files: TypeError: FILES is File("),
    "has a file that is none": ({"files": FILES + "FILES = (5,)\n"}, "failed: TypeError: FILES: 5 is no File"),
    "has a mode that is none": ({"files": FILES.replace("message),", "message, mode='0644'),")}, "mode is '0644'"),
    "has an effect that is none": ({"files": FILES.replace("message),", "message, effect=5),")}, "effect is 5"),
    "views a list": ({"files": FILES.replace("cluster.get(Message)", "[5]")}, "is [5], not a record"),
    "views no mapping": ({"files": FILES.replace("etc/motd", "etc/{item}")}, "not a mapping"),
    "opens a file that is missing": (
        {"files": FILES.replace("cluster.get(Message)", "open('/nothing')")},
        "the extension motd of motd 0.3 failed: FileNotFoundError: ",
    ),
    "finds a text": (
        {"rules": RULES.replace("yield Finding(", "yield str(")},
        "the extension motd of motd 0.3 failed: ",
    ),
    "finds an unknown code": ({"rules": RULES.replace('"motd-loud"', '"no-code"')}, "there is no code 'no-code'"),
    "finds without a message": ({"rules": RULES.replace('"the message shouts"', "None")}, "Finding: message is None"),
    "has a rule that is none": ({"rules": RULES.replace("Iterator[Finding]", "list")}, "rules: motd_loud is no rule"),
    "has a rule without types": (
        {"rules": RULES.replace("_: Cluster, section: Motd) -> Iterator[Finding]", "cluster, section)")},
        "rules: motd_loud is no rule",
    ),
    "contributes a number": (
        {"needs": NEEDS.replace('SlurmTopic("slurm.conf", "Message of the day", keys)', "5")},
        "5 is no",
    ),
    "contributes nothing that is asked for": (
        {"needs": NEEDS.replace("[SlurmTopic]", "[Slurmtopic]")},
        "topics returns",
    ),
    "has a template that fails": (
        {"templates/all/etc/motd.j2": "{{ 1 / 0 }}"},
        "motd of motd 0.3 failed: templates/all/etc/motd.j2:1: ZeroDivisionError: ",
    ),
    "has a template that is none": (
        {"templates/all/etc/motd.j2": "{{ text }}\n{% if %}\n"},
        "failed: templates/all/etc/motd.j2:2: TemplateSyntaxError: ",
    ),
    "has a template with a name of nothing": (
        {"templates/all/etc/motd.j2": "one\n{{ txet }}\n"},
        "failed: templates/all/etc/motd.j2:2: UndefinedError: 'txet' is undefined",
    ),
    "has no template": (
        {"files": FILES.replace("message),", "message, source='all/etc/news'),")},
        "failed: templates/all/etc/news.j2: TemplateNotFound: ",
    ),
}


def contributing(kind: str, item: str) -> dict[str, str]:
    """A module `needs` that yields an item of a kind."""
    names = "Daemon, Group, NodePath, Package, ScrapeJob, SlurmTopic, Sysctl, Variables"
    return {
        "needs": f"""
from collections.abc import Iterator
from clustergen.cluster.contributions import {names}
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.keys.row import Row

def items(_: Cluster) -> Iterator[{kind}]:
    yield {item}
"""
    }


BROKEN |= {
    "contributes to no group": (
        contributing("Daemon", 'Daemon(7017, None, "motd server", "lgoin")'),
        "failed: LookupError: needs: items: there is no group 'lgoin': did you mean 'login'?",
    ),
    "contributes an unknown package": (
        contributing("Package", 'Package("all", "motdd")'),
        "needs: items: no file of data/operating_systems has a row package_motdd",
    ),
    "contributes from what is no record": (
        {"needs": contributing("Package", 'Package("all", "motd")')["needs"].replace("_: Cluster", "_: Iterator[str]")},
        "TypeError: items: its arguments are cluster: Cluster, or records of the cluster",
    ),
    "listens on no port": (
        contributing("Daemon", 'Daemon(99999, None, "motd server", "all")'),
        "Daemon: port is 99999: write a number from 1 to 65535",
    ),
    "contributes a relative path": (
        contributing("NodePath", 'NodePath("all", "opt/motd")'),
        "NodePath: path is 'opt/motd': write an absolute path",
    ),
    "contributes two lines": (
        contributing("Sysctl", 'Sysctl("News", "kernel.motd", "1\\nkernel.panic=1", "x")'),
        "Sysctl: value is '1\\nkernel.panic=1': write one line",
    ),
    "contributes two lines of Slurm": (
        contributing("SlurmTopic", 'SlurmTopic("slurm.conf", "News", lambda _: (Row("MpiParams", "a\\nb", "x"),))'),
        "Row: value is 'a\\nb': write one line",
    ),
    "contributes an odd variable": (
        contributing("Variables", 'Variables("News", {"motd-text": "x"})'),
        "write lower-case letters, digits and _",
    ),
    "contributes hosts in place of groups": (
        contributing("ScrapeJob", 'ScrapeJob("motd", ("head",), 9999)'),
        "ScrapeJob: members is ('head',): Input should be an instance of NodeGroup",
    ),
    "contributes a group of hosts": (
        contributing("Group", 'Group("motd_node", ("head",))'),
        "Group: members is ('head',): Input should be an instance of NodeGroup",
    ),
    "renders for no group": (
        {"files": FILES.replace('"all/etc/motd"', '"alll/etc/motd"')},
        "FILES: alll/etc/motd: there is no group 'alll': did you mean 'all'?",
    ),
    "has an owner with blanks": (
        {"files": FILES.replace("message),", "message, owner='root; id'),")},
        "the owner of a file is 'root; id', not the name of a user or group",
    ),
    "has a table that is none": (
        {"data/operating_system/debian-13.tsv": "field\tvalue\n"},
        "has no table operating_system/debian-13.tsv\n   hint: did you mean 'operating_systems/debian-13.tsv'?",
    ),
    "has a fact of ours that another system's file has": (
        {"data/operating_systems/debian-12.tsv": "field\tvalue\tunverified\tsource\nssh_unit\tssh.socket\t\tDEB\n"},
        "both have the row 'ssh_unit': operating_systems/debian-12.tsv has it from debian-13",
    ),
    "has a code with blanks": (
        {"codes": CODES.replace("motd-loud", "Motd Loud"), "rules": ""},
        "CODES: write 'Motd Loud' in lower-case letters, digits and hyphens",
    ),
    "has a code without a topic": (
        {"codes": CODES.replace('"Message of the day", ', "").replace('"))', '"),)')},
        "CODES: write a topic before the codes; their page is codes/TOPIC.md",
    ),
    "has a key with blanks": (
        {"section": SECTION.replace('"motd":', '"Mo td":')},
        "PLACES: Mo td does not end with a key",
    ),
    "resolves a number as text": (
        {"resolved": RESOLVED.replace("Message(section.text)", "Message(5)")},
        "Message: text is 5: Input should be a valid string",
    ),
}


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize("case", BROKEN)
def test_an_extension_that(case: str, tmp_path: Path) -> None:
    files, message = BROKEN[case]
    install(tmp_path, **files)
    code, _, err = run(tmp_path, "render", "m.yaml")
    assert code == 3
    assert message in err
    assert "\n   hint: " in err
    assert "Traceback" not in err
    assert not (tmp_path / "rendered").exists()
    assert run(tmp_path, "--no-extensions", "catalogue", "gpus")[0] == 0


@pytest.mark.slow
def test_the_list_of_features_fits_a_terminal() -> None:
    code, shown = on_a_terminal([sys.executable, "-m", "clustergen", "features"], 80)
    assert code == 0
    assert "\nfirmware " in shown
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.slow
def test_two_extensions_of_one_name(tmp_path: Path) -> None:
    install(tmp_path)
    install(tmp_path, package="other_motd", wheel="other")
    _, _, err = run(tmp_path, "features")
    assert "the feature motd of other 0.3 has the name of another one, that of motd 0.3" in err


ENTRIES = {
    "Motd = clustergen_motd": "'Motd = clustergen_motd' of motd 0.3 names no feature\n   hint: write NAME = PACKAGE",
    "motd/x = clustergen_motd": "names no feature",
    "switch_os.motd = clustergen_motd": "where NAME is one word or storage.KIND",
    "motd = clustergen_motd:section": "names no feature",
    "motd = clustergen.features.logs": "names no feature",
    "motd": "the entry point 'motd' of motd 0.3 names no feature",
    "motd = clustergen_motd\nnews = clustergen_motd": "motd of motd 0.3 and news of motd 0.3 are both clustergen_motd",
    "motd = clustergen_motd.section": "clustergen_motd.section is a module, not a package",
    "motd = sys": "sys is a module, not a package",
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory on the search path of this process, whose extensions are unknown to it before and afterwards."""

    def forget() -> None:
        for function in (feature.features, feature.extensions, feature.module, feature.modules):
            function.cache_clear()
        for name in [name for name in sys.modules if name.partition(".")[0] == "clustergen_motd"]:
            del sys.modules[name]

    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "path", ["", *sys.path])  # the first is where the command is
    forget()
    yield tmp_path
    forget()


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_point_that_names_no_extension(entry: str, place: Path) -> None:
    install(place)
    (place / "motd-0.3.dist-info/entry_points.txt").write_text(f"[clustergen.features]\n{entry}\n")
    with pytest.raises(feature.ExtensionError) as raised:
        feature.features()
    assert ENTRIES[entry] in f"{raised.value}\n   hint: {raised.value.hint}"


def test_names_of_an_extension_and_of_its_wheel(place: Path) -> None:
    install(place)
    (place / "motd-0.3.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: Motd-of-us\nName: x\n")
    entries = place / "motd-0.3.dist-info/entry_points.txt"
    entries.write_text(f"# mine\n{entries.read_text()}; more\n\n[others]\nnews = clustergen_motd.section\n")
    (extension,) = feature.extensions()
    assert str(extension) == "motd of Motd-of-us 0.3"
    assert (extension.summary, extension.directory) == ("Message of the day", place / "clustergen_motd")
    assert extension.stages == ("codes", "files", "resolved", "rules", "section")
    assert feature.loaded() == (extension,)
    assert feature.features()[-1] == extension
    assert feature.described("clustergen_motd.files") == "the extension motd of Motd-of-us 0.3"
    assert feature.described("clustergen.features.logs") == "clustergen.features.logs"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        *(
            BROKEN[case]
            for case in (
                *("is for another version", "names no version", "ends the process", "names a text as version"),
                *("cannot be imported", "ends the process in a stage", "has places that are none"),
                *("has an order that is none", "has records that are none", "has no tuple of files"),
            )
        ),
        ({"codes": "X = 1\n"}, "motd of motd 0.3 cannot be loaded: codes: AttributeError: CODES is missing"),
        ({"section": "raise ValueError\n"}, "cannot be loaded: section: ValueError: without a message"),
    ],
)
def test_a_stage_that_is_not_loaded(files: dict[str, str], message: str, place: Path) -> None:
    install(place, **files)
    with pytest.raises(feature.ExtensionError) as raised:
        [feature.modules(stage) for stage in ("section", "resolved", "files", "codes")]
    assert message in f"{raised.value}\n   hint: {raised.value.hint}"


def test_an_error_names_the_extension_in_whose_code_it_arose(place: Path) -> None:
    install(place, files="def view(_): return 1 / 0\ndef odd(_): yield 5\ndef stop(_): raise KeyError('x')\n")
    files = feature.module("motd", "files")
    assert files is not None
    with pytest.raises(feature.ExtensionError, match=r"motd 0\.3 failed: ZeroDivisionError: division by zero"):
        feature.result_of(files.view, str, None)
    with pytest.raises(feature.ExtensionError, match="failed: TypeError: odd: 5 is no str"):
        list(feature.items_of(files.odd, str, None))
    with pytest.raises(KeyError) as raised, feature.Attributed(files.__name__, KeyError):
        files.stop(None)
    culprit = feature.at_fault(raised.value.__traceback__)
    assert str(culprit) == "motd of motd 0.3"
    assert feature.at_fault(None) is None
    owners: dict[str, str] = {}
    feature.claim(owners, "news", files.__name__, "fill {}")
    feature.claim(owners, "news", files.__name__, "fill {}")
    with pytest.raises(feature.ExtensionError, match=r"the extension motd .* and clustergen\.log both fill news"):
        feature.claim(owners, "news", "clustergen.log", "fill {}")


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (Unit("all", "a.service"), ""),
        (Unit(5, "a.service"), "Unit: group is 5: Input should be a valid string"),
        ({"one": [Unit("all", None)]}, "Unit: name is None: Input should be a valid string"),
        (Finding("key-unknown", ("a", 1), "message", None), ""),
        (Finding("key-unknown", ("a", 1.5), "message", None), "Finding: path is ('a', 1.5): "),
        (Group("motd_node", ("head",)), "Group: members is ('head',): Input should be an instance of NodeGroup"),
    ],
)
def test_fields_of_records_that_extensions_make(item: Any, message: str) -> None:
    with pytest.raises(TypeError) if message else nullcontext() as raised:
        feature.check_fields(item)
    assert message in str(raised.value if raised else "")


@pytest.mark.slow
def test_other_files_are_no_entry_points(tmp_path: Path) -> None:
    for name, make in (("pipe", os.mkfifo), ("folder", Path.mkdir)):
        (tmp_path / f"{name}-1.dist-info").mkdir()
        make(tmp_path / f"{name}-1.dist-info/entry_points.txt")
    install(tmp_path)
    (tmp_path / "motd-0.3.dist-info/METADATA").mkdir()
    assert "(motd 0.3)" in run(tmp_path, "features")[1]


@pytest.mark.slow
def test_a_tree_whose_extension_is_missing_is_not_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLUSTERGEN_PARSERS", str(tmp_path / "none"))
    install(tmp_path)
    assert run(tmp_path, "render", "m.yaml")[0] == 0
    rows = json.loads(run(tmp_path, "--no-extensions", "verify", "rendered", "--format", "json")[1])["rows"]
    row = next(row for row in rows if row["check"] == "extensions")
    assert row["files"] == ["overlays/all/etc/motd"]
    assert row["status"] == "not-run"
    assert row["words"] == ["to check its files, install what rendered a part of the tree: motd of motd 0.3"]
    assert "unclaimed" not in [row["check"] for row in rows]


@pytest.mark.slow
def test_two_files_at_one_path(tmp_path: Path) -> None:
    install(tmp_path)
    install(
        tmp_path,
        name="news",
        package="other_motd",
        wheel="other",
        section=SECTION.replace('"motd"', '"news"'),
        resolved=RESOLVED.replace("Message", "News"),
        files=FILES.replace("Message", "News"),
        codes="CODES = ()\n",
        rules="",
    )
    (tmp_path / "two.yaml").write_text(MANIFEST + "news: {text: Read}\n", encoding="utf-8")
    code, out, _ = run(tmp_path, "render", "two.yaml")
    assert code == 2
    sources = "templates/motd/all/etc/motd.j2 and templates/news/all/etc/motd.j2"
    assert f"{sources} both make overlays/all/etc/motd" in out


@pytest.mark.slow
def test_a_file_outside_the_tree(tmp_path: Path) -> None:
    install(
        tmp_path, files=FILES.replace('"all/etc/motd", message', '"all/../../../motd", message, source="all/etc/motd"')
    )
    code, out, _ = run(tmp_path, "render", "m.yaml")
    assert code == 2
    assert "motd.j2 makes overlays/all/../../../motd, which is outside the tree" in out
    assert not (tmp_path / "motd").exists()


CONTRIBUTIONS = """
from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import (
    Daemon, Group, NodePath, Package, PackageOf, Requisite, Secret, Sysctl, Unit, Variables
)
from clustergen.cluster.model import Cluster

def groups(cluster: Cluster) -> Iterator[Group]:
    yield Group("motd_node", cluster.with_role("login"))

def daemons(_: Cluster) -> Iterator[Daemon]:
    yield Daemon(7017, None, "motd server", "motd_node")

def packages(_: Cluster) -> Iterator[Package]:
    yield Package("motd_node", "compiler")

def units(_: Cluster) -> Iterator[Unit]:
    yield Unit("motd_node", "motd.service")

def packages_of_units(_: Cluster) -> Iterator[PackageOf]:
    yield PackageOf("motd.service", "podman")

def paths(_: Cluster) -> Iterator[NodePath]:
    yield NodePath("motd_node", "/opt/motd")

def requisites(_: Cluster) -> Iterator[Requisite]:
    yield Requisite("news", ("motd_node",), "/srv/news")

def secrets(_: Cluster) -> Iterator[Secret]:
    yield from _secrets()

def _secrets() -> Iterator[Secret]:
    yield Secret("motd", "/etc/motd.key", ("motd_node",), "root", "0400", "given")

def sysctls(_: Cluster) -> Iterator[Sysctl]:
    yield Sysctl("News", "kernel.motd", "1", "it is shown")

def variables(_: Cluster) -> Iterator[Variables]:
    yield Variables("News", {"motd_text": "Read"})
"""


@pytest.mark.slow
def test_contributions_of_an_extension_are_in_the_files_of_others(tmp_path: Path) -> None:
    install(tmp_path, needs=CONTRIBUTIONS)
    login = "nodes:\n  - {name: login1, type: service, address: 10.0.255.2, roles: [login]}"
    manifest = MANIFEST.replace("nodes:", login, 1) + "host: {firewall: nftables}\n"
    (tmp_path / "news.yaml").write_text(manifest, encoding="utf-8")
    (tmp_path / "plain.yaml").write_text(SMALL, encoding="utf-8")
    code, out, err = run(tmp_path, "render", "news.yaml")
    assert code == 0, out + err
    tree = tmp_path / "rendered"
    rules = (tree / "overlays/motd_node/etc/clustergen-firewall/ports.d/motd_node.nft").read_text()
    assert "# motd server\nadd rule inet clustergen input ip saddr @cluster tcp dport 7017 accept\n" in rules
    settings = (tree / "overlays/all/etc/sysctl.d/90-clustergen.conf").read_text()
    assert "# News\n# it is shown\nkernel.motd" in settings
    inventory = yaml.safe_load((tree / "inventory/group_vars/all.yml").read_text())
    assert inventory["motd_text"] == "Read"
    listed = {name: inventory[f"cluster_{name}"]["motd_node"] for name in ("units", "packages", "paths")}
    assert listed == {
        "units": ["motd.service", "clustergen-nftables.service"],
        "packages": ["podman", "compiler"],
        "paths": ["/opt/motd"],
    }
    assert [secret["path"] for secret in inventory["cluster_secrets"]].count("/etc/motd.key") == 1
    assert "| news | `login1` | /srv/news |" in (tree / "README.md").read_text()
    plain = run(tmp_path, "render", "plain.yaml", "-o", "plain")  # the kernel setting alone reaches it
    assert plain[0] == 0, plain
    lock = json.loads((tmp_path / "plain/clustergen.lock.json").read_text())
    assert lock["extensions"] == {"motd": "motd 0.3"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("needs", "ours", "message"),
    [
        (
            'Secret("x", "/etc/munge/munge.key", ("all",), "root", "0400", "made")',
            "features.slurm_daemons.needs",
            "secret /etc/munge/munge.key",
        ),
        ('Variables("News", {"slurm_user": "eve"})', "cluster.needs", "variable slurm_user"),
    ],
)
def test_two_contributions_of_one_thing(needs: str, ours: str, message: str, tmp_path: Path) -> None:
    kind = needs.partition("(")[0]
    text = f"""
from collections.abc import Iterator
from clustergen.cluster.contributions import {kind}

def clashing(cluster: "Cluster") -> "Iterator[{kind}]":
    yield {needs}
"""
    install(tmp_path, needs=text)
    code, _, err = run(tmp_path, "render", "m.yaml")
    assert code == 3
    assert f"clustergen.{ours} and the extension motd of motd 0.3 both contribute the {message}" in err


@pytest.mark.slow
def test_a_scrape_job_of_an_extension_that_takes_the_name_of_ours(tmp_path: Path) -> None:
    job = """
from collections.abc import Iterator
from clustergen.cluster.contributions import ScrapeJob

def jobs(cluster: "Cluster") -> "Iterator[ScrapeJob]":
    yield ScrapeJob("node")
"""
    install(tmp_path, needs=job)
    monitor = "nodes:\n  - {name: mon1, type: service, address: 10.0.255.2, roles: [monitoring]}"
    (tmp_path / "watched.yaml").write_text(MANIFEST.replace("nodes:", monitor, 1), encoding="utf-8")
    code, _, err = run(tmp_path, "render", "watched.yaml")
    assert code == 3
    assert (
        "clustergen.features.node_exporter.needs and the extension motd of motd 0.3 both contribute the scrapejob node"
        in err
    )


ALERT_OF_OURS = EXPORTER_ALERTS.replace("MotdUnread", "TargetDown")
PAGE_OF_OURS = """
from clustergen.cluster.model import Cluster
from clustergen.render.dashboards import Dashboard, Row, stat

def dashboard(_: Cluster) -> Dashboard:
    return Dashboard("node", "Readers", "Who reads.", (Row("Readers", (stat("Readers", "max(motd_readers)"),)),))
"""
GROUP = """
from collections.abc import Iterator
from clustergen.cluster.contributions import Group
from clustergen.cluster.model import Cluster

def groups(cluster: Cluster) -> Iterator[Group]:
    yield Group("{name}", cluster.groups)
"""
COLLISIONS = {
    "role": ({"needs": GROUP.format(name="login")}, "clustergen and {} both contribute the group login"),
    "derived group": ({"needs": GROUP.format(name="gpu_node")}, "clustergen and {} both contribute the group gpu_node"),
    "group of a type": ({"needs": GROUP.format(name="type_gpu")}, "{} both contribute the group type_gpu"),
    "topic": (
        {"alerts": EXPORTER_ALERTS.replace('Topic("motd"', 'Topic("node"')},
        "clustergen and {} both have the topic node",
    ),
    "alert": ({"alerts": ALERT_OF_OURS}, "clustergen and {} both have the alert TargetDown"),
    "dashboard": ({"dashboards": PAGE_OF_OURS}, "and {} both have the dashboard node"),
}


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize("case", COLLISIONS)
def test_an_extension_with_a_name_of_ours(case: str, tmp_path: Path) -> None:
    files, message = COLLISIONS[case]
    install(tmp_path, **files)
    text = MANIFEST.replace("slurm-accounting]", "slurm-accounting, monitoring]") + "monitoring: {grafana: {}}\n"
    code, _, err = run(tmp_path, "render", "m.yaml", manifest=text)
    assert code == 3
    assert message.format("the extension motd of motd 0.3") in err


@pytest.mark.slow
def test_a_program_of_an_extension_at_the_path_of_ours(tmp_path: Path) -> None:
    program = FILES.replace("message),)", 'message, program="clustergen-backup.sh"),)')
    install(tmp_path, "backup", files=program, **{"programs/clustergen-backup.sh": "#!/bin/sh\n"})
    code, _, err = run(tmp_path, "render", "m.yaml")
    assert code == 3
    assert "clustergen and the extension backup of motd 0.3 both have programs/backup/clustergen-backup.sh" in err


@pytest.mark.slow
def test_one_row_twice_in_a_table_of_an_extension(tmp_path: Path) -> None:
    table = "field\tvalue\tunverified\tsource\n" + "package_motd\tmotd\t\tDEB\n" * 2
    install(tmp_path, **{"data/operating_systems/debian-13.tsv": table})
    code, _, err = run(tmp_path, "render", "m.yaml")
    assert code == 3
    assert "motd of motd 0.3 has the row 'package_motd' twice in operating_systems/debian-13.tsv" in err


BARE = {"section": "PLACES = {}\n", "resolved": "RECORDS = {}\n", "rules": "", "codes": "CODES = ()\n"}
ONLY = {
    "files": FILES.replace("from clustergen_motd.resolved import Message\n", "")
    .replace("Message | None", "str")
    .replace("cluster.get(Message)", "cluster.name"),
    "alerts": EXPORTER_ALERTS,
    "dashboards": EXPORTER_DASHBOARDS.replace("motd_readers", "node_load1").replace("motd_writers", "no_metric"),
}


@pytest.mark.slow
@pytest.mark.parametrize("stage", ONLY)
def test_the_lock_file_names_an_extension_that_has_one_stage(stage: str, tmp_path: Path) -> None:
    install(tmp_path, **BARE, **{"files": "FILES = ()\n", stage: ONLY[stage]})
    text = SMALL.replace("slurm-accounting]", "slurm-accounting, monitoring]") + "monitoring: {grafana: {}}\n"
    assert run(tmp_path, "render", "m.yaml", manifest=text)[0] == 0
    lock = json.loads((tmp_path / "rendered/clustergen.lock.json").read_text())
    assert lock["extensions"] == {"motd": "motd 0.3"}
    if stage == "dashboards":
        install(
            tmp_path, "news", "clustergen_news", "news", **BARE, files="FILES = ()\n", dashboards=EXPORTER_DASHBOARDS
        )
        assert run(tmp_path, "render", "m.yaml", manifest=text)[0] == 0
        assert "news" not in json.loads((tmp_path / "rendered/clustergen.lock.json").read_text())["extensions"]


@pytest.mark.slow
def test_a_port_of_an_extension_that_another_daemon_has(tmp_path: Path) -> None:
    daemon = '6818, None, "motd server", "slurm_compute"'
    install(tmp_path, needs=CONTRIBUTIONS.replace('7017, None, "motd server", "motd_node"', daemon))
    code, out, _ = run(tmp_path, "validate", "m.yaml")
    assert code == 2
    assert "error[port-twice]: slurmd and motd server would both listen on port 6818 of " in out
