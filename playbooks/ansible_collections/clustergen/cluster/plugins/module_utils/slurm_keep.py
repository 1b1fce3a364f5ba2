"""State that an upgrade of Slurm cannot take back, kept in files: the accounting database and slurmctld's state."""

from __future__ import annotations

import contextlib
import gzip
import os
import re
import shutil
import subprocess
import tarfile
import tempfile

from ansible_collections.clustergen.cluster.plugins.module_utils import safe_files

_INCLUDE = re.compile(r"^\s*include\s+(\S+)", re.IGNORECASE)
_KEY = re.compile(r"^\s*(\w+)\s*=\s*\"?([^\"#]*?)\"?\s*(?:#.*)?$")
_LAST = b"-- Dump completed"


class KeepError(Exception):
    """Why nothing was kept."""


def settings(path, depth=0):
    """Keys of a file of Slurm, in lower case, its includes read in their places; empty where it is not there."""
    values = {}
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        return values
    for line in lines:
        include = _INCLUDE.match(line)
        if include and depth < 5:
            values.update(settings(os.path.join(os.path.dirname(path), include.group(1)), depth + 1))
            continue
        match = _KEY.match(line)
        if match:
            values[match.group(1).lower()] = match.group(2)
    return values


def fresh(directory, name):
    """A new file that only root reads, in a directory that only root writes to: its path and the opened file."""
    path = os.path.join(directory, name)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path + ".part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return path, os.fdopen(os.open(path + ".part", flags, 0o600), "wb")


def room(directory, needed, what):
    os.makedirs(directory, mode=0o700, exist_ok=True)
    status = os.stat(directory)
    if status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise KeepError("users other than root can write to %s: chown it to root and chmod go-w it" % directory)
    free = shutil.disk_usage(directory).free
    if free < needed:
        raise KeepError("%s has %d MiB free, and %s may take %d" % (directory, free >> 20, what, needed >> 20))


class Database:
    """The accounting database, as slurmdbd.conf names it; without a password there, as root through the socket."""

    def __init__(self, module, conf="/etc/slurm/slurmdbd.conf"):
        self.module = module
        values = settings(conf)
        self.name = values.get("storageloc") or "slurm_acct_db"
        self.login = {"password": values["storagepass"]} if values.get("storagepass") else {}
        host = values.get("storagehost") or "localhost"
        if self.login:
            self.login["user"] = values.get("storageuser") or "slurm"
        if host != "localhost":
            self.login["host"] = host
        if values.get("storageport"):
            self.login["port"] = values["storageport"]

    def _program(self, *names):
        for name in names:
            if shutil.which(name):
                return name
        raise KeepError(
            "neither %s is here: install the database's client, or set -e cluster_database_kept=true"
            % " nor ".join(names)
        )

    def dump(self, directory, stamp):
        """Path and size in bytes of the finished dump."""
        with tempfile.NamedTemporaryFile("w", prefix="clustergen-", suffix=".cnf") as options:  # 0600
            options.write(
                "[client]\n"
                + "".join('{}="{}"\n'.format(key, value.replace("\\", "\\\\")) for key, value in self.login.items())
            )
            options.flush()
            room(directory, self._size(options.name), "the dump of %s" % self.name)
            return self._dump(directory, stamp, options.name)

    def _size(self, options):
        """Bytes of the tables' rows: what an uncompressed dump takes, about."""
        client = self._program("mariadb", "mysql")
        query = (
            "SELECT COALESCE(SUM(data_length), 0) FROM information_schema.tables WHERE table_schema = '%s'" % self.name
        )
        code, out, err = self.module.run_command(
            ["timeout", "-k", "5", "120", client, "--defaults-extra-file=" + options, "-N", "-e", query]
        )
        if code:
            raise KeepError("the database does not respond: " + " ".join((err or out).split()))
        return int(float(out.strip() or 0))

    def _dump(self, directory, stamp, options):
        program = self._program("mariadb-dump", "mysqldump")
        command = [
            program,
            "--defaults-extra-file=" + options,
            "--single-transaction",
            "--quick",
            "--routines",
            "--triggers",
            self.name,
        ]
        path, file = fresh(directory, "%s-%s.sql.gz" % (self.name, stamp))
        tail = b""
        with tempfile.TemporaryFile() as errors, contextlib.ExitStack() as stack:
            packed = stack.enter_context(gzip.GzipFile(fileobj=stack.enter_context(file), mode="wb", compresslevel=3))
            process = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors))
            for block in iter(lambda: process.stdout.read(1 << 20), b""):
                packed.write(block)
                tail = (tail + block)[-200:]
            code = process.wait()
            errors.seek(0)
            message = errors.read().decode("utf-8", "replace")
        # The program has left the last line out where it could not end.
        if code or _LAST not in tail:
            os.unlink(path + ".part")
            raise KeepError("%s ended with %d: %s" % (program, code, " ".join(message.split())[-300:]))
        os.replace(path + ".part", path)
        return path, os.path.getsize(path)


def state(directory, stamp, conf="/etc/slurm/slurm.conf"):
    """Path and size of an archive of slurmctld's state; None where this host has none."""
    keys = settings(conf)
    place = keys.get("statesavelocation")
    if not place or not os.path.isdir(place) or not os.listdir(place):
        return None
    size = sum(
        os.lstat(os.path.join(top, name)).st_size
        for top, _, names in os.walk(place)
        for name in names
        if not os.path.islink(os.path.join(top, name))
    )
    room(directory, size, "slurmctld's state")
    try:
        user = safe_files.account(keys.get("slurmuser") or "root")
    except KeyError as err:
        raise KeepError("SlurmUser has no account here: %s" % err) from None
    path, file = fresh(directory, "slurmctld-state-%s.tar.gz" % stamp)

    def archive():
        with tarfile.open(fileobj=file, mode="w:gz", compresslevel=3) as opened:
            opened.add(place, arcname=".")  # as clustergen-backup-state has it, which restores either
        file.flush()

    try:
        with file:
            # As SlurmUser, whose directory it is: a link put there opens nothing that SlurmUser may not read.
            safe_files.as_user(user, archive)
    except OSError as err:
        os.unlink(path + ".part")
        raise KeepError("%s cannot be read as %s: %s" % (place, user.pw_name, safe_files.reason_of(err))) from None
    os.replace(path + ".part", path)
    return path, os.path.getsize(path)
