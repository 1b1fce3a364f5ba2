"""File system clients, ports and bandwidth figures."""

import pytest

from clustergen.catalogue import acceptance, hardware, network, storage
from clustergen.catalogue.operating_systems import operating_systems
from clustergen.catalogue.versions import BeegfsVersion
from clustergen.verify.programs import ask, find


@pytest.mark.parametrize(
    ("file", "key", "version", "is_known"),
    [
        ("beegfs-client.conf", "connUseRDMA", "7.4", True),
        ("beegfs-client.conf", "connClientPort", "7.4", False),
        ("beegfs-client.conf", "connClientPort", "8.0", True),
        ("beegfs-client.conf", "connClientPortUDP", "8.3", True),
        ("beegfs-client.conf", "connTCPFallbackEnabled", "7.2", False),
        ("beegfs-client.conf", "connTCPFallbackEnabled", "7.3", True),
        ("beegfs-mgmtd.conf", "connAuthFile", "7.4", True),
        ("beegfs-mgmtd.conf", "connAuthFile", "8.0", False),
        ("beegfs-mgmtd.toml", "grpc-port", "7.4", False),
        ("beegfs-mgmtd.toml", "grpc-port", "8.0", True),
        ("beegfs-helperd.conf", "connAuthFile", "8.0", False),
    ],
)
def test_beegfs_keys(file: str, key: str, version: str, is_known: bool) -> None:
    beegfs_key = storage.beegfs_key(file, key)
    assert beegfs_key is not None
    assert beegfs_key.known_in(BeegfsVersion(version)) is is_known
    assert (beegfs_key in storage.beegfs_keys(file, BeegfsVersion(version))) is is_known


def test_beegfs_keys_that_do_not_exist() -> None:
    assert storage.beegfs_key("beegfs-client.conf", "connRDMAEnabled") is None
    assert storage.beegfs_key("beegfs-client.conf", "connuserdma") is None
    assert storage.beegfs_keys("beegfs-nothing.conf", BeegfsVersion("8.0")) == ()


def test_the_auth_file_has_a_default_from_8_on() -> None:
    beegfs_key = storage.beegfs_key("beegfs-client.conf", "connAuthFile")
    assert beegfs_key is not None
    assert beegfs_key.default == "/etc/beegfs/conn.auth"
    port = storage.beegfs_key("beegfs-client.conf", "connClientPortUDP")
    assert port is not None
    assert (port.default, port.instead) == ("8004", "connClientPort")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("osc.*.max_rpcs_in_flight", "osc.*.max_rpcs_in_flight"),
        ("osc.scratch-OST*.max_pages_per_rpc", "osc.*.max_pages_per_rpc"),
        ("ldlm.namespaces.*osc*.lru_size", "ldlm.namespaces.*.lru_size"),
        ("mdc.*.max_mod_rpcs_in_flight", "mdc.*.max_mod_rpcs_in_flight"),
    ],
)
def test_lustre_tunables(name: str, expected: str) -> None:
    lustre_tunable = storage.lustre_tunable(name)
    assert lustre_tunable is not None
    assert lustre_tunable.name == expected


def test_lustre_limits() -> None:
    assert storage.lustre_tunable("osc.max_rpcs_in_flight") is None
    assert storage.lustre_tunable("osc.*.max_rpcs") is None
    pages = storage.lustre_tunables()["osc.*.max_pages_per_rpc"]
    assert (pages.default, pages.high) == (1024, 16384)
    for tunable in storage.lustre_tunables().values():
        for limit in (tunable.high, tunable.default):
            assert limit is None or tunable.low is None or tunable.low <= limit


def test_every_operating_system_has_a_lustre_client() -> None:
    systems = operating_systems().values()
    by_kernel = sorted(systems, key=lambda os: [int(part) for part in os.fact("lustre_kernel").split(".")])
    releases = [storage.lustre_client(os) for os in by_kernel]
    assert releases == sorted(releases)
    assert all(releases)


@pytest.mark.parametrize(
    ("kind", "text", "takes_value"),
    [
        ("nfs", "nconnect=16", True),
        ("nfs", "hard", False),
        ("nfs", "noatime", False),
        ("lustre", "flock", False),
        ("ceph", "recover_session=clean", True),
        ("fuse.ceph", "ceph.client_oc=false", True),
        ("wekafs", "num_cores=2", True),
        ("beegfs", "cfgFile=/etc/beegfs/beegfs-client.conf", True),
        ("lustre", "x-systemd.requires=lnet.service", True),
    ],
)
def test_mount_options(kind: str, text: str, takes_value: bool) -> None:
    option = storage.mount_option(kind, text)
    assert option is not None
    assert option.takes_value is takes_value


def test_mount_options_belong_to_their_kind() -> None:
    assert storage.mount_option("lustre", "nconnect=16") is None
    assert storage.mount_option("nfs", "nconect=16") is None
    intr = storage.mount_option("nfs", "intr")
    assert intr is not None
    assert intr.ignored
    assert all(option.type == "nfs" for option in storage.mount_options("nfs"))


@pytest.mark.real
def test_ceph_knows_the_settings_that_ceph_fuse_gets() -> None:
    answer = ask(find("ceph-conf"), '"$program" --show-config 2>/dev/null', version="true")
    settings = {line.partition(" = ")[0] for line in answer.out.splitlines()}
    assert "mon_host" in settings
    listed = {
        option.option.removeprefix("ceph.") for option in storage.mount_options("fuse.ceph") if not option.refused
    }
    assert listed - settings == {"id", "conf"}, "options of the command line, which are no settings"


def test_ports_do_not_collide_on_one_host() -> None:
    listeners: dict[tuple[int, str], dict[str, tuple[str, ...]]] = {}
    for name, port in network.ports().items():
        for protocol in port.protocols:
            for number in range(port.port, (port.last or port.port) + 1):
                listeners.setdefault((number, protocol), {})[name] = port.units
    shared = {frozenset(names) for names in listeners.values() if len(set(names.values())) > 1}
    # sackd is slurmd's stand-in on login nodes; the specification of Ceph's servers starts behind Slurm's ports.
    slurm = [{"slurmctld"}, {"slurmd", "sackd"}, {"slurmdbd"}, {"slurmrestd"}]
    assert shared == {frozenset({"ceph", *names}) for names in slurm}


@pytest.mark.parametrize(
    ("name", "number"),
    [("slurmctld", 6817), ("slurmd", 6818), ("slurmdbd", 6819), ("dcgm-exporter", 9400), ("lustre", 988)],
)
def test_ports(name: str, number: int) -> None:
    port = network.ports().get(name)
    assert port is not None
    assert port.port == number
    assert "slurmctl" not in network.ports()


def test_bandwidths_are_of_known_gpus() -> None:
    for result in acceptance.bus_bandwidths():
        assert result.gpu in hardware.gpus()
        assert result.gpus % result.nodes == 0
