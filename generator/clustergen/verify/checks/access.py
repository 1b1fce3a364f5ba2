"""Who may come in, and with which limits: sshd and PAM read their files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.verify.check import Check, Question, Reader, paths
from clustergen.verify.programs import Answer, NotHere

# PAM complains to the system's log only: a listener stands where the log would. Services that a file includes and that
# only another distribution has let everything through here.
_PAM = r"""
cat >/tmp/listen.pl <<'END'
use IO::Socket::UNIX; use Socket;
my $log = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => "/dev/log") or exit 1; chmod 0777, "/dev/log";
open(my $out, ">", "/run/clustergen/syslog"); $out->autoflush(1); print $out "listening\n";
while (defined($log->recv(my $line, 8192))) { $line =~ s/^<\d+>\w+ +\d+ [\d:]+ //; print $out "$line\n"; }
END
perl /tmp/listen.pl & listener=$!
until [ -s /run/clustergen/syslog ] || ! kill -0 $listener 2>/dev/null; do sleep 0.02; done
printf 'session required pam_limits.so\naccount required pam_permit.so\n' >/etc/pam.d/clustergen-limits
services=clustergen-limits
for file; do
  case $file in /etc/pam.d/*) services="$services ${file##*/}" ;; esac
done
for service in $(sed -nE 's/^(@include|-?\w+\s+(include|substack))\s+(\S+).*/\3/p' /etc/pam.d/*); do
  if [ ! -e "/etc/pam.d/$service" ]; then
    printf '%s required pam_permit.so\n' auth account password session >"/etc/pam.d/$service"
    echo "$service" >>/run/clustergen/stood-in
  fi
done
for service in $services; do
  for step in acct_mgmt open_session; do
    said=$("$program" "$service" root $step 2>&1) || echo "$service, $step: $said"
  done
done
last='IO::Socket::UNIX->new(Type => SOCK_DGRAM, Peer => "/dev/log")->send("<6>end of the log")'
if kill -0 $listener 2>/dev/null; then perl -MIO::Socket::UNIX -MSocket -e "$last"; fi
until grep -q 'end of the log' /run/clustergen/syslog || ! kill -0 $listener 2>/dev/null; do sleep 0.02; done
kill $listener
"""
_OF_THE_SANDBOX = re.compile(
    "|".join(
        (
            r"^listening$|end of the log$",
            r"session opened",
            r"Could not set limit",  # more than this machine lets anybody have
            r"Ignoring root user",  # pam_slurm_adopt has let it in
            r"Unable to open env file",
        )
    )
)


def _pam(answer: Answer, _question: Question) -> Iterator[str]:
    log = answer.notes.get("syslog", "")
    if not log.startswith("listening"):
        raise NotHere("cannot read PAM's log: the root directory contains no perl")
    if answer.code is None:
        yield "no answer in time"
    yield from (line for line in answer.lines if line.strip())
    yield from (line for line in log.splitlines() if line.strip() and not _OF_THE_SANDBOX.search(line))


def _pam_notes(answer: Answer, _question: Question) -> Iterator[str]:
    if stood_in := answer.notes.get("stood-in", "").split():
        yield f"replaced services of another distribution: {' '.join(stood_in)}"


CHECKS = (
    Check(
        name="sshd",
        what="sshd: settings",
        parser="sshd -t",
        proves="sshd accepts every keyword and value.",
        reads=paths("/etc/ssh/sshd_config.d/*", "/etc/ssh/sshd_config"),
        ask=Reader("sshd", '"$program" -V', 'mkdir -p /run/sshd; ssh-keygen -A >/dev/null; "$program" -t', newest=True),
    ),
    Check(
        name="pam",
        what="PAM: logins and their limits",
        parser="libpam (pamtester)",
        proves="PAM grants root access through the services with all their modules, including pam_slurm_adopt and"
        " pam_limits, and reports no line. Access of other users depends on their jobs and is not tested. PAM silently"
        " ignores a limit whose name it does not know.",
        reads=paths("/etc/pam.d/*", "/etc/security/*"),
        ask=Reader("pamtester", "dpkg-query -W -f '${Version}' libpam-modules", _PAM, _pam, _pam_notes, newest=True),
    ),
)
