"""Manifests about NCCL, storage and monitoring: valid ones, and mistakes with their findings."""

from __future__ import annotations

from strategies.findings import TINY, changed

IB = "\n  fabric: {type: infiniband, rate: NDR}"
ROCE = "\n  fabric: {type: roce, rate: 400Gb/s}"
ETHERNET = "\n  fabric: {type: ethernet, rate: 100Gb/s}"
NICS = "{system: hgx-h100-8, nics: [{device: mlx5_0, interface: ib0}, {device: mlx5_10, interface: ib1}]}"


def cluster(
    more: str = "", *, fabric: str = "", roles: str = "slurm-controller", kind: str = "{system: hgx-h100-8}"
) -> str:
    """The small cluster with a fabric, other roles of the head node, other hardware and more sections."""
    return (
        changed(
            TINY,
            ("{cidr: 10.0.0.0/24}", "{cidr: 10.0.0.0/24}" + fabric),
            ("[slurm-controller]", f"[{roles}]"),
            ("{system: dgx-h100}", kind),
        )
        + more
    )


def nccl(fields: str, fabric: str = IB, kind: str = NICS) -> str:
    return cluster(f"nccl: {{{fields}}}\n", fabric=fabric, kind=kind)


def storage(entry: str, **more: str) -> str:
    return cluster(f"storage:\n  {entry}\n", **more)


def monitoring(fields: str, roles: str = "slurm-controller, monitoring") -> str:
    return cluster(f"monitoring: {{{fields}}}\n", roles=roles)


CEPH = "a: {type: cephfs, monitors: [m1], fsid: 00000000-0000-0000-0000-000000000000, user: hpc, mount: /c, %s}"
NFS = "home: {type: nfs, server: filer, path: /export/home, mount: /home%s}"
LUSTRE = 'work: {type: lustre, mount: /work, mgs: ["10.1.0.1@o2ib,10.1.0.1@tcp", "10.1.0.2@o2ib"]%s}'
ZFS = (
    "home: {type: nfs, server: head, path: /export/home, mount: /home,"
    " export: {zfs: {layout: %s, disks:"
    " [/dev/disk/by-id/a, /dev/disk/by-id/b, /dev/disk/by-id/c, /dev/disk/by-id/d]%s}}}"
)
SERVER = {"roles": "slurm-controller, nfs-server"}

FABRIC = "\n  fabric: {type: infiniband, rate: NDR, cidr: 10.1.0.0/24}"
STORAGE = "\n  storage: {cidr: 10.2.0.0/24}"
HEAD_IB, GPUS_IB = ", addresses: {fabric: 10.1.0.1}", ', addresses: {fabric: "10.1.0.[11-14]"}'
OURS = "home: {type: nfs, server: head, path: /export/home, mount: /home%s}"
RDMA = OURS % ", rdma: true"
BOTH = 'work: {type: lustre, mount: /work, mgs: ["10.1.0.21@o2ib,10.0.0.201@tcp"]%s}'


def placed(entry: str, head: str = "", gpus: str = "", **more: str) -> str:
    """A storage entry, with addresses in other networks for the head node and the GPU nodes."""
    return changed(
        storage(entry, **more),
        ("address: 10.0.0.1,", f"address: 10.0.0.1{head},"),
        ('"10.0.0.[11-14]"', f'"10.0.0.[11-14]"{gpus}'),
    )


MIXED = NICS.replace("}]}", "}, {device: mlx5_9, interface: ens9, network: storage}]}")
RIGHT = {
    "two file systems, each on an LNet network of its own": placed(
        LUSTRE.replace("10.1.0.1@o2ib,10.1.0.1@tcp", "10.1.0.1@o2ib") % ""
        + '\n  archive: {type: lustre, mount: /archive, mgs: ["10.2.0.9@o2ib1"]}',
        gpus=', addresses: {fabric: "10.1.0.[11-14]", storage: "10.2.0.[11-14]"}',
        fabric=FABRIC + STORAGE,
        kind=MIXED,
    ),
    # NCCL
    "exact names with ports": nccl('env: {NCCL_IB_HCA: "=mlx5_0:1,mlx5_10:1"}'),
    "a prefix of the fabric's ports alone": nccl(
        "env: {NCCL_IB_HCA: mlx5}", fabric=IB + STORAGE, kind=MIXED.replace("mlx5_9", "enp9s0")
    ),
    "a prefix that is meant": nccl("env: {NCCL_IB_HCA: mlx5, NCCL_SOCKET_IFNAME: eth}"),
    "nothing begins with the first device": nccl("env: {NCCL_IB_HCA: mlx5_0}"),
    "exact names that are left out": nccl('env: {NCCL_IB_HCA: "^=mlx5_3", NCCL_SOCKET_IFNAME: "^docker,lo"}'),
    "exact interfaces": nccl('env: {NCCL_SOCKET_IFNAME: "=eno1"}'),
    "levels in another case, a number in quotes": nccl(
        'env: {NCCL_DEBUG: warn, NCCL_IB_TIMEOUT: "22", NCCL_CROSS_NIC: 2}'
    ),
    "the traffic class on RoCE": nccl("env: {NCCL_IB_TC: 106}", ROCE),
    "sockets up to the most": nccl(
        "env: {NCCL_SOCKET_NTHREADS: 8, NCCL_NSOCKS_PERTHREAD: 8}",
        ETHERNET,
        "{system: hgx-h100-8, nics: [{device: eth0}]}",
    ),
    "a debugging variable with its reason": nccl(
        'env: {NCCL_P2P_LEVEL: {value: SYS, reason: "measured: 20 % faster here"}}'
    ),
    "a GID index for an old NCCL": nccl('version: "2.19", gid_index: 3', ROCE),
    "the same in the environment": nccl('version: "2.19", env: {NCCL_IB_GID_INDEX: 3}', ROCE),
    "a name that came after the catalogue, with a reason": nccl(
        'version: "2.40", env: {NCCL_BRAND_NEW: {value: 1, reason: "from the release notes of 2.40"}}'
    ),
    "UCX by prefix only": cluster(
        'ucx: {env: {UCX_TLS: "rc,cuda_copy", UCX_SOME_NEW: "y"}, mca: {btl_tcp_if_include: 10.0.0.0/24}}\n'
    ),
    # storage
    "places below those of the system": storage(
        "a: {type: local, mount: /var/lib/enroot, device: LABEL=ENROOT}\n"
        "  b: {type: nfs, server: filer, path: /opt, mount: /opt/software}\n"
        "  c: {type: nfs, server: filer, path: /local, mount: /usr/local/apps}\n"
        "  d: {type: nfs, server: filer, path: /srv, mount: /srv/data}"
    ),
    "one place for nodes of different roles": storage(
        "a: {type: local, mount: /scratch, device: LABEL=SCRATCH}\n"
        "  b: {type: nfs, server: filer, path: /scratch, mount: /scratch, clients: [slurm-controller]}"
    ),
    "options with numbers, words and blanks of systemd": storage(
        NFS % ", options: [nconnect=16, lookupcache=positive, nosuid, x-systemd.automount, timeo=600, sec=krb5p]"
    ),
    "options of an export": storage(
        "home: {type: nfs, server: head, path: /export/home, mount: /home,"
        " export: {options: [rw, no_subtree_check, no_root_squash, fsid=0, anonuid=65534, sec=sys]}}",
        **SERVER,
    ),
    "Weka's and Ceph's own options": storage(
        "a: {type: weka, backends: [w1], filesystem: f, mount: /w, options: [num_cores=2, inode_bits=64]}\n"
        "  b: {type: cephfs, monitors: [m1], fsid: 00000000-0000-0000-0000-000000000000, user: hpc,"
        " mount: /c, options: [recover_session=clean]}"
    ),
    "options of ceph-fuse": storage(
        CEPH
        % "mounter: fuse, path: /a/b+c, options: [ceph.client_oc_size=67108864, ceph.client_snapdir=.old, nodiratime,"
        " ceph.client_oc=0]"
    ),
    "RDMA over a storage network": changed(
        storage(NFS % ", rdma: true"), ("{cidr: 10.0.0.0/24}", "{cidr: 10.0.0.0/24}\n  storage: {cidr: 10.2.0.0/24}")
    ),
    "RDMA from a server on the fabric": placed(
        (NFS % ", rdma: true").replace("filer", "10.1.0.200"), "", GPUS_IB, fabric=FABRIC, kind=NICS
    ),
    "RDMA from a server that DNS knows": storage(NFS % ", rdma: true", fabric=FABRIC, kind=NICS),
    "servers on two networks": placed(LUSTRE % "", gpus=GPUS_IB, fabric=FABRIC, kind=NICS),
    "a server by RDMA and TCP, without a fabric": storage(LUSTRE % ""),
    "the largest pages": placed(
        LUSTRE % ", parameters: {osc.*.max_pages_per_rpc: 16384}", gpus=GPUS_IB, fabric=FABRIC, kind=NICS
    ),
    "the first Lustre for the kernel": storage(LUSTRE % ', version: "2.15"'),
    "a vendor's Lustre for a newer kernel": changed(
        storage(LUSTRE % ', version: "2.15", vendor_build: true'), ("os: debian-12", "os: debian-13")
    ),
    "the parameters of the Lustre that the kernel requires": changed(
        storage(LUSTRE % ", parameters: {llite.*.opencache_max_ms: 60000}"), ("os: debian-12", "os: ubuntu-24.04")
    ),
    "a node that serves by RDMA on the fabric": placed(RDMA, HEAD_IB, GPUS_IB, fabric=FABRIC, kind=NICS, **SERVER),
    "an export to the fabric, where the node is as well": placed(
        OURS % ", export: {networks: [10.1.0.0/24]}", HEAD_IB, GPUS_IB, fabric=FABRIC, kind=NICS, **SERVER
    ),
    "an export to one node": storage(OURS % ", export: {networks: [10.0.0.11/32]}", **SERVER),
    "a login node by TCP, GPU nodes by RDMA": placed(
        BOTH % "", gpus=GPUS_IB, fabric=FABRIC, kind=NICS, roles="slurm-controller, login"
    ),
    "TCP on purpose": placed(
        BOTH % ", lnet: [{name: tcp, interfaces: [eno1]}]",
        gpus=GPUS_IB,
        fabric=FABRIC,
        kind="{system: hgx-h200-8, nics: [{device: mlx5_0}]}",
    ),
    "a server on a storage network that is routed": storage(
        NFS.replace("filer", "10.2.0.20") % "", fabric="\n  storage: {cidr: 10.2.0.0/24, gateway: 10.2.0.254}"
    ),
    "clients with addresses on the storage network": placed(
        NFS.replace("filer", "10.2.0.20") % "", gpus=', addresses: {storage: "10.2.0.[11-14]"}', fabric=STORAGE
    ),
    "all cores of a NUMA node but core 0 for WEKA": storage(
        "a: {type: weka, backends: [w1], filesystem: f, mount: /w, cores: 14}",
        kind="{cpu: {sockets: 2, cores_per_socket: 16}, memory: 64GiB, nics: [{device: mlx5_0, interface: e0, numa: 0}]}",
    ),
    "parameters of one target": placed(
        LUSTRE % ", parameters: {osc.work-OST0001*.max_dirty_mb: 512}", gpus=GPUS_IB, fabric=FABRIC, kind=NICS
    ),
    "changes fewer than requests": placed(
        LUSTRE % ", parameters: {mdc.*.max_rpcs_in_flight: 64, mdc.*.max_mod_rpcs_in_flight: 63}",
        gpus=GPUS_IB,
        fabric=FABRIC,
        kind=NICS,
    ),
    "targets of each kind count for themselves": placed(
        LUSTRE
        % ", targets: [{kind: MGT, server: m}, {kind: MDT, index: 0, server: m}, {kind: OST, index: 0, server: o}]",
        gpus=GPUS_IB,
        fabric=FABRIC,
        kind=NICS,
    ),
    "a layout of three parts": placed(
        LUSTRE % ", striping: [{directory: /work/shared,"
        " components: [{end: 4MiB, stripes: 1}, {end: 64MiB, stripes: 4, stripe_size: 1MiB},"
        " {end: rest, stripes: -1}]}]",
        gpus=GPUS_IB,
        fabric=FABRIC,
        kind=NICS,
    ),
    "an old name where the release has no new one": storage(
        'b: {type: beegfs, version: "7.4", mgmtd: 10.0.0.5, mount: /b, client_options: {connMgmtdPortTCP: 9008}}'
    ),
    "a VLAN of an interface": storage(
        "w: {type: weka, backends: [w1], filesystem: f, mount: /w, interfaces: [ib0.100]}",
        fabric=IB,
        kind=NICS.replace("interface: ib0", "interface: ib0, numa: 0"),
    ),
    "a server by its full name": changed(
        storage(
            "home: {type: nfs, server: head.hpc.example, path: /export/home, mount: /home, export: {threads: 8}}",
            **SERVER,
        ),
        ("{cidr: 10.0.0.0/24}", "{cidr: 10.0.0.0/24, domain: hpc.example}"),
    ),
    "two vdevs of mirrors": storage(ZFS % ("mirror", ", vdev_width: 2"), **SERVER),
    "parity on four disks": storage(ZFS % ("raidz2", ", log: [/dev/disk/by-id/e]"), **SERVER),
    "local scratch below a shared directory": cluster(
        "storage:\n  a: {type: nfs, server: filer, path: /data, mount: /data}\n"
        "  b: {type: local, mount: /data/local, device: /dev/disk/by-path/pci-0000:01:00.0-nvme-1}\n"
    ).replace('{version: "24.11"}', '{version: "24.11", scripts: {tmpdir: /data/local/jobs}}'),
    # monitoring
    "a counter outside of the usual ones": monitoring("dcgm: {counters: [DCGM_FI_DEV_PCIE_REPLAY_COUNTER]}"),
    "samples rarer than scrapes": monitoring("scrape_interval: 5, dcgm: {interval: 60000}"),
    "a receiver with several ways": changed(
        monitoring(
            "smtp: mail.example.org:25, mail_from: c@example.org, receivers: {ops: {email: a@example.org,"
            ' slack_url_file: /etc/prometheus/slack, slack_channel: "#alerts", severities: [critical]}}'
        ),
        ("os: debian-12", "os: debian-13"),
    ),
    "a mail server by its IPv6 address": monitoring(
        'smtp: "[2001:db8::25]:25", mail_from: c@example.org, receivers: {mail: {email: ops@example.org}}'
    ),
    "jobs with names near ours": monitoring("targets: {nodes: [filer:9100], ipmi: [bmc1:9290]}"),
    "ports of daemons on different nodes": monitoring("port: 9400, alertmanager_port: 6818"),
}

WRONG = {
    "a prefix that matches a port of the storage network": (
        nccl("env: {NCCL_IB_HCA: mlx5}", fabric=IB + STORAGE, kind=MIXED),
        [("nccl-prefix-match", "mlx5")],
    ),
    "a mail server without its port": (
        monitoring("smtp: mail.example.org, mail_from: c@example.org"),
        [("text-malformed", "mail.example.org")],
    ),
    "a mail server without a name": (monitoring('smtp: ":25"'), [("text-malformed", '":25"')]),
    "a port that no server has": (monitoring('smtp: "mail:70000"'), [("text-malformed", '"mail:70000"')]),
    "a GID index in the environment": (
        nccl("env: {NCCL_IB_GID_INDEX: 3}", ROCE),
        [("nccl-gid-useless", "NCCL_IB_GID_INDEX")],
    ),
    "a traffic class on InfiniBand": (nccl("env: {NCCL_IB_TC: 106}"), [("nccl-gid-useless", "NCCL_IB_TC")]),
    "an interface and those that begin so": (nccl("env: {NCCL_SOCKET_IFNAME: eno1}"), [("nccl-prefix-match", "eno1")]),
    "the second device of a list": (
        nccl('env: {NCCL_IB_HCA: "=mlx5_0:1,mlx5_1:1"}'),
        [("nccl-hca-unknown", "mlx5_1")],
    ),
    "too many sockets": (
        nccl("env: {NCCL_SOCKET_NTHREADS: 16, NCCL_NSOCKS_PERTHREAD: 8}"),
        [("nccl-value-wrong", "8")],
    ),
    "a name of a later release": (
        nccl('version: "2.20", env: {NCCL_IB_ADDR_FAMILY: AF_INET}', ROCE),
        [("nccl-gid-missing", '"2.20"'), ("nccl-name-unknown", "NCCL_IB_ADDR_FAMILY")],
    ),
    "UCX's among NCCL's": (nccl("env: {UCX_TLS: rc}"), [("nccl-name-unknown", "UCX_TLS")]),
    "a wrong value with a reason": (
        nccl('env: {NCCL_P2P_LEVEL: {value: NEAR, reason: "a test"}}'),
        [("nccl-value-wrong", "NEAR")],
    ),
    "a place below a directory of the system": (
        storage("a: {type: nfs, server: filer, path: /a, mount: /etc/slurm}"),
        [("mount-over-system", "/etc/slurm")],
    ),
    "one place, with and without a slash": (
        storage(f"{NFS % ''}\n  b: {{type: nfs, server: filer, path: /b, mount: /home/}}"),
        [("mount-twice", "/home/")],
    ),
    "an option without effect": (storage(NFS % ", options: [intr]"), [("mount-option-unknown", "intr")]),
    "a soft mount by its option": (storage(NFS % ", options: [soft]"), [("nfs-soft", "soft")]),
    "an option of mounts on an export": (
        storage(
            "home: {type: nfs, server: head, path: /export/home, mount: /home, export: {options: [rw, noatime]}}",
            **SERVER,
        ),
        [("mount-option-unknown", "noatime")],
    ),
    "an option of Weka's": (
        storage("a: {type: weka, backends: [w1], filesystem: f, mount: /w, options: [numcores=2]}"),
        [("mount-option-unknown", "numcores=2")],
    ),
    "an option of the kernel client, for ceph-fuse": (
        storage(CEPH % "mounter: fuse, options: [ms_mode=secure]"),
        [("mount-option-unknown", "ms_mode=secure")],
    ),
    "an option of ceph-fuse, for the kernel client": (
        storage(CEPH % "options: [ceph.client_oc_size=67108864]"),
        [("mount-option-unknown", "ceph.client_oc_size=67108864")],
    ),
    "a wrong value of ceph-fuse": (
        storage(CEPH % "mounter: fuse, options: [ceph.client_oc=no]"),
        [("mount-option-value", "ceph.client_oc=no")],
    ),
    "an option that FUSE refuses": (
        storage(CEPH % "mounter: fuse, options: [relatime]"),
        [("mount-option-value", "relatime")],
    ),
    "a directory that ceph-fuse takes for two options": (
        storage(CEPH % 'mounter: fuse, path: "/a,b"'),
        [("mount-option-value", '"/a,b"')],
    ),
    "RDMA from a server on the management network": (
        storage((NFS % ", rdma: true").replace("filer", "10.0.0.200"), fabric=FABRIC, kind=NICS),
        [("nfs-rdma-address", "true")],
    ),
    "RDMA on nodes without a port for it": (
        storage(NFS % ", rdma: true", fabric=FABRIC, kind="{system: ws-2xa6000}"),
        [("fabric-without-port", "h100"), ("nfs-rdma-address", "true")],
    ),
    "RDMA over plain Ethernet": (
        storage(NFS % ", rdma: true", fabric=ETHERNET, kind="{system: hgx-h100-8, nics: [{device: eth0}]}"),
        [("rdma-without-fabric", "true")],
    ),
    "Lustre by RDMA only, without a fabric": (
        storage('work: {type: lustre, mount: /work, mgs: ["10.1.0.1@o2ib"]}'),
        [("rdma-without-fabric", '["10.1.0.1@o2ib"]')],
    ),
    "more changes than requests": (
        storage(LUSTRE % ", parameters: {mdc.*.max_rpcs_in_flight: 32, mdc.*.max_mod_rpcs_in_flight: 32}"),
        [("lustre-parameter-value", "32")],
    ),
    "a parameter of a later Lustre": (
        storage(LUSTRE % ', version: "2.12", vendor_build: true, parameters: {llite.*.opencache_max_ms: 60000}'),
        [("lustre-parameter-unknown", "llite.*.opencache_max_ms")],
    ),
    "a node that serves by RDMA without an address for it": (
        placed(RDMA, "", GPUS_IB, fabric=FABRIC, kind=NICS, **SERVER),
        [("nfs-rdma-address", "true")],
    ),
    "clients by RDMA without an address for it": (
        placed(RDMA, HEAD_IB, fabric=FABRIC, kind=NICS, **SERVER),
        [("nfs-rdma-address", "true")],
    ),
    "RDMA by the server's address in a network without": (
        placed(RDMA.replace("head", "10.0.0.1"), HEAD_IB, GPUS_IB, fabric=FABRIC, kind=NICS, **SERVER),
        [("nfs-rdma-address", "true")],
    ),
    "an export to a network that no client is on": (
        placed(OURS % ", export: {networks: [10.1.0.0/24]}", HEAD_IB, fabric=FABRIC, kind=NICS, **SERVER),
        [("nfs-export-excludes", "[10.1.0.0/24]")],
    ),
    "GPU nodes of the fabric that would fall back to TCP": (
        changed(
            placed(BOTH % "", gpus=GPUS_IB, fabric=FABRIC, kind="{system: hgx-h200-8}"),
            ("10.0.0.0/24}", "10.0.0.0/24, interface: eno1}"),
        ),
        [("fabric-ports-unknown", "h100"), ("lnet-interface-missing", "mgs")],
    ),
    "an MGS in a network where the clients have addresses but no interface": (
        placed(
            LUSTRE.replace("10.1.0.1@tcp", "10.2.0.9@tcp").replace("10.1.0.1@o2ib,", "") % "",
            gpus=', addresses: {storage: "10.2.0.[11-14]"}',
            fabric=STORAGE,
        ),
        [("lnet-interface-missing", "mgs")],
    ),
    "an MGS to which no rail has a route": (
        placed(
            LUSTRE.replace("10.1.0.1@o2ib,10.1.0.1@tcp", "10.1.9.1@o2ib").replace("10.1.0.2", "10.1.9.2") % "",
            gpus=', addresses: {fabric: ["10.1.0.[11-14]", "10.1.1.[11-14]"]}',
            fabric=ROCE.replace("}", ", rails: [10.1.0.0/24, 10.1.1.0/24]}"),
            kind=NICS,
        ),
        [("lnet-interface-missing", "mgs")],
    ),
    "an MGS beyond a storage network without a router": (
        placed(
            'work: {type: lustre, mount: /work, mgs: ["10.9.0.1@o2ib"]}',
            gpus=', addresses: {storage: "10.2.0.[11-14]"}',
            fabric=STORAGE,
            kind="{system: hgx-h100-8, nics: [{device: mlx5_9, interface: ens9, network: storage}]}",
        ),
        [("lnet-interface-missing", "mgs")],
    ),
    "two file systems on one LNet network in two networks": (
        placed(
            LUSTRE.replace("10.1.0.1@o2ib,10.1.0.1@tcp", "10.1.0.1@o2ib") % ""
            + '\n  archive: {type: lustre, mount: /archive, mgs: ["10.2.0.9@o2ib"]}',
            gpus=', addresses: {fabric: "10.1.0.[11-14]", storage: "10.2.0.[11-14]"}',
            fabric=FABRIC + STORAGE,
            kind=MIXED,
        ),
        [("lnet-interface-missing", "mgs")],
    ),
    "a storage server on a network without the clients": (
        storage(NFS.replace("filer", "10.2.0.20") % "", fabric=STORAGE),
        [("storage-unreachable", "home")],
    ),
    "a storage server by a name of extra_hosts": (
        storage("a: {type: weka, backends: [w1], filesystem: f, mount: /w}", fabric=STORAGE)
        + "host: {extra_hosts: {10.2.0.20: [w1]}}\n",
        [("storage-unreachable", "a")],
    ),
    "an MGS on the fabric, where clients have no address": (
        storage('work: {type: lustre, mount: /work, mgs: ["10.1.0.21@o2ib"]}', fabric=FABRIC, kind=NICS),
        [("storage-unreachable", "work")],
    ),
    "clients of the fabric's servers without an address there": (
        storage(LUSTRE % "", fabric=IB, kind=NICS),
        [("lnet-address-missing", "mgs")],
    ),
    "more cores of WEKA's than a NUMA node has": (
        storage(
            "a: {type: weka, backends: [w1], filesystem: f, mount: /w, cores: 16}",
            kind="{cpu: {sockets: 2, cores_per_socket: 16}, memory: 64GiB, nics: [{device: mlx5_0, interface: e0, numa: 0}]}",
        ),
        [("reserved-too-much", "h100"), ("weka-cores", "16")],
    ),
    "an MTU that nothing sets": (
        changed(storage(NFS % ""), ("{cidr: 10.0.0.0/24}", "{cidr: 10.0.0.0/24, mtu: 9000}")),
        [("network-value-unused", "9000")],
    ),
    "a Lustre that is too old for the kernel": (
        changed(storage(LUSTRE % ', version: "2.16"'), ("os: debian-12", "os: debian-13")),
        [("lustre-kernel", '"2.16"')],
    ),
    "a Lustre that is too old for the kernel of one type": (
        storage(
            LUSTRE % ', version: "2.15"', kind="{system: hgx-h100-8, os: ubuntu-24.04}", roles="slurm-controller, login"
        ),
        [("lustre-kernel", '"2.15"')],
    ),
    "a parent directory in a path that a script creates and deletes": (
        cluster().replace('"24.11"}', '"24.11", scripts: {tmpdir: /scratch/../etc}}'),
        [("path-malformed", "..")],
    ),
    "a parent directory in a layout": (
        storage(
            LUSTRE % ", striping: [{directory: /work/../home, components: [{end: rest, stripes: 1}]}]",
        ),
        [("path-malformed", "..")],
    ),
    "a parent directory in a device": (
        storage("a: {type: local, mount: /a, device: /dev/disk/../sda}"),
        [("path-malformed", "..")],
    ),
    "a label that leaves its directory": (
        storage("a: {type: local, mount: /a, device: LABEL=..}"),
        [("path-malformed", "..")],
    ),
    "a disk by the kernel's number": (
        storage("a: {type: local, mount: /a, device: /dev/nvme1n1p2}"),
        [("device-name-unstable", "/dev/nvme1n1p2")],
    ),
    "a name with a dot": (
        storage(LUSTRE % ", fsname: a.b"),
        [("lustre-fsname", "a.b")],
    ),
    "a name of nine characters": (
        storage(LUSTRE % ", fsname: abcdefghi"),
        [("lustre-fsname", "abcdefghi")],
    ),
    "three disks in pairs": (
        storage((ZFS % ("mirror", ", vdev_width: 3")), **SERVER),
        [("zfs-layout", "3")],
    ),
    "a disk of a pool by its number": (
        storage((ZFS % ("mirror", ", log: [/dev/sdb]")), **SERVER),
        [("device-name-unstable", "/dev/sdb")],
    ),
    "nobody runs what is described": (
        monitoring("targets: {ipmi: [bmc1:9290]}", roles="slurm-controller"),
        [("monitoring-missing", "targets")],
    ),
    "a channel alone": (
        monitoring('receivers: {ops: {slack_channel: "#alerts"}}'),
        [("receiver-empty", '"#alerts"')],
    ),
    "the later threshold": (
        monitoring("thresholds: {gpu_hot: 80, gpu_very_hot: 80}"),
        [("thresholds-order", "80")],
    ),
    "a job of Slurm's": (monitoring("targets: {slurm-jobs: [head:8080]}"), [("scrape-job-clash", "slurm-jobs")]),
}
