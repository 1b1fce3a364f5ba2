"""Requests to BMCs by Redfish: no proxies, no other hosts, answers of a limited size within a limited time."""

from __future__ import annotations

import base64
import functools
import http.client
import json
import re
import socket
import ssl
import time
import urllib.parse
from typing import Any, cast

_MOST = 1 << 20
_MOST_REDIRECTS = 5
_MOST_MESSAGES = 3
_PRECONDITION_REQUIRED = 428


class RedfishError(RuntimeError):
    """The BMC does not answer, or not as Redfish does. `status`: of HTTP, if it is the reason."""

    status = 0


class _Socket(ssl.SSLSocket):
    """Receives until `end`, a time of the monotonic clock, however slowly the peer sends."""

    end: float | None = None

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        if self.end is not None:
            self.settimeout(_left(self.end))
        return super().recv_into(*args, **kwargs)


class Redfish:
    """One BMC and its user. A request may last `seconds` in total."""

    def __init__(
        self, address: str, user: str, password: str, check_certificates: bool = True, seconds: int = 30
    ) -> None:
        self._base = f"https://[{address}]" if address.count(":") > 1 else f"https://{address}"
        self._login = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
        self._check_certificates = check_certificates
        self._seconds = seconds

    def get(self, path: str) -> tuple[int, bytes]:
        """Status and content; redirects on the BMC itself are followed. Raises RedfishError."""
        end = time.monotonic() + self._seconds
        for _ in range(_MOST_REDIRECTS + 1):
            status, location, content = self._ask("GET", path, None, end)
            if not location:
                return status, content
            path = self._path_of(path, location)
        raise RedfishError(f"it redirects more than {_MOST_REDIRECTS} times")

    def post(self, path: str, document: dict[str, Any]) -> None:
        """Sends a document, to this path alone. Raises RedfishError."""
        if self._ask("POST", path, json.dumps(document), time.monotonic() + self._seconds)[1]:
            raise RedfishError("it redirects a POST request")

    def patch(self, path: str, document: dict[str, Any]) -> None:
        """Changes a resource, at this path alone, whichever version the BMC has of it. Raises RedfishError."""
        end, body = time.monotonic() + self._seconds, json.dumps(document)
        try:
            location = self._ask("PATCH", path, body, end)[1]
        except RedfishError as err:
            if err.status != _PRECONDITION_REQUIRED:
                raise
            location = self._ask("PATCH", path, body, end, {"If-Match": "*"})[1]
        if location:
            raise RedfishError("it redirects a PATCH request")

    def _path_of(self, path: str, location: str) -> str:
        """Where a redirect leads; another host would get the password."""
        try:
            url = urllib.parse.urljoin(self._base + path, location)
            if _server(url) == _server(self._base):
                return urllib.parse.urlunsplit(("", "", *urllib.parse.urlsplit(url)[2:4], ""))
        except ValueError:
            pass
        raise RedfishError("it redirects to another host")

    def _ask(
        self, method: str, path: str, body: str | None, end: float, more: dict[str, str] | None = None
    ) -> tuple[int, str, bytes]:
        """Status, target of a redirect, and content."""
        _, host, port = _server(self._base)
        context = _context(self._check_certificates)
        connection = http.client.HTTPSConnection(host, port, context=context)
        form = {"Content-Type": "application/json"} if body else {}
        headers = {"Authorization": self._login, **form, **(more or {})}
        try:
            with socket.create_connection((host, port), _left(end)) as plain:
                plain.settimeout(_left(end))
                with context.wrap_socket(plain, server_hostname=host) as connection.sock:
                    cast("_Socket", connection.sock).end = end
                    connection.request(method, path, body, headers)
                    with connection.getresponse() as answer:
                        content = answer.read(_MOST + 1)
        except (OSError, ValueError, http.client.HTTPException) as err:
            reason = reason_of(err)
            late = reason.endswith("timed out")
            raise RedfishError(f"no answer in {self._seconds} s" if late else reason) from None
        if len(content) > _MOST:
            raise RedfishError(f"the answer has more than {_MOST} bytes")
        location = answer.getheader("Location", "") if answer.status in (301, 302, 303, 307, 308) else ""
        if answer.status >= 300 and not location:
            error = RedfishError(": ".join([f"HTTP status {answer.status}", *_messages(content)]))
            error.status = answer.status
            raise error
        return answer.status, location, content

    def resource(self, path: str) -> dict[str, Any]:
        """The mapping of a resource. Raises RedfishError."""
        if not path.startswith("/redfish/v1/") or len(path) > 300 or not path.isprintable() or " " in path:
            raise RedfishError("a link that is no path of Redfish")
        try:
            document = json.loads(self.get(path)[1])
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict):
            raise RedfishError(f"{path} is no resource of Redfish")
        return document

    def machine(self) -> str:
        """The path of the machine. Raises RedfishError."""
        members = self.resource("/redfish/v1/Systems").get("Members")
        paths = [link(member) for member in members[:8]] if isinstance(members, list) else []
        # BMCs of HGX and DGX systems list the baseboard of the GPUs as a second machine.
        paths = [path for path in paths if not path.rpartition("/")[2].startswith("HGX_")]
        if len(paths) != 1:
            raise RedfishError(f"the BMC manages {len(paths)} machines, not one")
        return paths[0]


@functools.lru_cache(maxsize=2)
def _context(check_certificates: bool) -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.sslsocket_class = _Socket
    if not check_certificates:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _server(url: str) -> tuple[str, str, int]:
    parts = urllib.parse.urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or 443


def _left(end: float) -> float:
    seconds = end - time.monotonic()
    if seconds <= 0:
        raise TimeoutError("timed out")
    return seconds


def reason_of(error: BaseException) -> str:
    """One printable line without errno and lines of OpenSSL's binding, so that equal failures read the same."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return printable(re.sub(r" ?\(?_ssl\.c:\d+\)?:?", "", text))


def printable(text: str) -> str:
    """One printable line of at most 200 characters."""
    line = " ".join(text.split())[:200]
    return "".join(character if character.isprintable() else "?" for character in line)


def messages_of(rows: Any) -> list[str]:
    """Messages of a list of Redfish, without those that only report success; an answer of another form has none."""
    texts = []
    for row in rows if isinstance(rows, list) else ():
        text = row.get("Message") if isinstance(row, dict) else None
        if isinstance(text, str) and text.strip() and not str(row.get("MessageId")).endswith(".Success"):
            texts.append(printable(text))
    return texts[:_MOST_MESSAGES]


def _messages(content: bytes) -> list[str]:
    """The reason in the body of an error as one text, if there is one."""
    try:
        error = json.loads(content).get("error")
        texts = messages_of(error.get("@Message.ExtendedInfo")) or messages_of([{"Message": error.get("message")}])
    except (AttributeError, ValueError, RecursionError):
        return []
    return [" ".join(texts)] if texts else []


def link(document: Any, key: str | None = None) -> str:
    """The path that a resource links to under a key, or its own; empty if there is none."""
    target = document.get(key) if key and isinstance(document, dict) else document
    path = target.get("@odata.id") if isinstance(target, dict) else None
    return path if isinstance(path, str) else ""
