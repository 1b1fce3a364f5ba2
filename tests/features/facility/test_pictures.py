"""Pictures of racks and networks, measured in the SVG itself."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from clustergen import compile as compiler
from clustergen.facility.cabling import cables
from clustergen.features.facility.drawing import BOLD, SIZES, fitted, width
from clustergen.features.facility.elevations import MOST_RACKS, elevations
from clustergen.hostlist import expand
from clustergen.render.build import Builder
from clustergen.render.formats import SVG, RenderError
from clustergen.render.registry import files
from facility.test_cables import superpod
from hostile.test_growth import calls
from strategies.trees import manifest, tree_of

ROOT = Path(__file__).parents[3]
SVG_NAME = "{http://www.w3.org/2000/svg}"
Box = tuple[float, float, float, float]
LONG = "n" + "w" * 62


def pictures_of(data: dict[str, Any], directory: Path) -> dict[str, ElementTree.Element]:
    files = tree_of(data, directory).files
    return {
        path.removeprefix("facility/"): ElementTree.fromstring(file.content)
        for path, file in files.items()
        if path.endswith(".svg")
    }


def manifest_file(data: dict[str, Any], directory: Path) -> Path:
    path = directory / "manifest.yaml"
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def in_one_rack(count: int, **rack: Any) -> dict[str, Any]:
    """A head and nodes of one unit each in one rack."""
    node = {"name": f"n[1-{count}]", "type": "gpu", "address": f"10.0.0.[11-{10 + count}]"}
    data = manifest(racks={"r1": {"nodes": f"n[1-{count}]", **rack}})
    data["node_types"]["gpu"]["rack_units"] = 1
    data["nodes"] = [data["nodes"][0], node]
    return data


def place(element: ElementTree.Element) -> Box:
    return tuple(float(element.get(name, 0)) for name in ("x", "y", "width", "height"))  # type: ignore[return-value]


def within(inner: Box, outer: Box) -> bool:
    return all(
        inner[axis] >= outer[axis] and inner[axis] + inner[axis + 2] <= outer[axis] + outer[axis + 2] for axis in (0, 1)
    )


def apart(one: Box, two: Box) -> bool:
    return any(one[axis] + one[axis + 2] <= two[axis] or two[axis] + two[axis + 2] <= one[axis] for axis in (0, 1))


def racks_in(picture: ElementTree.Element) -> dict[str, tuple[Box, dict[str, Box]]]:
    """Rack → its bay and the boxes of its devices, in the coordinates of the rack."""
    frames = {
        frame.get("id"): place(rect)
        for frame in picture.iterfind(f"{SVG_NAME}defs/{SVG_NAME}g")
        for rect in frame.iterfind(f"{SVG_NAME}rect")
        if rect.get("class") == "bay"
    }
    racks = {}
    for group in picture.iterfind(f"{SVG_NAME}g[@id]"):
        use = group.find(f"{SVG_NAME}use")
        assert use is not None
        boxes = {}
        for box in group.iterfind(f"{SVG_NAME}svg"):
            name = box.findtext(f"{SVG_NAME}title", "").partition(":")[0]
            assert name not in boxes, "a device is drawn twice"
            boxes[name] = place(box)
        racks[group.get("id", "").removeprefix("rack-")] = (frames[use.get("href", "").removeprefix("#")], boxes)
    return racks


def check_racks(picture: ElementTree.Element) -> Counter[str]:
    """The devices of a picture, whose boxes lie in their racks and not on one another."""
    names: Counter[str] = Counter()
    for bay, boxes in racks_in(picture).values():
        places = list(boxes.values())
        assert all(within(box, bay) for box in places)
        assert all(apart(one, two) for number, one in enumerate(places) for two in places[:number])
        names.update(list(boxes))
    return names


@pytest.fixture(scope="module")
def superpod_pictures(tmp_path_factory):
    return pictures_of(superpod(), tmp_path_factory.mktemp("superpod"))


@pytest.mark.parametrize("path", sorted(ROOT.glob("inventories/*/manifest.yaml")), ids=lambda path: path.parent.name)
def test_every_device_of_a_rack_is_in_it_once(path):
    compiled = compiler.validate(path)
    assert compiled.cluster is not None
    names: Counter[str] = Counter()
    for picture in sorted(path.parent.glob("rendered/facility/racks*.svg")):
        names += check_racks(ElementTree.parse(picture).getroot())
    inside = {host for rack in compiled.cluster.racks for host in rack.hosts}
    inside |= {
        switch.name
        for switches in (compiled.cluster.switches, *compiled.cluster.other_switches.values())
        for switch in switches
        if switch.rack
    }
    assert names == Counter(inside)


@pytest.mark.slow
def test_a_long_row_is_several_pictures_of_one_size(superpod_pictures):
    rows = {name: racks_in(picture) for name, picture in superpod_pictures.items() if name.startswith("racks")}
    assert {name: len(racks) for name, racks in rows.items()} == {
        **dict.fromkeys(("racks-a.1.svg", "racks-a.2.svg", "racks-b.1.svg", "racks-b.2.svg"), MOST_RACKS),
        "racks-c.svg": 3,
    }
    assert list(rows["racks-a.2.svg"]) == [f"a{number:02}" for number in range(9, 17)]
    devices = sum((check_racks(superpod_pictures[name]) for name in rows), Counter())
    assert devices == Counter([*expand("c[001-127]"), "head", *expand("leaf[01-04]-r[0-7],spine[01-16]")])


def test_units_count_from_the_floor(tmp_path):
    data = in_one_rack(4, units=20, places={"n2": 20})
    bay, boxes = racks_in(pictures_of(data, tmp_path)["racks.svg"])["r1"]
    unit = bay[3] / 20
    assert boxes["n2"][1] == bay[1]
    assert boxes["n1"][1] == bay[1] + 19 * unit
    assert {box[3] for box in boxes.values()} == {unit}


@pytest.mark.parametrize("name", [LONG, "n" + "-i" * 31, "node1"])
def test_names_stay_in_their_boxes(name, tmp_path):
    data = in_one_rack(2)
    data["nodes"][1].update(name=name, address="10.0.0.11")
    data["racks"]["r1"]["nodes"] = name
    group = next(pictures_of(data, tmp_path)["racks.svg"].iterfind(f"{SVG_NAME}g[@id='rack-r1']"))
    box = group.find(f"{SVG_NAME}svg")
    assert box is not None
    assert box.findtext(f"{SVG_NAME}title", "").startswith(f"{name}: ")
    texts = {text.get("class"): text for text in box.iterfind(f"{SVG_NAME}text")}
    start, end = texts["name"], texts["value"]
    right = float(end.get("x", 0)) - width(end.text or "", "value")
    assert float(start.get("x", 0)) + width(start.text or "", "name") <= right
    assert (start.text == name) == (name == "node1")


@pytest.mark.parametrize("template", ["racks", "network"])
def test_texts_are_as_large_as_the_style_sheet_makes_them(template):
    source = (ROOT / f"templates/tree/facility/{template}.svg.j2").read_text(encoding="utf-8")
    source += (ROOT / "templates/include/picture.svg.j2").read_text(encoding="utf-8")
    plain = float(re.search(r"text \{.* font-size: (\d+)px;", source)[1])  # type: ignore[index]
    sizes = dict.fromkeys(re.findall(r"\.(value|model) ", source), plain)
    for kinds, size, bold in re.findall(
        r"^ +(\.[\w, .]+) \{ font-size: (\d+)px;( font-weight: 600;)?", source, re.MULTILINE
    ):
        sizes |= {kind.strip(" ."): int(size) * (BOLD if bold else 1) for kind in kinds.split(",")}
    assert len(sizes) > 5
    assert {kind: SIZES[kind] for kind in sizes} == sizes
    assert SIZES[""] == SIZES["model"] == plain


@pytest.mark.parametrize("room", [0, 20, 60, 200])
@pytest.mark.parametrize("text", [LONG, "leaf01-r0", "一" * 40, ""])
def test_fitted_text_is_no_wider_than_its_room(text, room):
    cut = fitted(text, room, "note")
    assert width(cut, "note") <= max(room, 11)
    assert cut == text or "…" in cut


@pytest.mark.slow
def test_bundles_have_the_cables_of_the_table(superpod_pictures):
    texts = Counter(text.text for text in superpod_pictures["fabric.svg"].iter(f"{SVG_NAME}text"))
    assert texts["16 × 2 links"] == texts["31 links"] == 8
    assert texts["InfiniBand NDR: 1,016 links to nodes, 1,024 between switches"] == 1
    assert texts["768 links"] == 2, "96 nodes with 8 links each, and as many up from their leaves"
    assert (texts["24 leaves"], texts["3 more units"], texts["96 nodes"]) == (1, 1, 1)


@pytest.mark.slow
def test_boxes_of_a_network_do_not_overlap(superpod_pictures):
    picture = superpod_pictures["fabric.svg"]
    boxes = [place(box) for box in picture.iterfind(f"{SVG_NAME}g/{SVG_NAME}svg")]
    page = (0.0, 0.0, float(picture.get("width", 0)), float(picture.get("height", 0)))
    assert len(boxes) == 8 + 16 + 1 + 2
    assert all(within(box, page) for box in boxes)
    assert all(apart(one, two) for number, one in enumerate(boxes) for two in boxes[:number])


def test_listed_switches_are_drawn_as_planned_ones(tmp_path):
    data = manifest()
    data["networks"]["fabric"]["switches"] = [
        {"name": "leaf[1-2]", "model": "qm9700", "nodes": "c[1-4]", "uplinks": [{"to": "top[1-2]", "links": 3}]},
        {"name": "top[1-2]", "model": "qm9700"},
        {"name": "spare", "model": "qm9700"},
    ]
    pictures = pictures_of(data, tmp_path)
    assert set(pictures) == {"fabric.svg"}
    texts = Counter(text.text for text in pictures["fabric.svg"].iter(f"{SVG_NAME}text"))
    assert (texts["2 × 3 links"], texts["4 links"], texts["not connected: spare"]) == (2, 2, 1)


def test_a_node_on_several_leaves_is_counted_once(tmp_path):
    """A head on both leaves does not make one unit of them: only compute nodes do."""
    data = manifest()
    data["node_types"]["head"] = {"cpu": {"sockets": 1, "cores_per_socket": 8}, "memory": "64GiB"}
    data["node_types"]["head"]["nics"] = [{"device": f"mlx5_{number}", "model": "cx7"} for number in range(2)]
    data["nodes"][0]["type"] = "head"
    data["networks"]["fabric"]["switches"] = [
        {"name": f"leaf{number}", "model": "qm9700", "nodes": f"{nodes},head", "uplinks": [{"to": "top"}]}
        for number, nodes in enumerate(("c[1-2]", "c[3-4]"))
    ]
    data["networks"]["fabric"]["switches"].append({"name": "top", "model": "qm9700"})
    texts = Counter(text.text for text in pictures_of(data, tmp_path)["fabric.svg"].iter(f"{SVG_NAME}text"))
    assert (texts["c[1-2],head"], texts["c[3-4]"], texts["2 × gpu"], texts["5 links"]) == (1, 1, 2, 2)


def test_nodes_on_some_leaves_of_a_unit_are_named(tmp_path):
    """A login node on rail 0 shares the box of the compute nodes, which are on both rails."""
    nics = [{"device": f"mlx5_{rail}", "interface": f"ib{rail}", "model": "cx7"} for rail in range(2)]
    gpu = {"cpu": {"cores_per_socket": 8}, "memory": "64GiB", "nics": nics}
    nodes = [
        {"name": "head", "type": "service", "address": "10.0.0.1", "roles": ["slurm-controller"]},
        {"name": "login1", "type": "login", "address": "10.0.0.2", "roles": ["login"]},
        {"name": "c[1-4]", "type": "gpu", "address": "10.0.0.[11-14]"},
    ]
    data = manifest(node_types={"gpu": gpu, "login": {**gpu, "nics": nics[:1]}}, nodes=nodes)
    data["networks"]["fabric"] |= {"rate": "NDR", "plan": {"leaf": "qm9700", "capacity": 40}}
    picture = ElementTree.tostring(pictures_of(data, tmp_path)["fabric.svg"], encoding="unicode")
    assert "1 × login, on leaf01-r0 only" in picture
    assert "login1 on leaf01-r0 only." in picture
    assert picture.count(" only") == 2


def test_every_kind_of_feed_has_a_line(tmp_path):
    feeds = [{"volts": 400, "amps": 63, "count": 3}, {"volts": 230, "amps": 16, "phases": 1, "count": 2}]
    data = in_one_rack(1, circuits=feeds, redundant_feeds=True)
    texts = {text.text for text in pictures_of(data, tmp_path)["racks.svg"].iter(f"{SVG_NAME}text")}
    assert {"3 × 400 V 63 A", "2 × 230 V 16 A, A and B"} <= texts


def test_labels_without_room_are_listed_below(tmp_path):
    """A rule refuses such a manifest; the picture would show it all the same."""
    data = in_one_rack(9, units=8)
    compiled = compiler.validate(manifest_file(data, tmp_path))
    assert compiled.cluster is not None
    drawing = elevations(compiled.cluster)["racks"].racks[0]
    assert [text.text for text in drawing.foot] == ["full", "no room for: n9 (1 U)"]


@pytest.mark.slow
def test_cost_grows_with_the_nodes(tmp_path):
    """Three tiers at both sizes, so that only the nodes, racks and cables are twice as many."""
    counts = []
    for nodes in (64, 320, 640):  # the first fills caches
        data = superpod(reserved=0, racks="s1")
        data["networks"]["management"]["cidr"] = "10.0.0.0/16"
        names, addresses = f"c[0001-{nodes:04}]", f"10.0.[1-{nodes // 64}].[1-64]"
        data["nodes"] = [data["nodes"][0], {"name": names, "type": "dgx", "address": addresses}]
        data["racks"] = {f"a[001-{nodes // 4:03}]": {"nodes": names}, "s1": {}}
        compiled = compiler.validate(manifest_file(data, tmp_path))
        assert compiled.cluster is not None
        cables(compiled.cluster)
        builder = Builder(compiled.cluster, "manifest.yaml")
        rows = [file for file in files() if file.path.endswith(".svg")]
        counts.append(calls(lambda _, builder=builder, rows=rows: [builder.build(row) for row in rows], tmp_path))
        assert any(path.endswith("fabric.svg") for path in builder.files)
    assert counts[2] / counts[1] < 2.2


def test_a_manifest_of_any_name_gives_xml(tmp_path):
    """The comment at the top names the manifest, and two hyphens end a comment."""
    path = manifest_file(in_one_rack(1), tmp_path)
    named = path.rename(tmp_path / "a--b-.yaml")
    tree, _ = compiler.render(compiler.validate(named), named)
    assert tree is not None
    ElementTree.fromstring(tree.files["facility/racks.svg"].content)


@pytest.mark.parametrize("name", ["title", "desc", "units42", "rack42"])
def test_a_rack_of_any_name_has_an_id_of_its_own(name, tmp_path):
    data = in_one_rack(1)
    data["racks"] = {name: {"nodes": "n1"}}
    picture = pictures_of(data, tmp_path)["racks.svg"]
    ids = Counter(element.get("id") for element in picture.iter() if element.get("id"))
    assert max(ids.values()) == 1
    assert list(racks_in(picture)) == [name]


def test_a_tree_without_racks_and_switches_has_no_pictures(tmp_path):
    tree = tree_of(manifest(), tmp_path)
    assert not [path for path in tree.files if path.endswith(".svg")]
    assert b"Machine room" not in tree.files["README.md"].content


def test_the_page_shows_each_picture(tmp_path):
    tree = tree_of(superpod(), tmp_path)
    pictures = {path for path in tree.files if path.endswith(".svg")}
    text = tree.files["README.md"].content.decode()
    assert set(re.findall(r"!\[[^]]+\]\((facility/[^)]+)\)", text)) == pictures


def test_a_title_names_the_first_and_the_last_rack_by_name(tmp_path):
    racks = {"r1": {"nodes": "c[1-4]"}, "r2": {}, "r0": {}}
    assert (
        pictures_of(manifest(racks=racks), tmp_path)["racks.svg"].findtext(f"{SVG_NAME}title")
        == "small: racks r0 to r2"
    )


@pytest.mark.slow
def test_the_page_links_the_pictures_of_a_large_room(tmp_path):
    tree = tree_of(manifest(racks={"r[001-200]": {"nodes": "c[1-4]"}}), tmp_path)
    pictures = {path for path in tree.files if path.endswith(".svg")}
    text = tree.files["README.md"].content.decode()
    links = re.findall(r"(!?)\[[^]]+\]\((facility/[^)]+\.svg)\)", text)
    assert {path for _, path in links} == pictures
    assert len(pictures) == 25
    assert sum(mark == "!" for mark, _ in links) == 12


@pytest.mark.parametrize("text", ["<b>", "a&b", 'a"b', "a'b", "a\nb", "a\u2028b", "]]>"])
def test_markup_does_not_leave_its_place(text):
    with pytest.raises(RenderError):
        SVG.guard(text)


def test_names_of_the_manifest_are_text_in_pictures(tmp_path):
    data = in_one_rack(1)
    data["node_types"]["gpu"]["system"] = "own"
    data["node_types"]["gpu"] = {"system": "own"}
    data["catalogue"] = {
        "systems": {"own": {"cpu": {"sockets": 1, "cores_per_socket": 8}, "memory": "64GiB", "rack_units": 2}}
    }
    picture = pictures_of(data, tmp_path)["racks.svg"]
    assert picture.get("role") == "img"
    assert picture.findtext(f"{SVG_NAME}title") == "small: rack r1"
    assert (picture.findtext(f"{SVG_NAME}desc") or "").startswith("r1: 42 U, 1 device")
