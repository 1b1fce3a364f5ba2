"""The table of secrets: forms of values, phrases and commands that a secret follows, and names of files that are one.

`tests/manifest_load/test_secret_rules.py` measures it: each row finds one of the forms in tests/fixtures/secrets.
The texts are untrusted, so each pattern takes linear time: a part that repeats has a limit, or ends at a character that
begins no other match. `tests/manifest_load/test_secret_times.py` measures that.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

ValueCheck = Literal["", "random", "password", "mixed"]


class Rule(NamedTuple):
    """One way to recognize a secret in a text. The group `value` of the pattern, if it has one, is the secret."""

    name: str
    marks: tuple[str, ...]
    """One of them stands, in any case, on the line where a match begins; without any, the match is one long word."""
    pattern: str
    check: ValueCheck = ""
    """The form that the value must have."""
    is_multiline: bool = False
    """True: a match may extend beyond its line."""


class FileRule(NamedTuple):
    """A file that is a secret by its name, whatever it contains."""

    pattern: str
    """Of the whole path on the node."""
    what: str
    instead: str
    """A hint: how the file gets to the nodes."""


# Beginnings of vendors' tokens that other words do not have, as they are followed by 16 characters or more. Those of
# three kinds of characters behind an underscore or a dash need no row: `a token behind a prefix` finds them.
_PREFIXES = (
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-", "glft-", "glsoat-", "glrt-", "glcbt-"),
    *("glimt-", "glptt-", "glagent-", "gloas-", "GR1348941", "nvapi-", "xapp-", "sq0csp-", "pypi-", "tskey-", "npm_"),
    *("hf_", "dckr_pat_", "pplx-", "pplx_", "shpat_", "dop_v1_", "dp.pt_", "sk_live_", "sk_test_", "rk_live_"),
    *("rk_test_", "hvs.", "hvb.", "ya29.", "ATATT3x", "NRAK-", "AGE-SECRET-KEY-1", "glsa_"),
    *("glffct-", "api_org_", "sha256~", "eyJrIjoi"),  # the last two: OpenShift, Grafana before 9
)
_ALL_PREFIXES = "|".join(map(re.escape, _PREFIXES))
_USERS = ("admin", "administrator", "root", "user", "userid", "operator", "monitor", "guest", "backup", "hpc")
_VALUE = r"[\"']?(?P<value>[^\s\"'`<>|;,()@$]{4,})"  # a word, with or without quotes
_ANY_VALUE = r"[\"']?(?!\$|\{\{|<)(?P<value>[^\s\"'`|;]{4,})"

RULES = (
    # Values that are secrets by their own form.
    Rule(
        "a private key",
        ("private key", "static key v1", "putty-user-key-file"),
        r"-----BEGIN (?:[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1)-----(?:[^-]++|-(?!-))*+"
        r"|BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY\b|PuTTY-User-Key-File-\d",
        is_multiline=True,
    ),
    Rule("the body of a key of OpenSSH", ("b3blbnnzac1rzxktdje",), r"b3BlbnNzaC1rZXktdjE\S*"),
    Rule("Ansible Vault", ("$ansible_vault",), r"\$ANSIBLE_VAULT;\S*"),
    Rule(
        "a password in a URL",
        ("://",),
        r"://[^\s/:@?#]{0,200}:(?!\{\{|\$\{|\$[A-Z_]+@|<|%\(|%s@)[^\s/@]{1,200}@",
    ),
    Rule(
        "a password before a host",
        ("@",),
        r"(?<![\w./-])[A-Za-z][\w.-]*:(?!\{\{|\$)[^\s:@/\"'\[\]]{4,100}@[\w-]+(?:\.[\w-]+)+",
    ),
    Rule(
        "a token with a prefix", tuple(map(str.lower, _PREFIXES)), rf"(?<!\w)(?:{_ALL_PREFIXES})[A-Za-z0-9_=\\-]{{16,}}"
    ),
    Rule("a token of OpenAI or Anthropic", ("sk-",), r"(?<!\w)sk-(?=[A-Za-z_-]{0,100}+\d)[\w-]{16,}"),
    Rule(
        "a token behind a prefix",
        (),
        r"(?<![\w/.@:+=-])(?!(?i:wwn|naa|eui|nqn|t10)[-_.])[A-Za-z][A-Za-z0-9]{1,11}[-_.](?:[A-Za-z0-9]{1,12}[-_.])?"
        r"(?P<value>(?=[A-Za-z]*+\d)[A-Za-z0-9]{24,}+)(?![\w.-])",
        "random",
    ),
    Rule("a token of Slack", ("xox",), r"(?<!\w)(?i:xox[a-z]-)[\w-]{11,}"),
    Rule("a key of Google", ("aiza",), r"(?<!\w)AIza[\w-]{35}"),
    Rule(
        "a key of AWS",
        ("a3t", "abia", "acca", "akia", "asia"),
        r"(?<!\w)(?:A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA)[0-9A-Z]{16}",
    ),
    Rule(
        "a secret of AWS",
        ("aws",),
        r"(?i:aws.{0,20}?(?:key|pwd|pw|pass(?:word)?|token)).{0,20}?[\"'][0-9a-zA-Z/+]{40}[\"']",
    ),
    Rule("a token of Artifactory", ("akc",), r"(?<!\w)AKC[A-Za-z0-9]{10,}"),
    Rule("a key of SendGrid", ("sg.",), r"(?<!\w)SG\.[\w-]{22}\.[\w-]{20,}"),
    Rule("a key of Twilio", (), r"(?<!\w)(?:AC|SK)[a-z0-9]{32}(?!\w)"),
    Rule("a key of Mailchimp", ("-us",), r"(?<!\w)[0-9a-z]{32}-us\d{1,2}(?!\w)"),
    Rule("a token of Telegram", (), r"(?<!\w)\d{8,10}:[\w-]{35}(?!\w)"),
    Rule("a token of Discord", (), r"(?<!\w)[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27}(?!\w)"),
    Rule("a token of HCP Terraform", (".atlasv1.",), r"(?<!\w)\w{14}\.atlasv1\.[\w-]{20,}"),
    Rule("a token of K3s", ("k10",), r"(?<!\w)K10[0-9a-f]{64}::\S+"),
    Rule(
        "a JSON web token",
        ("eyj",),
        r"(?<![\w-])eyJ[A-Za-z0-9_=-]{1,1000}+\.[A-Za-z0-9_=-]+(?:\.[A-Za-z0-9_.+/=-]*)?",
    ),
    Rule("a JSON web key", ('"kty"',), r"[{,]\s*\"(?:k|d)\"\s*:\s*\"(?P<value>[\w-]{16,}={0,2})\""),
    Rule(
        "an address that is a secret",
        (
            *("hooks.slack.com/", "/api/webhooks/", "webhook.office.com/", "/t/", "ingest.", "otpauth://", "/hooks/"),
            *("sig=", "x-amz-signature="),
        ),
        r"(?i:\bhttps://(?:hooks\.slack\.com/(?:services|workflows)|discord(?:app)?\.com/api/webhooks)/[a-z0-9_/-]{4,}"
        r"|\bhttps://[\w.-]+\.webhook\.office\.com/\S{16,}|\bhttps://[0-9a-f]{32}@\S+|otpauth://\S+"
        r"|\bhttps?://[^\s/]+/(?:t/[\w-]{16,}|hooks/[a-z0-9]{26}\b)|[?&](?:sig|x-amz-signature)=[\w%-]{16,})",
    ),
    Rule(
        "a hashed password",
        (
            *("$1$", "$2", "$5$", "$6$", "$8$", "$9$", "$y$", "$gy$", "$apr1$", "$argon"),
            *("sha}", "sha256}", "sha512}", "grub.pbkdf2"),
        ),
        r"(?<![\w$])\$(?:1|2[abxy]|5|6|8|9|y|gy|apr1|argon2id?)\$[A-Za-z0-9./$=,-]{10,}|\{S?SHA(?:\d*)\}[A-Za-z0-9+/=]{20,}"
        r"|grub\.pbkdf2\.sha512\.\d+\.[0-9A-F]{16,}",
    ),
    # Headers, commands and files that a secret follows.
    Rule(
        "an Authorization header",
        ("bearer", "basic", "authorization"),
        r"\b(?i:bearer) +(?=\S*\d)[A-Za-z0-9._~+/-]{12,}=*"
        r"|\b(?i:basic) +(?=\S*[A-Z])(?=\S*[a-z])(?=\S*\d)[\w+/-]{12,}=*"
        r"|(?i:authorization): *\w+ +(?=\S*\d)[A-Za-z0-9._~+/-]{12,}=*",
    ),
    Rule(
        "an option of a command",
        (
            *("mysql", "mariadb", "ipmi", "racadm", "snmp", "sshpass", "pcs ", "ipa-", "ldap", "curl", "activationkey"),
            *("openssl", "zip"),
        ),
        r"\b(?:(?:mysql|mariadb)[^\n|]{0,200}?[ \t]-p|(?:ipmi|snmp\w)[^\n|]{0,200}?[ \t]-[APX][ \t]{0,8}"
        r"|(?:racadm|pcs)\b[^\n|]{0,200}?[ \t]-p[ \t]{1,8}"
        r"|sshpass[ \t]+-p[ \t]{0,8}|(?:ipa-\w|ldap\w)[^\n|]{0,200}?[ \t]-w[ \t]{0,8}"
        rf"|curl\b[^\n|]{{0,200}}?[ \t](?:-u|--user)[ \t]{{0,8}}[\"']?[\w.@-]{{1,100}}+:"
        rf"|openssl[ \t]+enc\b[^\n|]{{0,200}}?[ \t]-k[ \t]{{1,8}}"
        rf"|(?:un)?zip\b[^\n|]{{0,200}}?[ \t]-P[ \t]{{0,8}}|--activationkey=){_ANY_VALUE}",
        "mixed",
    ),
    Rule(
        "standard input of a command",
        ("echo", "printf"),
        rf"\b(?:echo|printf)[ \t]+(?:-n[ \t]+)?{_VALUE}[\"']?[ \t]*\|[ \t]*"
        r"(?:sudo|cryptsetup|passwd|chpasswd|kinit|docker|podman|sshpass|openssl|smbpasswd)\b",
        "password",
    ),
    Rule(
        "a user and a password",
        _USERS,
        rf"(?<![\w/.-])(?i:{'|'.join(_USERS)})(?::|[ ]/[ ]?|/[ ]?(?![A-Z][a-z]+(?:19|20)\d\d\b)){_VALUE}(?!/)",
        "password",
    ),
    Rule(
        "a login and a password",
        ("login",),
        rf"\b(?:login[ \t]+\S+[ \t]+password|weka user login[ \t]+\S+)[ \t]+{_ANY_VALUE}",
        "mixed",
    ),
    Rule(
        "a setting behind a blank",
        ("bindpw", "rootpw", "requirepass", "masterauth", "auth_pass", "community", "-password", "tacacs", "radius"),
        r"(?i:^[ \t]*(?:root)?bindpw|^[ \t]*rootpw|^[ \t]*requirepass|^[ \t]*masterauth|^[ \t]*auth_pass"
        rf"|^[ \t]*r[ow]community6?|\binsecure-password|(?:tacacs|radius)-server[ \t]+key)[ \t]+(?![#{{]){_ANY_VALUE}",
    ),
    Rule("a user of SNMP", ("createuser",), rf"\bcreateUser[ \t]+\S+[ \t]+\S+[ \t]+{_ANY_VALUE}"),
    Rule("a monitor of NUT", ("monitor",), rf"^MONITOR[ \t]+[^\s@]+@\S++[ \t]+\d+[ \t]+\S+[ \t]+{_ANY_VALUE}"),
    Rule("options of conman", (",p:",), rf"\bU:[^,:\s]+,P:{_VALUE}"),
    Rule(
        "a password that Cisco IOS encodes",
        (" 7 ",),
        r"\b(?:password|key|secret)[ \t]+7[ \t]+(?P<value>(?:[0-9A-Fa-f]{2}){6,}+)(?!\w)",
    ),
    Rule("an unseal key of Vault", ("unseal key",), r"(?i:unseal key)(?: \d+)?:[ \t]*(?P<value>[\w+/]{40,}={0,2})"),
    Rule("a login of W&B", ("wandb",), r"\bwandb[ \t]+login[ \t]+(?:--\S+[ \t]+)?(?P<value>[0-9a-f]{40})\b"),
    Rule(
        "a line of .pgpass",
        (":54", ":6432"),
        rf"^[\w.*-]+:(?:54\d\d|6432):[^\s:]{{1,64}}+:[^\s:]{{1,64}}+:{_ANY_VALUE}",
    ),
    Rule("SQL", ("identified",), r"(?i:identified[ \t]+(?:with[ \t]+\S+[ \t]+)?by[ \t]+[\"'][^\"'${%]{3,}[\"'])"),
    Rule("XML", ("<pass", "<secret", "<token"), r"(?i:<(?:password|passwd|secret|token)>[^<${%\s]{3,}<)"),
)

_VAULT = "install it from Ansible Vault"
_ROLE = "remove it: the role `secrets` makes it once and installs it"
_SUPPLIED = "pass it to the role `secrets` in secrets_given"
FILES = (
    FileRule(r".*/munge\.key", "the key of MUNGE", _ROLE),
    FileRule(r".*/slurm\.key", "the key of auth/slurm", _ROLE),
    FileRule(r".*/jwt[\w.-]*\.key", "the key that signs Slurm's tokens", _ROLE),
    FileRule(r".*/slurmdbd\.secret\.conf", "the password of the database", _SUPPLIED),
    FileRule(r".*/authkey|/etc/booth/.*\.key", "the key of Corosync or booth", _SUPPLIED),
    FileRule(r".*/conn[._-]?auth(?:[._-]?file)?", "the shared secret of BeeGFS", _SUPPLIED),
    FileRule(r".*/ceph[\w.-]*\.keyring", "a key of Ceph", _SUPPLIED),
    FileRule(r".*\.keytab", "a Kerberos keytab", "make it on the host, as `ipa-getkeytab` does"),
    FileRule(r".*/id_(?:rsa|dsa|ecdsa|ed25519)\w*", "a private key of ssh", "make it on the host with `ssh-keygen`"),
    FileRule(r".*/ssh_host_\w+_key", "a host key of ssh", "remove it: the host makes it"),
    FileRule(r".*\.(?:p12|pfx|jks|kdbx|ppk)", "a store of private keys", _VAULT),
    FileRule(
        r".*/[._](?:pgpass|netrc|git-credentials|vault_pass\w*|google_authenticator)", "a list of passwords", _VAULT
    ),
    FileRule(r".*/(?:ldap|pam_ldap|nslcd)\.secret", "the password of an LDAP account", _VAULT),
    FileRule(r"/etc/g?shadow-?", "the passwords of accounts", "set them with Ansible's module `user`"),
    FileRule(r".*/\.?htpasswd[\w.-]*|.*/smbpasswd|.*/sasl_passwd|.*/\.?passwd-s3fs", "a list of passwords", _VAULT),
    FileRule(r".*/(?:ipsec\.|chap-|pap-)secrets", "a list of shared secrets", _VAULT),
    FileRule(r".*/(?:chrony|ntp)\.keys|/etc/pam_radius_auth\.conf", "a list of shared secrets", _VAULT),
)
BINARY_KEY = FileRule(r".*\.(?:key|pem)", "a key in binary form", _VAULT)
