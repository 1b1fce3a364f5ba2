"""BMCs that speak Redfish: a certificate, and those of tests/playbooks/emulated_bmc.py with sushy-tools' emulator."""

from __future__ import annotations

import datetime
import ipaddress
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from clustergen.features.firmware.setup import emulator_directory

PROGRAM = Path(__file__).parents[1] / "playbooks/emulated_bmc.py"


def write_certificate(path: Path) -> Path:
    """A file with a key and a certificate for 127.0.0.1."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "bmc")])
    today = datetime.datetime.now(datetime.UTC)
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    signed = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(today - datetime.timedelta(days=1))
        .not_valid_after(today + datetime.timedelta(days=1))
        .add_extension(address, critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + signed.public_bytes(serialization.Encoding.PEM))
    return path


def describe(directory: Path, bmcs: Mapping[str, tuple[str, Mapping[str, Any]]]) -> None:
    """Writes what the emulator reads: habits and attributes by name of the node."""
    assert emulator_directory().is_dir(), "clustergen setup firmware unpacks the emulator that this test asks"
    write_certificate(directory / "bmc.pem")
    rows = {name: {"habits": habits.split(), "attributes": values} for name, (habits, values) in bmcs.items()}
    (directory / "bmcs.json").write_text(json.dumps(rows), encoding="utf-8")


def command(directory: Path) -> list[str]:
    """The emulator as a process."""
    return ["env", f"PYTHONPATH={emulator_directory()}", sys.executable, "-B", str(PROGRAM), str(directory)]


@contextmanager
def emulated(directory: Path, bmcs: Mapping[str, tuple[str, Mapping[str, Any]]]) -> Iterator[dict[str, str]]:
    """Addresses of BMCs that run meanwhile, by name of the node."""
    describe(directory, bmcs)
    ports = directory / "ports.json"
    with (directory / "errors").open("wb") as errors:
        process = subprocess.Popen(command(directory), stderr=errors, env={"PATH": os.environ["PATH"]})
    try:
        for _ in range(600):
            if ports.exists():
                break
            assert process.poll() is None, (directory / "errors").read_text(encoding="utf-8")
            time.sleep(0.05)
        yield {name: f"127.0.0.1:{port}" for name, port in json.loads(ports.read_text(encoding="ascii")).items()}
    finally:
        process.kill()
        process.wait()


def requests(directory: Path) -> list[str]:
    """Name and request of what changed something, or was to."""
    log = directory / "log"
    return log.read_text(encoding="utf-8").splitlines() if log.exists() else []
