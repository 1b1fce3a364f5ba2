"""Images that start from another one of this machine: they differ in a few packages, and not in Debian itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from clustergen.diagnostics import ClustergenError
from clustergen.lab.engine import Engine
from clustergen.records import record

LABEL = "clustergen.image"
_SECONDS = 900
_FILES = Path(__file__).parent / "files"


@record
class Content:
    """The contents of an image. `recipe` tells those apart that differ in more than their packages."""

    repository: str
    recipe: str
    packages: frozenset[str]

    @property
    def options(self) -> tuple[str, str]:
        """Options of `import` and `commit` that record it."""
        return ("--change", f"LABEL {LABEL}={self.recipe}:{','.join(sorted(self.packages))}")


def related(engine: Engine, content: Content) -> dict[str, frozenset[str]]:
    """Image → its packages, of all that differ from `content` in packages only."""
    listed = engine.run("images", "--filter", f"label={LABEL}", "--format", "{{.Repository}}:{{.Tag}}").stdout.split()
    names = [name for name in dict.fromkeys(listed) if name.rpartition(":")[0] == content.repository]
    if not names:
        return {}
    label = f'{{{{index .Config.Labels "{LABEL}"}}}}'
    lines = engine.run("image", "inspect", "--format", label, *names).stdout.splitlines()
    images = {}
    for name, line in zip(names, lines, strict=True):
        recipe, _, packages = line.strip().partition(":")
        if recipe == content.recipe:
            images[name] = frozenset(packages.split(","))
    return images


def larger(engine: Engine, content: Content) -> str | None:
    """The smallest image with all of these packages and others."""
    images = related(engine, content)
    candidates = [name for name, packages in images.items() if packages >= content.packages]
    return min(candidates, key=lambda name: (len(images[name]), name), default=None)


def smaller(engine: Engine, content: Content) -> str | None:
    """The largest image with some of these packages and no others."""
    images = related(engine, content)
    candidates = [name for name, packages in images.items() if packages < content.packages]
    return max(candidates, key=lambda name: (len(images[name]), name), default=None)


def derive(
    engine: Engine, base: str, name: str, content: Content, scripts: Sequence[str], *, network: bool = False
) -> None:
    """Makes an image of what scripts of this package do to a container of `base`; their arguments are the packages."""
    container = f"clustergen-lab-image-{os.getpid()}"
    script = "\n".join(f"({(_FILES / file).read_text(encoding='utf-8')})" for file in scripts)
    words = ["run", "--name", container, "--network", "host" if network else "none", base]
    try:
        engine.run(*words, "sh", "-ec", script, "sh", *sorted(content.packages), timeout=_SECONDS)
        engine.run("commit", *content.options, container, name, timeout=300)
    finally:
        engine.run("rm", "--force", container, check=False)


def grow(engine: Engine, name: str, content: Content, scripts: Sequence[str], report: Callable[[str], None]) -> bool:
    """Makes an image from the one that lacks the fewest packages, with what the mirror has of them.

    False where there is no such image, or its mirror no longer has what that one builds on.
    """
    base = smaller(engine, content)
    if base is None:
        return False
    report(f"adding {' '.join(sorted(content.packages - related(engine, content)[base]))}")
    try:
        derive(engine, base, name, content, scripts, network=True)
    except ClustergenError:
        return False
    return True
