"""Findings about a fabric, in groups of one kind, with a headline that counts them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from clustergen import hostlist
from clustergen.diagnostics import Diagnostic, Place, quote
from clustergen.diagnostics.words import counted, cut
from clustergen.hostlist import natural_key
from clustergen.records import record, replace


@record
class Item:
    """One finding of a group. `line` is where the file shows it, 0 where it shows nothing."""

    message: str
    line: int = 0


@record
class Group:
    """Findings of one code with one next step. `headline` is empty where a single item says everything."""

    code: str
    headline: str
    hint: str
    items: tuple[Item, ...]

    def diagnostics(self, file: str) -> Iterator[Diagnostic]:
        for item in self.items:
            place = Place(file, item.line, 1, 1) if item.line else Place(file)
            yield Diagnostic.of(self.code, place, item.message, self.hint)


@record
class Report:
    """The comparison and its differences."""

    file: str
    reading: tuple[Diagnostic, ...]  # what is wrong with the file
    groups: tuple[Group, ...]
    remarks: tuple[str, ...]  # how the comparison was made
    agreement: str = "no findings"  # what is right, where nothing is wrong

    def selected(self, reports: Callable[[str], bool]) -> Report:
        """The same with the findings of some codes only; what is wrong with the file stays."""
        return replace(self, groups=tuple(group for group in self.groups if reports(group.code)))

    def diagnostics(self) -> list[Diagnostic]:
        return [*self.reading, *(one for group in self.groups for one in group.diagnostics(self.file))]


def grouped(code: str, items: Sequence[Item], headline: str, hint: str) -> Iterator[Group]:
    """One group, or none where there are no items."""
    if items:
        yield Group(code, headline if len(items) > 1 else "", hint, tuple(items))


def unnamed_adapters(ports: Mapping[tuple[str, str], Sequence[tuple[str, int]]]) -> Iterator[Group]:
    """Adapters that name no node: (switch, description) → ports and lines, one item for each."""
    items = []
    for (switch, name), at in sorted(ports.items()):
        numbers = sorted((port for port, _ in at), key=natural_key)
        shown = f"port{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}"
        items.append(Item(f"{switch} {shown}: {quote(name or 'no description')} names no node", min(at[0][1:])))
    headline = f"{counted(sum(map(len, ports.values())), 'adapter')} name no node: which node they are in is not known"
    hint = "start rdma-ndd on the node: it names each adapter by host and device"
    yield from grouped("adapter-unnamed", items, headline, hint)


def port_command(sources: Collection[str]) -> str:
    """The command that shows the ports of a node: the facts have `sources` where lldpd of each host was asked, on
    Ethernet.
    """
    return "ip link" if sources else "ibstat"


def folded(names: Iterable[str]) -> str:
    """Names as a host list where they can be one, at most 300 characters."""
    return cut(hostlist.folded(names), 300)
