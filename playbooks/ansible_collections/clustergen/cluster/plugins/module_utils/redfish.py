"""GET requests to BMCs by Redfish: no proxies, no other hosts, answers of a limited size."""

from __future__ import annotations

import base64
import http.client
import json
import re
import ssl
import urllib.error
import urllib.parse
import urllib.request

_MOST = 1 << 20


class RedfishError(Exception):
    """The BMC does not answer, or not as Redfish does."""


class _SameHost(urllib.request.HTTPRedirectHandler):
    """Follows redirects on the BMC itself: others would get its password."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):
        if urllib.parse.urlsplit(newurl)[:2] != urllib.parse.urlsplit(req.full_url)[:2]:
            raise RedfishError("it redirects to another host")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class Redfish:
    """One BMC and its user."""

    def __init__(self, address, user, password, check_certificates=True, seconds=30):
        context = ssl.create_default_context()
        if not check_certificates:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self._base = "https://%s" % ("[%s]" % address if address.count(":") > 1 else address)
        self._login = "Basic " + base64.b64encode(("%s:%s" % (user, password)).encode()).decode()
        self._seconds = seconds
        # Without the proxies of the environment.
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context), _SameHost()
        )

    def get(self, path):
        """Status and content. Raises RedfishError."""
        request = urllib.request.Request(self._base + path, headers={"Authorization": self._login})
        try:
            with self._opener.open(request, timeout=self._seconds) as answer:
                content = answer.read(_MOST + 1)
                status = answer.status
        except urllib.error.HTTPError as err:
            err.close()
            raise RedfishError("HTTP status %d" % err.code) from None
        except (OSError, ValueError, http.client.HTTPException) as err:
            raise RedfishError(reason_of(err)) from None
        if len(content) > _MOST:
            raise RedfishError("the answer has more than %d bytes" % _MOST)
        return status, content

    def resource(self, path):
        """The mapping of a resource. Raises RedfishError."""
        if not path.startswith("/redfish/v1/") or len(path) > 300 or not path.isprintable() or " " in path:
            raise RedfishError("a link that is no path of Redfish")
        try:
            document = json.loads(self.get(path)[1])
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict):
            raise RedfishError("%s is no resource of Redfish" % path)
        return document


def reason_of(error):
    """One line without errno and lines of OpenSSL's binding, so that equal failures read the same."""
    reason = getattr(error, "reason", error)
    text = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
    return " ".join(re.sub(r" ?\(?_ssl\.c:\d+\)?:?", "", text).split())[:200]


def link(document, key=None):
    """The path that a resource links to under a key, or its own; empty if there is none."""
    target = document.get(key) if key and isinstance(document, dict) else document
    path = target.get("@odata.id") if isinstance(target, dict) else None
    return path if isinstance(path, str) else ""
