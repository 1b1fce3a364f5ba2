"""Plays ssh for ansible-playbook: a host's answer to a module is what a file of the test says.

`ANSWERS/HOST.MODULE` is printed, or as many MiB as `ANSWERS/HOST.MODULE.flood` says, where 0 is no answer ever; a host
without either is answered for by `ANSWERS/MODULE`. `@HOST@` is the name of the host, and `"@CLOCK@"` the time.
"""

import json
import os
import re
import sys
import time
from pathlib import Path

place = Path(os.environ["HOSTILE_ANSWERS"])
host = json.loads((place / "hosts").read_text(encoding="utf-8"))[sys.argv[-2]]  # by its address
payload = sys.stdin.read()
named = re.search(r"plugins[./]modules[./](\w+)", payload) or re.search(r"modules[./](\w+)", payload)
module = named[1] if named else "none"
with (place / "asked").open("a", encoding="utf-8") as log:
    log.write(f"{host} {module}\n")
host_answer = place / f"{host}.{module}"
flood = place / f"{host}.{module}.flood"
out = sys.stdout.buffer
try:
    if flood.exists():
        block = b"x" * (1 << 20)
        size = int(flood.read_text(encoding="ascii"))
        for _ in range(size):
            out.write(block)
        if not size:
            time.sleep(300)
    else:
        content = (host_answer if host_answer.exists() else place / module).read_bytes()
        out.write(content.replace(b"@HOST@", host.encode()).replace(b'"@CLOCK@"', repr(time.time()).encode()))
    out.flush()
except BrokenPipeError:
    os._exit(0)
