#!/usr/bin/env python3
"""comment.py FILE: puts FILE into one comment of a pull request, the same one at each run.

The comment is found by its first line, which has to be a mark such as `<!-- clustergen diff -->`. Reads GITHUB_TOKEN,
GITHUB_REPOSITORY, PULL_REQUEST and, where it is another server, GITHUB_API_URL. Needs Python and nothing else.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any


def call(method: str, path: str, body: object = None) -> Any:
    request = urllib.request.Request(
        f"{os.environ.get('GITHUB_API_URL', 'https://api.github.com')}/repos/{os.environ['GITHUB_REPOSITORY']}{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Authorization": f"Bearer {os.environ['GITHUB_TOKEN']}",
            "Accept": "application/vnd.github+json",
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def ours(number: str, mark: str) -> int | None:
    """The comment of an earlier run."""
    page = 1
    while comments := call("GET", f"/issues/{number}/comments?per_page=100&page={page}"):
        for comment in comments:
            if comment["body"].startswith(mark) and comment["user"]["type"] == "Bot":
                return comment["id"]
        page += 1
    return None


def main() -> None:
    text = Path(sys.argv[1]).read_text(encoding="utf-8")
    mark = text.partition("\n")[0]
    if not (mark.startswith("<!--") and mark.endswith("-->")):
        sys.exit(f"{sys.argv[1]} does not begin with a mark")
    number = os.environ["PULL_REQUEST"]
    try:
        there = ours(number, mark)
        if there is None:
            call("POST", f"/issues/{number}/comments", {"body": text})
        else:
            call("PATCH", f"/issues/comments/{there}", {"body": text})
    except urllib.error.HTTPError as err:
        if err.code != 403:
            raise
        # A pull request from a fork: its token may not write. The summary of the run has the text.
        sys.stdout.write("::notice::no comment: this token may not write to the pull request\n")


if __name__ == "__main__":
    main()
