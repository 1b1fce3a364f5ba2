"""NCCL's names by release."""

import pytest

from clustergen.catalogue import nccl
from clustergen.catalogue.versions import NcclVersion


@pytest.mark.parametrize(
    ("name", "version", "is_known"),
    [
        ("NCCL_IB_HCA", "2.8", True),
        ("NCCL_IB_ADDR_RANGE", "2.20", False),
        ("NCCL_IB_ADDR_RANGE", "2.21", True),
        ("NCCL_IB_ROCE_VERSION_NUM", "2.21", True),
        ("NCCL_IB_FIFO_TC", "2.21", False),
        ("NCCL_IB_FIFO_TC", "2.22", True),
        ("NCCL_CONF_FILE", "2.22", False),
        ("NCCL_CONF_FILE", "2.23", True),
        ("NCCL_SOCKET_RETRY_CNT", "2.24", True),
        ("NCCL_WORK_FIFO_DEPTH", "2.21", True),
        ("NCCL_WORK_FIFO_DEPTH", "2.22", False),
        ("NCCL_NVLS_ENABLE", "2.16", False),
        ("NCCL_NVLS_ENABLE", "2.17", True),
        ("NCCL_IB_CUDA_SUPPORT", "2.21", False),
    ],
)
def test_releases_that_read_a_name(name: str, version: str, is_known: bool) -> None:
    param = nccl.nccl_param(name)
    assert param is not None
    assert param.known_in(NcclVersion(version)) is is_known


@pytest.mark.parametrize("name", ["NCCL_TOPO", "NCCL_PROXY_PROFILE", "nccl_ib_hca", "NCCL_IB_HCAS"])
def test_names_that_do_not_exist(name: str) -> None:
    assert nccl.nccl_param(name) is None


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("NCCL_SOCKET_IFNAME", "system"),
        ("NCCL_IB_HCA", "system"),
        ("NCCL_TOPO_FILE", "system"),
        ("NCCL_P2P_DISABLE", "debugging"),
        ("NCCL_ALGO", "debugging"),
        ("NCCL_NET_GDR_LEVEL", "debugging"),
        ("NCCL_IB_QPS_PER_CONNECTION", "debugging"),
        ("NCCL_INSPECTOR_ENABLE", "plugin"),
    ],
)
def test_a_name_has_a_purpose(name: str, use: str) -> None:
    param = nccl.nccl_param(name)
    assert param is not None
    assert param.use == use


@pytest.mark.parametrize(
    ("name", "version", "default"),
    [
        ("NCCL_IB_TIMEOUT", "2.13", 14),
        ("NCCL_IB_TIMEOUT", "2.22", 18),
        ("NCCL_IB_TIMEOUT", "2.23", 20),
        ("NCCL_IB_GID_INDEX", "2.20", 0),
        ("NCCL_IB_GID_INDEX", "2.21", -1),
        ("NCCL_CROSS_NIC", "2.27", 2),
        ("NCCL_IB_HCA", "2.27", None),
    ],
)
def test_defaults(name: str, version: str, default: int | None) -> None:
    param = nccl.nccl_param(name)
    assert param is not None
    assert param.default(NcclVersion(version)) == default


@pytest.mark.parametrize(
    ("name", "text", "good"),
    [
        ("NCCL_IB_TIMEOUT", "22", True),
        ("NCCL_IB_TIMEOUT", "32", False),
        ("NCCL_IB_TIMEOUT", "twenty", False),
        ("NCCL_IB_GID_INDEX", "-1", True),
        ("NCCL_CROSS_NIC", "3", False),
        ("NCCL_DEBUG", "warn", True),
        ("NCCL_DEBUG", "QUIET", False),
        ("NCCL_IB_HCA", "=mlx5_0:1,mlx5_1:1", True),
        ("NCCL_P2P_LEVEL", "NVL", True),
        ("NCCL_P2P_LEVEL", "5", True),
        ("NCCL_P2P_LEVEL", "6", False),
        ("NCCL_BUFFSIZE", "4M", False),
    ],
)
def test_values(name: str, text: str, good: bool) -> None:
    param = nccl.nccl_param(name)
    assert param is not None
    assert param.accepts(text) is good


def test_rows_make_sense() -> None:
    for param in nccl.nccl_params().values():
        assert param.name.startswith("NCCL_")
        assert param.use in {"system", "debugging", "other", "plugin"}
        assert not param.since or not param.removed or param.since < param.removed
        assert not param.instead or nccl.nccl_param(param.instead) is not None
        assert param.numeric or not param.defaults
        for since, number in param.defaults:
            assert since is None or nccl.FIRST < since <= nccl.LAST
            if param.values and param.use == "system":
                assert param.accepts(str(number)) or number < 0  # below 0 stands for a choice of NCCL's own


def test_ucx() -> None:
    assert "UCX_NET_DEVICES" in nccl.ucx_params()
    assert nccl.ucx_params()["UCX_MAX_RNDV_RAILS"].default == "2"
