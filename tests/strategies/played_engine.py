"""podman on paper: containers that are nodes, and what their programs answer, in place of its process."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

Exec = Callable[[str, str], "str | tuple[int, str]"]
"""Node and script → what it prints, with its exit status where that is not 0."""


@dataclass
class Container:
    name: str
    node: str
    lab: str
    options: list[str]
    state: str = "running"


@dataclass
class Podman:
    """`answer`: what a script prints on a node. `dead`: nodes whose first process ends at once."""

    answer: Exec = lambda _node, _script: ""
    dead: Sequence[str] = ()
    containers: dict[str, Container] = field(default_factory=dict)
    networks: dict[str, str] = field(default_factory=dict)
    images: set[str] = field(default_factory=set)
    prefix: list[str] = field(default_factory=list)
    """Words before the command of the last call: the time limit and podman's directories."""

    def starting(self) -> SimpleNamespace:
        """A stand-in for the module `subprocess` of lab/engine.py."""

        def start(command: list[str], **_: Any) -> _Process:
            return _Process(self, command)

        return SimpleNamespace(Popen=start, PIPE=-1, DEVNULL=-3, CompletedProcess=subprocess.CompletedProcess)

    def states(self) -> dict[str, str]:
        return {container.node: container.state for container in self.containers.values()}

    def call(self, words: list[str], stdin: str) -> tuple[int, str, str]:
        """Exit status, output and errors of one command."""
        command = words[0]
        action = getattr(self, f"_{command}", None)
        if action is None:
            return 125, "", f"Error: unrecognized command `podman {command}`\nSee 'podman --help'\n"
        done = action(words[1:], stdin)
        if isinstance(done, tuple):
            return done[0], "", f"Error: {done[1]}\n"
        return 0, done or "", ""

    def _of(self, words: list[str]) -> list[Container]:
        return [self.containers[word] for word in words if word in self.containers]

    def _ps(self, words: list[str], _: str) -> str:
        label = words[words.index("--filter") + 1].removeprefix("label=clustergen.lab")
        listed = [one for one in self.containers.values() if not label or label == f"={one.lab}"]
        up = {"running": "Up 3 minutes ago", "exited": "Exited (137) 4 seconds ago"}
        return "".join(f"{one.name}\t{one.lab}\t{one.node}\t{up.get(one.state, one.state)}\n" for one in listed)

    def _run(self, words: list[str], _: str) -> tuple[int, str] | str:
        name, node = words[words.index("--name") + 1], words[words.index("--hostname") + 1]
        if name in self.containers:
            return 125, f'creating container storage: the container name "{name}" is already in use'
        lab = next(word for word in words if word.startswith("clustergen.lab=")).partition("=")[2]
        state = "exited" if node in self.dead else "running"
        self.containers[name] = Container(name, node, lab, words, state)
        return "id\n"

    def _exec(self, words: list[str], stdin: str) -> tuple[int, str] | str:
        at = next(at for at, word in enumerate(words) if word in self.containers)
        container = self.containers[words[at]]
        if container.state != "running":
            return 255, "can only create exec sessions on running containers: container state improper"
        return self.answer(container.node, stdin or " ".join(words[at + 1 :]))

    def _kill(self, words: list[str], _: str) -> None:
        for container in self._of(words):
            container.state = "exited"

    def _stop(self, words: list[str], _: str) -> None:
        self._kill(words, _)

    def _start(self, words: list[str], _: str) -> None:
        for container in self._of(words):
            container.state = "running"

    _unpause = _start

    def _rm(self, words: list[str], _: str) -> None:
        for container in self._of(words):
            del self.containers[container.name]

    def _logs(self, words: list[str], _: str) -> str:
        return f"last words of {self.containers[words[-1]].node}\n"

    def _pull(self, words: list[str], _: str) -> None:
        self.images.add(words[0])

    def _image(self, words: list[str], _: str) -> tuple[int, str] | str:
        return "" if words[-1] in self.images else (1, "no such image")

    def _network(self, words: list[str], _: str) -> tuple[int, str] | str:
        if words[0] == "create":
            self.networks[words[-1]] = words[words.index("--subnet") + 1]
        if words[0] == "rm":
            del self.networks[words[-1]]
        if words[0] == "inspect":
            return self.networks.get(words[-1], "")
        return "".join(f"{name}\n" for name in self.networks)


class _Process:
    def __init__(self, podman: Podman, command: list[str]) -> None:
        self.podman, self.returncode = podman, 0
        at = next(at for at, word in enumerate(command) if re.search(r"/libpod$", word)) + 1
        podman.prefix, self.words = command[:at], command[at:]

    def __enter__(self) -> _Process:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def communicate(self, stdin: bytes | None = None, _timeout: float = 0) -> tuple[bytes, bytes]:
        self.returncode, out, err = self.podman.call(self.words, (stdin or b"").decode())
        return out.encode(), err.encode()
