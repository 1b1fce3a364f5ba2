"""Values of Slurm's keys, by release."""

import pytest

from clustergen.catalogue import slurm, slurm_effects, slurm_values
from clustergen.catalogue.operating_systems import operating_systems
from clustergen.catalogue.tables import rows
from clustergen.catalogue.versions import SlurmRelease
from clustergen.verify.slurm_roots import parsers_directory


@pytest.mark.parametrize(
    ("key", "word", "release", "state"),
    [
        ("SlurmctldParameters", "enable_configless", "22.05", "known"),
        ("SlurmctldParameters", "reconfig_on_restart", "25.05", "too-new"),
        ("SlurmctldParameters", "cloud_reg_addrs", "23.11", "defunct"),
        ("SlurmctldParameters", "node_reg_mem_percent=90", "24.11", "known"),
        ("SchedulerParameters", "bf_max_job_test=1000", "24.11", "known"),
        ("SchedulerParameters", "defer_batch", "22.05", "too-new"),
        ("SchedulerParameters", "enable_job_state_cache", "26.05", "removed"),
        ("LaunchParameters", "use_interactive_step", "20.11", "known"),
        ("LaunchParameters", "ulimit_pam_adopt", "22.05", "too-new"),
        ("CommunicationParameters", "NoAddrCache", "24.11", "defunct"),
        ("PrologFlags", "contain", "22.05", "known"),
        ("PrologFlags", "RunInJob", "23.11", "too-new"),
        ("SelectTypeParameters", "CR_CORE_MEMORY", "22.05", "known"),
        ("SelectTypeParameters", "ENFORCE_BINDING_GRES", "22.05", "too-new"),
        ("TopologyParam", "TopoMaxSizeUnroll=2", "24.11", "known"),
        ("BcastParameters", "send_libs", "21.08", "known"),
        ("MetricsParameters", "ignore_private_data", "25.11", "too-new"),
        ("SlurmdParameters", "numa_node_as_socket", "22.05", "known"),
    ],
)
def test_a_release_reads_ignores_or_refuses_a_word(key: str, word: str, release: str, state: str) -> None:
    slurm_token = slurm_values.token(key, word)
    assert slurm_token is not None
    assert slurm_token.state(SlurmRelease(release)) == state


def test_words_that_do_not_exist() -> None:
    assert slurm_values.token("SchedulerParameters", "bf_max_jobs_test") is None
    assert slurm_values.token("NoSuchKey", "x") is None
    assert not slurm_values.has_tokens("NoSuchKey")


@pytest.mark.parametrize("name", sorted({row["key"] for row in rows("slurm_tokens.tsv")}))
def test_lists_belong_to_keys_and_replacements_exist(name: str) -> None:
    assert slurm.key("slurm.conf", name) is not None
    for word in slurm_values.tokens(name):
        if word.instead:
            key, _, token = word.instead.partition("=")
            assert slurm_values.token(key, token) is not None


def test_no_word_twice_in_another_case() -> None:
    seen = [(row["key"], row["token"].lower()) for row in rows("slurm_tokens.tsv")]
    assert len(seen) == len(set(seen))


def test_where_an_unknown_word_stops_the_daemons() -> None:
    assert slurm_values.unknown_token_is_fatal("PrologFlags")
    assert slurm_values.unknown_token_is_fatal("selecttypeparameters")
    assert not slurm_values.unknown_token_is_fatal("SchedulerParameters")
    assert not slurm_values.unknown_token_is_fatal("NoSuchKey")


@pytest.mark.parametrize(
    ("key", "value", "release", "state"),
    [
        ("SelectType", "select/cons_res", "23.02", "known"),
        ("SelectType", "select/cons_res", "23.11", "removed"),
        ("SelectType", "cons_tres", "22.05", "known"),
        ("AutoDetect", "nvidia", "24.05", "too-new"),
        ("AutoDetect", "nvml", "22.05", "known"),
        ("AuthType", "auth/slurm", "23.02", "too-new"),
        ("TopologyPlugin", "topology/block", "23.11", "known"),
        ("TopologyPlugin", "topology/default", "26.05", "known"),
        ("MetricsType", "metrics/openmetrics", "25.11", "known"),
        ("JobContainerType", "job_container/tmpfs", "25.11", "known"),
        ("JobContainerType", "job_container/cncu", "24.05", "removed"),
        ("JobSubmitPlugins", "job_submit/lua", "24.11", "known"),
        ("SwitchType", "switch/nvidia_imex", "24.05", "known"),
        ("MpiDefault", "pmix", "24.11", "known"),
        ("CgroupPlugin", "disabled", "23.11", "too-new"),
        ("PreemptType", "preempt/none", "26.05", "known"),
    ],
)
def test_a_release_has_or_lacks_a_plugin(key: str, value: str, release: str, state: str) -> None:
    text = slurm_values.plugin(key, value)
    assert text is not None
    assert text.state(SlurmRelease(release)) == state


def test_plugins_that_do_not_exist() -> None:
    assert slurm_values.plugin("SelectType", "select/cons_gpu") is None
    assert slurm_values.plugin("PriorityType", "priority/decay_linear") is None


def test_plugins_that_a_distribution_built() -> None:
    def packages(key: str, value: str, system: str) -> tuple[str, ...] | None:
        text = slurm_values.plugin(key, value)
        assert text is not None
        return text.packages[system]

    assert packages("AutoDetect", "nvidia", "debian-12") is None
    assert packages("AutoDetect", "nvidia", "debian-13") == ("slurm-wlm-basic-plugins",)
    assert packages("AutoDetect", "nvml", "debian-12") is None
    assert packages("MpiDefault", "pmix", "debian-12") == ("slurm-wlm-basic-plugins", "libpmix-dev")
    assert packages("TopologyPlugin", "topology/block", "debian-12") is None


@pytest.mark.parametrize(
    ("field", "key", "value"),
    [
        ("slurm_gpu_nvml", "AutoDetect", "nvml"),
        ("slurm_gpu_nvidia", "AutoDetect", "nvidia"),
        ("slurm_gpu_rsmi", "AutoDetect", "rsmi"),
        ("slurm_auth_slurm", "AuthType", "auth/slurm"),
        ("slurm_topology_block", "TopologyPlugin", "topology/block"),
        ("slurm_nvidia_imex", "SwitchType", "switch/nvidia_imex"),
        ("slurm_openmetrics", "MetricsType", "metrics/openmetrics"),
        ("slurm_cgroup_v2", "CgroupPlugin", "cgroup/v2"),
        ("slurm_job_container_tmpfs", "JobContainerType", "job_container/tmpfs"),
    ],
)
def test_the_two_tables_of_a_distribution_agree(field: str, key: str, value: str) -> None:
    text = slurm_values.plugin(key, value)
    assert text is not None
    for ident in ("debian-12", "debian-13", "ubuntu-22.04", "ubuntu-24.04"):
        system = operating_systems()[ident]
        is_known = text.state(SlurmRelease(system.fact("slurm"))) == "known"
        assert system.yes(field) == (is_known and text.packages[ident] is not None)


_FAMILIES = {
    "AutoDetect": "gpu",
    "CliFilterPlugins": "cli_filter",
    "GresTypes": "gres",
    "JobSubmitPlugins": "job_submit",
    "MpiDefault": "mpi",
}


@pytest.mark.real
@pytest.mark.parametrize(("ident", "codename"), [("debian-12", "bookworm"), ("debian-13", "trixie")])
def test_packages_of_plugins_have_their_files(ident: str, codename: str) -> None:
    """By the lists of the packages that the parsers' root has installed."""
    lists = (parsers_directory() / codename / "var/lib/dpkg/info").glob("slurm-wlm-*plugin*.list")
    package_of = {
        line.rpartition("/")[2]: place.stem
        for place in lists
        for line in place.read_text(encoding="utf-8").splitlines()
        if line.endswith(".so")
    }
    assert len(package_of) > 90
    compared = 0
    for row in rows("slurm_plugins.tsv"):
        key, value = row["key"], row["value"]
        name = value.replace("/", "_") if "/" in value else f"{_FAMILIES.get(key)}_{value}"
        # auth_slurm.so has cred/slurm, and the package for NVML is one of contrib.
        if row[ident] and (key, value) not in {("CredType", "cred/slurm"), ("AutoDetect", "nvml")}:
            package = package_of.get(f"{name}.so", "-")
            assert row[ident].split()[0] == package, (key, value)
            compared += 1
    assert compared > 90


def test_every_key_of_a_plugin_exists() -> None:
    for row in rows("slurm_plugins.tsv"):
        places = [("slurm.conf", row["key"]), ("gres.conf", row["key"]), ("cgroup.conf", row["key"])]
        assert any(slurm.key(file, key) is not None for file, key in places), row


@pytest.mark.parametrize(
    ("key", "release", "value"),
    [
        ("SelectType", "23.02", "select/linear"),
        ("selecttype", "23.11", "select/cons_tres"),
        ("TreeWidth", "22.05", "50"),
        ("TreeWidth", "24.11", "16"),
        ("TopologyPlugin", "25.05", "topology/flat"),
        ("TopologyPlugin", "24.11", "topology/default"),
        ("MaxBatchRequeue", "22.05", None),
        ("NodeName", "24.11", None),
    ],
)
def test_defaults(key: str, release: str, value: str | None) -> None:
    assert slurm.default("slurm.conf", "", key, SlurmRelease(release)) == value


@pytest.mark.parametrize(
    ("file", "key", "block", "release", "expected"),
    [
        ("slurm.conf", "MessageTimeout", "", "22.05", "reconfigure"),
        ("slurm.conf", "MaxJobCount", "", "22.05", "restart-slurmctld"),
        ("slurm.conf", "MaxJobCount", "", "24.11", "reconfigure"),
        ("slurm.conf", "SelectType", "", "24.11", "refuse"),
        ("slurm.conf", "RealMemory", "NodeName", "24.05", "restart-slurm"),
        ("slurm.conf", "RealMemory", "NodeName", "24.11", "reconfigure"),
        ("slurm.conf", "Nodes", "PartitionName", "22.05", "reconfigure"),
        ("gres.conf", "File", "NodeName", "24.11", "drain"),
        ("gres.conf", "cores", "Name", "24.11", "restart-slurmctld"),
        ("slurmdbd.conf", "StorageHost", "", "24.11", "restart-slurmdbd"),
        ("cgroup.conf", "ConstrainCores", "", "24.11", "reconfigure"),
    ],
)
def test_effects(file: str, key: str, block: str, release: str, expected: str) -> None:
    assert slurm_effects.effect(file, key, SlurmRelease(release), block).effect[0] == expected
