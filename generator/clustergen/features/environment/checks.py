"""Modules before Lmod."""

from __future__ import annotations

from clustergen.verify.check import Check, Reader, paths

COMPONENT = "login"
_READ = r"""
status=0
places=$(printf '%s\n' "$@" | sed -E 's#^(/etc/(lmod/modules|modulefiles)).*#\1#' | sort -u)
for directory in $places; do
  "$program" /usr/share/lmod/lmod/libexec/check_module_tree_syntax "$directory" || status=1
done
exit "$status"
"""
CHECKS = (
    Check(
        "modules",
        "environment modules",
        "lmod: check_module_tree_syntax",
        "Lmod evaluates every module. What they point to need not exist.",
        paths("/etc/lmod/modules/*", "/etc/modulefiles/*"),
        Reader("lua5.3", "dpkg-query -W -f '${Version}' lmod", _READ, newest=True),
    ),
)
