"""The shapes of dashboards: panels with their queries, rows, variables. `encode` turns them into Grafana's JSON."""

from __future__ import annotations

from typing import Literal

from clustergen.records import record

PREFIX = "clustergen-"
COLUMNS = 24  # of Grafana's grid
CHOSEN = 'instance=~"$instance"'
"""The matcher of the nodes that a page shows."""
NODE_PAGE = (("instance", "node"),)
"""Link of a panel, where a click on a series opens the page of its node."""
Kind = Literal["stat", "timeseries", "table", "bargauge"]
Color = Literal["green", "yellow", "orange", "red", "blue", "text"]


@record
class Step:
    """The color of values from `value` on; None begins at the lowest."""

    value: float | None
    color: Color


@record
class Target:
    """One query. `legend` names its series, or its column of a table; `unit` and `steps` are those of the column. A
    column without a name is hidden: it counts the series, of which there is one for each set of labels.
    """

    expr: str
    legend: str = ""
    unit: str = ""
    steps: tuple[Step, ...] = ()


@record
class Panel:
    """One panel. `width` in columns of the grid is what it requires: its line is stretched over the whole grid.

    `links`: label of a table's column, or of the series → slug of the dashboard that a click opens, or a URL to which
    the value is appended. `words`: value → what is shown instead. `empty` is shown without data. `sort`: the column
    that orders a table.
    """

    title: str
    kind: Kind
    targets: tuple[Target, ...]
    unit: str = "short"
    help: str = ""
    width: int = 8
    height: int = 7
    steps: tuple[Step, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    stacked: bool = False
    links: tuple[tuple[str, str], ...] = ()
    words: tuple[tuple[int, str], ...] = ()
    empty: str = ""
    sort: str = ""


@record
class Row:
    """Panels below one title."""

    title: str
    panels: tuple[Panel, ...]


@record
class PageRow:
    """A row on the page of another feature, behind the row of this title; empty: at the top, None: at the end."""

    page: str
    row: Row
    after: str | None = None


@record
class Variable:
    """A choice at the top of a dashboard: the values of a label of some series; with `has_all`, first all of them."""

    name: str
    title: str
    series: str
    label: str
    has_all: bool = False


@record
class Dashboard:
    """One page; `slug` is its file name and, with a prefix, its uid. `place`: in the menu; without one it is last."""

    slug: str
    title: str
    purpose: str
    rows: tuple[Row, ...]
    variables: tuple[Variable, ...] = ()
    place: int = 1000

    @property
    def uid(self) -> str:
        return PREFIX + self.slug


def row(title: str, *panels: Panel) -> Row:
    return Row(title, panels)


def table(title: str, *targets: Target, **more: object) -> Panel:
    """A column for each target."""
    return Panel(title, "table", targets, **more)  # type: ignore[arg-type]


def stat(title: str, expr: str, unit: str = "short", **more: object) -> Panel:
    """One number, with its history as a line."""
    return Panel(title, "stat", (Target(expr),), unit, **{"width": 3, "height": 4, **more})  # type: ignore[arg-type]


def graph(title: str, *targets: Target, unit: str = "short", **more: object) -> Panel:
    """Series over time, from 0 unless `minimum` is stated; those of a node are links to its page unless `links` are."""
    more.setdefault("minimum", 0)
    if any("{{instance}}" in target.legend for target in targets):
        more.setdefault("links", NODE_PAGE)
    return Panel(title, "timeseries", targets, unit, **more)  # type: ignore[arg-type]


def or_none(expr: str, label: str) -> str:
    """The expression; while it has no series, one of zeros whose `label` is `none`."""
    return f'{expr} or on () label_replace(vector(0), "{label}", "none", "", "")'


def at_least(warning: float, critical: float) -> tuple[Step, ...]:
    """Green, yellow from one value on and red from the other."""
    return (Step(None, "green"), Step(warning, "yellow"), Step(critical, "red"))


def at_most(warning: float, critical: float) -> tuple[Step, ...]:
    """Green, yellow below one value and red below the other."""
    return (Step(None, "red"), Step(critical, "yellow"), Step(warning, "green"))


IS_ONE = (Step(None, "red"), Step(1, "green"))
ANY_IS_BAD = (Step(None, "green"), Step(1, "red"))
ANY_IS_UNUSUAL = (Step(None, "green"), Step(1, "yellow"))


PORT = "{{instance}} {{device}}"
PORT_ERRORS = "Errors of the chosen nodes"  # row of the page of the fabric
MOST_PORTS = 20


def port_rate(title: str, metric: str, help: str = "", *, unit: str = "eps") -> Panel:
    """A rate of fabric ports of the chosen nodes."""
    expr = f"topk({MOST_PORTS}, rate({metric}{{{CHOSEN}}}[$__rate_interval]))"
    return graph(title, Target(expr, PORT), unit=unit, help=help)


def links_lost() -> Panel:
    """Of fabric ports, in an hour: as a rate, single losses would be numbers with many zeros."""
    expr = f"topk({MOST_PORTS}, increase(node_infiniband_link_downed_total{{{CHOSEN}}}[1h]))"
    target = Target(expr, PORT)
    return graph("Links lost in an hour", target, help="An alert fires above two.")
