"""Modules before Lmod."""

from __future__ import annotations

from clustergen.verify.check import Check, Reader, paths

COMPONENT = "login"
_READ = r"""
lmod=/usr/share/lmod/lmod/libexec status=0
for file; do
  directory=$(printf '%s\n' "$file" | sed -E 's#^(/etc/(lmod/modules|modulefiles))/.*#\1#') name=${file#"$directory"/}
  [ -n "${checked-}" ] || "$program" "$lmod/check_module_tree_syntax" "$directory" || status=1
  checked=yes
  case $name in */.modulerc.lua) continue ;; esac
  MODULEPATH=$directory "$program" "$lmod/lmod" bash load "${name%.lua}" >/dev/null || status=1
done
exit "$status"
"""
CHECKS = (
    Check(
        name="modules",
        what="environment modules",
        parser="lmod",
        proves="Lmod parses every module and loads it. What it points to need not exist.",
        reads=paths("/etc/lmod/modules/*", "/etc/modulefiles/*"),
        ask=Reader("lua5.3", "dpkg-query -W -f '${Version}' lmod", _READ, newest=True),
    ),
)
