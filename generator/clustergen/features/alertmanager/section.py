"""Alertmanager, as written."""

from typing import Annotated, Literal

from clustergen.catalogue.network import ports
from clustergen.manifest.base import AbsolutePath, HostPort, Name, PortNumber, Section, Url, field, text
from clustergen.manifest.rewrites import Fits, as_mail

MailAddress = Annotated[
    str,
    text(
        r"^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+$", "write one plain address, as ops@example.org", 254, rewrite=as_mail
    ),
]


def _with_sign(value: str, fits: Fits) -> str | None:
    """A channel without its sign."""
    return f'write "#{value}"' if fits(f"#{value}") else None


SlackChannel = Annotated[
    str, text(r"^[#@][A-Za-z0-9_.-]+$", 'write "#channel" or "@user"', 80, rewrite=_with_sign)
]


class Receiver(Section):
    """A receiver of alerts. Secrets (tokens, passwords) are files on the monitoring node, installed at apply time."""

    email: MailAddress | None = field(None, "Address.")
    webhook: Url | None = field(None, "URL that contains no secret.")
    webhook_url_file: AbsolutePath | None = field(None, "File on the monitoring node that contains the URL.")
    slack_url_file: AbsolutePath | None = field(None, "File on the monitoring node that contains the Slack URL.")
    slack_channel: SlackChannel | None = field(None, "Slack channel.")
    severities: tuple[Literal["critical", "warning", "watchdog"], ...] = field(
        ("critical", "warning"),
        "Alerts to send. watchdog: one that always fires, every 5 minutes, for a service outside of the cluster that"
        " reports when it stays away.",
    )


PLACES = {
    "monitoring.alertmanager": (bool, field(True, "Alertmanager beside Prometheus.")),
    "monitoring.alertmanager_port": (PortNumber, field(ports()["alertmanager"].port, "Port of Alertmanager.")),
    "monitoring.smtp": (HostPort | None, field(None, "Mail server, host:port.")),
    "monitoring.smtp_require_tls": (
        bool | None,
        field(None, "Send mail only over STARTTLS; default true, and false if the mail server is the local host."),
    ),
    "monitoring.mail_from": (MailAddress | None, field(None, "Sender of alert mails.")),
    "monitoring.receivers": (dict[Name, Receiver], field({}, "Receivers of alerts.")),
}
