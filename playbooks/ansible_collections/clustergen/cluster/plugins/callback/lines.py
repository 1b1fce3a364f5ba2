"""Output of ansible-playbook for clusters: a line for hosts that went the same way, and one for each that failed."""

from __future__ import annotations

DOCUMENTATION = """
name: lines
type: stdout
short_description: One line for all hosts that went the same way
description:
  - Hosts with the same outcome share a line, folded as Slurm folds host lists. What failed or was not reached has a line of its own, at once.
  - A play, and each role in it, has a line with the seconds since the run began when its first host starts. Tasks without any outcome to report are not mentioned.
  - After a failure of a run that changed something, the last lines say where it happened, which hosts were changed and which nodes are still drained.
  - While nothing else is printed, a line names every 15 seconds the task and the hosts that it runs on; less often in a task of many minutes.
  - ANSIBLE_STDOUT_CALLBACK=default gives Ansible's own output.
extends_documentation_fragment:
  - default_callback
  - result_format_callback
"""

import re
import threading
import time

from ansible import constants as C
from ansible.plugins.callback import CallbackBase

from ansible_collections.clustergen.cluster.plugins.plugin_utils.hosts import folded
from ansible_collections.clustergen.cluster.plugins.plugin_utils.printing import guard

_MOST_WIDTH = 40
_MOST_LINE = 10_000  # characters of a message; a rejected file names all its errors
_MOST_DIFF = 64 << 20  # characters of all diffs of a task
_SILENCE_S = 15


class CallbackModule(CallbackBase):
    """Collects outcomes of a task, and prints them when the next one starts."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "clustergen.cluster.lines"

    def __init__(self):
        super().__init__()
        guard(self._display)
        self._play = ""
        self._steps = set()
        self._title = ""
        self._last_title = ""
        self._same = {}
        self._width = 12
        self._began = self._printed = self._task_began = time.monotonic()
        self._running = {}
        self._is_over = threading.Event()
        self._diffs = {}
        self._diff_left = _MOST_DIFF
        self._failed = {}
        self._drained = {}

    # -- printing -----------------------------------------------------------------------------------------------------

    def _show(self, text, color=None):
        self._printed = time.monotonic()
        self._display.display(text, color=color)

    def _announce(self, text):
        self._last_title = ""  # an outcome below this line names its task again
        self._show(f"{time.monotonic() - self._began:5.0f} s  {text}")

    def _line(self, hosts, outcome, text, color):
        if self._last_title != self._title:
            self._last_title = self._title
            self._show(f"\n{self._title}  [{time.monotonic() - self._began:.0f} s]", C.COLOR_HIGHLIGHT)
        self._show(f"  {hosts:<{self._width}}  {outcome}{': ' if text else ''}{text}", color)

    def _end_silence(self):
        """Names the running task and its hosts, after 15 s of silence, or a quarter of the time that the task takes."""
        reading = time.monotonic()
        hosts = list(self._running)
        if hosts and reading - self._printed >= max(_SILENCE_S, (reading - self._task_began) / 4):
            self._announce(f"{self._title}: running on {folded(hosts)}")

    def _watch(self):
        while not self._is_over.wait(min(1, _SILENCE_S)):
            self._end_silence()

    def _flush(self):
        lines = [(folded(hosts), *key) for key, hosts in self._same.items()]
        self._width = max([self._width, *(len(line[0]) for line in lines if len(line[0]) <= _MOST_WIDTH)])
        for line in lines:
            self._line(*line)
        self._same = {}
        for diff, hosts in self._diffs.items():
            self._show(f"\n{folded(hosts)}")
            self._show(diff.rstrip("\n"))
        if self._diff_left < 0:
            self._show("\nfurther diffs are omitted", C.COLOR_WARN)
        self._diffs = {}
        self._diff_left = _MOST_DIFF

    def _add(self, result, outcome, color, text=""):
        self._same.setdefault((outcome, text, color), []).append(_host(result))

    # -- what happens -------------------------------------------------------------------------------------------------

    def v2_playbook_on_start(self, playbook):
        threading.Thread(target=self._watch, daemon=True).start()

    def v2_playbook_on_play_start(self, play):
        self._flush()
        self._play = play.get_name().strip()
        self._steps = set()

    def v2_playbook_on_task_start(self, task, is_conditional=False):
        self._flush()
        self._title = f"{self._play}: {task.get_name().strip().rpartition(' : ')[2]}"
        self._task_began = time.monotonic()
        self._running = {}

    v2_playbook_on_handler_task_start = v2_playbook_on_cleanup_task_start = v2_playbook_on_task_start

    def v2_runner_on_start(self, host, task):
        """Prints the play, and the role if there is one, when its first host starts: what takes minutes is announced."""
        step = f"{self._play}: {task._role.get_name(include_role_fqcn=False)}" if task._role else self._play
        if step not in self._steps:
            self._steps.add(step)
            self._announce(step)
        self._running[str(host)] = None

    def v2_runner_on_ok(self, result):
        self._running.pop(_host(result), None)
        answer = _answer(result)
        if _task(result).action == "clustergen.cluster.slurm_nodes":
            self._drained.update(dict.fromkeys(answer.get("drained") or ()))
            for host in answer.get("resumed") or ():
                self._drained.pop(host, None)
        if answer.get("warnings"):
            for warning in answer["warnings"]:
                self._line(_host(result), "warning", " ".join(str(warning)[:_MOST_LINE].split()), C.COLOR_WARN)
        if answer.get("changed"):
            self._add(result, "changed", C.COLOR_CHANGED, _text(answer))
        elif answer.get("msg") and _task(result).action.startswith(("clustergen.", "ansible.builtin.debug")):
            self._add(result, "ok", C.COLOR_OK, _text(answer))

    def v2_runner_on_skipped(self, result):
        self._running.pop(_host(result), None)

    def v2_runner_on_failed(self, result, ignore_errors=False):
        self._running.pop(_host(result), None)
        if not ignore_errors:
            self._failed.setdefault(self._title, []).append(_host(result))
            self._line(_host(result), "failed", _text(_answer(result)), C.COLOR_ERROR)

    def v2_runner_on_unreachable(self, result):
        self._running.pop(_host(result), None)
        self._failed.setdefault(self._title, []).append(_host(result))
        self._line(_host(result), "unreachable", _unreachable(_text(_answer(result))), C.COLOR_UNREACHABLE)

    def v2_runner_item_on_failed(self, result):
        item = self._get_item_label(_answer(result))
        self._line(_host(result), "failed", f"{item}: {_text(_answer(result))}", C.COLOR_ERROR)

    def v2_on_file_diff(self, result):
        answer = _answer(result)
        for one in answer.get("results", [answer]):
            # The question knows what will change before anything does.
            if one.get("diff") and (one.get("changed") or _task(result).action == "clustergen.cluster.ask"):
                # Each file by itself: hosts that differ in one file share the others.
                for diff in one["diff"] if isinstance(one["diff"], list) else [one["diff"]]:
                    if text := self._get_diff(diff):
                        self._diff_left -= len(text) if text not in self._diffs else 0
                        if self._diff_left >= 0:
                            self._diffs.setdefault(text, []).append(_host(result))

    def v2_playbook_on_stats(self, stats):
        self._is_over.set()
        self._flush()
        self._display.banner("PLAY RECAP")
        for host in sorted(stats.processed):
            counts = stats.summarize(host)
            columns = {
                "ok": "ok",
                "changed": "changed",
                "unreachable": "unreachable",
                "failed": "failures",
                "skipped": "skipped",
            }
            color = (
                C.COLOR_ERROR
                if counts["unreachable"] or counts["failures"]
                else C.COLOR_CHANGED
                if counts["changed"]
                else C.COLOR_OK
            )
            line = "  ".join(f"{name}={counts[key]:<3}" for name, key in columns.items())
            self._display.display(f"{host:<26} : {line}".rstrip(), color=color)
        changed = [host for host in stats.processed if host != "localhost" and stats.summarize(host)["changed"]]
        if self._failed and (changed or self._drained):
            self._display.display("")
            for words in self._left(stats):
                self._display.display(words, color=C.COLOR_ERROR)

    def _left(self, stats):
        """The state of the hosts after a failure, and how it goes on."""
        failed = {host for hosts in self._failed.values() for host in hosts}
        for title, hosts in self._failed.items():
            yield f"failed at {title}: {folded(dict.fromkeys(hosts))}"
        for is_changed, words in ((True, "changed as far as the run came"), (False, "unchanged")):
            hosts = [one for one in stats.processed if one not in failed and one != "localhost"]
            if hosts := [one for one in hosts if bool(stats.summarize(one)["changed"]) is is_changed]:
                yield f"{words}: {folded(hosts)}"
        if self._drained:
            yield f"still drained: {folded(self._drained)}; clustergen.cluster.resume gives up"
        yield "run it again once that is repaired: it goes on from here"


# What a callback is given has other names from ansible-core 2.19 on.
def _host(result):
    return (result.host if hasattr(result, "host") else result._host).get_name()


def _task(result):
    return result.task if hasattr(result, "task") else result._task


def _answer(result):
    return result.result if hasattr(result, "result") else result._result


def _unreachable(text):
    """The last message of ssh, without its banner about a changed key."""
    if "REMOTE HOST IDENTIFICATION HAS CHANGED" in text:
        remove = re.search(r"ssh-keygen -f \S+ -R \S+", text)
        return "its host key differs from the one in known_hosts" + (
            f". If this is expected: {remove.group(0)}, then add the new key with ssh-keyscan" if remove else ""
        )
    text = re.sub(r"^Data could not be sent to remote host .*? can be reached over ssh: ", "", text)
    return text.removeprefix("Failed to connect to the host via ssh: ")


def _text(result):
    """The message of a result, on one line; of a command that failed, its last words."""
    text = str(result.get("msg") or "")
    wrong = result.get("failed") or result.get("unreachable")
    if wrong and (not text or text == "non-zero return code"):
        output = str(result.get("stderr") or result.get("module_stderr") or result.get("stdout") or "")
        text = " ".join(output.strip().splitlines()[-3:]) or text
    for prefix in ("Task failed: ", "Action failed: ", "Module failed: "):
        text = text.removeprefix(prefix)
    return " ".join(text[:_MOST_LINE].split()) + ("…" if len(text) > _MOST_LINE else "")
