"""Small trees, each with the check that reads it: files that its program passes on one node, and wrong ones on another."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from clustergen.records import replace
from clustergen.render.node_hardware import Hardware
from clustergen.verify.checks import CHECKS, Trial
from clustergen.verify.files import Entry, TreeDirectory
from clustergen.verify.node_roots import node_roots
from clustergen.verify.run import _ask, claims
from clustergen.verify.show import text
from clustergen.verify.slurm_roots import parsers_directory

_CHECKS = {check.name: check for check in CHECKS}
_TIME = r"2\d{3}-\d\d-\d\dT[\d:]+Z"
_PARAMETER = r'<parameter name="[^"]+"'
_OF_THIS_PYTHON = re.compile(f"{re.escape(platform.python_version())}|{re.escape(yaml.__version__)}")
HOSTS = """\
n1 ansible_host=10.0.0.1
n2 ansible_host=10.0.0.2

[slurm_compute]
n[1:2]

[type_right]
n1

[type_wrong]
n2

[right]
n1

[wrong]
n2

[{system}]
n[1:2]
"""


@dataclass(frozen=True)
class Case:
    """`right` and `wrong`: files of a node each, by path there, or in the tree where that has no leading slash. `keep`:
    lines of a long output that stay in the recording. `hides`: what differs from run to run.
    """

    check: str
    right: Mapping[str, str] = field(default_factory=dict)
    wrong: Mapping[str, str] = field(default_factory=dict)
    system: str = "debian_13"
    hardware: Mapping[str, Hardware] = field(default_factory=dict)
    keep: str = ""
    hides: str = ""

    def report(self, scratch: Path) -> str:
        """The text of `clustergen verify --verbose`, without versions that depend on this Python."""
        tree = TreeDirectory(scratch / "rendered", _entries(self), (), self.hardware)
        trial = Trial(tree, node_roots(tree, scratch / "nodes"), scratch)
        check = _CHECKS[self.check]
        rows = _ask(check, trial, claims(check, tree.entries.values()))
        rows = [replace(row, version=_OF_THIS_PYTHON.sub("…", row.version)) for row in rows]
        printed = text(rows, verbose=True).replace(str(scratch), "SCRATCH").replace(str(parsers_directory()), "PARSERS")
        return re.sub(self.hides, "…", printed) if self.hides else printed

    def shortened(self, answer: dict[str, Any]) -> dict[str, Any]:
        return shortened(self, answer)


def _entries(case: Case) -> dict[str, Entry]:
    entries = {"inventory/hosts.ini": Entry("inventory/hosts.ini", HOSTS.format(system=f"os_{case.system}").encode())}
    for group, files in (("right", case.right), ("wrong", case.wrong)):
        for place, content in files.items():
            mode = 0o755 if content.startswith("#!") else 0o644
            if place.startswith("/"):
                path = f"overlays/{group}{place}"
                source = "templates/pull_node/x" if "clustergen-pull" in place else ""
                entries[path] = Entry(path, content.encode(), group, place, mode, source)
            else:
                entries[place] = Entry(place, content.encode(), mode=mode)
    return entries


def _of_podman(name: str, text: str) -> str:
    """The part of podman's answer that is about the files; the rest is about the machine."""
    if name == "info":
        info = json.loads(text)
        host = {key: info["host"][key] for key in ("cgroupManager", "ociRuntime", "eventLogger")}
        host["ociRuntime"] = {"name": host["ociRuntime"]["name"]}
        store = {"graphRoot": info["store"]["graphRoot"]}
        return json.dumps({"host": host, "store": store, "registries": info["registries"]})
    if name == "container":
        return json.dumps([{"HostConfig": {"Cgroups": one["HostConfig"]["Cgroups"]}} for one in json.loads(text)])
    return text


def shortened(case: Case, answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without lines of long outputs that nobody judges."""

    def short(text: str) -> str:
        if text.startswith("<"):  # what Pacemaker saved, and the parameters of an agent
            return f"<agent>{''.join(f'{tag}/>' for tag in re.findall(_PARAMETER, text))}</agent>"
        return "".join(line for line in text.splitlines(keepends=True) if re.search(case.keep, line))

    files = {name: _of_podman(name, short(text)) for name, text in answer.get("files", {}).items()}
    return {**answer, "out": short(answer["out"]), "err": short(answer["err"]), **({"files": files} if files else {})}


def _of(place: str, right: str, wrong: str) -> dict[str, Any]:
    return {"right": {place: right}, "wrong": {place: wrong}}


_NUT = {
    "/usr/local/sbin/clustergen-ups": """\
#!/usr/bin/python3
import pathlib, sys
place = pathlib.Path("/etc/clustergen/nut")
for file in [*place.glob("*.conf"), *place.glob("*.users")] if sys.argv[1] == "configure" else ():
    text = file.read_text().replace("@LOGIN@", "primary @PRIMARY@ primary")
    for name in ("primary", "secondary", "authentication", "privacy"):
        text = text.replace(f"@{name.upper()}@", (place / name).read_text())
    target = pathlib.Path("/etc/nut", file.name)
    target.write_text(text)
    target.chmod(0o640)
""",
    "/etc/clustergen/nut/ups.conf": """\
[a]
  driver = snmp-ups
  port = 10.0.9.203
  snmp_version = v3
  secLevel = authPriv
  secName = nut
  authPassword = "@AUTHENTICATION@"
  privPassword = "@PRIVACY@"
""",
    "/etc/clustergen/nut/upsd.conf": "LISTEN 127.0.0.1 3493\n",
    "/etc/clustergen/nut/upsd.users": '[primary]\n  password = "@PRIMARY@"\n  upsmon primary\n',
    "/etc/clustergen/nut/upssched.conf": """\
CMDSCRIPT /usr/local/sbin/clustergen-ups
PIPEFN /run/nut/upssched.pipe
LOCKFN /run/nut/upssched.lock
AT ONLINE * EXECUTE online
""",
}
_UPSMON = """\
MONITOR {}@localhost:3493 1 @LOGIN@
MINSUPPLIES 1
SHUTDOWNCMD "/sbin/shutdown -h +0"
RUN_AS_USER root
NOTIFYFLAG ONLINE {}
"""
_COROSYNC = """\
totem {
  version: 2
  cluster_name: x
  transport: knet
  crypto_cipher: aes256
  crypto_hash: sha256
}
nodelist {
  node {
    name: n1
    nodeid: 1
    ring0_addr: 127.0.0.1
  }
  node {
    name: n2
    nodeid: 2
    ring0_addr: 10.0.0.2
  }
}
"""
_SSSD = "[sssd]\nservices = nss\ndomains = d\n[domain/d]\nid_provider = ldap\nldap_uri = ldaps://a\n"
_NETPLAN = "network:\n  version: 2\n  ethernets:\n    eth1:\n      dhcp4: false\n      addresses: [10.2.0.1/24]\n"
_IFUPDOWN = "auto eth1\niface eth1 inet static\n    address 10.2.0.1/24\n"
_PROFILE = """\
[connection]
id=eth1
uuid=2f1b1f4c-4a2e-4b7e-9d5c-0a9a6a1b2c3d
type=ethernet
interface-name=eth1
[ipv4]
method=manual
address1=10.2.0.1/24
[ipv6]
method=disabled
"""


def _rendered(address: str) -> dict[str, str]:
    """A program in place of clustergen-network, which copies the files."""
    line = f"eth1: n1 has {address}, as it is" if address else "nothing"
    script = f'#!/bin/sh\ncp /etc/clustergen-network/*/* "$2" && chmod 600 "$2"/* && echo "{line}" >&2\n'
    return {"/usr/local/sbin/clustergen-network": script}


def _network(place: str, right: str, wrong: str) -> dict[str, Any]:
    directory = "/etc/clustergen-network"
    return {
        "right": {**_rendered("10.2.0.1"), f"{directory}/{place}": right},
        "wrong": {**_rendered("10.2.0.1"), f"{directory}/{place}": wrong},
    }


def _panel(number: int, x: int = 0, w: int = 12, expr: str = 'rate(up{node="$node"}[$__range])') -> dict[str, Any]:
    place = {"x": x, "y": 0, "w": w, "h": 2}
    return {"id": number, "title": f"p{number}", "gridPos": place, "targets": [{"expr": expr}]}


def _page(*panels: dict[str, Any], uid: str = "u") -> str:
    marks = {"list": [{"name": "marks", "expr": "up == 0"}]}
    document = {"title": "t", "uid": uid, "schemaVersion": 1, "panels": panels, "annotations": marks}
    return json.dumps(document)


def _device_type(model: str, *ports: str, kind: str = "infiniband-ndr") -> str:
    fields = {"manufacturer": "M", "model": model, "slug": model, "u_height": 1, "is_full_depth": True}
    return yaml.safe_dump({**fields, "interfaces": [{"name": port, "type": kind} for port in ports]})


_CABLES = "side_a_device,side_a_name,side_b_device,side_b_name,description\n"
_FABRIC = {
    "facility/device-types/s.yaml": _device_type("s", "p1", "p2", "p3"),
    "facility/device-types/h.yaml": _device_type("h", "ib0", "ib1"),
    "facility/devices.csv": "name,manufacturer,device_type,role\nleaf1,M,s,switch\nleaf2,M,s,switch\nspine,M,s,switch\n"
    "h1,M,h,server\nh2,M,h,server\n",
    "facility/cables.csv": f"{_CABLES}h1,ib0,leaf1,p1,fabric\nh2,ib0,leaf2,p1,fabric\n"
    "leaf1,p3,spine,p1,fabric;up\nleaf2,p3,spine,p2,fabric;up\nh1,ib1,leaf1,p2,rail\nh2,ib1,leaf1,p2,rail\n",
}
_PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="99" height="99">{}</svg>\n'.format(
    "".join(
        f'<circle cx="{n * 7 % 99}" cy="{n * 13 % 99}" r="{n % 9 + 2}" fill="#{n * 91 % 999:03}"/>' for n in range(60)
    )
)
_HUB = {
    "bind_url": "https://:8000", "host": "n1", "hub_port": 8081, "certificate": "/a.pem", "key": "/a.key", "group": "g",
    "programs": "/opt/jupyterhub", "state": "/var/lib/jupyterhub", "qos": "", "idle_seconds": 3600, "start_seconds": 600,
    "choices": [{"name": "p/0", "title": "p", "partition": "p", "gres": "", "cpus": 2, "memory_mib": 8192, "minutes": [30]}],
}  # fmt: skip
_FENCE = """\
<primitive id="fence-{0}" class="stonith" type="fence_ipmilan"><instance_attributes id="fence-{0}-options">
<nvpair id="fence-{0}-ip" name="ip" value="10.0.9.1"/>
<nvpair id="fence-{0}-hosts" name="pcmk_host_list" value="{0}"/>
</instance_attributes></primitive>
"""
_CIB = f"""\
<cib validate-with="pacemaker-3.0" admin_epoch="0" epoch="1" num_updates="0"><configuration>
<crm_config><cluster_property_set id="cib-bootstrap-options">
<nvpair id="fencing" name="stonith-enabled" value="true"/>
</cluster_property_set></crm_config>
<nodes/>
<resources>
{_FENCE.format("n1")}{_FENCE.format("n2")}<group id="nfs">
<primitive id="disk" class="ocf" provider="heartbeat" type="Filesystem"><instance_attributes id="disk-options">
<nvpair id="disk-device" name="device" value="/dev/mapper/nfs"/>
<nvpair id="disk-directory" name="directory" value="/export"/>
<nvpair id="disk-fstype" name="fstype" value="xfs"/>
</instance_attributes></primitive>
<primitive id="address" class="ocf" provider="heartbeat" type="IPaddr2"><instance_attributes id="address-options">
<nvpair id="address-ip" name="ip" value="10.0.0.30"/>
<nvpair id="address-prefix" name="cidr_netmask" value="24"/>
</instance_attributes></primitive>
</group>
</resources>
<constraints>
<rsc_location id="fence-n1-elsewhere" rsc="fence-n1" node="n1" score="-INFINITY"/>
<rsc_location id="fence-n2-elsewhere" rsc="fence-n2" node="n2" score="-INFINITY"/>
<rsc_location id="first" rsc="nfs" node="n1" score="50"/>
</constraints>
<rsc_defaults><meta_attributes id="defaults">
<nvpair id="stickiness" name="resource-stickiness" value="100"/>
</meta_attributes></rsc_defaults>
</configuration><status/></cib>
"""
_SEED_NETWORK = """\
version: 2
ethernets:
  eno1: {dhcp4: false, addresses: ["@management@/24"]}
  eno2: {dhcp4: false, addresses: ["@storage@/24"]}
"""
_ROOM = {
    **_FABRIC,
    "facility/devices.csv": "name,manufacturer,device_type,rack,role\nleaf1,M,s,r1,switch\nh1,M,h,r1,server\nh2,M,h,,server\n",
    "facility/racks.csv": "name\nr1\n",
    "facility/power-feeds.csv": "name,rack\nfeed,r1\n",
    "facility/cables.csv": f"{_CABLES}h1,ib0,leaf1,p1,fabric\nh2,ib0,leaf1,p2,fabric\n",
}
_WAREWULF = """\
nodeprofiles:
  p:
    cluster name: x
    system overlay: [wwinit, x.right]
    kernel: {args: [quiet]}
    ipmi: {write: "true", ipaddr: 10.0.9.1}
    tags: {a: b}
nodes:
  n1:
    profiles: [p]
    network devices: {a: {hwaddr: "52:54:00:00:00:11", ipaddr6: "fd00::1", onboot: "false"}}
"""
_H100 = Hardware(
    2, 8, 2, 1, "sockets", memory=65536, gpu="NVIDIA H100 80GB HBM3", mig_family="h100-80",
    cpus=(*2 * ("0-7,16-23",), *2 * ("8-15,24-31",)),
)  # fmt: skip
_CPUS = Hardware(2, 8, 2, 1, "sockets", memory=65536)
_OF_REFRAME = "^- Gate|ERROR|WARNING"
_OF_SLURM = r"(?:fatal|error|warning|WARNING): | primary |slurmd started on|Gres Name=|NodeName=|GPU system|CPUs:\d+|^yes$|^/job"
_CONFIGURED = {"ansible.cfg": "[defaults]\ninventory = inventory/hosts.ini\n"}


def _slurm(
    release: str = "24.11",
    place: str = "/etc",
    conf: str = "",
    dbd: str = "",
    gres: str = "NodeName=n1 Name=gpu Type=h100 File=/dev/nvidia[0-3]\n",
    gpus: str = "gpu:h100:4",
    parameters: str = "",
    script: str = "#!/bin/bash\n#SBATCH --nodes=1\n",
    accounts: str = "{}",
) -> dict[str, str]:
    size = "Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 RealMemory=64000"
    return {
        f"{place}/slurm/slurm.conf": f"""\
ClusterName=x
SlurmctldHost=n1
SlurmUser=slurm
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd/%n
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=1000
GresTypes=gpu
SlurmdParameters={parameters or "none"}
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=n1
{conf}NodeName=n1 {size} Gres={gpus}
NodeName=n2 {size}
PartitionName=p Nodes=ALL Default=YES
""",
        "/etc/slurm/slurmdbd.conf": f"""\
DbdHost=n1
SlurmUser=slurm
StorageType=accounting_storage/mysql
StorageHost=localhost
LogFile=/var/log/slurm/slurmdbd.log
{dbd}""",
        "/etc/slurm/gres.conf": gres,
        "/etc/slurm/plugstack.conf": "optional /usr/lib/slurm/spank_x.so\n",
        "/etc/slurm/mpi.conf": "PMIxTimeout=300\n",
        "/etc/default/slurmd": "SLURMD_OPTIONS='--conf-server n1:6817'\n" if accounts == "x" else "SLURMD_OPTIONS=\n",
        "/etc/hosts": "10.0.0.1 n1\n10.0.0.2 n2\n",
        "/usr/local/share/doc/cluster/jobs/a.sh": script,
        "inventory/group_vars/all.yml": f'slurm_release: "{release}"\nslurm_controllers: [n1]\n',
    }


def _seed(network: str) -> dict[str, str]:
    """A seed with a program in place of seed.py, which writes the files of one node."""
    program = """\
#!/usr/bin/python3
import pathlib, sys
directory = pathlib.Path(sys.argv[2], sys.argv[3])
directory.mkdir(parents=True)
text = pathlib.Path("/srv/cloud-init/network-config.gpu").read_text()
text = text.replace("@management@", "10.0.0.1").replace("@storage@", "10.2.0.1")
(directory / "network-config").write_text(text)
(directory / "meta-data").write_text("local-hostname: n1\\n")
(directory / "user-data").write_text("#cloud-config\\n{}\\n")
"""
    return {
        "cloud-init/nodes": "# node\n\nn1 gpu - - 10.0.0.1 10.2.0.1\nn2 other - - 10.0.0.2 -\n",
        "cloud-init/seed.py": program.replace("\\\\", "\\"),
        "cloud-init/network-config.gpu": network,
        "/etc/clustergen-network/management/x.yaml": "{}\n",
    }


def _user_data(mode: str) -> dict[str, str]:
    program = "/usr/local/sbin/clustergen-pull"
    script = "#!/bin/sh\n"
    files = {"write_files": [{"path": program, "permissions": mode, "content": script}]}
    return {program: script, "cloud-init/debian-13.yaml": f"#cloud-config\n{yaml.safe_dump(files)}"}


def _bill(*lines: str) -> str:
    """Lines of category, count, spares, order, price, cost, highest price and cost."""
    return "".join(f"{line}\n" for line in ("category,count,spares,order,price,cost,price_high,cost_high", *lines))


_REFRAME = """\
systems:
  - name: x
    hostnames: [.*]
    partitions:
      - {name: right, scheduler: local, launcher: local, environs: [builtin]}
"""


def _gate(name: str, kind: str = "right", floors: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    gate = {"name": name, "kind": "gpus", "type": kind, "stage": "presence", "nodes": 1, "tasks_per_node": 1, "gpus": 4}
    return {**gate, "seconds": 60, "drains": True, "arguments": {"MODEL": "x"}, "floors": list(floors)}


def _acceptance(settings: str = "", gates: Sequence[Mapping[str, Any]] = ()) -> dict[str, str]:
    floors = [{"metric": "gpus", "relation": "equal", "value": 4, "unit": "GPUs"}]
    types = {"right": {"hosts": "n[1-2]", "partition": "p", "gres": ""}}
    document = {
        "format": 1,
        "cluster": "x",
        "mpi": "pmix",
        "types": types,
        "gates": [_gate("a", floors=floors), *gates],
    }
    return {"acceptance/gates.json": json.dumps(document), "acceptance/reframe.yaml": _REFRAME + settings}


CASES: dict[str, Case] = {
    "modprobe": Case(
        "modprobe",
        **_of("/etc/modprobe.d/x.conf", "# why\noptions  nvidia a=1\n", "options nvidia b=1\noptoins c d=2\n"),
    ),
    "kernel options": Case(
        "kernel options",
        **_of(
            "/etc/default/grub.d/x.cfg",
            'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX iommu=pt quiet"\n',
            'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX =pt"\n',
        ),
    ),
    "kernel options: lost": Case(
        "kernel options",
        **_of("/etc/default/grub.d/x.cfg", 'GRUB_CMDLINE_LINUX="quiet"\n', "GRUB_CMDLINE_LINUX=$nothing\n"),
    ),
    "logrotate": Case(
        "logrotate",
        **_of(
            "/etc/logrotate.d/x", "/var/log/x {\n  weekly\n  missingok\n}\n", "/var/log/x {\n  weakly\n  rotate no\n}\n"
        ),
    ),
    "NetworkManager": Case(
        "NetworkManager",
        **_of(
            "/etc/NetworkManager/conf.d/x.conf",
            "[keyfile]\nunmanaged-devices=interface-name:ib0\n",
            "[keyfile]\nunmanaged-devices=interface-name:ib0\nnothing=1\n",
        ),
    ),
    "mariadb": Case(
        "mariadb",
        **_of("/etc/mysql/x.cnf", "[mysqld]\ninnodb_lock_wait_timeout = 900\n", "[mysqld]\ninnodb_nothing = 1\n"),
        keep="ERROR|Ver ",
        hides=r"2\d{3}-\d+-\d+ +[\d:]+ \d+ ",
    ),
    "sshd": Case("sshd", **_of("/etc/ssh/sshd_config.d/x.conf", "MaxSessions 4\n", "MaxSessions 4\nNothing yes\n")),
    "pam": Case(
        "pam",
        **_of(
            "/etc/security/limits.d/x.conf", "* hard memlock unlimited\n", "* hard memlock unlimited\nnothing here\n"
        ),
    ),
    "pam: services": Case(
        "pam",
        **_of(
            "/etc/pam.d/clustergen-x",
            "auth substack password-auth\naccount required pam_permit.so\nsession required pam_permit.so\n",
            "account required pam_nothing.so\nsession required pam_permit.so\n",
        ),
        hides=r"pamtester\[\d+\]",
    ),
    "chrony": Case(
        "chrony", hides=_TIME, **_of("/etc/chrony/chrony.conf", "server 10.0.0.9 iburst\n", "serverr 10.0.0.9\n")
    ),
    "chrony of Red Hat": Case("chrony", hides=_TIME, right={"/etc/chrony.conf": "pool\n"}, system="rocky_9"),
    "sysctl": Case(
        "sysctl", **_of("/etc/sysctl.d/x.conf", "vm.swappiness = 1\n-kernel.nothing = 1\n", "kernel.panic 10\n")
    ),
    "rsyslog": Case(
        "rsyslog",
        **_of(
            "/etc/rsyslog.d/x.conf",
            'module(load="omrelp")\naction(type="omrelp" target="10.0.0.9" port="2514" tls="on"\n'
            '  tls.caCert="/etc/ssl/new/ca.pem"\n)\nmodule(load="omelasticsearch")\n'
            'action(type="omelasticsearch" server="10.0.0.9" uid="u"\n  pwd=`cat /etc/secret/password`\n)\n',
            'action(type="omrelpp")\n',
        ),
    ),
    "updates": Case("updates", **_of("/etc/apt/apt.conf.d/x", 'APT::Periodic::Enable "1";\n', 'APT::A "1"\n')),
    "held packages": Case(
        "held packages",
        **_of(
            "/etc/apt/preferences.d/x",
            "Package: slurmd\nPin: release a=now\nPin-Priority: 1001\n",
            "Package: slurmd\nPin: nonsense\nPin-Priority: 1001\n",
        ),
    ),
    "nftables": Case(
        "nftables",
        **_of(
            "/etc/clustergen-firewall/main.nft",
            "table inet t {\n  chain i {\n    type filter hook input priority 0; policy drop;\n  }\n}\n",
            "table inet t {\n  chain i {\n    type filter hook input priority 0; policy deny;\n  }\n}\n",
        ),
    ),
    "rules for DCGM": Case(
        "rules for DCGM",
        **_of("/etc/clustergen/dcgm.nft", "table inet t { }\n", "table inet t { set s { type user; } }\n"),
    ),
    "firewalld": Case(
        "firewalld",
        **_of(
            "/etc/firewalld/zones/x.xml",
            '<zone target="ACCEPT">\n  <source address="10.0.0.0/24"/>\n</zone>\n',
            '<zone target="ACCEPT">\n  <source address="10.0.0.0/240"/>\n</zone>\n',
        ),
    ),
    "firewalld: not listed": Case(
        "firewalld",
        right={"/etc/firewalld/zones/x.xml": '<zone>\n<!--  <source address="10.0.0.0/24"/> -->\n</zone>\n'},
    ),
    "docker": Case("docker", **_of("/etc/docker/daemon.json", '{"log-driver": "local"}\n', '{"log-drive": "local"}\n')),
    "podman": Case(
        "podman",
        right={
            "/etc/containers/storage.conf": '[storage]\ndriver = "overlay"\nrootless_storage_path = "/local/$USER/c"\n',
            "/etc/containers/registries.conf.d/x.conf": '[[registry]]\nprefix = "docker.io"\nlocation = "mirror:5000"\n',
            "/etc/containers/containers.conf.d/x.conf": '[containers]\ncgroups = "disabled"\n'
            '[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n',
        },
        wrong={
            "/etc/containers/storage.conf": '[storage]\ndriver = "overlay"\nrootless_path = "/local/c"\n',
            "/etc/containers/registries.conf.d/x.conf": '[[registry]]\nprefix = "docker.io"\ninsecur = true\n'
            '[[registry.mirror]]\nlocation = "mirror:5000"\n',
            "/etc/containers/containers.conf.d/x.conf": '[containers]\ncgroup = "disabled"\n[engine]\nruntime = "runsc"\n',
        },
        keep="^((?!level=debug|level=info).)*$|Failed|ersion",
        hides=_TIME,
    ),
    "findmnt": Case(
        "findmnt",
        right={
            "/etc/systemd/system/a-b.mount": "[Mount]\nWhat=10.0.0.9:/a b\nWhere=/a/b\nType=nfs\nOptions=ro,nosuid\n",
            "/etc/systemd/system/c.mount": "[Mount]\nWhat=tmpfs\nWhere=/c\nType=tmpfs\n",
        },
        wrong={"/etc/enroot/mounts.d/x.fstab": "/dev/a /a none bind\nnothing\n"},
    ),
    "exportfs": Case(
        "exportfs",
        **_of(
            "/etc/exports.d/x.exports",
            '# homes\n"/export/a" 10.0.0.0/24(rw,no_subtree_check)\n',
            "/export/b 10.0.0.0/24(rw,nothing)\n",
        ),
    ),
    "nfsconf": Case("nfsconf", **_of("/etc/nfs.conf.d/x.conf", "[nfsd]\n# more\nthreads=64\n", "threads=64\n")),
    "ceph": Case(
        "ceph",
        **_of("/etc/ceph/x.conf", "[global]\nmon_host = 10.0.0.9\n", "[global\nmon_host = 10.0.0.9\n"),
        hides=r"2\d{3}-\S+T\S+ \w+ ",
    ),
    "ceph specification": Case(
        "ceph specification",
        **_of(
            "/etc/ceph/x.spec.yaml",
            "service_type: host\nhostname: n1\naddr: 10.0.0.1\n---\nservice_type: mon\nplacement: {hosts: [n1]}\n",
            "service_type: osd\nservice_id: o\nplacement: {hosts: [n1]}\nspec: {data_disks: {all: true}}\n",
        ),
    ),
    "opensm": Case(
        "opensm",
        right={
            "/etc/opensm/opensm.conf": "sm_priority 15\n",
            "/etc/opensm/partitions.conf": "Default=0x7fff, ipoib : ALL=full ;\n",
        },
        wrong={"/etc/opensm/opensm.conf": "nothing 1\n"},
        keep="SUBNET UP|Unrecognized|PARSE|OpenSM \\d",
    ),
    "ucx": Case(
        "ucx",
        **_of("/etc/ucx/ucx.conf", "# why\nUCX_TLS=rc,sm,self\nUCX_IB_SL=3\n", "UCX_NOTHING=1\nUCX_RNDV_THRESH=soon\n"),
        keep="^UCX_(TLS|RNDV_THRESH|.*IB_SL)=|inherits:.*IB_SL|ersion|error|RC_MLX5_SL",
    ),
    "open mpi": Case(
        "open mpi",
        **_of("/etc/openmpi/openmpi-mca-params.conf", "btl = self,vader\n", "btl = self\nbtl_nothing = 1\n"),
        keep=r"source:file|\(current value:.*data source: \S*file|Open MPI v|ompi_info",
    ),
    "cachefilesd": Case(
        "cachefilesd",
        **_of(
            "/etc/cachefilesd.conf", "dir /var/cache/fscache\n# why\ntag x\n", "dir /var/cache/fscache\nculltable 30\n"
        ),
        hides=r"cachefilesd\[\d+\]|\d+(?=: )",
    ),
    "NUT": Case(
        "NUT",
        right={
            **_NUT,
            "/etc/clustergen/ups.json": '{\n "port": 3493,\n "directory": "/etc/nut",\n "feeds": {"a": ["n1"]}\n}\n',
            "/etc/clustergen/nut/upsmon.conf": _UPSMON.format("a", "SYSLOG"),
        },
        wrong={
            **_NUT,
            "/etc/clustergen/nut/ups.conf": _NUT["/etc/clustergen/nut/ups.conf"].replace("secName", "secNam"),
            "/etc/clustergen/nut/upsd.users": _NUT["/etc/clustergen/nut/upsd.users"].replace("smon", "smom"),
            "/etc/clustergen/ups.json": '{\n "port": 3493,\n "directory": "/etc/nut",\n "feeds": {"b": ["n2"], "a": []}\n}\n',
            "/etc/clustergen/nut/upsmon.conf": _UPSMON.format("a", "SYSLOG") + "MINSUPLIES 1\n",
        },
        hides=r" \d+\.\d{6}",
    ),
    "corosync": Case(
        "corosync",
        **_of("/etc/corosync/corosync.conf", _COROSYNC, _COROSYNC.replace("aes256", "aes257")),
    ),
    "SSSD": Case(
        "SSSD",
        **_of("/etc/sssd/sssd.conf", _SSSD, f"{_SSSD}enumerat = true\n"),
        system="rocky_9",
    ),
    "modules": Case(
        "modules",
        right={"/etc/lmod/modules/a/1.lua": 'prepend_path("PATH", "/a")\n', "/etc/lmod/modules/a/.modulerc.lua": ""},
        wrong={"/etc/modulefiles/b/1.lua": 'prepend_pth("PATH", "/b")\n'},
        hides=r"While processing.*|^ +$",
    ),
    "sudoers": Case("sudoers", **_of("/etc/sudoers.d/x", "a ALL=(ALL) NOPASSWD: ALL\n", "a ALL=(ALL NOPASSWD: ALL\n")),
    "systemd units": Case(
        "systemd units",
        right={
            "/etc/systemd/system/a.service": "[Unit]\nRequires=beegfs.service missing.target other.socket\n"
            "[Service]\nExecStart=/usr/sbin/of-a-package\n",
            "/etc/systemd/system/b@.service": "[Service]\nExecStart=/usr/local/sbin/clustergen-b %i\n",
            "/etc/systemd/system/ssh.service.d/x.conf": "[Service]\nNice=1\n",
            "/etc/systemd/system/absent.service.d/x.conf": "[Service]\nNice=1\n",
            "/usr/local/sbin/clustergen-b": "#!/bin/sh\n",
        },
        wrong={
            "/etc/systemd/system/a.mount": "[Mount]\nWhat=tmpfs\nWhere=/b\nNothing=1\n",
            "/etc/systemd/system/c.service": "[Service]\nExecStart=/usr/local/sbin/clustergen-c\n",
        },
    ),
    **{
        name: Case(
            name,
            **_of(
                f"/etc/systemd/{place}.conf.d/x.conf", f"[{section}]\n{right}\n", f"[{section}]\n{right}\nNothing=1\n"
            ),
            keep="Nothing|ClustergenCanary|^systemd \\d",
        )
        for name, place, section, right in (
            ("systemd manager", "system", "Manager", "DefaultLimitMEMLOCK=infinity"),
            ("systemd logind", "logind", "Login", "RemoveIPC=no"),
            ("systemd journald", "journald", "Journal", "SystemMaxUse=4G"),
            ("systemd networkd", "networkd", "Network", "ManageForeignRoutes=no"),
        )
    },
    "sysusers": Case("sysusers", **_of("/etc/sysusers.d/x.conf", 'u x 64500 "X" /var/lib/x\n', "q nothing\n")),
    "tmpfiles": Case(
        "tmpfiles",
        right={"/etc/sysusers.d/x.conf": "u x 64500\n", "/etc/tmpfiles.d/x.conf": "d /run/x 0755 x root -\n"},
        wrong={"/etc/tmpfiles.d/x.conf": "d /run/x 0799 root root -\nd /run/y 0755 y root -\n"},
    ),
    "modules-load": Case(
        "modules-load", **_of("/etc/modules-load.d/x.conf", "# why\nnvidia-fs\n", "nvidia_fs # a driver\n")
    ),
    "udev": Case(
        "udev", **_of("/etc/udev/rules.d/60-x.rules", 'ACTION=="add", NAME="x"\n', 'ACTON=="add", NAME="x"\n')
    ),
    "hosts": Case(
        "hosts",
        **_of(
            "/etc/hosts",
            "# nodes\n10.0.0.1 n1 one\n10.0.0.2 n2\n::1 localhost6\nfd00::1 n1\nfd00::2 n2\n",
            "10.0.0.3 n1\n10.0.0.999 n2\nfd00::1 n1\nfd00:::2 n2\n",
        ),
    ),
    "netplan": Case(
        "netplan", **_network("storage/x.yaml", _NETPLAN, _NETPLAN.replace("dhcp4", "dhcp44")), system="ubuntu_24_04"
    ),
    "netplan: addresses": Case(
        "netplan",
        right={
            **_rendered("10.2.0.1"),
            "/etc/clustergen-network/storage/x.yaml": _NETPLAN.replace("2.0.1/", "2.0.10/"),
        },
        wrong={**_rendered(""), "/etc/clustergen-network/storage/x.yaml": _NETPLAN},
    ),
    "ifupdown": Case(
        "ifupdown",
        **_network("x/clustergen-storage", _IFUPDOWN, _IFUPDOWN.replace("static", "statick")),
        keep=r"10\.2|error|couldn|method|^[\d.]+$|has",
    ),
    "NetworkManager profiles": Case(
        "NetworkManager profiles",
        **_network("x/eth1.nmconnection", _PROFILE, _PROFILE.replace("[ipv6]", "miimonn=1\n[ipv6]")),
        system="rocky_9",
        hides=r"uuid=\S+|timestamp=\d+",
    ),
    "promtool": Case(
        "promtool",
        right={
            "/etc/prometheus/prometheus.yml": "rule_files: [rules/*.yml]\n",
            "/etc/prometheus/rules/a.yml": "groups: [{name: a, rules: [{alert: A, expr: up == 0}, {record: 'a:b', expr: up}]}]\n",
        },
        wrong={"/etc/prometheus/prometheus.yml": "scrape_intervall: 1m\n"},
    ),
    "promtool: lint": Case(
        "promtool",
        right={
            "/etc/prometheus/prometheus.yml": "rule_files: [rules/*.yml]\n",
            "/etc/prometheus/rules/a.yml": "groups: [{name: a, rules: [{alert: A, expr: up}, {alert: A, expr: up}]}]\n",
        },
        wrong={
            "/etc/prometheus/prometheus.yml": "rule_files: [rules/*.yml]\n",
            "/etc/prometheus/rules/a.yml": "groups: [{name: a, rules: [{alert: A, expr: up(}]}]\n",
        },
    ),
    "prometheus": Case(
        "prometheus",
        right={
            "/etc/default/prometheus": 'ARGS="--config.file=/etc/prometheus/prometheus.yml"\n',
            "/etc/prometheus/prometheus.yml": "{}\n",
        },
        wrong={
            "/etc/systemd/system/prometheus.service": "[Service]\nExecStart=/usr/bin/prometheus --wbe $ARGS\n",
            "/etc/prometheus/prometheus.yml": "{}\n",
        },
        keep="rror|ersion",
    ),
    "runbooks": Case(
        "runbooks", **_of("/etc/prometheus/consoles/x.html", "<ul>{{ 1 }}</ul>\n", "<ul>{{ queri }}</ul>\n")
    ),
    "amtool": Case(
        "amtool",
        **_of(
            "/etc/prometheus/alertmanager.yml",
            "route: {receiver: a}\nreceivers: [{name: a}]\n",
            "route: {receiver: b}\nreceivers: [{name: a}]\n",
        ),
    ),
    "node exporter": Case(
        "node exporter",
        **_of("/etc/default/prometheus-node-exporter", 'ARGS=""\n', 'ARGS="--nothing"\n'),
        keep="rror|ersion",
    ),
    "SNMP exporter": Case(
        "SNMP exporter",
        right={
            "/etc/prometheus-exporters/snmp.yml": "modules: {m: {walk: ['1.3']}}\n",
            "/etc/default/prometheus-snmp-exporter": 'ARGS="--config.file=/etc/prometheus-exporters/snmp*.yml"\n',
        },
        wrong={
            "/etc/prometheus-exporters/snmp.yml": "modulez: {}\n",
            "/etc/default/prometheus-snmp-exporter": 'ARGS="--config.file=/etc/prometheus-exporters/snmp*.yml"\n',
        },
        hides=r"time=\S+ ",
    ),
    "blackbox exporter": Case(
        "blackbox exporter",
        **_of("/etc/prometheus-exporters/blackbox.yml", "modules: {a: {prober: icmp}}\n", "modulez: {}\n"),
        hides=r"(ts|time)=\S+ ",
    ),
    "queries": Case(
        "queries",
        **_of("/etc/grafana/dashboards/x.json", _page(_panel(1)), _page(_panel(1, expr="sum(by "))),
    ),
    "pictures": Case(
        "pictures",
        right={"facility/a.svg": _PICTURE},
    ),
    "pictures: empty": Case("pictures", right={"facility/a.svg": _PICTURE.partition("<circle")[0] + "</svg>"}),
    "pictures: cut": Case("pictures", right={"facility/a.svg": "<svg>"}),
    "fabric plan": Case("fabric plan", right=_FABRIC, keep="SUBNET UP|FatTree|^OpenSM \\d"),
    "fabric plan: ethernet": Case(
        "fabric plan", right={name: content.replace("infiniband-ndr", "other") for name, content in _FABRIC.items()}
    ),
    "fabric plan: no table": Case("fabric plan", right={"facility/cables.csv": "a,b\n"}),
    "cloud-init": Case(
        "cloud-init",
        **_of("/etc/cloud/cloud.cfg.d/99-clustergen.cfg", "manage_etc_hosts: false\n", "manage_etc_hosts: true\n"),
        hides=r"2\d{3}-\S+ \S+",
    ),
    "cloud-init: schema": Case(
        "cloud-init", right={"/etc/cloud/cloud.cfg.d/99-clustergen.cfg": "manage_etc_hosts: false\nnothing: 1\n"}
    ),
    "bash": Case(
        "bash",
        right={"/a.sh": "#!/bin/bash\nshopt -s extglob\nls !(a)\n", "/b": "#!/bin/sh\necho\n"},
    ),
    "bash: unfinished": Case("bash", right={"/a.sh": "#!/bin/bash\nif true; then\n", "/b": "#!/bin/sh\necho\n"}),
    "shellcheck": Case("shellcheck", right={"/a.sh": "#!/bin/bash\necho $a\n"}),
    "python": Case("python", right={"/a": "#!/usr/bin/python3\nif True\n", "/b.py": "print()\n"}),
    "ansible-inventory": Case("ansible-inventory", right={"inventory/group_vars/all.yml": "a: 1\n"}),
    "ansible-inventory: YAML": Case("ansible-inventory", right={"inventory/group_vars/all.yml": "a: [1\n"}),
    "ansible-playbook": Case(
        "ansible-playbook", right={**_CONFIGURED, "site.yml": "- hosts: all\n  tasks: [{ping: }]\n"}
    ),
    "ansible-playbook: module": Case(
        "ansible-playbook", right={**_CONFIGURED, "site.yml": "- hosts: all\n  tasks: [{pong: }]\n"}
    ),
    "ansible-config": Case("ansible-config", right={"ansible.cfg": "[defaults]\nforks = 1\n"}),
    "ansible-config: key": Case("ansible-config", right={"ansible.cfg": "[defaults]\nforkss = 1\n"}),
    "acceptance": Case("acceptance", keep=_OF_REFRAME, right=_acceptance()),
    "acceptance: settings": Case("acceptance", keep=_OF_REFRAME, right=_acceptance(settings="nothing: 1\n")),
    "acceptance: bounds": Case(
        "acceptance",
        keep=_OF_REFRAME,
        right=_acceptance(
            gates=[
                _gate("none", "ghost"),
                _gate("free", floors=[{"metric": "rate", "relation": "least", "value": 0, "unit": "GB/s"}]),
                _gate("odd", floors=[{"metric": "rate", "relation": "about", "value": 1, "unit": "GB/s"}]),
            ]
        ),
    ),
    "acceptance: no floors": Case("acceptance", right={**_acceptance(), "acceptance/gates.json": '{"types": {}}'}),
    "acceptance: one file": Case("acceptance", right={"acceptance/gates.json": "{}"}),
    "jupyterhub": Case(
        "jupyterhub", **_of("/etc/clustergen/notebooks.json", json.dumps(_HUB), json.dumps({**_HUB, "hub_port": "x"}))
    ),
    "jupyterhub: no value": Case("jupyterhub", keep="^KeyError", right={"/etc/clustergen/notebooks.json": "{}\n"}),
    "pacemaker": Case(
        "pacemaker",
        **_of(
            "/etc/clustergen-failover/cib.xml",
            _CIB,
            _CIB.replace("cidr_netmask", "netmask").replace('value="100"', 'value="0"'),
        ),
    ),
    "pacemaker: without fencing": Case(
        "pacemaker",
        **_of(
            "/etc/clustergen-failover/cib.xml",
            _CIB.replace('stonith-enabled" value="true"', 'stonith-enabled" value="false"'),
            _CIB.replace('score="50"', 'score="often"'),
        ),
    ),
    "cloud-init seed": Case("cloud-init seed", right=_seed(_SEED_NETWORK), system="ubuntu_24_04"),
    "cloud-init seed: key": Case("cloud-init seed", right=_seed(_SEED_NETWORK.replace("dhcp4", "dhcp44"))),
    "cloud-init seed: address": Case("cloud-init seed", right=_seed(_SEED_NETWORK.replace("@storage@", "10.9.9.9"))),
    "cloud-init seed: nodes": Case(
        "cloud-init seed", right={**_seed(_SEED_NETWORK), "cloud-init/network-config.other": _SEED_NETWORK}
    ),
    "cloud-init seed: incomplete": Case("cloud-init seed", right={"cloud-init/network-config.gpu": _SEED_NETWORK}),
    "cloud-init user data": Case("cloud-init user data", right=_user_data("0755")),
    "cloud-init user data: mode": Case("cloud-init user data", right=_user_data("0644"), hides=r"2\d{3}-\S+ \S+"),
    "cloud-init user data: system": Case("cloud-init user data", right=_user_data("0755"), system="rocky_9"),
    "slurm": Case("slurm", keep=_OF_SLURM, right=_slurm(), hardware={"type_right": _H100, "type_wrong": _CPUS}),
    "slurm: words": Case(
        "slurm",
        keep=_OF_SLURM,
        right=_slurm(
            conf="SlurmctldTimeuot=60\nHealthCheckProgram=/usr/sbin/x\n",
            dbd="StorageHots=db\n",
            gres="NodeName=n1 Name=gpu Type=h200 File=/dev/nvidia[0-3]\n",
            script="#!/bin/bash\n#SBATCH --nodes=9\n",
            accounts='{"organization": "x"}',
        ),
        hardware={"type_right": _H100, "type_wrong": replace(_CPUS, memory=1024)},
    ),
    "slurm: no start": Case(
        "slurm",
        keep=_OF_SLURM,
        right=_slurm(conf="SelectType=select/nothing\n"),
        hardware={"type_right": replace(_H100, gpu="")},
    ),
    "slurm: newer": Case(
        "slurm",
        keep=_OF_SLURM,
        right=_slurm(release="23.11", conf="FastSchedule=1\nSchedulerParameters=bf_continue\n"),
        hardware={"type_right": _H100},
    ),
    "slurm: too new": Case("slurm", keep=_OF_SLURM, right=_slurm(release="99.05"), hardware={"type_right": _CPUS}),
    "slurm: no controller": Case("slurm", keep=_OF_SLURM, right=_slurm(place="/opt")),
    "slurm hardware": Case(
        "slurm hardware", keep=_OF_SLURM, right=_slurm(), hardware={"type_right": _H100, "type_wrong": _CPUS}
    ),
    "slurm hardware: MIG": Case(
        "slurm hardware",
        keep=_OF_SLURM,
        right={
            **_slurm(gres="AutoDetect=nvml\n", gpus="gpu:h100:3,gpu:h100_80gb_hbm3_3g.40gb:2"),
            "/etc/nvidia-mig-manager/clustergen.yaml": "version: v1\nmig-configs:\n  x:\n"
            "    - {devices: [0, 1, 2], mig-enabled: false}\n"
            "    - {devices: [3], mig-enabled: true, mig-devices: {3g.40gb: 2}}\n",
        },
        hardware={"type_right": _H100, "type_wrong": replace(_H100, gpu="")},
    ),
    "slurm hardware: words": Case(
        "slurm hardware",
        keep=_OF_SLURM,
        right=_slurm(
            release="26.05",
            gres="NodeName=n1 Name=gpu Type=h200 File=/dev/nvidia[0-1] Cores=0-3\n",
            gpus="gpu:h200:8",
            parameters="numa_node_as_socket",
        ),
        hardware={"type_right": replace(_H100, numa=2, sockets=1), "type_wrong": replace(_CPUS, sockets=1)},
    ),
    "slurm hardware: no types": Case("slurm hardware", keep=_OF_SLURM, right=_slurm()),
    # files that Python reads, without a program
    "values": Case("values", **_of("/etc/clustergen/x.json", "{}\n", "{}\n}\n")),
    "dcgm counters": Case(
        "dcgm counters",
        **_of(
            "/etc/dcgm-exporter/x.csv",
            "# why\n\nDCGM_FI_X, gauge, what, it counts\n".replace("what, it", "what it"),
            "  # why\nDCGM_FI_X, gauge\nDCGM_FI_Y, gague, what\nDCGM_FI_Z, counter, what\n",
        ),
    ),
    "html": Case("html", **_of("/srv/guide.html", "<html><p>a</p></html>\n", "<html><p>a</html>\n")),
    "xml": Case("xml", **_of("/etc/nccl-topo-x.xml", "<system/>\n", "<system>\n")),
    "yaml": Case("yaml", **_of("/etc/nvidia-mig-manager/x.yaml", "a: 1\n", "a: [1\n")),
    "yaml: empty": Case("yaml", right={"/etc/nvidia-mig-manager/x.yaml": "# nothing\n---\n"}),
    "beegfs-mgmtd": Case(
        "beegfs-mgmtd",
        **_of("/etc/beegfs/beegfs-mgmtd.toml", "quota-enable = true\n", "quota-enabled = true\n"),
    ),
    "beegfs-mgmtd: TOML": Case("beegfs-mgmtd", right={"/etc/beegfs/beegfs-mgmtd.toml": "quota-enable = maybe\n"}),
    "grafana settings": Case(
        "grafana settings",
        **_of("/etc/grafana/grafana.ini", "[server]\nroot_url = %(protocol)s\n", "[server]\na = 1\n[server]\n"),
    ),
    "grafana provisioning": Case(
        "grafana provisioning",
        right={f"/etc/grafana/provisioning/{name}.yaml": "apiVersion: 1\n" for name in ("a", "b")},
        wrong={
            "/etc/grafana/provisioning/c.yaml": "a: [1\n",
            "/etc/grafana/provisioning/d.yaml": "apiVersion: 2\n",
            "/etc/grafana/provisioning/e.yaml": "- 1\n",
        },
    ),
    "dashboards": Case(
        "dashboards", right={"/etc/grafana/dashboards/x.json": _page(_panel(1, w=16), _panel(2, x=16, w=8))}
    ),
    "dashboards: wrong": Case(
        "dashboards",
        wrong={
            "/etc/grafana/dashboards/a.json": "[]",
            "/etc/grafana/dashboards/b.json": "{",
            "/etc/grafana/dashboards/c.json": _page(_panel(1), _panel(1, x=12), _panel(2, x=23), _panel(3, x=11)),
            "/etc/grafana/dashboards/d.json": _page(_panel(1, w=0), _panel(2, x=-1), _panel(3, x=20, w=5)),
        },
    ),
    "netbox": Case("netbox", right=_ROOM),
    "netbox: wrong": Case(
        "netbox",
        right={
            **_ROOM,
            "facility/device-types/t.yaml": "manufacturer: M\nslug: t\n",
            "facility/devices.csv": f"{_ROOM['facility/devices.csv']}h3,M,t,r2,server\n",
            "facility/power-feeds.csv": "name,rack\nfeed,r3\n",
            "facility/cables.csv": f"{_CABLES}h1,ib0,leaf1,p1,fabric\nh2,ib0,leaf1,p1,fabric\nh2,ib9,ghost,p1,fabric\n",
        },
    ),
    "netbox: columns": Case("netbox", right={"facility/cables.csv": "a,b\n1,2\n"}),
    "bill": Case(
        "bill", right={"facility/bom.csv": _bill("1,8,0,8,10.50,84.00,,", "2,2,1,3,,,,", "lines,,,,,84.00,,84.00")}
    ),
    "bill: sums": Case(
        "bill",
        right={
            "facility/bom.csv": _bill(
                "1,8,0,9,10.50,94.50,,",
                "2,2,1,3,10.00,30.90,,40.00",
                "3,0,0,0,,,,",
                "lines,,,,,125.40,,134.50",
                "contingency,,,,,10.00,,20.00",
                "tax,,,,,5.00,,5.00",
                "total,,,,,140.40,,160.00",
            )
        },
    ),
    "bill: text": Case("bill", right={"facility/bom.csv": _bill("1,some,0,9,,,,")}),
    "warewulf": Case("warewulf", right={"warewulf/nodes.conf": _WAREWULF, "/etc/motd": "x\n"}),
    "warewulf: wrong": Case(
        "warewulf",
        right={
            "warewulf/nodes.conf": "nodeprofiles:\n  p: {kernel: {args: quiet}, root: 1, nothing: 2, ipmi: [1]}\nnodes:\n"
            "  n1:\n    network devices: {a: {hwaddr: 52:54:00:00:00:1, ipaddr: 10.0.0.x, onboot: true, tags: {a: 1}},"
            " b: 1}\n  n2: {network devices: 5}\n"
        },
    ),
    "warewulf: references": Case(
        "warewulf",
        right={
            "warewulf/nodes.conf": "nodeprofiles:\n  p: {cluster name: x, system overlay: [wwinit, x.left, x.right]}\n"
            "nodes:\n  n1: {profiles: [p, q]}\n  n2: {profiles: [q]}\n  n3: {}\n",
            "/etc/motd": "x\n",
        },
    ),
    "warewulf: YAML": Case("warewulf", right={"warewulf/nodes.conf": "nodes: [1\n"}),
}
