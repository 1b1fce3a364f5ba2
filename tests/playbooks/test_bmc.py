"""The modules of clustergen.cluster.bmc against OpenIPMI's simulated BMC, with the real ipmitool."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with

COLLECTION = Path(__file__).parents[2] / "playbooks/ansible_collections"
ANSIBLE = Path(sysconfig.get_paths()["purelib"]) / "ansible"
ASKED = {
    "address": "10.0.9.11",
    "netmask": "255.255.255.0",
    "gateway": "10.0.9.254",
    "user": "clustergen",
    "options": ["-I", "lanplus", "-H", "10.0.8.1", "-U", "root", "-E"],
}
# The BMC is reached at 10.0.8.1, as by a system interface, and at the address that it is given. Other addresses of
# 10.0.9.0/24 are silent: the kernel drops packets to them. It has no backup router, as many have none.
SIMULATED = r"""
mkdir -p $BMC; cd $BMC; export IPMI_PASSWORD=vendor
ip link set lo up; ip address add 10.0.8.1/32 dev lo
ip route add 10.0.9.0/24 dev lo src 10.0.8.1
printf 'dhcp\n' >ip_addr_src; printf '10.0.9.99\n' >ip_addr; printf '255.0.0.0\n' >subnet_mask
printf '0.0.0.0\n' >default_gw_ip_addr; printf '02:00:00:00:00:01\n' >mac_addr
printf '00:00:00:00:00:00\n' >default_gw_mac_addr; echo 0 >power
cat >lan <<'END'
#!/bin/bash
cd $(dirname $0); shift
case $1 in
  get) for name in "${@:2}"; do echo "$name:$(<$name)"; done ;;
  set) shift; while [ $# -gt 1 ]; do
    [ $1 != ip_addr ] || ip address add $2/32 dev lo || exit 1
    echo $2 >$1; shift 2; done ;;
esac
END
printf '#!/bin/bash\n[ "$2 $3" != "get power" ] || echo power:$(<${0%%/*}/power)\n' >chassis
chmod 755 lan chassis
channel() {
  printf 'startlan %s\n addr %s\n priv_limit admin\n guid a123456789abcdefa123456789abcdef\n' $1 "$2"
  printf ' allowed_auths_%s none md2 md5 straight\n' callback user operator admin
  printf ' lan_config_program "%s/lan 0x20"\nendlan\n' $BMC
}
{
  printf 'name "n1"\nset_working_mc 0x20\n'; channel 1 '0.0.0.0 623'
  [ ! "$SECOND" ] || channel 2 '10.0.8.1 624'
  printf 'chassis_control "%s/chassis 0x20"\n' $BMC
  printf 'user 2 true "root" "vendor" admin 10 none md2 md5 straight\n'
  [ ! "$OTHER" ] || printf 'user %s true "%s" "x" admin 10 none md2 md5 straight\n' $OTHER
} >lan.conf
printf 'mc_setbmc 0x20\nmc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr\n' >bmc.emu
printf 'mc_enable 0x20\n' >>bmc.emu
ipmi_sim -c lan.conf -f bmc.emu -s $BMC -n >sim.log 2>&1 &
for _ in {1..300}; do timeout 2 ipmitool -I lanplus -H 10.0.8.1 -U root -E mc info &>/dev/null && break; sleep 0.1; done
"""
MODULES = r"""
: >/opt/ansible/__init__.py; export PYTHONPATH=/opt PYTHONPYCACHEPREFIX=/tmp/bytecode
module() { python3 -m ansible_collections.clustergen.cluster.plugins.modules.$1 <"/run/clustergen/$2" 2>>errors; echo; }
"""


def ran(steps: str, notes: dict[str, tuple[str, dict[str, Any]]], **environment: str) -> list[dict[str, Any]]:
    """Answers of the modules of `steps`; `notes` has a module and its arguments by the name of a step."""
    root = root_with("ipmi_sim")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    box = sandbox.Sandbox(
        root,
        files=((COLLECTION, "/opt/ansible_collections"), (ANSIBLE / "module_utils", "/opt/ansible/module_utils")),
        empty=("/opt",),
    )
    calls = "".join(f"{name}() {{ module {module} {name}; }}\n" for name, (module, _) in notes.items())
    texts = {name: json.dumps({"ANSIBLE_MODULE_ARGS": arguments}) for name, (_, arguments) in notes.items()}
    command = ["/bin/bash", "-c", "BMC=/tmp/bmc" + SIMULATED + MODULES + calls + steps + "\ncat errors >&2"]
    done = sandbox.run(box, command, timeout=300, env=environment, notes=texts)
    try:
        return [json.loads(line) for line in done.stdout.splitlines() if line]
    except ValueError:
        raise AssertionError(done.stdout + done.stderr) from None


def bmc(**changes: Any) -> tuple[str, dict[str, Any]]:
    return "node_bmc", {**ASKED, **changes}


def reach(**changes: Any) -> tuple[str, dict[str, Any]]:
    return "bmc_reach", {"address": "10.0.9.11", **changes}


# A Redfish service with one user, and its certificate.
REDFISH = r"""
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key -out cert -days 2 -subj /CN=bmc \
  -addext subjectAltName=IP:10.0.8.1 2>/dev/null
cat >web.py <<'END'
import base64, http.server, ssl
class Service(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        login = "Basic " + base64.b64encode(b"clustergen:pass word'#").decode()
        good = self.path == "/redfish/v1/Systems" and self.headers["Authorization"] == login
        self.send_response(200 if good else 401)
        self.end_headers()
server = http.server.HTTPServer(("10.0.8.1", 443), Service)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("cert", "key")
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
END
python3 web.py 2>/dev/null &
for _ in {1..600}; do (: </dev/tcp/10.0.8.1/443) 2>/dev/null && break; sleep 0.1; done
unchecked; login; export SSL_CERT_FILE=$BMC/cert; login; wrong
"""
# While the file `cut` exists, ipmitool ends before it sets the address.
CUT = r"""
mkdir bin; export PATH=$BMC/bin:$PATH
printf '#!/bin/bash\n[[ ! -e %s/cut || $* != *1\ ipaddr* ]] || exit 9\nexec /usr/bin/ipmitool "$@"\n' $BMC >bin/ipmitool
chmod 755 bin/ipmitool
"""
SET = {"write": True, "password": "pass word'#"}
LOGIN = {"user": "clustergen", "password": SET["password"], "timeout": 5, "attempts": 1}
DIFFERS = [
    "user slot 3: empty, not clustergen",
    "Privilege Level of user slot 3: Unknown (0x00), not OPERATOR",
    "IPMI Messaging of user slot 3: disabled, not enabled",
    "IP Address Source: DHCP Address, not Static Address",
    "Subnet Mask: 255.0.0.0, not 255.255.255.0",
    "Default Gateway IP: 0.0.0.0, not 10.0.9.254",
    "IP Address: 10.0.9.99, not 10.0.9.11",
]


@pytest.mark.real
def test_a_bmc_gets_its_address_and_its_user_and_accepts_the_login() -> None:
    notes = {
        "show": bmc(),
        "try": bmc(**SET, _ansible_check_mode=True),
        "free": reach(state="free"),
        "write": bmc(**SET),
        "login": reach(**LOGIN),
        "wrong": reach(**{**LOGIN, "password": "other"}),
    }
    steps = f"{CUT} show; try; show; free; touch cut; write; show; rm cut; write; show; login; wrong; free"
    before, tried, after, free, cut, left, done, same, login, wrong, taken = ran(steps, notes)
    assert (before["differs"], before["changed"], before["is_at_address"]) == (DIFFERS, False, False)
    assert "MontaVista" in before["bmc"]
    assert (tried["differs"], tried["changed"]) == (DIFFERS, True)
    assert after["differs"] == DIFFERS
    assert free["said"] == "no answer"
    assert cut["failed"]
    assert cut["msg"] == "ipmitool: exit status 9; some values may be set: run this again"
    assert left["differs"] == DIFFERS[-1:]
    assert (done["changed"], same["differs"], same["is_at_address"]) == (True, [], True)
    assert login["said"] == "Chassis Power is off"
    assert wrong["msg"].startswith("10.0.9.11 as clustergen: Error: Unable to establish")
    assert taken["msg"] == "another device has 10.0.9.11: it answers by RMCP on UDP port 623"
    assert SET["password"] not in json.dumps([cut, done, login])


@pytest.mark.real
def test_a_login_by_redfish_checks_certificate_and_password() -> None:
    asked = {**LOGIN, "address": "10.0.8.1", "protocol": "redfish"}
    notes = {
        "unchecked": reach(**asked, check_certificates=False),
        "login": reach(**asked),
        "wrong": reach(**{**asked, "password": "other"}),
    }
    unchecked, distrusted, login, wrong = ran(REDFISH, notes)
    assert unchecked["said"] == login["said"] == "HTTP status 200"
    assert "CERTIFICATE_VERIFY_FAILED" in distrusted["msg"]
    assert wrong["msg"] == "10.0.8.1 as clustergen: HTTP status 401"


@pytest.mark.real
@pytest.mark.parametrize(
    ("environment", "refusals"),
    [
        (
            {},
            {
                "channel 2 is not a LAN channel of this BMC; LAN channels: 1": {"channel": 2},
                "the BMC has no user slot 64; slots: 1 to 63": {"slot": 64},
                "the BMC reports no VLAN: set VLAN 20 in its own configuration": {"vlan": 20},
                "no password: supply it as secrets_given.bmc": {"password": ""},
                "the password must have 1 to 16 bytes": {"password": "x" * 17},
                "Could not open device at /dev/ipmi0": {"options": ["-I", "open"]},
            },
        ),
        (
            {"SECOND": "yes", "OTHER": "3 admin"},
            {
                "the BMC has 2 LAN channels (1, 2), not one: name one as bmc_channel": {},
                "user slot 3 belongs to 'admin', not 'clustergen'; slot 4 is empty: bmc_slot": {"channel": 1},
            },
        ),
        ({"OTHER": "5 clustergen"}, {"user 'clustergen' has slot 5, not 3: state it as bmc_slot": {}}),
    ],
)
def test_unexpected_answers_are_refused(environment: dict[str, str], refusals: dict[str, dict[str, Any]]) -> None:
    notes = {f"write{index}": bmc(**{**SET, **changes}) for index, changes in enumerate(refusals.values())}
    steps = "; ".join([*notes, "show"])
    *refused, shown = ran(steps, {**notes, "show": bmc(channel=1, user="nobody", slot=9)}, **environment)
    for message, answer in zip(refusals, refused, strict=True):
        assert answer["msg"].startswith(message), answer
        assert (answer["failed"], answer["changed"]) == (True, False)
    assert set(DIFFERS[3:]) <= set(shown["differs"])


# n1 has no BMC; the address that n2 is to get is in use.
INVENTORY = """
n1 bmc_address=10.0.9.12 bmc_options="['-I', 'open']"
n2 bmc_address=10.0.8.1
n3 bmc_address=10.0.9.11
[all:vars]
ansible_connection=local
bmc_options=['-I', 'lanplus', '-H', '10.0.8.1', '-U', 'root', '-E']
bmc_protocol=ipmi
bmc_netmask=255.255.255.0
bmc_gateway=10.0.9.254
bmc_from=localhost
"""
PLAY = r"""
play() { echo "== rc"; ansible-playbook -i hosts clustergen.cluster.bmc -e @secrets.yml "$@"; cat ip_addr; }
play -e write=true; play -e write=true -e nodes=n3; play -e write=true -e nodes=n3
kill %1
"""


@pytest.mark.real
@pytest.mark.slow
def test_the_playbook_ends_at_the_first_node_that_fails(tmp_path: Path) -> None:
    root = root_with("ipmi_sim")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    libraries, programs, place = root / "usr/lib/x86_64-linux-gnu", tmp_path / "bin", tmp_path / "bmc"
    programs.mkdir()
    place.mkdir()
    for name in ("ipmitool", "ipmi_sim"):
        loader = f"{libraries}/ld-linux-x86-64.so.2 --library-path {libraries}"
        (programs / name).write_text(f'#!/bin/sh\nexec {loader} {root}/usr/bin/{name} "$@"\n', encoding="utf-8")
        (programs / name).chmod(0o755)
    (place / "hosts").write_text(f"{INVENTORY}ansible_python_interpreter={sys.executable}\n", encoding="utf-8")
    (place / "secrets.yml").write_text(f"secrets_given: {json.dumps({'bmc': SET['password']})}\n", encoding="utf-8")
    mapped = () if os.geteuid() == 0 else ("--map-root-user",)
    environment = {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(COLLECTION.parent),
        "BMC": str(place),
        "HOME": str(tmp_path),
        "PATH": f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}:/usr/sbin:/sbin",
    }
    command = ["unshare", *mapped, "--net", "--pid", "--fork", "--kill-child", "bash", "-c", SIMULATED + PLAY]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
    stopped, one, again = done.stdout.split("== rc")[1:]
    assert "; nothing was changed" in stopped, done.stdout + done.stderr
    assert stopped.count("; ".join(DIFFERS)) == 1
    assert "another device has 10.0.8.1" in stopped
    assert stopped.endswith("\n10.0.9.99\n")
    assert recap(stopped) == {"n1": "0 1", "n2": "0 1", "n3": "0 0"}
    assert one.endswith("\n10.0.9.11\n"), one
    assert recap(one) == {"n3": "1 0"}
    assert "as in the manifest; the login works" in again
    assert recap(again) == {"n3": "0 0"}
    assert SET["password"] not in done.stdout + done.stderr


def recap(text: str) -> dict[str, str]:
    """Node → numbers of its changed and of its failed tasks."""
    rows = re.findall(r"^(n\d) +: .*changed=(\d+).*failed=(\d+)", text, re.MULTILINE)
    return {name: f"{changed} {failed}" for name, changed, failed in rows}
