"""Every diagnostic code: its severity and its title. `docs/codes/<code>.md` holds the why and the examples."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Severity(StrEnum):
    """How bad it is. An error stops the command; a warning and an info do not."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Code(NamedTuple):
    """One kind of diagnostic.

    `exit_code` is what the command ends with when an error of this code is the worst: 2, the input is invalid; 3, the
    environment failed (the file cannot be read at all).
    """

    code: str
    severity: Severity
    title: str
    exit_code: int = 2


ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

# One line per code, by topic, so that two changes that add a code each do not touch the same line.
_TABLE = (
    # reading the file
    Code("file-unreadable", ERROR, "The file cannot be read", exit_code=3),
    Code("file-too-large", ERROR, "The file is larger than any manifest"),
    Code("file-not-utf8", ERROR, "The file is not UTF-8 text"),
    # YAML
    Code("yaml-syntax", ERROR, "The file is not valid YAML"),
    Code("yaml-tab", ERROR, "A tab stands where YAML wants spaces"),
    Code("yaml-duplicate-key", ERROR, "A key stands twice in one mapping"),
    Code("yaml-too-deep", ERROR, "Too many levels inside one another"),
    Code("yaml-too-many-aliases", ERROR, "Aliases expand to too much"),
    Code("yaml-tag", ERROR, "A YAML tag is not allowed"),
    Code("yaml-merge-key", ERROR, "Merge keys are not part of YAML 1.2"),
    Code("yaml-many-documents", ERROR, "The file holds more than one YAML document"),
    # the manifest's shape
    Code("manifest-empty", ERROR, "The manifest says nothing"),
    Code("manifest-not-a-mapping", ERROR, "The manifest is not a mapping of sections"),
    Code("key-unknown", ERROR, "No such key here"),
    Code("key-missing", ERROR, "A required key is missing"),
    Code("type-wrong", ERROR, "A value is of the wrong type"),
    Code("value-not-allowed", ERROR, "A value is none of those allowed"),
    Code("value-out-of-range", ERROR, "A value is too small, too large, too short or too long"),
    Code("text-malformed", ERROR, "A text does not have the form it must have"),
    Code("unit-wrong", ERROR, "A quantity has no unit, or the wrong one"),
    Code("hostlist-syntax", ERROR, "A host list cannot be read"),
    Code("secret-in-manifest", ERROR, "A secret stands in the manifest"),
    # nodes and names
    Code("host-duplicate", ERROR, "A host name stands twice"),
    Code("host-name-malformed", ERROR, "A name is no host name"),
    Code("name-reserved", ERROR, "A name that means something else to Slurm"),
    Code("hostlist-not-for-slurm", ERROR, "Slurm of this release cannot read the host list"),
    Code("too-many-nodes", ERROR, "More nodes than one Slurm cluster takes"),
    Code("node-type-unknown", ERROR, "A node type is not defined"),
    Code("node-type-unused", WARNING, "A node type has no nodes"),
    Code("compute-without-hardware", ERROR, "Compute nodes whose hardware nobody knows"),
    Code("role-repeated", WARNING, "A role stands twice"),
    Code("group-name-clash", ERROR, "Two things become one Ansible group"),
    Code("catalogue-row-unused", WARNING, "A catalogue row of the site's is not used"),
    # addresses
    Code("address-count", ERROR, "As many addresses as names are needed"),
    Code("address-malformed", ERROR, "An address is no IP address"),
    Code("address-duplicate", ERROR, "An address is given twice"),
    Code("address-outside-network", ERROR, "An address is not in its network"),
    Code("address-reserved", ERROR, "An address cannot be a host's"),
    Code("address-missing", ERROR, "A node has no management address"),
    Code("cidr-malformed", ERROR, "A network is no network"),
    Code("networks-overlap", ERROR, "Two networks overlap"),
    Code("network-missing", ERROR, "Addresses in a network that is not described"),
    Code("rail-without-port", ERROR, "More rails than ports"),
    # hardware
    Code("system-unknown", ERROR, "The catalogue has no such system"),
    Code("hardware-incomplete", ERROR, "A node type lacks what Slurm must know"),
    Code("numa-uneven", ERROR, "Cores cannot be shared out among the NUMA nodes"),
    Code("gpu-unknown", ERROR, "The catalogue has no such GPU"),
    Code("gpu-model-missing", ERROR, "GPUs without a model"),
    Code("gpu-numa-count", ERROR, "NUMA nodes for another number of GPUs"),
    Code("gpu-numa-range", ERROR, "A NUMA node that does not exist"),
    Code("gpu-place-unknown", WARNING, "Nobody knows where the GPUs hang"),
    Code("gpu-sharing-twice", ERROR, "A GPU is shared in two ways"),
    Code("gpu-power-limit", ERROR, "A power limit that the GPU does not take"),
    Code("gpu-clock", ERROR, "A clock that the GPU does not have"),
    Code("gres-type-mismatch", ERROR, "A GRES type that the GPU does not report"),
    Code("links-malformed", ERROR, "NVLinks that cannot be"),
    Code("links-with-autodetect", ERROR, "NVLinks stated where slurmd finds them itself"),
    Code("mig-gpu-unknown", ERROR, "A MIG plan for a GPU that is not there"),
    Code("mig-plan-unknown", ERROR, "No such MIG plan"),
    Code("mig-plan-unused", WARNING, "A MIG plan is not used"),
    Code("mig-profile-unknown", ERROR, "The GPU has no such MIG profile"),
    Code("mig-layout-impossible", ERROR, "MIG instances that do not fit together"),
    Code("mig-not-supported", ERROR, "The GPU cannot be split"),
    Code("mig-needs-nvml", ERROR, "MIG needs AutoDetect=nvml"),
    Code("reserved-too-much", WARNING, "Half of a node or more is kept from jobs"),
    Code("nothing-left-for-jobs", ERROR, "All of a node is kept from jobs"),
    Code("disk-twice", ERROR, "A disk stands twice"),
    Code("nic-unknown", ERROR, "The catalogue has no such NIC"),
    Code("nic-twice", ERROR, "A network port stands twice"),
    # fabric
    Code("switch-model-unknown", ERROR, "The catalogue has no such switch"),
    Code("switch-duplicate", ERROR, "A switch stands twice"),
    Code("switch-name-too-long", ERROR, "A switch's name is too long for Slurm"),
    Code("switch-unknown", ERROR, "An uplink to a switch that is not there"),
    Code("switch-cycle", ERROR, "A switch is above itself"),
    Code("switch-node-unknown", ERROR, "A switch names a node that is not there"),
    Code("switch-ports", ERROR, "A switch has too few ports"),
    Code("switch-fabric", ERROR, "A switch of another kind of fabric"),
    Code("switch-too-slow", ERROR, "A switch is slower than the fabric"),
    Code("nic-too-slow", WARNING, "A NIC is slower than the fabric"),
    Code("node-on-two-leaves", ERROR, "A node hangs on two leaves"),
    Code("node-without-switch", ERROR, "A node hangs on no switch"),
    Code("topology-not-joined", ERROR, "Parts of the fabric are not joined"),
    Code("topology-too-new", ERROR, "This Slurm does not have the topology"),
    Code("topology-without-switches", ERROR, "A tree without switches"),
    Code("topology-blocks-missing", ERROR, "Block topology without blocks"),
    Code("topology-blocks-unused", WARNING, "Blocks that the topology does not use"),
    Code("block-node-unknown", ERROR, "A block names a node that is not there"),
    Code("block-node-twice", ERROR, "A node is in two blocks"),
    Code("block-size", ERROR, "A block size that Slurm refuses"),
    Code("block-too-small", ERROR, "A block is smaller than the base size"),
    Code("node-without-block", ERROR, "A compute node is in no block"),
    Code("rate-malformed", ERROR, "A rate that is none"),
    Code("rate-of-other-fabric", ERROR, "A rate of another kind of fabric"),
    Code("subnet-manager-missing", ERROR, "Nobody manages the InfiniBand fabric"),
    Code("subnet-manager-useless", ERROR, "A subnet manager too many"),
    # power and space
    Code("psu-too-small", ERROR, "Power supplies cannot feed the node"),
    Code("psu-redundancy", ERROR, "More spare power supplies than there are"),
    Code("rack-node-unknown", ERROR, "A rack names a node that is not there"),
    Code("rack-node-twice", ERROR, "A node stands in two racks"),
    Code("rack-unknown", ERROR, "No such rack"),
    Code("rack-too-low", ERROR, "A rack has too few units"),
    Code("rack-power", ERROR, "A rack draws more than it may"),
    Code("rack-circuits", ERROR, "A rack's feeds carry too little"),
    Code("rack-cooling", ERROR, "A rack makes more heat than is taken away"),
    # partitions
    Code("node-unknown", ERROR, "A node that is not there"),
    Code("node-not-compute", ERROR, "A node that runs no jobs"),
    Code("node-in-no-partition", ERROR, "A compute node is in no partition"),
    Code("node-in-a-partition", WARNING, "A node is in a partition after all"),
    Code("default-partition-twice", ERROR, "Two default partitions"),
    Code("default-partition-missing", WARNING, "No default partition"),
    Code("partition-times", ERROR, "The default time is longer than the longest"),
    Code("partition-memory-twice", ERROR, "Default memory per GPU and per CPU"),
    Code("partition-sizes", ERROR, "A partition's job sizes cannot be"),
    Code("share-per-gpu-too-large", WARNING, "Defaults per GPU that leave GPUs idle"),
    Code("node-set-is-node", ERROR, "A node set has the name of a node"),
    Code("node-set-unused", WARNING, "A node set is not used"),
    # Slurm's daemons
    Code("slurm-release-unknown", ERROR, "A release of Slurm that the catalogue does not know"),
    Code("slurm-release-too-old", ERROR, "A release of Slurm that is too old"),
    Code("slurm-not-in-distribution", ERROR, "The distribution has another Slurm"),
    Code("slurm-releases-apart", ERROR, "Daemons of releases that do not talk"),
    Code("slurm-without-cgroup-v2", ERROR, "A Slurm build without cgroup v2"),
    Code("slurm-plugin-lacking", ERROR, "A plugin that the distribution's build lacks"),
    Code("slurm-feature-too-new", ERROR, "This Slurm does not have it yet"),
    Code("slurm-user-root", WARNING, "Slurm's daemons would run as root"),
    Code("controller-missing", ERROR, "No slurmctld"),
    Code("compute-missing", ERROR, "No node runs jobs"),
    Code("state-not-shared", ERROR, "Two controllers without shared state"),
    Code("accounting-missing", ERROR, "Accounting is needed and nobody does it"),
    Code("accounting-too-many", ERROR, "More than two slurmdbd"),
    Code("database-not-shared", ERROR, "Two slurmdbd with a database each"),
    Code("port-twice", ERROR, "Two daemons on one port"),
    # Slurm's keys
    Code("slurm-key-unknown", ERROR, "Slurm has no such key"),
    Code("slurm-key-twice", ERROR, "A key of Slurm's stands twice"),
    Code("slurm-key-managed", ERROR, "A key that has a field, or follows from the manifest"),
    Code("slurm-key-too-new", ERROR, "This Slurm does not have the key yet"),
    Code("slurm-key-defunct", WARNING, "A key of Slurm's that has no effect any more"),
    Code("slurm-key-removed", ERROR, "This Slurm does not start with the key"),
    Code("slurm-value-unprintable", ERROR, "A value that Slurm's files cannot hold"),
    Code("slurm-value-wrong", ERROR, "A value that the key does not take"),
    Code("slurm-value-harmful", WARNING, "A value that Slurm takes and jobs suffer from"),
    Code("slurm-word-unknown", ERROR, "A word that the list does not have"),
    Code("slurm-plugin-unknown", ERROR, "Slurm has no such plugin"),
    # scheduling
    Code("preemption-without-lists", ERROR, "Preemption by QOS without any preempt list"),
    Code("preemption-without-tiers", ERROR, "Preemption by partition without tiers"),
    Code("preemption-unused", WARNING, "A preemption setting without effect"),
    Code("preemption-without-requeue", ERROR, "Preempted jobs cannot be requeued"),
    Code("preemption-keeps-gpus", ERROR, "Suspended jobs would keep their GPUs"),
    Code("priority-weights", ERROR, "Priority weights overflow"),
    Code("priority-never-decays", ERROR, "Past use would never be forgotten"),
    Code("priority-period", ERROR, "A strange period of the decay"),
    Code("qos-unknown", ERROR, "No such QOS"),
    Code("qos-preempts-itself", ERROR, "A QOS preempts itself, or those that preempt it"),
    Code("qos-not-allowed", ERROR, "A default QOS that is not allowed"),
    Code("qos-flag-unknown", ERROR, "No such flag of a QOS"),
    Code("limits-not-enforced", WARNING, "Limits that nothing enforces"),
    Code("tres-unknown", ERROR, "A trackable resource that is not tracked"),
    Code("account-unknown", ERROR, "No such account"),
    Code("account-cycle", ERROR, "An account is above itself"),
    # NCCL and UCX
    Code("nccl-name-unknown", ERROR, "A variable that this NCCL does not read"),
    Code("nccl-name-debugging", ERROR, "A debugging variable without a reason"),
    Code("nccl-value-wrong", ERROR, "A value that NCCL does not take"),
    Code("nccl-gid-missing", ERROR, "This NCCL needs the GID index on RoCE"),
    Code("nccl-gid-useless", WARNING, "A setting of RoCE without a use"),
    Code("nccl-prefix-match", WARNING, "A list that matches more than it says"),
    Code("nccl-hca-unknown", ERROR, "An HCA that the nodes do not have"),
    Code("fabric-without-port", WARNING, "GPU nodes without a port in the fabric"),
    Code("ucx-name-unknown", ERROR, "A variable that UCX does not read"),
    Code("ucx-value-wrong", ERROR, "A value that UCX's or MPI's file cannot hold"),
    # storage
    Code("mount-over-system", ERROR, "A mount point that belongs to the system"),
    Code("mount-malformed", ERROR, "A mount point that is no plain path"),
    Code("mount-twice", ERROR, "Two file systems at one mount point"),
    Code("mount-without-clients", WARNING, "A file system that no node mounts"),
    Code("mount-option-unknown", WARNING, "A mount option that the catalogue does not know"),
    Code("mount-option-value", ERROR, "A mount option with a wrong value"),
    Code("lustre-fsname", ERROR, "A name that Lustre does not take"),
    Code("lustre-index", ERROR, "A Lustre target without an index of its own"),
    Code("lustre-parameter-unknown", WARNING, "A Lustre parameter that the catalogue does not know"),
    Code("lustre-parameter-value", ERROR, "A value that the Lustre parameter does not take"),
    Code("lustre-striping", ERROR, "A Lustre layout that cannot be"),
    Code("lnet-interface-missing", WARNING, "A Lustre client without a way to its servers"),
    Code("beegfs-key-unknown", ERROR, "This BeeGFS does not have the key"),
    Code("rdma-without-fabric", ERROR, "RDMA without a network for it"),
    Code("nfs-server-role", ERROR, "An NFS server without the role"),
    Code("nfs-server-idle", WARNING, "An NFS server that serves nothing"),
    Code("nfs-export-elsewhere", ERROR, "An export on a server that is not ours"),
    Code("nfs-nconnect", ERROR, "Several connections over RDMA"),
    Code("nfs-soft", WARNING, "A soft NFS mount"),
    Code("zfs-layout", ERROR, "A ZFS pool that cannot be"),
    Code("zfs-disk-twice", ERROR, "A disk stands twice in a pool"),
    Code("interface-unknown", ERROR, "An interface that the nodes do not have"),
    Code("device-name-unstable", WARNING, "A device name that may change"),
    Code("tmpdir-shared", WARNING, "Local scratch on a shared file system"),
    # monitoring
    Code("dcgm-field-unknown", ERROR, "DCGM has no such field"),
    Code("receiver-empty", ERROR, "A receiver that reaches nobody"),
    Code("receiver-twice", ERROR, "A receiver's URL stands twice"),
    Code("receivers-unused", WARNING, "Receivers without Alertmanager"),
    Code("mail-server-missing", ERROR, "Mail without a mail server"),
    Code("alertmanager-too-old", ERROR, "Alertmanager is too old for a key"),
    Code("monitoring-missing", WARNING, "Monitoring that nothing runs"),
    Code("scrape-job-clash", ERROR, "A scrape job with a name of ours"),
    Code("thresholds-order", ERROR, "A critical threshold below the warning"),
    # the site's own files, and the tree
    Code("value-unprintable", ERROR, "A value cannot stand in the file that it is for"),
    Code("path-in-two-groups", ERROR, "A node would get a file from two groups"),
    Code("site-group-unknown", ERROR, "Site files for a group without nodes"),
    Code("site-file-unreadable", ERROR, "A site file cannot be read"),
    Code("site-file-clash", ERROR, "A site file would replace one of ours"),
    Code("site-replaces-nothing", ERROR, "A replacement that is not there"),
    Code("site-template-fails", ERROR, "A site template cannot be printed"),
)

CODES: dict[str, Code] = {entry.code: entry for entry in _TABLE}
