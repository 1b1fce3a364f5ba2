"""The kinds of drift: how bad each is, its likely cause and the next step.

`{nodes}` in a step is the host list, `{limit}` the same for Ansible. A step is a line for a shell in the rendered
tree: what people do is behind #.
"""

from __future__ import annotations

import re

from clustergen.records import record

SEVERITIES = ("error", "warning", "info")
TOPICS = ("facts", "hardware", "group", "files", "slurm")


@record
class Kind:
    """One kind of drift. Errors stop or endanger jobs; warnings do not yet; info is for planning."""

    topic: str
    severity: str
    cause: str
    step: str

    @property
    def without_slurm(self) -> Kind:
        """The same in a cluster without Slurm, where no node is drained and no slurmd restarted."""
        cause = re.sub(r"(; slurmctld|, so slurmd) .*", "", self.cause)
        step = re.sub(r"scontrol update NodeName=\S+ State=DRAIN Reason=[\w-]+(;|  #) ", "", self.step)
        return Kind(self.topic, self.severity, cause, step.replace(" && systemctl restart slurmd", ""))


_DRAIN = "scontrol update NodeName={nodes} State=DRAIN Reason="
_RUN = "ansible {limit} -a "
_SHELL = "ansible {limit} -m shell -a "
_RESUME = "scontrol update NodeName={nodes} State=RESUME"
_APPLY = (
    "ansible-playbook site.yml --limit {limit} --check --diff  # shows the difference; without --check it is undone"
)
_CONTROLLER = "ansible-playbook site.yml --limit slurm_controller --check --diff  # then without --check"

KINDS = {
    "node-unreachable": Kind(
        "facts", "error",
        "the node is down, or ssh and its network do not work",
        "ansible {limit} -m ping  # then the console through the BMC; for a whole rack, its switch and its power",
    ),
    "node-off": Kind(
        "facts", "error",
        "its BMC reports that the machine is off: switched off by hand, by a power failure or by a fault",
        "read the event log of the BMC, then switch the machine on there",
    ),
    "gpu-missing": Kind(
        "hardware", "error",
        "a GPU fell off the PCIe bus (Xid 79), or the driver failed to initialise it",
        f"{_DRAIN}gpu-missing; {_SHELL}'dmesg -T | grep Xid'  # then power-cycle the node",
    ),
    "gpu-driver": Kind(
        "hardware", "error",
        "the NVIDIA driver is not loaded, or was built for another kernel",
        f"{_DRAIN}gpu-driver; {_SHELL}'dmesg -T | grep -i nvrm'  # then reinstall the driver for this kernel",
    ),
    "driver-branch": Kind(
        "hardware", "warning",
        "the driver was replaced by hand or by an update of all packages, or the branch of the manifest has not been"
        " applied",
        "ansible-playbook site.yml --limit {limit}  # replaces it on each empty node, or state the branch that runs",
    ),
    "gpu-device": Kind(
        "hardware", "error",
        "a device file of a GPU was removed or never created, so slurmd registers fewer GPUs",
        f"{_SHELL}'nvidia-modprobe -u -c=0 && systemctl restart slurmd'  # one nvidia-modprobe for each number",
    ),
    "gpu-model": Kind(
        "hardware", "error",
        "a card was replaced by another model",
        f"{_DRAIN}gpu-model  # fit the planned card, or give {{nodes}} a node type of its own in the manifest",
    ),
    "cpu-count": Kind(
        "hardware", "error",
        "a processor is disabled or missing, or firmware settings (SMT, cores per socket) were reset",
        f"{_DRAIN}cpu-count; {_RUN}lscpu  # compare the firmware's processor settings with a node that is right",
    ),
    "memory-low": Kind(
        "hardware", "error",
        "a memory module failed or was removed; slurmctld sets such a node to INVALID and drains it",
        f"{_DRAIN}memory-low; {_RUN}'dmidecode -t memory'  # shows the empty slot; replace the module",
    ),
    "port-missing": Kind(
        "hardware", "error",
        "the adapter is no longer on the bus, its driver did not load, or the device has another name",
        f"{_DRAIN}port-missing; {_SHELL}'lspci -d 15b3: ; rdma link'"
        "  # reseat the adapter; if it has another name, apply the tree and reboot",
    ),
    "port-down": Kind(
        "hardware", "error",
        "the cable or transceiver is unplugged or defective, or the switch port is disabled",
        f"{_DRAIN}port-down; {_RUN}ibstat  # mlxlink -d DEVICE shows the link; clean or replace the cable",
    ),
    "address-missing": Kind(
        "hardware", "error",
        "no interface has an address that the manifest gives the node in the management, storage or fabric network",
        f"{_RUN}'ip -br addr'  # correct the network's configuration, or the address in the manifest, and render again",
    ),
    "unit-stopped": Kind(
        "files", "error",
        "a unit was stopped, disabled or failed",
        f"{_RUN}'systemctl --failed'  # journalctl -u UNIT shows why; systemctl start UNIT or site.yml starts it",
    ),
    "slurm-missing": Kind(
        "slurm", "error",
        "slurmctld runs with a slurm.conf that does not have the node",
        _CONTROLLER,
    ),
    "slurm-invalid": Kind(
        "slurm", "error",
        "slurmd registered less than slurm.conf states",
        f"{_RUN}'slurmd -C'  # repair what is less than in slurm.conf, then {_RESUME}",
    ),
    "slurm-down": Kind(
        "slurm", "error",
        "slurmctld does not reach slurmd on the node",
        f"{_RUN}'systemctl status slurmd munge'  # once they run: {_RESUME}",
    ),
    "slurm-gres": Kind(
        "slurm", "error",
        "slurmctld runs with an older slurm.conf, or slurmd registered other devices",
        f"{_RUN}'slurmd -G'  # shows its devices; scontrol reconfigure reads the new slurm.conf",
    ),
    "slurm-hardware": Kind(
        "slurm", "error",
        "slurmctld runs with an older slurm.conf than the manifest's",
        _CONTROLLER,
    ),
    "port-slow": Kind(
        "hardware", "warning",
        "the link trained at a lower rate or width: cable, transceiver, or a split port of the switch",
        f"{_SHELL}'grep -H . /sys/class/infiniband/*/ports/*/rate'  # mlxlink -d DEVICE -m -c shows bit errors; clean,"
        " reseat or replace the cable",
    ),
    "pcie-slow": Kind(
        "hardware", "warning",
        "the device trained with fewer lanes or at a lower speed: dirty or loose slot, riser or firmware",
        f"{_SHELL}'lspci -vv | grep -E \"^[0-9a-f]|downgraded\"'"
        "  # drain, power-cycle, then reseat the card or its riser",
    ),
    "gpu-setting": Kind(
        "hardware", "warning",
        "MIG mode or power limit was changed by hand, or the service that sets it did not run",
        f"{_RUN}'nvidia-smi -q -d POWER'  # nvidia-smi mig -lgi lists instances; site.yml sets both again",
    ),
    "product-differs": Kind(
        "hardware", "warning",
        "the machine is another product than the manifest's system",
        "correct the node type in the manifest; clustergen discover prints what the machine has",
    ),
    "firmware-setting": Kind(
        "hardware", "warning",
        "a setting of the firmware was never made, or was reset by an update or a new mainboard",
        "ansible-playbook clustergen.cluster.firmware -e 'nodes={nodes}' -e @secrets.yml  # see facility/firmware.md",
    ),
    "adapter-setting": Kind(
        "hardware", "warning",
        "a setting of an adapter's firmware was never made, or a new adapter came with the maker's",
        "drain {nodes}, set it with mstconfig -d ADDRESS set NAME=VALUE, and reboot",
    ),
    "machine-health": Kind(
        "hardware", "warning",
        "the BMC reports a fault of a part: power supply, fan, memory or temperature",
        f"{_RUN}'ipmitool sel elist'  # or the event log of the BMC names the part; replace it",
    ),
    "interface-missing": Kind(
        "hardware", "warning",
        "an adapter is missing, or the interface has another name",
        f"{_RUN}'ip -br link'  # correct nics of the node type, or reseat the adapter",
    ),
    "gpu-extra": Kind(
        "hardware", "warning",
        "the node has GPUs that the manifest does not plan, which no job can use",
        "correct gpus.count of the node type, or give {nodes} a type of its own",
    ),
    "driver-differs": Kind(
        "group", "warning",
        "an update reached some nodes only, or a node has not been rebooted since",
        f"{_RUN}nvidia-smi  # install the driver of the others and reboot",
    ),
    "kernel-differs": Kind(
        "group", "warning",
        "an update reached some nodes only, or a node has not been rebooted since",
        f"{_DRAIN}kernel-differs  # reboot; if the kernel is still another one, install the one of the others",
    ),
    "vbios-differs": Kind(
        "group", "warning",
        "a card was replaced, or a firmware update was left out",
        "update the GPU firmware of {nodes} to that of the others",
    ),
    "firmware-differs": Kind(
        "group", "warning",
        "an adapter was replaced, or a firmware update was left out",
        f"{_RUN}'mlxfwmanager --query'  # update the firmware to that of the others",
    ),
    "firmware-setting-differs": Kind(
        "group", "warning",
        "a setting of the firmware was changed by hand, or an update reset it",
        "state it in node_types.NAME.firmware and run clustergen.cluster.firmware, or drain {nodes} and set it",
    ),
    "memory-differs": Kind(
        "group", "warning",
        "a memory module failed, or modules of another size are fitted",
        f"{_RUN}'dmidecode -t memory'  # lists the modules",
    ),
    "ecc-differs": Kind(
        "group", "warning",
        "ECC was switched by hand",
        "drain, nvidia-smi -e 1 and reboot, unless the difference is intended",
    ),
    "speed-differs": Kind(
        "group", "warning",
        "a link trained at a lower rate or is unplugged, or a bond has lost a leg: cable, transceiver or switch port",
        f"{_SHELL}'grep -H . /sys/class/net/*/speed'  # ethtool INTERFACE shows what both sides offer; clean, reseat or"
        " replace the cable",
    ),
    "power-differs": Kind(
        "group", "warning",
        "the power limit was changed by hand, or the service that sets it did not run",
        f"{_RUN}'nvidia-smi -q -d POWER'  # nvidia-smi -pl WATT sets it",
    ),
    "file-differs": Kind("files", "warning", "a file was edited on the node, or a new tree is not applied yet", _APPLY),
    "package-missing": Kind("files", "warning", "a package was removed, or a new tree is not applied yet", _APPLY),
    "path-missing": Kind("files", "warning", "a directory or program was removed, or was never installed", _APPLY),
    "package-slipped": Kind(
        "files", "warning",
        "a held package was upgraded, installed or removed without a playbook",
        f"{_RUN}'rm /var/lib/clustergen/held.json'  # accepts the versions: site.yml records them;"
        " or install the expected ones by NAME=VERSION",
    ),
    "file-foreign": Kind(
        "files", "warning",
        "a file was added to a directory of the tree whose files root runs, or systemd or a daemon reads",
        "remove the file on {nodes}, or make it a site file of the manifest",
    ),
    "node-unfit": Kind(
        "files", "warning",
        "site.yml refuses to change the node",
        "correct what is named; until then no change reaches {nodes}",
    ),
    "slurm-partition": Kind(
        "slurm", "warning",
        "a partition was changed with scontrol, or slurmctld runs with another slurm.conf than the manifest's",
        f"{_RUN}'scontrol show partitions'  # scontrol reconfigure restores slurm.conf; if that is older, run site.yml",
    ),
    "accounts-differ": Kind(
        "slurm", "warning",
        "an account, user or QOS was changed with sacctmgr",
        f"{_CONTROLLER}; that sets the values of the manifest again",
    ),
    "slurm-drained": Kind(
        "slurm", "warning",
        "somebody or a health check drained the node",
        f"scontrol show node {{nodes}}  # when the reason no longer holds: {_RESUME}",
    ),
    "bmc-unreachable": Kind(
        "facts", "warning",
        "the BMC hangs, has another address, or refuses user, password or certificate",
        "ansible-playbook clustergen.cluster.bmc -e 'nodes={nodes}'  # compares it;"
        " ipmitool mc reset cold on the node restarts it",
    ),
    "facts-missing": Kind(
        "facts", "warning",
        "the node was left out when facts were recorded",
        "ansible-playbook clustergen.cluster.drift -e facts=DIR --limit {limit}",
    ),
    "facts-unreadable": Kind(
        "facts", "warning",
        "a command on the node failed, or its output was damaged or forged",
        "run the command on {nodes} by hand; the other facts of the node were compared",
    ),
    "node-unplanned": Kind(
        "facts", "warning",
        "facts of a machine that the manifest does not have",
        "add it to nodes, or remove its directory",
    ),
    "bios-differs": Kind(
        "group", "info", "a firmware update was left out on some nodes", "update {nodes} in the next maintenance"
    ),
    "inforom-differs": Kind(
        "group", "info", "a card was replaced, or a firmware update was left out", "no step is urgent"
    ),
    "options-differ": Kind(
        "group", "info",
        "options of the kernel were changed, or a reboot is pending",
        f"{_RUN}'cat /proc/cmdline'  # reboot once the configuration is the same",
    ),
    "file-leftover": Kind("files", "info", "a file of an earlier tree is still installed", _APPLY),
    "slurm-unplanned": Kind(
        "slurm", "info",
        "slurmctld has a node that the manifest does not have",
        "remove it with the playbook clustergen.cluster.remove, or add it to the manifest",
    ),
    "accounts-unlisted": Kind(
        "slurm", "info",
        "an account, user or QOS was added with sacctmgr, or removed from the manifest",
        "add it to the manifest, delete it with sacctmgr, or set slurm.unlisted_accounts: remove",
    ),
    "slurm-version": Kind(
        "slurm", "info", "an upgrade of Slurm reached some nodes only", "continue clustergen.cluster.upgrade"
    ),
}  # fmt: skip
"""In the order in which a report shows them."""
