"""A node that records the commands of the modules of the collection."""

from __future__ import annotations

from typing import Any


class Node:
    """In place of Ansible's module: units that are active or not, and the commands that change something."""

    params: dict[str, Any]

    def __init__(self, *active: str) -> None:
        self.active = set(active)
        self.needs: dict[str, str] = {}  # a unit → the one without which systemd stops it
        self.places: dict[str, str] = {}  # a mount unit → its mount point
        self.disabled: set[str] = set()
        self.failing: set[str] = set()
        self.absent: set[str] = set()
        self.commands: list[str] = []

    def run_command(self, command: list[str], environ_update: dict[str, str] | None = None) -> tuple[int, str, str]:
        words = command[4:] if command[0] == "timeout" and command[1] == "-k" else command
        match words:
            case ["systemctl", "show", "-p", "LoadState", "--value", unit]:
                return 0, "not-found\n" if unit in self.absent else "loaded\n", ""
            case ["systemctl", "show", "-p", "ActiveState", "--value", unit]:
                return 0, "active\n" if unit in self.active else "inactive\n", ""
            case ["systemctl", "show", "-p", "Where", "--value", unit] if unit in self.places:
                return 0, f"{self.places[unit]}\n", ""
            case ["systemctl", "show", "-p", "Requires", "--value", unit]:
                return 0, self.needs.get(unit, "") + "\n", ""
            case ["systemctl", "show", *_]:
                return 0, "1\n", ""
            case ["systemctl", "is-active", "--quiet", unit]:
                return 0 if unit in self.active else 3, "", ""
            case ["systemctl", "is-enabled", unit]:
                return (1, "disabled\n", "") if unit in self.disabled else (0, "enabled\n", "")
            case ["scontrol", "ping"]:
                return 0, "Slurmctld(primary) at head is UP\n", ""
        line = " ".join([*(f"{name}={value}" for name, value in (environ_update or {}).items()), *words])
        self.commands.append(line)
        if line in self.failing:
            return 1, "", "failed"
        match words:
            case ["systemctl", "disable", "--now", "--quiet", unit]:  # its file goes
                self.absent.add(unit)
            case ["systemctl", "stop", unit]:
                self.active.discard(unit)
            case ["systemctl", "start" | "restart", unit]:
                self.active.add(unit)
                self.active -= {name for name, other in self.needs.items() if other == unit}
        return 0, "", ""
