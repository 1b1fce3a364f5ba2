#!/usr/bin/env python3
"""Posts a file as the comment of a pull request or merge request, or updates the comment of an earlier run.

The file's first line is its mark, an HTML comment; the first comment of ours that begins with it is the one to update.
GitHub: GITHUB_TOKEN, GITHUB_REPOSITORY and PULL_REQUEST, the number. GitLab: GITLAB_TOKEN and GitLab's own variables.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any


class GitHub:
    def __init__(self) -> None:
        url = os.environ.get("GITHUB_API_URL", "https://api.github.com")
        self.issues = f"{url}/repos/{os.environ['GITHUB_REPOSITORY']}/issues"
        self.comments = f"{self.issues}/{os.environ['PULL_REQUEST']}/comments"
        self.headers = {
            "Authorization": f"Bearer {os.environ['GITHUB_TOKEN']}",
            "Accept": "application/vnd.github+json",
        }

    def is_ours(self, comment: Any) -> bool:
        return bool(comment["user"]["type"] == "Bot")

    def update(self, number: int) -> tuple[str, str]:
        return "PATCH", f"{self.issues}/comments/{number}"


class GitLab:
    def __init__(self) -> None:
        project = f"{os.environ['CI_API_V4_URL']}/projects/{os.environ['CI_PROJECT_ID']}"
        self.comments = f"{project}/merge_requests/{os.environ['CI_MERGE_REQUEST_IID']}/notes"
        self.headers = {"PRIVATE-TOKEN": os.environ["GITLAB_TOKEN"]}
        self.user = call(self, "GET", f"{os.environ['CI_API_V4_URL']}/user")["id"]

    def is_ours(self, comment: Any) -> bool:
        return bool(comment["author"]["id"] == self.user)

    def update(self, number: int) -> tuple[str, str]:
        return "PUT", f"{self.comments}/{number}"


def call(service: GitHub | GitLab, method: str, url: str, body: object = None) -> Any:
    request = urllib.request.Request(
        url,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    for name, value in service.headers.items():
        request.add_unredirected_header(name, value)  # a redirect may lead to another host
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def earlier(service: GitHub | GitLab, mark: str) -> int | None:
    """The comment of an earlier run."""
    page = 1
    while comments := call(service, "GET", f"{service.comments}?per_page=100&page={page}"):
        for comment in comments:
            if comment["body"].startswith(mark) and service.is_ours(comment):
                return int(comment["id"])
        page += 1
    return None


def main() -> None:
    text = Path(sys.argv[1]).read_text(encoding="utf-8")
    mark = text.partition("\n")[0]
    if not (mark.startswith("<!--") and mark.endswith("-->")):
        sys.exit(f"{sys.argv[1]} does not begin with a mark")
    is_gitlab = "GITLAB_CI" in os.environ
    if is_gitlab and not os.environ.get("GITLAB_TOKEN"):
        sys.stdout.write("no comment: GITLAB_TOKEN is not set; the job's artifacts have the text\n")
        return
    service = GitLab() if is_gitlab else GitHub()
    try:
        number = earlier(service, mark)
        method, url = ("POST", service.comments) if number is None else service.update(number)
        call(service, method, url, {"body": text})
    except urllib.error.HTTPError as err:
        if err.code != 403:
            raise
        # A pull request from a fork: its token may not write. The summary of the run has the text.
        sys.stdout.write("::notice::no comment: this token may not write to the pull request\n")


if __name__ == "__main__":
    main()
