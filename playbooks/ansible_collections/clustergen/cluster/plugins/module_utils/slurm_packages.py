"""Slurm's packages on a node: which are there, what is offered, and how they are moved together."""

from __future__ import annotations

import os
import re
import shutil

from ansible_collections.clustergen.cluster.plugins.module_utils import safe_write

_POLICY = "/usr/sbin/policy-rc.d"
_SOURCES = re.compile(r"slurm-(?:wlm|smd|llnl)")
# Libraries follow by themselves: their names carry a number that changes with the release.
_LIBRARY = re.compile(r"lib(?:slurm|pmi)\d")
_LIST = "/etc/apt/sources.list.d/clustergen-slurm.list"
_PIN = "/etc/apt/preferences.d/clustergen-slurm"
_FETCHED = "/var/cache/apt/archives"
_ENVIRONMENT = {"DEBIAN_FRONTEND": "noninteractive", "NEEDRESTART_SUSPEND": "1", "LC_ALL": "C.UTF-8"}
# Where packages are held: apt without their holds.
_WITHOUT_HOLDS = "/etc/clustergen/apt-replace.conf"
_OPTIONS = [
    "-o",
    "DPkg::Lock::Timeout=300",
    "-o",
    "Dpkg::Options::=--force-confold",
    "-o",
    "Dpkg::Options::=--force-confdef",
    "-o",
    "APT::Install-Recommends=false",
]


class PackageError(Exception):
    """The message of a package manager, on one line."""


class Apt:
    """Debian and Ubuntu. suite: another suite that Slurm's packages come from; line: a line of sources.list; names: those
    of the new packages, where they are known.
    """

    def __init__(self, module, suite="", line="", names=()):
        self.module = module
        self.names = names
        self.suite = suite
        self.line = line

    def _run(self, *command, seconds=1800):
        full = ["timeout", "-k", "10", str(seconds), *command]
        holds = {"APT_CONFIG": _WITHOUT_HOLDS} if os.path.exists(_WITHOUT_HOLDS) else {}
        code, out, err = self.module.run_command(full, environ_update={**_ENVIRONMENT, **holds})
        if code:
            messages = [line for line in (err + "\n" + out).splitlines() if line.startswith(("E:", "dpkg: error"))]
            raise PackageError("; ".join(messages[:3]) or (err or out).strip()[-300:] or "exit status %d" % code)
        return out

    def installed(self):
        """Name → version."""
        _, out, _ = self.module.run_command(
            ["dpkg-query", "-W", "-f", "${Package}\t${source:Package}\t${Version}\t${db:Status-Status}\n"]
        )
        rows = [line.split("\t") for line in out.splitlines()]
        return {name: version for name, source, version, _ in rows if version and _SOURCES.match(source)}

    def _names(self):
        return selected([name for name in self.installed() if not _LIBRARY.match(name)], self.names)

    def prepare(self):
        """Adds where Slurm's packages come from, and asks for lists; True where something was added."""
        line = self.line
        if self.suite and not line:
            line = self._suite_line()
        added = False
        if line:
            added = _write(_LIST, "# Made by clustergen: where Slurm's packages come from.\n" + line + "\n")
        if self.suite:
            pin = "# Made by clustergen: nothing comes from here by itself.\nPackage: *\nPin: release n={0}\nPin-Priority: 100\n"
            pin += "\nPackage: *\nPin: release a={0}\nPin-Priority: 100\n"
            added = _write(_PIN, pin.format(self.suite)) or added
        self._run("apt-get", *_OPTIONS, "-q", "update", seconds=600)
        return added

    def _suite_line(self):
        """The distribution's own place, with another suite."""
        form = "$(COMPONENT)|$(RELEASE)|$(SIGNED_BY)|$(REPO_URI)"
        command = ["apt-get", "indextargets", "--format", form, "Created-By: Packages"]
        out = self._run(*command)
        if not out.strip():  # no list was ever fetched here
            self._run("apt-get", *_OPTIONS, "-q", "update", seconds=600)
            out = self._run(*command)
        for row in out.splitlines():
            component, release, key, place = row.split("|", 3)
            if component == "main" and "-" not in release:
                signed = "[signed-by=%s] " % key if key.startswith("/") else ""
                return f"deb {signed}{place} {self.suite} main"
        raise PackageError("no place of the distribution is among apt's sources, so %s cannot be found" % self.suite)

    def _install(self, *more, seconds=1800):
        suite = ["-t", self.suite] if self.suite else []
        return self._run("apt-get", *_OPTIONS, *suite, "-q", "-y", *more, "install", *self._names(), seconds=seconds)

    def offered(self):
        """Name → version that an installation would bring, also of other packages that come along."""
        out = self._install("-s")
        return dict(re.findall(r"^Inst (\S+) (?:\[\S+\] )?\((\S+)", out, re.MULTILINE))

    def download(self):
        self._install("--download-only")

    def lacks(self, plugin):
        """True if none of the packages that were fetched, or stay, has that plugin of Slurm."""
        offered = self.offered()
        fetched = [name for name in os.listdir(_FETCHED) if name.endswith(".deb") and name.split("_", 1)[0] in offered]
        for name in fetched:
            if "/%s.so" % plugin in self._run("dpkg-deb", "--contents", os.path.join(_FETCHED, name)):
                return False
        stay = [name for name in self.installed() if name not in offered]
        return not (stay and "/%s.so" % plugin in self._run("dpkg", "-L", *stay))

    def install(self):
        """Moves them all in one go; no service is started or restarted by that."""
        ours = not os.path.exists(_POLICY)
        if ours:
            _write(_POLICY, "#!/bin/sh\nexit 101\n", 0o755)
        try:
            self._run("dpkg", "--configure", "-a")
            self._install()
        finally:
            if ours:
                os.unlink(_POLICY)


class Dnf:
    """Rocky and its like; where packages come from is a matter of the site's repositories."""

    def __init__(self, module, suite="", line="", names=()):
        self.module = module
        self.names = names
        if suite or line:
            raise PackageError(
                "cluster_slurm_suite and cluster_slurm_source are apt's; name a role in cluster_slurm_role"
            )

    def _dnf(self, *command, seconds=1800):
        """Held packages included: a node without the plugin that holds them only warns."""
        words = ["timeout", "-k", "10", str(seconds), "dnf", "-q", "--disableplugin=versionlock", *command]
        code, out, err = self.module.run_command(words)
        if code not in (0, 100):
            raise PackageError((err or out).strip()[-300:] or "exit status %d" % code)
        return out

    def installed(self):
        _, out, _ = self.module.run_command(["rpm", "-qa", "--qf", "%{NAME}\t%{VERSION}\n", "slurm", "slurm-*"])
        return dict(line.split("\t") for line in out.splitlines())

    def prepare(self):
        self._dnf("makecache", seconds=600)
        return False

    def offered(self):
        out = self._dnf("list", "--upgrades", "slurm", "slurm-*")
        rows = [line.split() for line in out.splitlines()]
        return {row[0].rpartition(".")[0]: row[1] for row in rows if len(row) == 3}

    def _moving(self):
        names = selected(list(self.installed()), self.names)
        are_installed = set(names) <= set(self.installed())
        return [*(["upgrade"] if are_installed else ["--allowerasing", "install"]), *names]

    def download(self):
        self._dnf("-y", "--downloadonly", *self._moving())

    def lacks(self, plugin):
        """True if the repositories have that plugin of Slurm nowhere."""
        return not self._dnf("repoquery", "--file", "*/slurm/%s.so" % plugin).strip()

    def install(self):
        self._dnf("-y", *self._moving())


def selected(installed, names):
    """The packages to install: all that are available, by the new names where those are others."""
    if names and not set(names) & set(installed):
        return sorted(names)
    return sorted({*installed, *names})


def manager(module, suite="", line="", names=()):
    if shutil.which("apt-get"):
        return Apt(module, suite, line, names)
    if shutil.which("dnf"):
        return Dnf(module, suite, line, names)
    raise PackageError("neither apt-get nor dnf is available: set cluster_slurm_role to a role that installs Slurm")


def _write(path, text, mode=0o644):
    """True where the file was not so already."""
    try:
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return False
    except OSError:
        pass
    safe_write.replace(path, text.encode(), mode)
    return True
