"""BMCs of sushy-tools' emulator, with the BIOS settings and boot options that its fake driver lacks.

`emulated_bmc.py DIRECTORY` reads `bmcs.json`, the attributes and the habits of each BMC by the name of its node, and
serves each on a port of its own, which it writes to `ports.json`. `log` gets a line for each PATCH and POST. Habits:

    deaf       accepts settings and does not apply them, until there is a file `healed`
    later      applies them with the second start
    strict     demands If-Match and a time to apply
    refuses    answers 400 with an extended message
    stays-on   never switches off
    stays-off  never switches on
"""

from __future__ import annotations

import json
import logging
import ssl
import sys
import tempfile
import threading
from pathlib import Path

import bcrypt
import flask
from sushy_tools.emulator import main
from sushy_tools.emulator.resources.systems import fakedriver
from werkzeug.serving import make_server

PLACE = Path(sys.argv[1])
SYSTEMS = "/redfish/v1/Systems"
OPTIONS = {
    "Boot0003": ("Hdd", "Debian"),
    "Boot0001": ("Pxe", "UEFI: PXE IPv4 Adapter 1"),
    "Boot0002": ("Pxe", "UEFI: PXE IPv4 Adapter 2"),
    "Boot0000": ("None", "UEFI: Built-in EFI Shell"),
}
MACHINES: dict[str, Machine] = {}  # by port


class Machine:
    """A machine behind one BMC: settings in effect, and those that wait for a start."""

    def __init__(self, name, attributes, habits):
        self.name, self.habits, self.power = name, habits, "On"
        self.settings = {"Attributes": attributes, "BootOrder": list(OPTIONS)}
        self.pending = {}
        self.waits = 0

    def log(self, *words):
        with (PLACE / "log").open("a", encoding="utf-8") as log:
            log.write(" ".join([self.name, *words]) + "\n")

    def change(self, key, value):
        self.log("PATCH", json.dumps(value))
        if "deaf" not in self.habits or (PLACE / "healed").exists():
            self.waits = self.waits if self.pending else 1 + ("later" in self.habits)
            self.pending[key] = value

    def switch(self, kind):
        self.log(kind)
        if kind in ("GracefulShutdown", "ForceOff") and "stays-on" not in self.habits:
            self.power = "Off"
        elif kind == "On" and "stays-off" not in self.habits:
            self.power = "On"
            self.waits -= 1
            if self.waits == 0:
                self.settings["Attributes"] = {**self.settings["Attributes"], **self.pending.get("Attributes", {})}
                self.settings["BootOrder"] = self.pending.get("BootOrder", self.settings["BootOrder"])
                self.pending = {}


def asked():
    return MACHINES[flask.request.environ["SERVER_PORT"]]


class Driver(fakedriver.FakeDriver):
    """One machine for each port."""

    systems = property(lambda self: [asked().name])

    def get_power_state(self, identity):
        return asked().power

    def set_power_state(self, identity, state):
        asked().switch(state)

    def get_bios(self, identity):
        return asked().settings["Attributes"]

    def set_bios(self, identity, attributes):
        asked().change("Attributes", attributes)


def error(status, message):
    info = [{"MessageId": "Base.1.8.PropertyValueNotInList", "Message": message}]
    body = {"error": {"code": "Base.1.8.GeneralError", "message": "See ExtendedInfo", "@Message.ExtendedInfo": info}}
    return flask.make_response(body, status)


@main.app.before_request
def judge():
    """Reject settings that the emulator does not know, and those that a habit refuses."""
    if flask.request.method != "PATCH":
        return None
    machine, content = asked(), flask.request.get_json()
    if "refuses" in machine.habits:
        return error(400, "The value is not in the list\nof acceptable values.")
    if "strict" in machine.habits and "If-Match" not in flask.request.headers:
        return error(428, "A precondition header is required.")
    if "Boot" in content:
        machine.change("BootOrder", content["Boot"]["BootOrder"])
        return "", 204
    if "strict" in machine.habits and content.get("@Redfish.SettingsApplyTime") != {"ApplyTime": "OnReset"}:
        return error(400, "The property ApplyTime is required.")
    return None


@main.app.after_request
def complete(response):
    """Adds the boot order to the machine, and to settings when they are applied and what became of the last ones."""
    machine, path = asked(), flask.request.path
    if flask.request.method == "GET" and path.rpartition("/")[0] == SYSTEMS:
        content = response.get_json()
        content["Boot"]["BootOrder"] = machine.settings["BootOrder"]
        content["Boot"]["BootOptions"] = {"@odata.id": f"{path}/BootOptions"}
        response.set_data(json.dumps(content))
    if flask.request.method == "GET" and path.endswith("/BIOS"):
        content = response.get_json()
        if "strict" in machine.habits:
            content["@Redfish.Settings"]["SupportedApplyTimes"] = ["OnReset", "AtMaintenanceWindowStart"]
        failure = {"MessageId": "Bmc.1.0.Ended", "Message": "The setting was not applied."}
        content["@Redfish.Settings"]["Messages"] = [failure] if "deaf" in machine.habits else []
        response.set_data(json.dumps(content))
    return response


@main.app.route(f"{SYSTEMS}/<identity>/BootOptions")
def options(identity):
    return {"Members": [{"@odata.id": f"{SYSTEMS}/{identity}/BootOptions/{name}"} for name in OPTIONS]}


@main.app.route(f"{SYSTEMS}/<identity>/BootOptions/<name>")
def option(identity, name):
    alias, shown = OPTIONS[name]
    return {"Id": name, "BootOptionReference": name, "Alias": alias, "DisplayName": shown}


def serve():
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    fakedriver.FakeDriver = Driver
    password = bcrypt.hashpw(b"pass word", bcrypt.gensalt(4)).decode()
    (PLACE / "users").write_text(f"clustergen:{password}\n", encoding="ascii")
    rows = json.loads((PLACE / "bmcs.json").read_text(encoding="utf-8"))
    main.app.configure(
        extra_config={
            "SUSHY_EMULATOR_FAKE_DRIVER": True,
            "SUSHY_EMULATOR_FAKE_SYSTEMS": [{"uuid": name, "name": name, "nics": []} for name in rows],
            "SUSHY_EMULATOR_STATE_DIR": tempfile.mkdtemp(dir=PLACE),
            "SUSHY_EMULATOR_AUTH_FILE": str(PLACE / "users"),
        }
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(PLACE / "bmc.pem")
    ports = {}
    for name, row in rows.items():
        server = make_server("127.0.0.1", 0, main.app, threaded=True, ssl_context=context)
        MACHINES[str(server.port)] = Machine(name, row["attributes"], row["habits"])
        ports[name] = server.port
        threading.Thread(target=server.serve_forever).start()
    (PLACE / "ports.new").write_text(json.dumps(ports), encoding="ascii")
    (PLACE / "ports.new").rename(PLACE / "ports.json")


serve()
