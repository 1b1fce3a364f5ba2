"""Small clusters in which much is wrong at once, in ways that the other tables of mistakes do not have."""

from __future__ import annotations

_TINY = """\
name: tiny
os: debian-13
networks:
  management: {cidr: 10.0.0.0/24, domain: cluster.local}
node_types:
  t: {system: dgx-h100}
nodes:
  - {name: head, type: service, address: 10.0.0.1, roles: [slurm-controller, slurm-accounting, monitoring]}
  - {name: "t[1-4]", type: t, address: "10.0.0.[11-14]"}
slurm:
  version: "24.11"
"""

MANIFESTS = {
    "accounts, partitions, preemption": _TINY
    + """\
  auth: slurm
  mpi_default: pmix
  topology: {plugin: block, blocks: {b1: "t[1-4]"}}
  accounting: {slurmdbd: db.example.org}
  preemption: {by: qos, mode: requeue}
  priority: {flags: [DEPTH_OBLIVIOUS]}
  lines: [{MaxJobCount: 5}, {maxjobcount: 6}, {Nosuch: 7}]
  options: {MaxJobCount: 7}
  partitions:
    batch: {nodes: all, default: true, preempt: requeue, billing: {cpu: 2, gres/gpu: 4G, gres/fpga: 1, mem: 1}}
    other: {nodes: all, preempt: suspend, qos: low, options: {AllowGroups: "a b", MaxTime: 9}}
  qos:
    low: {priority: 1, preempt: [low, high], preempt_mode: suspend, options: {Strange: 1, MaxTRESRunMinsPA: x}}
    high: {priority: 2, max_tres_per_user: {gres/fpga: 1}, options: {GraceTime: soon, UsageThreshold: -1, LimitFactor: x}}
  accounts:
    root: {parent: a}
    a: {parent: b, options: {MaxJobs: many, GrpTRESRunMins: cpu=x, Comment: "a'b", Fairshare: 4}, users: [al]}
    b: {parent: a, default_qos: high, qos: [low], user_limits: {al: {max_jobs: 1}}}
  users: {al: {default_account: c, admin_level: operator}, bo: {default_account: a}}
logs: {}
""",
    "devices and names": _TINY.replace("{system: dgx-h100}", """\
{system: dgx-h100, gpus: {mig: all, shards: 4}, tuning: {iommu: pt, kernel_options: [iommu=off, nosmt, maxcpus=4, mem=16G, quiet, quiet]}}
  u: {system: ws-2xa6000, gpus: {shards: 4, mps: 100}, tuning: {page_size: 64k}}
  a-b: {system: ws-2xa6000}
  a_b: {system: ws-2xa6000}""").replace("nodes:\n  - {name: head", """\
nodes:
  - {name: compute_only, type: service}
  - {name: type_u, type: u}
  - {name: "t[6-9]", type: u, address: "10.0.0.[16-18]"}
  - {name: "p[1-2]", type: a-b}
  - {name: "q[1-2]", type: a_b, roles: [login]}
  - {name: head""")
    + """\
gpu: {mig_plans: {all: {profiles: {1g.10gb: 7}}}, driver: "570", kernel_modules: proprietary}
racks:
  r1: {nodes: "t[1-4]", circuits: [{pdu: ap7, volts: 400, amps: 32, count: 2}, {volts: 230, amps: 16, count: 2, outlets: {C13: 1}}]}
  r2: {nodes: "p[1-2]", circuits: [{pdu: pdu-16a-1ph, volts: 400, amps: 32, count: 1}]}
ups: {devices: {ups-a: {address: 10.0.9.201, feeds: "t[1-4]"}}, server: head}
ucx: {mca: {btl_tcp_if_include: 5, nosuch: x}, env: {UCX_TLS: "a b", OTHER: x}}
nccl: {env: {NCCL_NOSUCH: 1, NCCL_IB_TIMEOUT: many, NCCL_DEBUG: LOUD}}
host: {timezone: Europe/Berlin}
identity: {servers: [ldap.example.org], base: dc=example, roles: [nfs-server]}
""",
    "storage": _TINY.replace("fabric:", "")
    + """\
storage:
  work:
    type: lustre
    version: "2.15"
    mgs: ["10.0.0.1@o2ib"]
    fsname: big
    mount: /big
    striping:
      - {directory: /elsewhere, components: [{end: rest, stripes: 1}, {end: 64KiB, stripes: 4}, {end: 32KiB, stripes: 1}, {end: 100KiB, stripe_size: 5KiB, stripes: 1}]}
    targets:
      - {kind: MGT, index: 0, server: head, device: /dev/mapper/a}
      - {kind: MDT, server: head, device: /dev/mapper/b}
      - {kind: OST, index: 1, server: t1, device: /dev/mapper/c}
      - {kind: OST, index: 1, server: t2, device: /dev/mapper/d}
    quotas: [{user: ada, space: 1TiB}]
    clients: [nfs-server]
  old: {type: lustre, mgs: [10.0.9.7@tcp], mount: /old}
  home: {type: nfs, server: 10.0.9.1, path: /h, mount: /home, options: [vers, hard=1, timeo=x, nosuch]}
  data: {type: beegfs, version: "8.2", mount: /data, mgmtd: t1}
""",
    "interfaces": _TINY.replace("{cidr: 10.0.0.0/24, domain: cluster.local}", """\
{cidr: 10.0.0.0/24, configure: true, bond: {mode: active-backup, ports: [eth0, eth0, eth9]}, mtu: 9000, routes: [10.9.0.0/16]}
  storage: {configure: true, interface: eno3.99, vlan: 98}
  fabric: {type: infiniband, rate: NDR, plan: {nodes: "t[1-4]", leaf: qm9700}}
  bmc: {cidr: 10.0.1.0/24, plan: {leaf: sn2201, ports: 2}}""")
    + "host: {hosts_file: false}\nmonitoring: {expires: {support: 2027-02-31, other: 2027-11-31}, blackbox: {}}\n",
    "an old release": """\
name: old
os: debian-12
networks:
  management: {cidr: 10.0.0.0/24, configure: true, interface: eno1, bond: {mode: active-backup, ports: [eno1, eno9]}}
  fabric: {type: infiniband, rate: NDR, plan: {nodes: "t[1-4]", leaf: qm9700}}
node_types:
  t: {system: gb200-nvl72-compute-tray}
  u: {system: ws-2xa6000, os: ubuntu-22.04}
  s: {os: debian-13}
nodes:
  - {name: leaf1, type: service, address: 10.0.0.1, roles: [slurm-controller, slurm-accounting]}
  - {name: head, type: s, address: 10.0.0.2, roles: [slurm-controller, monitoring]}
  - {name: "t[1-4]", type: t, address: "10.0.0.[11-14]"}
  - {name: "u[1-2]", type: u, address: "10.0.9.[21-22]"}
slurm:
  version: "22.05"
  auth: slurm
  mpi_default: pmix
  metrics: true
  topology: {plugin: block, blocks: {b1: "t[1-4]"}}
  priority: {flags: [DEPTH_OBLIVIOUS]}
  lines: [{JobRequeue: 1}, {NodeFeaturesPlugins: x}]
  options: {jobrequeue: 0, JobRequeue: 1, SwitchType: switch/nvidia_imex, SuspendExcParts: bath}
  power_saving: {suspend_time: 1h, except_partitions: [batchh]}
  partitions: {batch: {nodes: all, default: true, billing: {gres/gpu:a100: 1}}}
  qos: {low: {preempt_mode: suspend, options: {MaxTRESRunMinsPA: cpu=1, LimitFactor: 2}}}
  accounts: {a: {options: {MaxSubmitPA: x, MaxWallDurationPerJob: soon}}}
environment: {cuda: ["12.8"], cudnn: "9.8"}
ups: {devices: {ups-a: {address: 10.0.9.201, feeds: "t[1-4],leaf1"}}, server: t1}
ucx: {mca: {btl: "a b"}}
racks: {r1: {nodes: "t[1-4]", circuits: [{pdu: raritan-px3-5878i2r, volts: 120, amps: 15, phases: 1, count: 2}]}}
""",
    "values": _TINY.replace("{system: dgx-h100}", "{system: dgx-h100, gpus: {mig: {gpu0: all, GPU 1: all}}, host: 5}")
    + """\
gpu: {mig_plans: {all: {profiles: {1g.10gb: 7}}}}
racks: {r1: {nodes: "t[1-4]", circuits: [{pdu: ap7, count: 2}]}}
ups: {devices: {ups-a: {address: 10.0.9.201, feeds: "t[1-4]"}}, shutdown: {}}
host: {hugepages: 10GiB, timezone: Berln, time_zone: x, tuning: {}}
identity: {servers: [ldaps://ldap.example.org], base: dc=example}
storage: {old: {type: lustre, mgs: [oss1, 10.0.9.8, "10.0.9.9:/big", 10.0.9.7@tcp:/b], mount: /old}, "a b": {type: nosuch}}
monitoring: {expires: {other: soon}}
environment: {cuda: "12.8", python: {base: {version: "3.12", packages: [numpy], cuda: true}}}
ansible: {pull: {repository: "git@example.org:a.git", branch: a..b, signers: ["ssh-ed25519 AAAA", "ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAA"]}}
""",
    "other forms": _TINY.replace("{cidr: 10.0.0.0/24, domain: cluster.local}", "{address: 10.0.0.5, netmask: 255.255.255.0}")
    + """\
  partitions:
    - {name: a, nodes: [all], default: "yes"}
    - {name: b, nodes: {t1: 1, t2: 2}, max_time: {days: 2}, allow_accounts: all, allow_groups: {a: true, b: 5}}
  qos: [low, {high: {priority: 1}}]
  accounts: {a: [al, bo], b: al, c: {users: {al: 1, bo: {max_jobs: 4}}, max_jobs: "4 jobs", group_tres: "cpu=4,gres/gpu=2"}}
  private_tmp: true
  preemption: by_qos
  scripts: [prolog, {epilog: x}]
  node_sets: {s: [t1, t2], u: "t[1-4],!t2"}
storage:
  - {home: {type: nfs, server: {host: a, path: /b}, mount: /home, options: "ro,hard"}}
  - {work: {type: lustre, mgs: 10.0.0.1@tcp, mount: [/a, /b], targets: {MGT: {server: head}}}}
  - {disk: {type: local, device: nvme0n1, mount: /s}}
  - {other: {type: local, device: 1234-ABCD, mount: /s, filesystem: XFS}}
monitoring: {receivers: [{email: a@b.c}], expires: {a: 31.12.2027, b: 2027/1/5, c: 5/6/2027}, retention: 30}
nccl: {env: [NCCL_DEBUG=INFO, {NCCL_IB_TIMEOUT: 20}]}
ucx: {env: "UCX_TLS=all"}
host: {sysctl: [vm.swappiness=1], nofile: 1,048,576, memlock: Unlimited, hugepages: 1.5k}
gpu: {driver: 570, mig_plans: {all: [1g.10gb, 1g.10gb], half: {1g.10gb: 3}}}
user_guide: "yes"
""",
    "names that are free": _TINY.replace("{cidr: 10.0.0.0/24, domain: cluster.local}", """\
{cidr: 10.0.0.0/24, configure: true, interface: bond0, bond: {mode: active-backup, ports: [eno1, eno9]}}
  storage: {cidr: 10.2.0.0/24, configure: true}
  fabric: {type: ethernet, rate: 100Gb/s, cidr: 10.1.0.0/24}""").replace("{system: dgx-h100}","""\
{os: rocky-9, nics: [{device: mlx5_0, interface: eno1, network: management}, {device: mlx5_1, interface: eno2, network: management}]}
  s: {os: rocky-9, system: ws-2xa6000}""").replace("nodes:\n","nodes:\n  - {name: \"s[1-2]\", type: s}\n").replace("roles: [slurm-controller, slurm-accounting, monitoring]","roles: [slurm-accounting]")+"""\
  power_saving: {suspend_time: 1h, except_nodes: t9}
  topology: {plugin: block, blocks: {b1: "t[1-3],t2", b2: "t[1-2],t4"}}
  accounts: {a: {options: {MaxJobs: many, MaxSubmitPA: x, MaxWallDurationPerJob: soon}}}
  qos: {low: {preempt_mode: suspend, options: {MaxTRESRunMinsPA: cpu=1, LimitFactor: x, GraceTime: soon}}}
  partitions: {batch: {nodes: all, default: true, allow_qos: [low]}}
environment: {cudnn: "9.8", nccl: "2.27"}
notebooks: {partitions: [batchh, batch], job_qos: high, group: none}
nccl: {version: "2.99", env: {NCCL_NEWEST: 1, UCX_TLS: all, NCCL_IB_TIMEOUT: 99}}
ucx: {env: {NCCL_DEBUG: x, UCX_TLX: y}}
user_guide: {partition: nobody}
provisioning: {engine: warewulf, images: {tiny-x: rocky-9}}
""",
    "servers of two": _TINY.replace("nodes:\n","""nodes:
  - {name: "o[1-2]", type: service, roles: []}
  - {name: o3, type: service, roles: [nfs-server]}
""")+"""\
  options: {HealthCheckInterval: 9, HealthCheckProgram: /x, SwitchType: switch/nvidia_imex}
  partitions: {batch: {nodes: all}}
health: {nhc: true}
storage:
  a: {type: nfs, path: /a, mount: /a, server: 10.0.0.50, failover: {servers: "o[1-2]", directory: /srv/a, device: /dev/mapper/a}, clients: [nfs-server]}
  b: {type: nfs, path: /b, mount: /b, server: 10.0.0.51, failover: {servers: "o[2-3]", directory: /srv/b, device: /dev/mapper/b}}
  c: {type: beegfs, version: "8.2", mount: /c, mgmtd: o1, rdma: true, quotas: [{user: a, space: 1TiB}], servers: {management: o1, metadata: o2, storage: o9, storage_directories: [/d]}}
  d: {type: beegfs, version: "8.2", mount: /d, mgmtd: o2, servers: {management: o1, metadata: o2, storage: o3, storage_directories: [/d]}}
user_guide: {partition: nobody}
""",
    "drivers": _TINY.replace("{system: dgx-h100}","""{system: gb200-nvl72-compute-tray, gpus: {mig: half}}
  u: {system: ws-2xa6000, gpus: {driver: "450"}}
  v: {system: dgx-a100, gpus: {kernel_modules: open}}
  w: {system: dgx-b200, gpus: {kernel_modules: proprietary}}""").replace("nodes:\n","""nodes:
  - {name: u1, type: u}
  - {name: v1, type: v}
  - {name: w1, type: w}
""")+"""\
  build: distribution
  partitions: {batch: {nodes: all}}
gpu: {driver: "470", mig_plans: {half: {profiles: {1g.10gb: 3}}}}
racks: {r1: {nodes: "t[1-4],v1"}}
notebooks: {group: jupyter}
""",
    **{
        f"YAML with {title}": _TINY + text
        for title, text in {
            "a tab": "host:\n\tsysctl: {}\n",
            "tabs before a text": "logs: >\n \ta\n\tb\n",
            "a tab after a key": "host: {\t}\n  x:\ty\n",
            "a directive": "%YAML 1.1\n",
            "a second document": "---\nname: b\n...\nrest: 1\n",
            "braces of a template": "host: {{ host }}\n",
            "brackets that end otherwise": "nccl: [a, b}\n",
            "a comma in a mapping": "nccl: {env: {a: b: c}}\n",
            "a long key": f"{'k' * 1100}: 1\n",
            "a long key without a colon": f"{'k' * 1100}\n",
            "a no-break space": "host:\u00a0{}\n",
            "a value that begins with @": "nccl: @x\n",
            "a value that begins with a percent sign": "nccl: %x\n",
            "a key with a tag": "!!str nccl: 1\n&a ucx: 1\n",
            "an anchor": "nccl: &a {env: {}}\nucx: *a\n",
            "a quote that stays open": 'nccl: "a\n',
            "text behind quotes": "nccl: 'a' b\n",
            "less indentation": "  nccl:\n    env: {}\n   x: 1\nhost: 1\n",
            "a list in a mapping": "nccl:\n  env: {}\n  - a\n",
            "a block text of nothing": "nccl: |9\n a\n",
            "an alias of nothing": "nccl: *x\n",
            "a question": "? [a, b]\n: c\n",
        }.items()
    },
    "old zones": f"{_TINY}host: {{timezone: Asia/Calcutta}}\nansible: {{pull: {{branch: main.lock, signers: [ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA]}}}}\n",
    "zones of elsewhere": f"{_TINY}host: {{timezone: Germany/Berlin}}\nansible: {{pull: {{branch: main.}}}}\n",
}  # fmt: skip

RENDERED = {
    "a room of which little is known": """\
name: room
os: debian-13
networks:
  management: {cidr: 10.0.0.0/24, domain: cluster.local, ntp: [pool.ntp.org]}
  fabric: {type: infiniband, rate: NDR, cidr: 10.1.0.0/24, plan: {leaf: qm9700, racks: r1}}
node_types:
  t: {system: dgx-h100}
nodes:
  - {name: head, type: service, address: 10.0.0.1, roles: [slurm-controller]}
  - {name: "t[1-4]", type: t, address: "10.0.0.[11-14]", addresses: {fabric: "10.1.0.[11-14]"}}
racks:
  r1: {nodes: "t[1-2]", circuits: [{volts: 400, amps: 32, count: 4}]}
  r2: {nodes: "t[3-4]", cooling: 40kW}
facility:
  ups: {power: 90kW}
  loops:
    first: {racks: r1, coolant: water, share: 60%, cdus: {capacity: 30kW, count: 2}}
    second: {racks: r2, coolant: pg25, share: 50%, rise: 12, cdus: {count: 3, pumps: 2}}
  prices: {currency: EUR, items: {dgx-h100: 300000}}
slurm:
  version: "24.11"
  partitions: {batch: {nodes: all, default: true}}
""",
    "long names": """\
name: a-cluster-with-a-name-that-is-as-long-as-one-may-be
os: debian-13
networks:
  management: {cidr: 10.0.0.0/16, domain: a-department.of-a-large-institute.example.org, plan: {leaf: sn2201}}
  fabric: {type: infiniband, rate: NDR, cidr: 10.1.0.0/16, plan: {leaf: qm9700, racks: "the-rack-with-a-long-name-[1-3]"}}
node_types:
  a-type-of-nodes-with-a-long-name: {system: dgx-h100}
  another-type-of-nodes-with-a-long-name: {system: dgx-h200}
nodes:
  - {name: a-head-node-with-a-name-that-fills-its-box, type: service, address: 10.0.255.1, roles: [slurm-controller, slurm-accounting, monitoring, login]}
  - {name: "a-compute-node-of-the-first-type-[001-012]", type: a-type-of-nodes-with-a-long-name, address: "10.0.0.[1-12]", addresses: {fabric: "10.1.0.[1-12]"}}
  - {name: "b-compute-node-of-the-other-type-[001-003]", type: another-type-of-nodes-with-a-long-name, address: "10.0.1.[1-3]", addresses: {fabric: "10.1.1.[1-3]"}}
racks:
  the-rack-with-a-long-name-1: {nodes: "a-head-node-with-a-name-that-fills-its-box,a-compute-node-of-the-first-type-[001-004]", row: the-first-row, circuits: [{volts: 400, amps: 63, count: 2}, {volts: 230, amps: 16, count: 1}, {volts: 230, amps: 32, count: 1}, {volts: 400, amps: 16, count: 3}]}
  the-rack-with-a-long-name-2: {nodes: "a-compute-node-of-the-first-type-[005-009]", row: the-first-row, units: 24, circuits: [{volts: 400, amps: 32, count: 2}]}
  the-rack-with-a-long-name-3: {nodes: "a-compute-node-of-the-first-type-[010-012],b-compute-node-of-the-other-type-[001-003]", row: the-first-row, circuits: [{volts: 400, amps: 63, count: 2}]}
slurm:
  version: "24.11"
  partitions:
    a-partition-with-a-long-name: {nodes: all, default: true, max_time: 10-12:30:15}
    the-other-partition: {nodes: "b-compute-node-of-the-other-type-[001-003]", max_time: 90}
  qos: {a-quality-with-a-long-name: {priority: 1000, max_wall: 1-12}}
  accounts: {an-account-with-a-long-name: {users: [a-user-with-a-long-name], qos: [a-quality-with-a-long-name, normal]}}
storage:
  a-file-system-with-a-long-name: {type: nfs, server: a-server-with-a-long-name.example.org, path: /export/a/directory/with/a/long/name, mount: /mnt/a/directory/with/a/long/name}
monitoring: {receivers: {a-receiver-with-a-long-name: {email: a-person-with-a-long-name@example.org}}}
user_guide: {}
""",
    "metrics of Slurm itself": _TINY.replace(
        '"24.11"\n', '"26.05"\n  build: schedmd\n  partitions: {batch: {nodes: all, default: true}}\n  accounts: {}\n'
    ).replace(", ntp", "")
    + """\
monitoring: {node_exporter: {enabled: false}, dcgm: {version: "3.3", job_label_limit: 0}}
storage: {home: {type: nfs, server: 10.0.9.1, path: /home, mount: /home}}
""",
    "metrics of the oldest exporter": _TINY.replace(
        '"24.11"\n', '"24.11"\n  partitions: {batch: {nodes: all, default: true}}\n  accounts: {}\n'
    )
    + """\
monitoring: {dcgm: {version: "3.1", job_label_limit: 0}}
storage:
  home: {type: nfs, server: 10.0.9.1, path: /home, mount: /home}
  data: {type: nfs, server: 10.0.9.1, path: /data, mount: /data, read_only: true}
user_guide: {}
""",
    "arm, slurm's own keys, IPv6": """\
name: arm
os: rocky-9
networks:
  management: {cidr: 10.0.0.0/16, domain: cluster.local, ntp: [pool.ntp.org]}
  fabric: {type: roce, rate: 200Gb/s, cidr: "fd00:1::/64"}
node_types:
  t:
    system: mgx-gh200
    nics: [{device: mlx5_0, interface: eth0}]
    tuning: {page_size: 64k, hugepages_1gib: 16}
    disks: [{device: nvme0n1, size: 1TB, use: system}, {device: nvme1n1, size: 4TB, use: cache}]
nodes:
  - {name: head, type: service, address: 10.0.255.1, roles: [slurm-controller, slurm-accounting, login, monitoring]}
  - {name: "t[1-600]", type: t, address: "10.0.[1-3].[1-200]", addresses: {fabric: "fd00:1::[1000-1599]"}}
slurm:
  version: "25.05"
  build: schedmd
  auth: slurm
  mpi_default: pmix
  partitions: {batch: {nodes: all, default: true}}
  accounts: {}
  scripts: {job_map: true}
host: {hugepages: 5120, firewall: nftables, file_cache: {}}
environment: {cuda: ["12.8"], python: {jax/0.7: {packages: [jax==0.7.0], cuda: "12.8"}}}
monitoring:
  expires: {support: 2031-03-31}
  receivers: {outside: {webhook: https://deadman.example.org/x, severities: [watchdog]}}
  dcgm: {job_label_limit: 1}
storage:
  home: {type: nfs, server: 10.0.9.1, path: /home, mount: /home, options: [ro]}
identity: {servers: [ldap.example.org], base: "dc=example,dc=org", tls: starttls}
user_guide: {}
""",
}
