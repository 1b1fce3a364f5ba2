"""Output directories under attack: writers that run side by side, are killed, or run out of space.

The rounds fork, which a process with the threads of a test run may not do: `separately` calls a function of this module in
a Python of its own. What the functions return is a list of faults, one text each, and what they counted.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from clustergen.diagnostics import ClustergenError
from clustergen.render import access, staging
from clustergen.render.compare import compare
from clustergen.render.lock_file import owned, read_lock
from clustergen.render.tree import LOCK, RenderedFile, Tree
from clustergen.render.write import write

TESTS = Path(__file__).parents[1]


def plain_tree(files: dict[str, str], modes: dict[str, int] | None = None) -> Tree:
    """A tree of these files: path → text."""
    rendered = {
        path: RenderedFile(path, text.encode(), "all", "/" + path, (modes or {}).get(path, 0o644))
        for path, text in sorted(files.items())
    }
    return Tree(rendered, {"all": ("n1",)}, "manifest.yaml", "0" * 64)


def texts(directory: Path) -> dict[str, str]:
    """Path → text, of all files; links and what is no file are left out."""
    return {p.relative_to(directory).as_posix(): p.read_text() for p in directory.rglob("*") if p.is_file()}


def old_and_new(count: int, size: int = 20) -> tuple[Tree, Tree]:
    """Two trees in which most files differ, some are in one of them only, and `swap` is once a directory, once a file."""
    old = {f"d{i % 7}/f{i}": f"old {i} ".ljust(size, "o") for i in range(count)}
    new = {f"d{i % 7}/f{i}": f"new {i} ".ljust(size, "n") for i in range(count)}
    only_old = {"swap/deep/file": "old", "gone/only/here": "old", "same": "same"}
    only_new = {"swap": "new", "came/deep/here": "new", "same": "same"}
    return plain_tree(old | only_old), plain_tree(new | only_new, {"swap": 0o755})


def fault_of(directory: Path, *trees: Tree) -> str:
    """Empty where the directory holds exactly one of the trees; foreign files are those below `mine`."""
    if staging.is_pending(directory):
        return "pending"
    if (directory / LOCK).exists():
        read_lock(directory)
    for tree in trees:
        contents = tree.contents()
        if not compare(contents, directory, owned(directory)):
            extra = {path for path in texts(directory) if not path.startswith("mine")} - contents.keys()
            return f"whole, and also {sorted(extra)[:5]}" if extra else ""
    lacks = compare(trees[-1].contents(), directory, owned(directory))
    return f"a mixture: {len(lacks)} files differ, as {lacks[:3]}"


def separately(function: Callable[..., Any], *arguments: Any, timeout: float = 120, private: bool = False) -> Any:
    """The result of a function of a test module, called in another process; `private`: with mounts of its own."""
    code = (
        "import importlib, json, sys; sys.path.insert(0, sys.argv[1]); "
        "f = getattr(importlib.import_module(sys.argv[2]), sys.argv[3]); "
        "print(json.dumps(f(*json.loads(sys.argv[4]))))"
    )
    names = (str(TESTS), function.__module__, function.__name__, json.dumps(arguments))
    user = () if os.geteuid() == 0 else ("--map-root-user",)
    space = ("unshare", *user, "--mount", "--propagation", "private") if private else ()
    done = subprocess.run(
        [*space, sys.executable, "-c", code, *names], capture_output=True, text=True, timeout=timeout, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def forked(action: Callable[[], Any]) -> int:
    """The process id of a child that does something and exits: 0, or 3 where a ClustergenError says that it failed."""
    child = os.fork()
    if child:
        return child
    try:
        action()
    except ClustergenError:
        os._exit(3)
    except KeyboardInterrupt:
        os._exit(130)
    except BaseException:  # noqa: BLE001 - whatever ends a child
        sys.excepthook(*sys.exc_info())
        os._exit(99)
    os._exit(0)


def status_of(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def two_writers(place: str, rounds: int, foreign: int) -> list[str]:
    """Two processes write different trees to a directory with foreign files at the same time."""
    directory, moments, faults = Path(place), random.Random(3), []
    trees = old_and_new(40)
    (directory / "mine").mkdir(parents=True)
    for number in range(foreign):
        (directory / f"mine/{number}").write_text("precious")
    write(trees[0], directory)
    for number in range(rounds):
        pause = moments.uniform(0, 0.02)
        pair = list(trees) if moments.random() < 0.8 else [trees[1], trees[1]]
        moments.shuffle(pair)
        first = forked(lambda tree=pair[0]: write(tree, directory))
        time.sleep(pause)
        second = forked(lambda tree=pair[1]: write(tree, directory))
        statuses = [status_of(first), status_of(second)]
        left = sum(1 for _ in (directory / "mine").iterdir())
        fault = fault_of(directory, *pair)
        if statuses != [0, 0] or left != foreign or fault:
            faults.append(f"round {number}: {statuses}, {left} of {foreign} foreign files, {fault}")
    if any((directory / f"mine/{number}").read_text() != "precious" for number in range(foreign)):
        faults.append("a foreign file has another content")
    return faults


def killed(place: str, kills: int) -> tuple[list[str], dict[str, int]]:
    """A process that writes one tree after the other is killed at random moments."""
    directory, moments, faults = Path(place), random.Random(7), []
    trees = old_and_new(200)
    (directory / "mine").mkdir(parents=True)
    (directory / "mine/notes").write_text("precious")
    write(trees[0], directory)
    counts: Counter[str] = Counter()

    def for_ever() -> None:
        while True:
            for tree in trees:
                write(tree, directory)

    for number in range(kills):
        child = forked(for_ever)
        time.sleep(moments.uniform(0.002, 0.12))
        os.kill(child, signal.SIGKILL)
        status_of(child)
        staged = (directory / staging.STAGING).exists()
        counts["pending" if staging.is_pending(directory) else "staged" if staged else "whole"] += 1
        with access.writing(directory):
            staging.recover(directory)
        if fault := fault_of(directory, *trees):
            faults.append(f"kill {number}: {fault}")
        if (directory / "mine/notes").read_text() != "precious":
            faults.append(f"kill {number}: the foreign file is lost")
    return faults, counts


_CHANGING = {
    "os.rename", "os.link", "os.symlink", "os.mkdir", "os.rmdir", "os.remove", "os.truncate", "shutil.rmtree"
}  # fmt: skip


def at_call(number: int, act: Callable[[], None], within: Path) -> Callable[[], int]:
    """From now on, `act` is called at the `number`-th call that changes something below a directory; the count so far."""
    calls = 0

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal calls
        opens = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_CREAT)
        if not (opens or event in _CHANGING):
            return
        if any(isinstance(argument, str | os.PathLike) and str(within) in str(argument) for argument in arguments):
            calls += 1
            if calls == number:
                act()

    sys.addaudithook(hook)
    return lambda: calls


def each_call(place: str, what: str, step: int) -> tuple[list[str], dict[str, int]]:
    """A write is killed (`kill`), is interrupted, or fails with a full disk (`fail`), at each call that changes something. After
    a kill the next write completes it; at every `step`-th call, that one is killed at each of its calls too.
    """
    faults, counts = [], Counter[str]()
    trees = old_and_new(3)

    def attempt(directory: Path, number: int, action: Callable[[], Any]) -> int:
        def end() -> None:
            if what == "fail":
                raise OSError(28, "No space left on device")
            if what == "interrupt":
                raise KeyboardInterrupt
            os.kill(os.getpid(), signal.SIGKILL)

        def act() -> None:
            calls = at_call(number, end, directory)
            action()
            os._exit(50 if calls() < number else 0)

        return status_of(forked(act))

    def recover(directory: Path) -> None:
        with access.writing(directory):
            staging.recover(directory)

    def check(label: str, directory: Path, *allowed: Tree) -> None:
        recover(directory)
        if fault := fault_of(directory, *allowed):
            faults.append(f"{label}: {fault}")
        if texts(directory / "mine") != {"notes": "precious"}:
            faults.append(f"{label}: the foreign file is lost")
        if left := sorted(path.name for path in directory.iterdir() if path.name.startswith(staging.STAGING)):
            faults.append(f"{label}: {left}")

    base = Path(place, "base")
    write(trees[0], base)
    (base / "mine").mkdir()
    (base / "mine/notes").write_text("precious")
    for number in range(1, 1000):
        directory = Path(place, f"at{number}")
        shutil.copytree(base, directory, symlinks=True)
        status = attempt(directory, number, lambda d=directory: write(trees[1], d))
        counts[str(status)] += 1
        if status == 50:
            check("undisturbed", directory, trees[1])
            break
        if what != "kill":
            left = [trees[0]] if status == 3 else [trees[1]] if status == 0 else trees
            check(f"{what} at {number}: {status}", directory, *left)
            continue
        if number % step:
            check(f"kill {number}", directory, *trees)
            continue
        for second in range(1, 1000):
            again = Path(place, f"at{number}.{second}")
            shutil.copytree(directory, again, symlinks=True)
            status = attempt(again, second, lambda d=again: recover(d))
            counts[f"recovery {status}"] += 1
            check(f"kill {number}, then {second}", again, *trees)
            shutil.rmtree(again)
            if status == 50:
                break
    return faults, counts


def full_disk(place: str, sizes: list[int], inodes: bool) -> tuple[list[str], dict[str, int]]:
    """A tree is written, then another, to file systems of few kilobytes or inodes; needs mounts of its own."""
    directory, faults, counts = Path(place), [], Counter[str]()
    trees = old_and_new(60, 3000)
    for size in sizes:
        options = f"size=4m,nr_inodes={size}" if inodes else f"size={size}k"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], check=True, timeout=300)
        try:
            output = directory / "rendered"
            first = _status(trees[0], output)
            if first == 3 and output.exists():
                faults.append(f"{size}: the first write failed and left {sorted(texts(output))[:3]}")
            if first == 0:
                second = _status(trees[1], output)
                counts[f"{first} {second}"] += 1
                if fault := fault_of(output, trees[1 if second == 0 else 0]):
                    faults.append(f"{size}: exit codes {first} {second}: {fault}")
                if left := list(output.glob(f"{staging.STAGING}*")):
                    faults.append(f"{size}: {left}")
            else:
                counts[str(first)] += 1
        finally:
            subprocess.run(["umount", place], check=True, timeout=300)
    return faults, counts


def _status(tree: Tree, directory: Path) -> int:
    try:
        write(tree, directory)
    except ClustergenError as err:
        return err.exit_code
    return 0


def mounts(place: str) -> list[str]:
    """Mount points in and as the output; needs mounts of its own."""
    base, faults = Path(place), []
    old, new = old_and_new(5)

    def mount(target: Path, *options: str) -> None:
        target.mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", *(options or ("-t", "tmpfs", "tmpfs")), str(target)], check=True, timeout=300)

    as_output = base / "as-output"
    mount(as_output)
    beside = base / "read-only"  # whoever writes to the output may not be able to write beside it
    mount(beside)
    mount(beside / "output")
    subprocess.run(["mount", "-o", "remount,ro", str(beside)], check=True, timeout=300)
    inside = base / "inside"
    mount(inside / "mine")
    for directory in (as_output, inside, beside / "output"):
        for tree in (old, new):
            (directory / "mine").mkdir(exist_ok=True)
            (directory / "mine/notes").write_text("precious")
            write(tree, directory)
            if (fault := fault_of(directory, tree)) or (directory / "mine/notes").read_text() != "precious":
                faults.append(f"{directory}: {fault}")
    if not os.path.ismount(inside / "mine"):
        faults.append("the mount point inside has moved")

    bind = base / "bind"
    (bind / "d1").mkdir(parents=True)
    mount(bind / "d1", "--bind", str(bind / "d1"))  # the same file system, and no file can be moved into it
    other = base / "other"
    mount(other / "d1")
    for directory in (bind, other):
        before = texts(directory)
        if _status(old, directory) != 3 or texts(directory) != before or list(directory.glob(f"{staging.STAGING}*")):
            faults.append(f"{directory}: {texts(directory)}")
    return faults
