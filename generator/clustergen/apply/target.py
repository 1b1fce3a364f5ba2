"""The target of an apply: a manifest, the tree that it renders to, and the directory that holds the tree."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from clustergen import compile as compiler
from clustergen.apply import kept_files
from clustergen.catalogue.network import documentation_network
from clustergen.compile import Compiled
from clustergen.diagnostics import ClustergenError, Diagnostic
from clustergen.hostlist import compress
from clustergen.records import record
from clustergen.render.compare import differences
from clustergen.render.lock_file import owned
from clustergen.render.staging import is_pending
from clustergen.render.tree import LOCK, RENDERED, Tree
from clustergen.render.write import default_output, write


@record
class Target:
    """A valid manifest and its tree, in memory."""

    manifest: Path
    compiled: Compiled
    tree: Tree

    @property
    def directory(self) -> Path:
        return default_output(self.manifest)

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

    def kept_digest(self) -> str:
        """SHA-256 of what the user keeps in `directory` beside the tree, as it is now."""
        self._require_directory()
        if not self.directory.is_dir():
            return sha256().hexdigest()  # as of an empty directory
        return kept_files.digest(self.directory, {*self.tree.contents(), *owned(self.directory), LOCK})

    def write(self) -> int:
        """Renders into `directory`; how many files changed there."""
        return len(write(self.tree, self.directory))

    @contextmanager
    def checkable(self) -> Iterator[Path]:
        """`directory` where it holds the tree; else a copy of it, with the tree, which is removed at the end."""
        self._require_directory()
        exists = self.directory.is_dir()
        if exists and not is_pending(self.directory) and not differences(self.tree, self.directory):
            yield self.directory
            return
        with TemporaryDirectory(prefix="clustergen-plan-") as directory:
            place = Path(directory) / RENDERED
            if exists:
                kept_files.copy(self.directory, place)
            write(self.tree, place)
            yield place

    def _require_directory(self) -> None:
        if self.directory.exists() and not self.directory.is_dir():
            raise ClustergenError(f"{self.directory} is not a directory", "move it away")


def target(manifest: Path) -> tuple[Target | None, Compiled, tuple[Diagnostic, ...]]:
    """The target, None where the manifest is invalid, with what was compiled and all diagnostics."""
    compiled = compiler.validate(manifest)
    if not compiled.ok:
        return None, compiled, compiled.diagnostics
    tree, diagnostics = compiler.render(compiled, manifest)
    rendered = None if tree is None else Target(manifest, compiled, tree)
    return rendered, compiled, (*compiled.diagnostics, *diagnostics)
