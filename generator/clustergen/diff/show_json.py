"""Plans for programs. The form is stable: fields may be added, none changes its meaning without another `version`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clustergen.catalogue.versions import SlurmRelease
from clustergen.diagnostics.document import json_document
from clustergen.diff.change import Change
from clustergen.diff.manifest_changes import ManifestChange
from clustergen.diff.messages import reason, verdict
from clustergen.diff.plan import Plan
from clustergen.diff.room import RoomChanges
from clustergen.diff.room_tables import Cable
from clustergen.diff.step import Step
from clustergen.diff.totals import totals


def as_json(plans: Sequence[Plan], added: Sequence[str], removed: Sequence[str]) -> str:
    """One document; `added` and `removed` are clusters that one side lacks."""
    fields = {
        "clusters": [_plan(plan) for plan in plans],
        "clusters_added": list(added),
        "clusters_removed": list(removed),
    }
    return json_document(fields)


def _side(name: str, release: SlurmRelease | None, commit: str) -> dict[str, Any]:
    return {"name": name, "slurm": str(release) if release else None, "commit": commit or None}


def _plan(plan: Plan) -> dict[str, Any]:
    worst = max(
        (effect for change in plan.changes for effect in change.effects), key=lambda e: e.severity, default=None
    )
    return {
        "cluster": plan.cluster,
        "old": _side(plan.old, plan.old_release, plan.old_commit),
        "new": _side(plan.new, plan.release, plan.new_commit),
        "verdict": verdict(plan),
        "totals": totals(plan).as_dict(),
        "worst": worst.kind if worst else None,
        "changes": [_change(change, plan.causes.get(change, ())) for change in plan.changes],
        "manifest": [_manifest_change(value) for value in plan.manifest_changes],
        "manifest_untraced": [_manifest_change(value) for value in plan.untraced],
        "hosts": {"added": list(plan.added), "removed": list(plan.removed)},
        "groups": [{"group": g.name, "joined": list(g.joined), "left": list(g.left)} for g in plan.groups],
        "machine_room": _room(plan.room, plan.room_causes) if plan.room else None,
        "running": [{"text": jobs.text, "state": jobs.state} for jobs in plan.running],
        "pending": [{"text": jobs.text, "reason": jobs.state} for jobs in plan.waiting],
        "steps": [_step(step) for step in plan.steps],
    }


def _step(step: Step) -> dict[str, Any]:
    """`before` has to hold for it and `after` holds then; `undo` is the kind of the step that takes it back."""
    row = step.row
    return {
        "text": step.text,
        "hosts": step.hosts,
        "play": step.play or None,
        "by": step.by or None,
        "kind": step.kind,
        "about": step.what,
        "before": (row and row.before) or None,
        "after": (row and row.after) or None,
        "undo": (row and row.undo) or None,
        "parts": [_step(part) for part in step.parts],
    }


def _change(change: Change, causes: Sequence[ManifestChange]) -> dict[str, Any]:
    return {
        "file": change.file or None,
        "kind": change.kind,
        "name": change.name or None,
        "key": change.key or None,
        "old": change.old,
        "new": change.new,
        "nodes": change.nodes,
        "effects": [{"kind": effect.kind, "unit": effect.unit} for effect in change.effects],
        "everywhere": change.everywhere,
        "reason": reason(change),
        "source": change.source or None,
        "running": [{"text": jobs.text, "state": jobs.state} for jobs in change.running],
        "pending": [{"text": jobs.text, "reason": jobs.state} for jobs in change.waiting],
        "manifest": [_manifest_change(value) for value in causes],
    }


def _room(room: RoomChanges, causes: Sequence[ManifestChange]) -> dict[str, Any]:
    """Every device, cable and feed that changes; `uncompared` is the side without tables, else null."""
    return {
        "uncompared": room.uncompared or None,
        "devices": [
            {"change": kind, "name": name, "old": old and old._asdict(), "new": new and new._asdict()}
            for kind, name, old, new in room.devices
        ],
        "cables": [
            {
                "change": change.kind,
                "network": change.cable.network,
                "old": _cable(change.old),
                "new": _cable(change.new),
            }
            for change in room.cables
        ],
        "parts": [{**part._asdict(), "count": count} for part, count in room.parts.items()],
        "feeds": [
            {"name": name, "old": old and old._asdict(), "new": new and new._asdict()} for name, old, new in room.feeds
        ],
        "ports_left": [row._asdict() for row in room.ports_left],
        "cables_specified": room.specified,
        "cables_longer": room.longer,
        "renamed": dict(room.renamed),
        "recabled": list(room.recabled),
        "recabled_bmc": list(room.recabled_bmc),
        "fewer_uplinks": list(room.narrowed),
        "manifest": [_manifest_change(value) for value in causes],
    }


def _cable(cable: Cable | None) -> dict[str, Any] | None:
    return cable and {"a": list(cable.a), "b": list(cable.b), "medium": cable.medium, "length_m": cable.metres or None}


def _manifest_change(value: ManifestChange) -> dict[str, Any]:
    place = value.place
    return {
        "path": list(value.path),
        "label": value.label,
        "old": value.old,
        "new": value.new,
        "file": place.file if place else None,
        "line": place.line if place else None,
        "column": place.column if place else None,
    }
