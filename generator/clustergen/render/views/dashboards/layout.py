"""Where panels are on Grafana's grid: lines of equal height that fill all 24 columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from clustergen.records import record
from clustergen.render.dashboards import COLUMNS, Dashboard, Panel, Row


@record
class Place:
    """The rectangle of a panel, or of the title of a row."""

    x: int
    y: int
    w: int
    h: int


def lines(panels: Sequence[Panel]) -> list[list[Panel]]:
    """The panels in order, broken into lines of at most 24 columns that differ as little as possible in what they
    leave free.
    """
    count = len(panels)
    best: list[tuple[float, int]] = [(0.0, 0)] + [(float("inf"), 0)] * count  # cost of the first n, start of their last
    for end in range(1, count + 1):
        for start in range(end):
            part = panels[start:end]
            width = sum(panel.width for panel in part)
            if width > COLUMNS and len(part) > 1:
                continue
            uneven = max(panel.height for panel in part) - min(panel.height for panel in part)
            cost = best[start][0] + max(0, COLUMNS - width) ** 2 + 40 * uneven + 1
            if cost < best[end][0]:
                best[end] = (cost, start)
    result: list[list[Panel]] = []
    end = count
    while end:
        start = best[end][1]
        result.insert(0, list(panels[start:end]))
        end = start
    return result


def stretched(line: Sequence[Panel]) -> list[int]:
    """The widths of a line in proportion to what its panels require, 24 in total."""
    total = sum(panel.width for panel in line)
    edges = [0]
    required = 0
    for panel in line:
        required += panel.width
        edges.append(round(COLUMNS * required / total))
    return [right - left for left, right in pairwise(edges)]


def placed(dashboard: Dashboard) -> list[tuple[Row | Panel, Place]]:
    """Row titles and panels with their places, from top to bottom."""
    result: list[tuple[Row | Panel, Place]] = []
    y = 0
    for row in dashboard.rows:
        result.append((row, Place(0, y, COLUMNS, 1)))
        y += 1
        for line in lines(row.panels):
            height = max(panel.height for panel in line)
            x = 0
            for panel, width in zip(line, stretched(line), strict=True):
                result.append((panel, Place(x, y, width, height)))
                x += width
            y += height
    return result
