"""A site's own files: those that join the tree, and diagnostics for those that cannot."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from click.testing import CliRunner

from clustergen import compile as compiler
from clustergen.cli import group
from clustergen.diagnostics import ClustergenError, Diagnostic, Place, render
from clustergen.diagnostics.pages import page
from clustergen.records import replace
from clustergen.render import site_source
from clustergen.render.tree import Tree
from strategies.findings import words
from strategies.reviewed import same_words
from strategies.trees import manifest, node_files


def rendered(directory: Path, **changes: object) -> tuple[Tree | None, list[Diagnostic]]:
    """The tree of the small manifest with the files below directory/site, and the diagnostics."""
    path = directory / "manifest.yaml"
    path.write_text(json.dumps(manifest(**changes)), encoding="utf-8")
    tree, result = compiler.render(compiler.validate(path), path)
    same_words(words(result).replace(f"{directory}/", ""))
    return tree, list(result)


def place(directory: Path, name: str, text: str = "x\n") -> Path:
    path = directory / "site" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def codes(diagnostics: list[Diagnostic]) -> list[str]:
    return [item.code for item in diagnostics]


@pytest.mark.slow
def test_files_join_the_tree_with_their_mode_and_effect(tmp_path: Path) -> None:
    place(tmp_path, "gpu_node/usr/local/sbin/look", "#!/bin/sh\n").chmod(0o755)
    place(tmp_path, "slurm_node/etc/slurm/job_submit.lua", "return 0\n")
    place(tmp_path, "all/etc/motd.j2", "{{ cluster.name }}: {{ cluster.gpu_count }} GPUs\n")
    tree, result = rendered(tmp_path)
    assert not result
    assert tree is not None
    files = node_files(tree, "c1")
    assert files["/usr/local/sbin/look"].mode == 0o755
    assert files["/etc/slurm/job_submit.lua"].effect.kind == "reconfigure"
    assert files["/etc/motd"].content == b"small: 32 GPUs\n"
    assert "/usr/local/sbin/look" not in node_files(tree, "head")


def test_readmes_and_keepers_are_left_alone(tmp_path: Path) -> None:
    for name in ("README.md", ".gitignore", "all/etc/.gitkeep"):
        place(tmp_path, name)
    tree, result = rendered(tmp_path)
    assert not result
    assert tree is not None
    assert not [file.path for file in tree if file.source.startswith("site/")]


def make_dangling(directory: Path) -> None:
    place(directory, "all/etc/issue").unlink()
    (directory / "site/all/etc/issue").symlink_to("nowhere")


def make_outside(directory: Path) -> None:
    (directory / "secret").write_text("s\n", encoding="utf-8")
    place(directory, "all/etc/issue").unlink()
    (directory / "site/all/etc/issue").symlink_to(directory / "secret")


def make_directory_link(directory: Path) -> None:
    place(directory, "all/etc/issue").unlink()
    (directory / "site/all/etc/more").symlink_to("/etc")


def make_inner_directory_link(directory: Path) -> None:
    place(directory, "all/etc/more").unlink()
    (directory / "site/all/etc/more").symlink_to("../etc")


def make_pipe(directory: Path) -> None:
    place(directory, "all/etc/issue").unlink()
    os.mkfifo(directory / "site/all/etc/issue")


def make_large(directory: Path) -> None:
    place(directory, "all/etc/issue").write_bytes(bytes(5 << 20))


def make_blank(directory: Path) -> None:
    place(directory, "all/etc/is sue")


def make_gits(directory: Path) -> None:
    place(directory, "all/etc/.GIT/config")


def make_gits_template(directory: Path) -> None:
    place(directory, "all/etc/.git.j2")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (make_dangling, "a link to nowhere, which does not exist"),
        (make_outside, "outside site/"),
        (make_directory_link, "it is a link to /etc, outside site/"),
        (make_inner_directory_link, "it is a link to ../etc: it is a directory"),
        (make_pipe, "it is a pipe or a device, not a file"),
        (make_large, "5 MiB; the maximum is 4"),
        (make_blank, "blanks"),
        (make_gits, "named .git"),
        (make_gits_template, "named .git"),
    ],
)
def test_files_that_cannot_be_taken(tmp_path: Path, make: object, words: str) -> None:
    make(tmp_path)  # type: ignore[operator]
    tree, result = rendered(tmp_path)
    assert tree is None
    assert codes(result) == ["site-file-unreadable"]
    assert words in result[0].message
    assert result[0].place is not None
    assert "site/all/etc/" in result[0].place.file


def link_site(directory: Path) -> str:
    place(directory, "elsewhere/all/etc/issue")
    (directory / "site/elsewhere").rename(directory / "elsewhere")
    (directory / "site").rmdir()
    (directory / "site").symlink_to("elsewhere")
    return "site"


def link_group(directory: Path) -> str:
    (directory / "elsewhere").mkdir()
    (directory / "elsewhere/passwd").write_text("x\n", encoding="utf-8")
    (directory / "site").mkdir()
    (directory / "site/all").symlink_to("../elsewhere")
    return "site/all"


def link_group_to_the_kernel(directory: Path) -> str:
    (directory / "site").mkdir()
    (directory / "site/all").symlink_to("/proc/self")
    return "site/all"


def link_site_to_a_process(directory: Path) -> str:
    (directory / "site").symlink_to("/proc/1")
    return "site"


def link_site_to_nothing(directory: Path) -> str:
    (directory / "site").symlink_to("nowhere")
    return "site"


def file_as_site(directory: Path) -> str:
    (directory / "site").write_text("x\n", encoding="utf-8")
    return "site"


def pipe_as_site(directory: Path) -> str:
    os.mkfifo(directory / "site")
    return "site"


def file_as_group(directory: Path) -> str:
    place(directory, "all")
    return "site/all"


def deep_directory(directory: Path) -> str:
    place(directory, "all/" + "d/" * 41 + "x")
    return "site/all/" + "/".join("d" * 40)


def many_entries(directory: Path) -> str:
    for name in "abcde":
        place(directory, f"all/{name}")
    return "site"


def much_text(directory: Path) -> str:
    for name in "ab":
        place(directory, f"all/{name}", "x" * 600)
    return "site"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (link_site, "it is a link"),
        (link_group, "it is a link"),
        (link_group_to_the_kernel, "it is a link"),
        (link_site_to_a_process, "it is a link"),
        (link_site_to_nothing, "it is a link"),
        (file_as_site, "it is not a directory"),
        (pipe_as_site, "it is not a directory"),
        (file_as_group, "it is not a directory"),
        (deep_directory, "more than 40 directories deep"),
        (many_entries, "more than 5 files and directories"),
        (much_text, "more than 1,000 bytes"),
    ],
)
def test_directories_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], str], words: str
) -> None:
    monkeypatch.setattr(site_source, "_MOST_ENTRIES", 5 if make is many_entries else 50)
    monkeypatch.setattr(site_source, "_LARGEST_SITE", 1000)
    place_of = make(tmp_path)
    tree, result = rendered(tmp_path)
    assert tree is None
    assert codes(result) == ["site-file-unreadable"]
    assert words in result[0].message
    assert result[0].place is not None
    assert result[0].place.file == str(tmp_path / place_of)


@pytest.mark.slow
def test_a_link_of_a_commit_is_not_followed_by_diff(tmp_path: Path) -> None:
    """`site/all` could lead to any directory of the control host, whose files would be in the tree."""
    link_group(tmp_path)
    path = tmp_path / "manifest.yaml"
    path.write_text(json.dumps(manifest()), encoding="utf-8")
    done = CliRunner().invoke(group, ["diff", str(path), str(path)])
    assert done.exit_code == 2
    assert "site/all: error[site-file-unreadable]" in done.output


@pytest.mark.slow
@pytest.mark.parametrize("name", ["site", "site/all", "site/all/etc"])
def test_a_submodule_is_refused_by_render_and_diff(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def git(*words: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always")
        subprocess.run(["git", *identity, *words], check=True, capture_output=True, timeout=300)

    monkeypatch.chdir(tmp_path)
    git("init", "-q", "inner")
    git("-C", "inner", "commit", "-q", "--allow-empty", "-m", "first")
    git("init", "-q", "outer")
    monkeypatch.chdir(tmp_path / "outer")
    git("submodule", "--quiet", "add", (tmp_path / "inner").as_uri(), name)
    Path("manifest.yaml").write_text(json.dumps(manifest()), encoding="utf-8")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    for command in (["render"], ["diff", "HEAD:./manifest.yaml"]):
        done = CliRunner().invoke(group, [*command, "manifest.yaml"])
        message = done.output + (str(done.exception.message) if isinstance(done.exception, ClustergenError) else "")
        assert done.exit_code != 0
        assert f"{name}" in message
        assert "is a submodule, whose files are in a repository of its own" in message
    assert not Path("rendered").exists()


@pytest.mark.parametrize("name", ["site", "site/all", "site/all/etc"])
def test_a_directory_that_may_not_be_read(name: str) -> None:
    with TemporaryDirectory(dir="/tmp", prefix="clustergen-test-") as directory:  # which any user may reach
        Path(directory).chmod(0o755)
        place(Path(directory), "all/etc/issue")
        (Path(directory) / name).chmod(0)
        user = os.geteuid()
        if user == 0:  # root reads all
            os.seteuid(65534)
        try:
            (diagnostic,) = site_source.sources(Path(directory) / "site", {"all"})
        finally:
            os.seteuid(user)
            (Path(directory) / name).chmod(0o755)
        assert isinstance(diagnostic, Diagnostic)
        assert diagnostic.message == "cannot use this directory: permission denied"
        assert diagnostic.place == Place(str(Path(directory) / name))


def test_a_link_inside_of_the_site_is_its_file(tmp_path: Path) -> None:
    place(tmp_path, "all/etc/issue", "hello\n")
    (tmp_path / "site/all/etc/issue.net").symlink_to("issue")
    tree, result = rendered(tmp_path)
    assert not result
    assert tree is not None
    assert node_files(tree, "c1")["/etc/issue.net"].content == b"hello\n"


def test_a_file_in_no_group(tmp_path: Path) -> None:
    place(tmp_path, "motd")
    _, result = rendered(tmp_path)
    assert codes(result) == ["site-group-unknown"]
    assert result[0].hint == "move it to site/GROUP/ with its path on the node, as site/all/etc/motd"


@pytest.mark.slow
def test_a_template_and_a_file_of_one_name(tmp_path: Path) -> None:
    place(tmp_path, "all/etc/motd")
    place(tmp_path, "all/etc/motd.j2")
    _, result = rendered(tmp_path)
    assert codes(result) == ["site-file-clash"]
    assert "site/all/etc/motd would be the same file" in result[0].message


@pytest.mark.slow
def test_leave_to_replace_what_clustergen_does_not_make(tmp_path: Path) -> None:
    place(tmp_path, "slurm_node/etc/slurm/cgroups.conf")
    _, result = rendered(tmp_path, site={"replaces": ["slurm_node/etc/slurm/cgroups.conf"]})
    assert codes(result) == ["site-replaces-nothing"]
    assert result[0].hint == "did you mean 'slurm_node/etc/slurm/cgroup.conf'?"


def test_a_replaced_file_is_the_sites(tmp_path: Path) -> None:
    place(tmp_path, "slurm_node/etc/slurm/cgroup.conf", "ConstrainCores=yes\n")
    tree, result = rendered(tmp_path, site={"replaces": ["slurm_node/etc/slurm/cgroup.conf"]})
    assert not result
    assert tree is not None
    assert node_files(tree, "c1")["/etc/slurm/cgroup.conf"].content == b"ConstrainCores=yes\n"


def test_a_path_of_ours_in_another_group(tmp_path: Path) -> None:
    place(tmp_path, "all/etc/slurm/cgroup.conf")
    _, result = rendered(tmp_path)
    assert codes(result) == ["path-in-two-groups"]
    assert result[0].place is not None
    assert result[0].place.file.endswith("site/all/etc/slurm/cgroup.conf")


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a\n  {{ cluster.nam }}\n", 2, "no attribute 'nam'"),
        ("{% for x in cluster.hots() %}{{ x }}{% endfor %}\n", 1, "no attribute 'hots'"),
        ("a\nb\n{% if %}\n", 3, "Expected an expression"),
        ("{{ cluster.power_saving }}\n", 1, "None printed"),
        ("{% include 'gone.j2' %}\n", 1, "template 'gone.j2' is not in"),
        ("{{ ''.__class__ }}\n", 1, "a text has no attribute '__class__'"),
        ("{{ range(99999999) | list }}\n", 1, "at most 100,000 items"),
        ("x\n{{ 1 / 0 }}\n", 2, "division by zero"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}\n", 1, "too deep"),
        ("{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}\n", 0, "nesting is too deep"),
        ("{{ 'a' * 3000000000 }}\n", 1, "it requires more than 256 MiB of memory"),
        ("\n{{ 'a' | center(3000000000) }}\n", 2, "it requires more than 256 MiB of memory"),
        ("{{ {}.no_key }}\n", 1, "no_key"),
    ],
)
def test_failing_templates_are_reported_at_their_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    place(tmp_path, "all/etc/x.conf.j2", text)
    tree, result = rendered(tmp_path)
    assert tree is None
    assert codes(result) == ["site-template-fails"]
    assert words.lower() in result[0].message.lower()
    assert result[0].place is not None
    assert result[0].place.line == line


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("all/etc/app/key.pem", "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----\n"),
        ("all/etc/app.conf", "user=app\npassword=hunter2\n"),
        ("all/etc/app.yaml", "app:\n  db_pass: hunter2\n"),
        ("all/etc/app.json.j2", '{"cluster": "{{ cluster.name }}", "api_key": "{{ "hunter2" }}"}\n'),
        ("all/etc/apt/auth.conf", "machine nvcr.io login token password hunter2\n"),
        ("all/etc/ldap.conf", "bindpw hunter2\n"),
        ("all/etc/sssd.conf", "ldap_default_authtok = hunter2\n"),
        ("all/etc/snmpd.conf", "rocommunity hunter2\n"),
        ("all/usr/local/sbin/bmc", "#!/bin/sh\nipmitool -U ADMIN -P hunter2 power status\n"),
        ("gpu_node/usr/local/sbin/push", "#!/bin/sh\ncurl https://ann:hunter2@metrics.example.org/\n"),
    ],
)
def test_a_secret_in_a_site_file_is_refused_and_not_shown(tmp_path: Path, name: str, text: str) -> None:
    place(tmp_path, name, text)
    tree, result = rendered(tmp_path)
    assert tree is None
    assert codes(result) == ["site-file-secret"]
    assert "hunter2" not in render(result, "text", {})
    accepted = name.removesuffix(".j2")
    tree, result = rendered(tmp_path, site={"public": [accepted]})
    assert tree is not None
    assert result == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("all/etc/munge/munge.key", "role `secrets` makes it"),
        ("all/etc/krb5.keytab", "make it on the host"),
        ("all/root/.pgpass", "Ansible Vault"),
        ("all/etc/corosync/authkey.j2", "secrets_given"),
        ("gpu_node/root/.ssh/id_ed25519", "ssh-keygen"),
    ],
)
def test_a_file_that_is_a_secret_by_its_name_is_refused(tmp_path: Path, name: str, hint: str) -> None:
    place(tmp_path, name, "x\n")
    tree, (diagnostic,) = rendered(tmp_path)
    assert tree is None
    assert diagnostic.code == "site-file-secret"
    assert diagnostic.hint is not None
    assert hint in diagnostic.hint
    tree, result = rendered(tmp_path, site={"public": [name.removesuffix(".j2")]})
    assert tree is not None
    assert result == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gpu_node/root/.ssh/id_ed25519.pub", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI root@head\n"),
        ("all/etc/ssl/certs/site.pem", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"),
        ("all/etc/munge/munge.key", ""),
    ],
)
def test_a_public_key_and_an_empty_file_are_taken(tmp_path: Path, name: str, text: str) -> None:
    place(tmp_path, name, text)
    tree, result = rendered(tmp_path)
    assert tree is not None
    assert result == []


def test_a_site_file_may_name_the_place_of_a_secret(tmp_path: Path) -> None:
    text = '#!/bin/sh\nTOKEN=$(cat /etc/app/token)\ncurl -H "Authorization: Bearer $TOKEN" example.org\n'
    text += "PGPASSFILE=/root/.pgpass\npassword_file: /etc/app/password\npasswd: compat\nmax_tokens: 4096\n"
    place(tmp_path, "all/usr/local/sbin/app", text)
    tree, result = rendered(tmp_path)
    assert result == []
    assert tree is not None


def test_an_exception_for_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    tree, result = rendered(tmp_path, site={"public": ["all/etc/gone"]})
    assert tree is None
    assert codes(result) == ["site-replaces-nothing"]
    assert result[0].hint == "remove it from site.public"


def test_a_missing_replacement_is_not_answered_with_another_file(tmp_path: Path) -> None:
    place(tmp_path, "all/etc/host.conf")
    _, result = rendered(tmp_path, site={"replaces": ["all/etc/hosts"]})
    assert [(item.code, item.hint) for item in result] == [("site-replaces-nothing", "remove it from site.replaces")]


def test_unprintable_values_behind_the_schema_are_not_written(tmp_path: Path) -> None:
    path = tmp_path / "manifest.yaml"
    path.write_text(json.dumps(manifest()), encoding="utf-8")
    compiled = compiler.validate(path)
    assert compiled.cluster is not None
    broken = replace(compiled, cluster=replace(compiled.cluster, name='a password=hunter2xyz99"\nb'))
    tree, result = compiler.render(broken, path)
    assert tree is None
    assert [item.code for item in result] == ["value-unprintable"]
    assert "hunter2" not in result[0].message


def test_a_page_names_these_as_its_proof() -> None:
    for code in ("site-file-unreadable", "value-unprintable"):
        assert f"<!-- fixture: {code} -->" in (page(code) or "")
