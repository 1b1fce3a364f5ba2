"""MIG plans of another shape than the manifest's: one finding with the plan to write and the profiles of its GPU."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from clustergen.catalogue.hardware import Gpu, gpu
from clustergen.catalogue.mig import mig_example, mig_listing
from clustergen.catalogue.systems import system
from clustergen.cluster.gpus import plan_hint
from clustergen.diagnostics import Finding, ManifestPath, quote, where
from clustergen.diagnostics.words import on_one_line

_CODES = ("type-wrong", "text-malformed", "value-out-of-range", "key-missing", "key-unknown")
_PROFILE = re.compile(r"[1-9]g\.[0-9]+gb([+-][a-z.]+)?")
_OTHER_KEYS = "mig-devices", "mig_devices", "devices", "instances"
_NEW = "split"  # name of a plan in an example


def merged(findings: list[Finding], data: Any) -> list[Finding]:
    """The findings, with one in place of all those of the same `gpus.mig` or plan."""
    result: dict[ManifestPath | int, Finding] = {}
    for index, finding in enumerate(findings):
        path = finding.path
        if finding.code not in _CODES:
            result[index] = finding
        elif path[:1] == ("node_types",) and path[2:4] == ("gpus", "mig") and _is_no_plan(_at(data, path[:4])):
            result.setdefault(path[:4], _of_node_type(path[:4], data))
        elif path[:2] == ("gpu", "mig_plans") and len(path) > 2:
            result.setdefault(path[:3], _of_plan(finding, data))
        else:
            result[index] = finding
    return list(result.values())


def _of_node_type(path: ManifestPath, data: Any) -> Finding:
    value = _at(data, path)
    model = _gpu_of(_at(data, path[:2]))
    message = f"{where(path, data)} must be the name of a MIG plan, or a mapping with a name for each GPU number"
    plans = _at(data, ("gpu", "mig_plans"))
    name = next(iter(plans), None) if isinstance(plans, Mapping) else None
    if plan := _by_number(value, plans):
        return Finding("type-wrong", path, message, f"write mig: {on_one_line(plan)}")
    if isinstance(name, str) and not any(_profiles_in(value)):
        return Finding("type-wrong", path, message, f"write mig: {name}")
    hint = plan_hint(_NEW, model, _profiles_in(value)).replace("write ", f"write mig: {_NEW}, and ", 1)
    return Finding("type-wrong", path, message, hint)


def _by_number(mig: Any, plans: Any) -> dict[str, str]:
    """Plans by a GPU's number of those by its name, `{gpu0: half}`; nothing for other values."""
    if not isinstance(mig, Mapping) or not isinstance(plans, Mapping):
        return {}
    numbers = [re.fullmatch(r"(?:gpu|nvidia)[ _-]?([0-9]+)", str(key), re.IGNORECASE) for key in mig]
    by_number = {match[1]: plan for match, plan in zip(numbers, mig.values(), strict=True) if match}
    is_meant = len(by_number) == len(mig) and all(isinstance(plan, str) and plan in plans for plan in mig.values())
    return by_number if is_meant else {}


def _is_no_plan(mig: Any) -> bool:
    """True if a value is neither the name of a plan nor a mapping of GPUs, be they wrong themselves."""
    if isinstance(mig, Mapping):
        return not mig or not all(str(index).isdigit() for index in mig)
    return not isinstance(mig, str) or _is_profile(mig)


def _of_plan(finding: Finding, data: Any) -> Finding:
    """A plan as it was probably meant, if the GPU has these profiles; else an example."""
    path = finding.path[:3]
    value, model = _at(data, path), _gpu_with(str(path[2]), data)
    if isinstance(value, Mapping) and "profiles" in value:
        value = value["profiles"]
    value = _plain(value)
    family = model.mig_family if model else ""
    meant = _meant(value) or mig_example(family, _profiles_in(value)) or {"3g.40gb": 2}
    of_gpu = f"; the {model.nvml_name} has {mig_listing(family)}" if model and mig_listing(family) else ""
    hint = f"write {path[2]}: {on_one_line({'profiles': meant})}{of_gpu}"
    code, message = finding.code, finding.message
    if code in ("key-missing", "key-unknown") and _meant(value):
        code, message = "key-missing", f"{where(path, data)} requires the key {quote('profiles')} around its profiles"
    return Finding(code=code, path=finding.path, message=message, hint=hint, key=finding.key, at=finding.at)


def _meant(value: Any) -> dict[str, int]:
    """Profile → instances of a list, a text or a mapping of profiles."""
    if isinstance(value, Mapping):
        counts = [count for count in value.values() if type(count) is int and 0 < count <= 7]
        is_plan = len(counts) == len(value) and all(map(_is_profile, value))
        return {str(name): count for name, count in value.items()} if is_plan else {}
    values = [value] if isinstance(value, str) else value
    if isinstance(values, list) and values and all(map(_is_profile, values)):
        return dict(Counter(values))
    return {}


def _plain(value: Any) -> Any:
    """Profiles as nvidia-smi and mig-parted write them: MIG-3g.40gb, {mig-devices: {3g.40gb: 2}}."""
    if isinstance(value, str):
        return re.sub(r"^mig[ _-]", "", value.strip(), flags=re.IGNORECASE)
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, Mapping):
        inner = next((value[key] for key in _OTHER_KEYS if isinstance(value.get(key), Mapping)), value)
        return {_plain(key): count for key, count in inner.items()}
    return value


def _is_profile(value: Any) -> bool:
    return isinstance(value, str) and _PROFILE.fullmatch(value) is not None


def _profiles_in(value: Any) -> Iterator[str]:
    """All profiles that a value of any shape names."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _profiles_in(key)
            yield from _profiles_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _profiles_in(inner)
    elif _is_profile(value):
        yield value


def _gpu_with(plan: str, data: Any) -> Gpu | None:
    """The GPU of the first node type that uses a plan, else the first one that can be split."""
    kinds = _at(data, ("node_types",))
    kinds = list(kinds.values()) if isinstance(kinds, Mapping) else []
    users = [kind for kind in kinds if plan in _plans_of(_at(kind, ("gpus", "mig")))]
    models = [model for kind in (users or kinds) if (model := _gpu_of(kind)) and model.mig_max]
    return models[0] if models else None


def _plans_of(mig: Any) -> Iterable[Any]:
    return list(mig.values()) if isinstance(mig, Mapping) else [mig]


def _gpu_of(kind: Any) -> Gpu | None:
    """The GPU of a node type that has not been validated."""
    name, model = _at(kind, ("system",)), _at(kind, ("gpus", "model"))
    row = system(name) if isinstance(name, str) else None
    model = model if isinstance(model, str) else row.gpu if row else None
    return gpu(model) if model else None


def _at(data: Any, path: ManifestPath) -> Any:
    for part in path:
        try:
            data = data[part]
        except (LookupError, TypeError):
            return None
    return data
