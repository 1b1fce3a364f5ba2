"""A BMC of OpenIPMI's ipmi_sim with sensors, which the real IPMI exporter reads with the real programs of FreeIPMI.

No kernel has a /dev/ipmi0 for it, so FreeIPMI's programs reach the BMC by LAN: substitutes on the exporter's PATH add
the options for that. FreeIPMI takes 127.0.0.1 for the machine itself.
"""

from __future__ import annotations

from collections.abc import Iterator

_RUN = "/run/clustergen"
# name, type of the sensor, unit, factor and exponent of 10, value, and limits: upper ones, then lower ones
_ANALOG = (
    ("Inlet Temp", 0x01, 1, 1, 0, 23, (50, 45, 40, 0, 0, 0)),
    ("GPU7 Temp", 0x01, 1, 1, 0, 93, (100, 90, 85, 0, 0, 0)),
    ("Coolant Inlet", 0x01, 1, 1, 0, 47, (100, 90, 85, 0, 0, 0)),
    ("FAN1", 0x04, 18, 100, 0, 84, (255, 255, 255, 10, 20, 90)),
    ("12V", 0x02, 4, 1, -1, 121, (140, 135, 130, 0, 0, 0)),
    ("PS1 Current", 0x03, 5, 1, 0, 40, (255, 255, 255, 0, 0, 0)),
    ("PS1 Input Power", 0x08, 6, 20, 0, 130, (255, 255, 255, 0, 0, 0)),
)
# name, type of the sensor, type of its states, and the states as bits
_DISCRETE = (
    ("PS2 Status", 0x08, 0x6F, 0b11),  # present, failed
    ("PS Redundancy", 0x09, 0x0B, 0b10),  # lost
    ("Fan Redundancy", 0x04, 0x0B, 0b100),  # degraded
    ("Intrusion", 0x05, 0x6F, 0),
)
_FULL, _COMPACT, _THRESHOLDS = 1, 2, 1

# DCMI's Get Power Reading, which ipmi_sim lacks: 5210 W now, 2048 to 10240 W in the last second.
_DCMI = """
typedef void handler(void *, void *, unsigned char *, unsigned *, void *);
void ipmi_emu_register_group_extension_handler(unsigned char, handler *, void *);
static void power(void *bmc, void *request, unsigned char *answer, unsigned *length, void *unused) {
  static const unsigned char reading[] = {0, 220, 90, 20, 0, 8, 0, 40, 90, 20, 0, 0, 0, 0, 232, 3, 0, 0, 64};
  for (*length = 0; *length < sizeof reading; ++*length) answer[*length] = reading[*length];
}
int ipmi_sim_module_init(void *simulator, const char *options) {
  ipmi_emu_register_group_extension_handler(220, power, 0);
  return 0;
}
"""
_LAN = """
name "bmc"
set_working_mc 0x20
startlan 1
  addr 127.0.0.2 623
  priv_limit admin
  allowed_auths_admin none md2 md5 straight
  guid a123456789abcdefa123456789abcdef
endlan
loadlib "/tmp/bmc/dcmi.so" ""
user 2 true "root" "secret" admin 10 none md2 md5 straight
"""
_CONTROLLER = """
mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr
sel_enable 0x20 1000 0x0a
"""
# tcc marks its libraries as if their stack had to be executable, which newer releases of glibc refuse by default.
_START = rf"""
mkdir -p /tmp/bmc/bin
tcc -nostdlib -shared -o /tmp/bmc/dcmi.so {_RUN}/dcmi.c
GLIBC_TUNABLES=glibc.rtld.execstack=2 ipmi_sim -c {_RUN}/lan.conf -f {_RUN}/bmc.emu -s /tmp/bmc -n >/tmp/bmc/log 2>&1 &
for program in bmc-info ipmi-chassis ipmi-dcmi ipmi-sel ipmimonitoring; do
  printf '#!/bin/sh\nexec %s -D LAN_2_0 -W opensesspriv -h 127.0.0.2 -u root -p secret -l ADMIN "$@"\n' \
    "$(command -v $program)" >/tmp/bmc/bin/$program
  chmod 755 /tmp/bmc/bin/$program
done
for _ in {{1..1000}}; do
  [ "$(timeout 2 /tmp/bmc/bin/ipmimonitoring -Q 2>&1 | wc -l)" = {1 + len(_ANALOG) + len(_DISCRETE)} ] && break
  sleep 0.05
done
. /etc/default/prometheus-ipmi-exporter
PATH=/tmp/bmc/bin:$PATH exec prometheus-ipmi-exporter $ARGS
"""


def _sensors() -> Iterator[tuple[int, int, int, str, list[int], int]]:
    """Type of record, of sensor and of states, name, the record's bytes from the masks of events on, and the value."""
    events = [0xFF, 0x7F, 0xFF, 0x7F]
    for name, kind, unit, factor, exponent, value, limits in _ANALOG:
        scale = [factor, 0, 0, 0, 0, (exponent & 15) << 4]
        rest = [*events, 0x3F, 0x3F, 0, unit, 0, 0, *scale, 0, 0, 0, 0, 255, 0, *limits, 0, 0, 0, 0, 0]
        yield _FULL, kind, _THRESHOLDS, name, rest, value
    for name, kind, states, value in _DISCRETE:
        yield _COMPACT, kind, states, name, [*events, 0xFF, 0x7F, 0xC0, *[0] * 10], value


def notes() -> dict[str, str]:
    """Files for /run/clustergen of a sandbox; `ipmi.sh` starts the BMC, then becomes the exporter of the tree."""
    files = {"dcmi.c": _DCMI, "lan.conf": _LAN, "ipmi.sh": _START}
    commands = [_CONTROLLER]
    for number, (record, kind, states, name, rest, value) in enumerate(_sensors(), 1):
        body = [0x20, 0, number, 7, number, 0x7F, 0x69, kind, states, *rest, 0xC0 | len(name), *name.encode()]
        files[file := f"sensor-{number}"] = f"{value}\n"
        commands += [
            f"main_sdr_add 0x20 {' '.join(map(hex, (0, 0, 0x51, record, len(body), *body)))}",
            f'sensor_add 0x20 0 {number} {kind} {states} poll 50 file "{_RUN}/{file}"',
        ]
    return {**files, "bmc.emu": "\n".join([*commands, "mc_enable 0x20\n"])}
