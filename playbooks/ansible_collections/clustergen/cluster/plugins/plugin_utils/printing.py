"""Text of nodes on the operator's terminal: nothing in it moves the cursor, hides or forges a line."""

from __future__ import annotations

import re

MAX_TEXT = 1 << 20  # characters of one message
# Control characters but for tab and newline, marks that turn the direction of text, other ends of lines, and halves of pairs.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")


def visible(text):
    """The text with its control characters written out, as in `\\x1b[2J`."""
    if len(text) > MAX_TEXT:
        text = text[:MAX_TEXT] + f"\n… {len(text) - MAX_TEXT} more characters"
    return _CONTROLS.sub(lambda match: ascii(match.group())[1:-1], text)


def guard(display):
    """Lets a display of Ansible print only visible text from now on, warnings of its own about a node's output included."""
    if getattr(display.display, "guards", False):
        return
    show = display.display

    def shown(msg, *arguments, **named):
        text = visible(str(msg))
        if named.get("stderr") and text.startswith("["):  # [WARNING]: …, of several lines: none may look like a host's
            text = text.replace("\n", "\n    ")
        return show(text, *arguments, **named)

    shown.guards = True
    display.display = shown
