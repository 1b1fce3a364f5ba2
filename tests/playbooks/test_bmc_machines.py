"""Recordings of BMCs for drift: services that answer, refuse, hang, drip or lie."""

from __future__ import annotations

import json
import socketserver
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.clustergen.cluster.plugins.modules import bmc_machines
from ansible_collections.clustergen.cluster.plugins.plugin_utils import answers
from clustergen.catalogue.firmware import attribute_patterns
from strategies.played_nodes import Cluster
from strategies.redfish_bmc import write_certificate

SYSTEMS = "/redfish/v1/Systems"
ATTRIBUTES = {"VTdSupport": "Enable", "PcieRelaxedOrdering": ["Yes"], "SetupPassword": "secret", "SRIOVEnable": "a\nb"}
Document = dict[str, Any]


def machine(**changes: Any) -> Document:
    """Path → resource of a healthy DGX."""
    members = [{"@odata.id": f"{SYSTEMS}/HGX_Baseboard_0"}, {"@odata.id": f"{SYSTEMS}/DGX"}]
    system = {"PowerState": "On", "Status": {"Health": "OK"}, "Bios": {"@odata.id": f"{SYSTEMS}/DGX/Bios"}}
    return {
        SYSTEMS: {"Members": members},
        f"{SYSTEMS}/DGX": system | changes,
        f"{SYSTEMS}/DGX/Bios": {"Attributes": ATTRIBUTES},
    }


def serving(resources: Document, head: str = "200 OK") -> Callable[[str], Iterator[bytes]]:
    def answer(path: str) -> Iterator[bytes]:
        content = resources.get(path, {})
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        yield f"HTTP/1.1 {head}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body

    return answer


def dripping(_path: str) -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\nX: "
    for _ in range(1000):
        time.sleep(0.2)
        yield b"y"


def listed(*members: object) -> Document:
    return {SYSTEMS: {"Members": list(members)}}


LINK = {"@odata.id": f"{SYSTEMS}/DGX"}
BMCS: dict[str, tuple[Callable[[str], Iterator[bytes]], Document]] = {
    "good": (serving(machine()), {"power": "On", "health": "OK", "attributes": {"VTdSupport": "Enable"}}),
    "off": (
        serving(machine(PowerState="Off", Bios=None, Status={"HealthRollup": "Critical", "Health": "OK"})),
        {"power": "Off", "health": "Critical", "attributes": {}},
    ),
    "odd": (serving(machine(PowerState={}, Status=[], Bios=7)), {"power": "", "health": "", "attributes": {}}),
    "refuses": (serving({}, "401 Unauthorized"), {"failure": "HTTP status 401"}),
    "drips": (dripping, {}),
    "huge": (serving({SYSTEMS: b"x" * (2 << 20)}), {"failure": "the answer has more than 1048576 bytes"}),
    "deep": (serving({SYSTEMS: b"[" * 200_000}), {"failure": f"{SYSTEMS} is no resource of Redfish"}),
    "binary": (serving({SYSTEMS: b"\xff\x00"}), {"failure": f"{SYSTEMS} is no resource of Redfish"}),
    "two": (serving(listed(LINK, LINK)), {"failure": "the BMC manages 2 machines, not one"}),
    "none": (serving({SYSTEMS: {"Members": {}}}), {"failure": "the BMC manages 0 machines, not one"}),
    "elsewhere": (serving(listed({"@odata.id": "//evil/"})), {"failure": "a link that is no path of Redfish"}),
    "sends-on": (
        serving({}, "302 Found\r\nLocation: https://127.0.0.1:1/redfish/v1/"),
        {"failure": "it redirects to another host"},
    ),
    "no-http": (lambda _path: iter((b"\x00\x01\r\n\r\n",)), {"failure": "\x00\x01"}),
}


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_certificate(tmp_path_factory.mktemp("bmc") / "bmc.pem")


@contextmanager
def bmc(certificate: Path, answer: Callable[[str], Iterator[bytes]]) -> Iterator[str]:
    """The address of a service on this machine."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            try:
                with context.wrap_socket(self.request, server_side=True) as wrapped:
                    request = wrapped.recv(4096).decode()
                    for part in answer(request.split(" ")[1]):
                        wrapped.sendall(part)
            except OSError:  # the client left
                return

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def asked(bmcs: dict[str, str], **changes: Any) -> Document:
    login = {"user": "clustergen", "password": "pass word", "check_certificates": False, "seconds": 60}
    return {"bmcs": bmcs, "attributes": sorted(attribute_patterns()), **login, **changes}


@pytest.mark.slow
def test_each_bmc_is_recorded_whatever_the_others_do(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bmc_machines, "_ANSWER", 600)
    with ExitStack() as stack:
        bmcs = {name: stack.enter_context(bmc(certificate, answer)) for name, (answer, _) in BMCS.items()}
        for seconds in (6, 120):  # `drips` goes on for 200; on a busy machine, others need more than 6, too
            machines = bmc_machines.ask_all(asked(bmcs | {"closed": "127.0.0.1:1"}, seconds=seconds))
            late = [name for name, row in machines.items() if row == {"failure": f"no answer in {seconds} s"}]
            if late == ["drips"]:
                break
        distrusted = bmc_machines.ask_all(asked({"good": bmcs["good"]}, check_certificates=True))
    assert late == ["drips"]
    expected = {name: row for name, (_, row) in BMCS.items()} | {"closed": {"failure": "Connection refused"}}
    assert {name: row for name, row in machines.items() if name not in ("no-http", "drips")} == {
        name: row for name, row in expected.items() if name not in ("no-http", "drips")
    }
    assert machines["no-http"].keys() == {"failure"}
    assert "certificate verify failed" in distrusted["good"]["failure"]
    checked = answers.checked("bmc_machines", asked(bmcs | {"closed": ""}), {"changed": False, "machines": machines})
    assert checked["machines"]["good"] == machines["good"]


@pytest.mark.slow
def test_the_playbook_records_bmcs_with_their_nodes(certificate: Path, tmp_path: Path) -> None:
    cluster = Cluster(tmp_path, ["lost"])
    facts = tmp_path / "facts"
    with bmc(certificate, BMCS["good"][0]) as good, bmc(certificate, BMCS["off"][0]) as off:
        addresses = {"good1": good, "good2": "127.0.0.1:1", "n1": off}
        hosts = "".join(f"{name} bmc_address={address}\n" for name, address in addresses.items())
        (tmp_path / "bmcs.ini").write_text(f"{hosts}[all:vars]\nbmc_protocol=redfish\n", encoding="utf-8")
        secrets = json.dumps({"secrets_given": {"bmc": "pass word"}, "bmc_check_certificates": False})
        options = ("-i", "inventory/hosts.ini", "-i", str(tmp_path / "bmcs.ini"), "-e", f"facts={facts}")

        def record(*more: str) -> dict[str, Any]:
            code, output, _ = cluster.play(*options, "-e", secrets, *more, playbook="clustergen.cluster.drift")
            assert code == 0, output
            assert "pass word" not in output
            return {place.parent.name: json.loads(place.read_text()) for place in facts.glob("*/bmc.json")}

        assert record("-e", "bmc_from=localhost") == {
            "good1": {"power": "On", "health": "OK"},
            "good2": {"failure": "Connection refused"},
            "n1": {"power": "Off", "health": "Critical"},
        }
        assert json.loads((facts / "good1/redfish-bios.json").read_text()) == {"Attributes": {"VTdSupport": "Enable"}}
        lost = record()  # the first controller has no such module
        assert set(lost) == {"good1", "good2", "n1"}
        assert {row["failure"][:28] for row in lost.values()} == {"head could not ask its BMC: "}
