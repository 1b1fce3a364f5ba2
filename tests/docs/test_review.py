"""The files of docs/examples/ that users copy, run as GitHub and git run them, on a temporary repository."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from clustergen.diff.show_markdown import MARK
from strategies.once import once, shared_directory
from strategies.pages import ROOT
from strategies.pull_request import shown

pytestmark = pytest.mark.slow

EXAMPLES = ROOT / "docs" / "examples"
MANIFEST = (ROOT / "inventories" / "home-3090" / "manifest.yaml").read_text(encoding="utf-8")
STEPS = {
    step["name"]: step
    for step in yaml.safe_load((EXAMPLES / "review.yml").read_text())["jobs"]["review"]["steps"]
    if "name" in step
}
GITLAB = yaml.safe_load((EXAMPLES / "gitlab-ci.yml").read_text())["review"]
PLACES = ("/repos/a/b/issues/7/comments", "/projects/3/merge_requests/7/notes")
TREES, DIFF, COMMENT, SARIF = (
    "the trees are what the manifests mean", "what the change does", "comment", "findings for code scanning",
)  # fmt: skip


class Repository:
    """A clone with a cluster on `main`, and GitHub's environment."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("GIT")},
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org",
            "GITHUB_BASE_REF": "main", "GITHUB_STEP_SUMMARY": str(directory / "summary.md"),
        }  # fmt: skip
        self.manifest = directory / "inventories" / "vision" / "manifest.yaml"

    def create(self) -> None:
        self.manifest.parent.mkdir(parents=True)
        self.manifest.write_text(MANIFEST, encoding="utf-8")
        for name in (".github", "ci"):
            (self.directory / name).mkdir()
            (self.directory / name / "comment.py").write_bytes((EXAMPLES / "comment.py").read_bytes())
        self.bash("git init -q -b main; clustergen render inventories/*/manifest.yaml; git add .; git commit -q -m one")
        self.bash("git update-ref refs/remotes/origin/main main; git checkout -q -b change")

    def bash(self, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-e", "-c", script], cwd=self.directory, env={**self.environment, **environment},
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip

    def step(self, name: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return self.bash(STEPS[name]["run"], **environment)

    def edit(self) -> None:
        text = self.manifest.read_text(encoding="utf-8")
        assert "max_time" in text
        lines = [line.replace("max_time", "state: DRAIN, max_time", 1) for line in text.split("\n")]
        self.manifest.write_text("\n".join(lines), encoding="utf-8")


@pytest.fixture(scope="session")
def first_commit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The clone as every test begins with it."""
    clone = shared_directory(tmp_path_factory, "review") / "clone"
    once(tmp_path_factory, "review", Repository(clone).create)
    return clone


@pytest.fixture
def repository(first_commit: Path, tmp_path: Path) -> Repository:
    shutil.copytree(first_commit, tmp_path / "clone", symlinks=True)
    return Repository(tmp_path / "clone")


class Comments(BaseHTTPRequestHandler):
    """The part of GitHub's interface that comments go by, in memory."""

    kept: list[dict[str, object]]
    redirected: list[str]
    forbidden = False

    def answer(self, document: object, status: int = 200) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self) -> str:
        return str(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"])

    def do_GET(self) -> None:
        if self.path.startswith("/moved"):
            self.send_response(302)
            self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if self.path == "/elsewhere":
            self.redirected.append(str(self.headers["Authorization"] or self.headers["PRIVATE-TOKEN"]))
        if self.path == "/user":
            self.answer({"id": 5})
            return
        first = self.path in (f"{place}?per_page=100&page=1" for place in PLACES)
        self.answer(self.kept if first else [])

    def do_POST(self) -> None:
        text = self.body()
        if self.forbidden:
            self.answer({}, 403)
            return
        self.kept.append({"id": len(self.kept) + 1, "body": text, "user": {"type": "Bot"}, "author": {"id": 5}})
        self.answer(self.kept[-1], 201)

    def do_PATCH(self) -> None:
        number = int(self.path.rpartition("/")[2])
        self.kept[number - 1]["body"] = self.body()
        self.answer(self.kept[number - 1])

    def do_PUT(self) -> None:
        self.do_PATCH()

    def log_message(self, format: str, *_: object) -> None:
        """Nothing on the terminal of the tests."""


@pytest.fixture
def github() -> Iterator[tuple[type[Comments], dict[str, str]]]:
    other = {"id": 1, "body": f"see {MARK}", "user": {"type": "User"}, "author": {"id": 5}}
    kind = type("Own", (Comments,), {"kept": [other], "redirected": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    yield kind, {
        "GITHUB_API_URL": url, "GITHUB_REPOSITORY": "a/b", "GITHUB_TOKEN": "t", "PULL_REQUEST": "7",
        "CI_API_V4_URL": url, "CI_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "7", "GITLAB_TOKEN": "t",
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
    }  # fmt: skip
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_tree_that_was_forgotten_is_annotated_where_it_differs(repository: Repository) -> None:
    assert repository.step(TREES).returncode == 0
    repository.edit()
    done = repository.step(TREES)
    assert done.returncode == 1
    wrong = [line for line in done.stdout.splitlines() if "/slurm.conf," in line]
    assert len(wrong) == 1
    number = int(wrong[0].partition("line=")[2].partition(",")[0])
    path = repository.manifest.parent / "rendered/overlays/slurm_node/etc/slurm/slurm.conf"
    assert path.read_text(encoding="utf-8").split("\n")[number - 1].startswith("PartitionName=")
    log = json.loads(repository.bash("clustergen render inventories/*/manifest.yaml --check --format sarif").stdout)
    places = [result["locations"][0]["physicalLocation"] for result in log["runs"][0]["results"]]
    slurm = [place for place in places if place["artifactLocation"]["uri"].endswith("/slurm.conf")]
    assert [place["region"]["startLine"] for place in slurm] == [number]
    assert repository.step(SARIF).returncode == 0
    assert json.loads((repository.directory / "clustergen.sarif").read_text())["version"] == "2.1.0"


def test_missing_and_left_over_files_are_annotated_too_and_no_more_than_github_shows(repository: Repository) -> None:
    tree = repository.manifest.parent / "rendered"
    (tree / "overlays/all/etc/hosts").unlink()
    data = json.loads(repository.bash("clustergen render inventories/*/manifest.yaml --check --format json").stdout)
    assert [(item["kind"], item["line"]) for item in data["differences"]] == [("missing", None)]
    shown = repository.step(TREES).stdout
    assert shown.startswith("::error file=inventories/vision/manifest.yaml,title=tree-out-of-date::")
    repository.bash("rm -r inventories/vision/rendered")
    shown = repository.step(TREES).stdout
    assert shown.count("::error") == 10
    assert "more files" in shown.splitlines()[-1]


def test_a_pull_request_has_one_comment_that_follows_it(
    repository: Repository, github: tuple[type[Comments], dict[str, str]]
) -> None:
    kind, environment = github
    repository.edit()
    repository.bash("clustergen render inventories/*/manifest.yaml; git commit -qam two")
    assert repository.step(TREES).returncode == 0
    assert repository.step(DIFF).returncode == 0
    done = repository.step(COMMENT, **environment)
    assert done.returncode == 0, done.stderr
    assert len(kind.kept) == 2, "one more than the one of somebody else"
    first = str(kind.kept[1]["body"])
    assert first.startswith(MARK)
    assert "DRAIN" in first
    assert (repository.directory / "summary.md").read_text(encoding="utf-8") == first
    repository.bash("git checkout -q main -- inventories; git commit -qam three")
    assert repository.step(DIFF).returncode == 0
    assert repository.step(COMMENT, **environment).returncode == 0
    assert len(kind.kept) == 2
    assert "No change" in str(kind.kept[1]["body"])
    assert str(kind.kept[0]["body"]).startswith("see")


def test_a_redirect_does_not_get_the_token(tmp_path: Path, github: tuple[type[Comments], dict[str, str]]) -> None:
    kind, environment = github
    (tmp_path / "diff.md").write_text(f"{MARK}\n", encoding="utf-8")
    moved = {name: f"{environment[name]}/moved" for name in ("GITHUB_API_URL", "CI_API_V4_URL")}
    for service in ({}, {"GITLAB_CI": "true"}):
        command = [sys.executable, str(EXAMPLES / "comment.py"), "diff.md"]
        subprocess.run(command, cwd=tmp_path, env=environment | moved | service, timeout=300, check=False)
    assert kind.redirected == ["None"] * 2


@pytest.mark.parametrize("token", ["t", ""])
def test_gitlab_runs_the_same(
    repository: Repository, github: tuple[type[Comments], dict[str, str]], token: str
) -> None:
    kind, environment = github
    environment |= {"GITLAB_CI": "true", "GITLAB_TOKEN": token}
    script = "\n".join(GITLAB["script"])
    repository.edit()
    forgotten = repository.bash(script, **environment)
    assert (forgotten.returncode, "slurm.conf: changed" in forgotten.stdout) == (1, True)
    repository.bash("clustergen render inventories/*/manifest.yaml; git add .; git commit -qm two")
    for _ in range(2 if token else 1):  # the second run changes the comment of the first
        done = repository.bash(script, **environment)
        assert done.returncode == 0, done.stderr
    assert len(kind.kept) == (2 if token else 1)
    assert ("GITLAB_TOKEN is not set" in done.stdout) is not bool(token)
    assert "DRAIN" in (repository.directory / "diff.md").read_text(encoding="utf-8")


def test_a_token_that_may_not_write_is_no_failure(
    repository: Repository, github: tuple[type[Comments], dict[str, str]]
) -> None:
    kind, environment = github
    kind.forbidden = True
    repository.step(DIFF)
    done = repository.step(COMMENT, **environment)
    assert done.returncode == 0
    assert "::notice::" in done.stdout


def test_an_invalid_manifest_fails_the_step_of_the_diff(repository: Repository) -> None:
    repository.manifest.write_text(MANIFEST + "\nwrong: 1\n", encoding="utf-8")
    assert repository.step(DIFF).returncode != 0
    assert "::error file=inventories/vision/manifest.yaml,line=" in repository.step(TREES).stdout


def test_the_hook_looks_at_what_is_staged(repository: Repository) -> None:
    hook = repository.directory / ".git" / "hooks" / "pre-commit"
    hook.write_bytes((EXAMPLES / "pre-commit").read_bytes())
    hook.chmod(0o755)
    repository.edit()
    repository.bash("git add inventories/vision/manifest.yaml")
    refused = repository.bash("git commit -q -m two")
    assert refused.returncode == 1
    assert "slurm.conf: changed" in refused.stderr
    repository.bash("clustergen render inventories/*/manifest.yaml")
    assert repository.bash("git commit -q -m two").returncode == 1, "rendered, but not staged"
    assert repository.bash("git add inventories").returncode == 0
    done = repository.bash("git commit -q -m two")
    assert done.returncode == 0, done.stderr
    assert repository.bash("touch other; git add other; git commit -q -m three").returncode == 0


def test_the_hook_for_pre_commit_does_the_same(repository: Repository) -> None:
    (hook,) = yaml.safe_load((EXAMPLES / "pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    assert repository.bash(hook["entry"]).returncode == 0
    repository.edit()
    assert repository.bash(hook["entry"]).returncode == 1


def test_the_pull_request_of_the_page_is_what_the_commands_show(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "review.md").read_text(encoding="utf-8")
    assert "> ### ml-training:" in text
    assert shown(text, tmp_path) == text, "tools/update-docs writes it anew"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_completes(shell: str, repository: Repository) -> None:
    script = repository.bash(f"_CLUSTERGEN_COMPLETE={shell}_source clustergen")
    assert "_CLUSTERGEN_COMPLETE" in script.stdout, script.stderr
    asked = {"COMP_WORDS": "clustergen expl", "COMP_CWORD": "1" if shell != "fish" else "expl"}
    assert "explain" in repository.bash(f"_CLUSTERGEN_COMPLETE={shell}_complete clustergen", **asked).stdout
