"""What is applied: a manifest, the tree that it renders to, and the directory that holds the tree."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from clustergen import compile as compiler
from clustergen.catalogue.network import documentation_network
from clustergen.compile import Compiled
from clustergen.diagnostics import ClustergenError, Diagnostic
from clustergen.hostlist import compress
from clustergen.records import record
from clustergen.render.tree import RENDERED, Tree
from clustergen.render.write import write


@record
class Target:
    """A valid manifest and its tree, in memory."""

    manifest: Path
    compiled: Compiled
    tree: Tree

    @property
    def directory(self) -> Path:
        return self.manifest.parent / RENDERED

    @property
    def name(self) -> str:
        """The cluster's."""
        return str(self.compiled.source.data["name"]) if self.compiled.source.data else ""

    @property
    def manifest_digest(self) -> str:
        return self.compiled.source.sha256

    @property
    def tree_digest(self) -> str:
        """SHA-256 of the lock file, which has the digest of every file."""
        return sha256(self.tree.lock()).hexdigest()

    def require_addresses(self, *, is_limited: bool) -> None:
        """Raises ClustergenError where nodes have addresses of documentation, as in the manifest of `clustergen init`.

        `is_limited`: the run may be for some of the nodes only, so that one real address is enough.
        """
        assert self.compiled.cluster is not None
        real, examples, blocks = 0, [], set()
        for group in self.compiled.cluster.groups:
            for host, address in zip(group.hosts, group.addresses, strict=False):
                block = documentation_network(address)
                if block is None:
                    real += 1
                else:
                    examples.append(host)
                    blocks.add(str(block))
        if examples and not (real and is_limited):
            raise ClustergenError(
                f"{self.manifest}: {compress(examples)} {'has' if len(examples) == 1 else 'have'} addresses of "
                f"{', '.join(sorted(blocks))}, which are for documentation and reach no machine",
                "write the addresses of your nodes: networks.management.cidr and address of each entry of nodes",
                2,
            )

    def write(self) -> int:
        """Renders into `directory`; how many files changed there."""
        return len(write(self.tree, self.directory))

    @contextmanager
    def copy(self) -> Iterator[Path]:
        """A directory with the tree and with what else the user keeps in `directory`; removed at the end."""
        with TemporaryDirectory(prefix="clustergen-plan-") as folder:
            place = Path(folder) / RENDERED
            if self.directory.is_dir():
                shutil.copytree(self.directory, place, symlinks=True)
            write(self.tree, place)
            yield place


def target(manifest: Path) -> tuple[Target | None, Compiled, tuple[Diagnostic, ...]]:
    """The target, None where the manifest is invalid, with what was compiled and all diagnostics."""
    compiled = compiler.validate(manifest)
    if not compiled.ok:
        return None, compiled, compiled.diagnostics
    tree, diagnostics = compiler.render(compiled, manifest)
    rendered = None if tree is None else Target(manifest, compiled, tree)
    return rendered, compiled, (*compiled.diagnostics, *diagnostics)
