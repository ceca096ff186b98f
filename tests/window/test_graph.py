"""The window's Graph in a browser: a question's and a neighbourhood's, drawn and as a list."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from engine.engine import Engine
from tests.support.workloads import id_of
from tests.window.browser import ORIGIN, WIDE, opened, picture
from tests.window.service import (
    BOILER,
    KETTLE,
    PLAN,
    UNCHANGED,
    Service,
    Window,
    filled,
    honest,
    settled,
    window,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow

QUESTION = "q=kettle&form=graph"
HOSTILE = id_of(8)
OAK, HIGH, WIDE_OAK = id_of(21), id_of(22), id_of(23)
NOT_PROVABLE = "This relation: not provable"
PROVED = "proved"
MARKUP = "<img src=x onerror=\"document.title='owned'\">"
LAYOUT = f"""async (give) => {{
  const {{ laidOut }} = await import("{ORIGIN}/engine/window/graph_layout.mjs");
  let frames = 0, slices = 0, runs = true;
  const count = () => {{ frames += 1; if (runs) requestAnimationFrame(count); }};
  requestAnimationFrame(count);
  const pause = async () => {{ slices += 1; await new Promise((resolve) => setTimeout(resolve)); }};
  const places = await laidOut(give.ids, give.links, new Map(give.fixed), pause);
  runs = false;
  return {{ places: [...places], frames, slices }};
}}"""

LABELS = f"""async (nodes) => {{
  const {{ labelled }} = await import("{ORIGIN}/engine/window/graph_labels.mjs");
  const camera = {{ width: 800, height: 400, covered: [{{ left: 700, top: 0, right: 800, bottom: 150 }}] }};
  const lines = [{{ text: "works at", from: [100, 100], to: [300, 200] }}];
  const {{ labels, names }} = labelled(nodes, lines, (text) => 6 * text.length, camera);
  return [...labels, ...names].map(({{ left, top, right, bottom }}) => [left, top, right, bottom]);
}}"""

FIND_NODE = """(() => {
  const canvas = document.querySelector("canvas");
  const { left, top, width, height } = canvas.getBoundingClientRect();
  for (let y = 4; y < height - 4; y += 4) {
    for (let x = 4; x < width - 4; x += 4) {
      const place = { clientX: left + x, clientY: top + y, pointerId: 9 };
      canvas.dispatchEvent(new PointerEvent("pointermove", place));
      if (canvas.classList.contains("on-node")) return [left + x, top + y];
    }
  }
  return null;
})()"""


@pytest.fixture(scope="module")
def shared(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    """A window that several tests use in turn, on a store with a hostile atom."""
    url = filled(tmp_path_factory.mktemp("graph") / "notes.db")
    with Engine.open(url) as engine:
        engine.add(f"{MARKUP} hides.", id=HOSTILE, title=f"{MARKUP} \u202eowned\u202c", tags=["<b>x</b>"])
        engine.link(BOILER, "related_to", HOSTILE)
    with settled(browser, url) as made:
        yield made


@pytest.fixture
def graph(shared: Window) -> Iterator[Window]:
    """The shared window; its service is honest again after the test."""
    yield shared
    shared.service.lie = honest


def has_nodes(shown: Window, count: int) -> None:
    """Wait until the list has so many nodes."""
    has = "(count) => document.querySelectorAll('#list .hit-title').length === count"
    shown.page.wait_for_function(has, arg=count)


def titles(shown: Window) -> list[str]:
    """Return the titles of the nodes in the list."""
    return shown.page.locator("#list .hit-title").all_inner_texts()


def test_a_question_is_drawn_with_its_relations(graph: Window) -> None:
    """The list names each node and relation; one mark says that all is recorded."""
    graph.visit(QUESTION)
    assert titles(graph) == ["Kettle care", "Plan", "Ms Okafor services the boiler."]
    assert "shares tag" in graph.text(".legend")
    assert "references" in graph.text(".legend")
    assert graph.marks() == [f"{UNCHANGED}: 3 nodes, 2 relations"]
    assert graph.page.locator("#list .group .said").count() == 0


def test_a_node_expands_in_place_and_folds(graph: Window) -> None:
    """The address names the neighbourhoods, so that going back folds them."""
    graph.visit(f"form=graph&around={KETTLE}")
    assert len(titles(graph)) == 2
    graph.page.get_by_role("button", name="Expand Ms Okafor").click()
    has_nodes(graph, 3)
    assert graph.page.url.endswith(f"around={KETTLE}&around={BOILER}")
    graph.page.go_back()
    has_nodes(graph, 2)


def test_the_graph_is_that_of_the_moment(browser: Browser, tmp_path: Path) -> None:
    """A question and a neighbourhood: with the relations and titles then, each verified at that moment."""
    url = filled(tmp_path / "notes.db")
    with Engine.open(url) as engine:
        moment = engine.size - 1
        engine.unlink(KETTLE, "references", BOILER)
        engine.link(KETTLE, "related_to", PLAN)
        engine.revise(BOILER, "It was replaced.", title="Heating")
    service = Service(url)
    with window(browser, service) as shown:
        shown.visit(f"form=graph&around={KETTLE}&at={moment}")
        assert titles(shown) == ["Kettle care", "Ms Okafor services the boiler."]
        shown.page.locator("#list .mark", has_text="2 nodes, 1 relation").wait_for()
        assert "references" in shown.text("#list")
        picture(shown.page, "graph-earlier")
        shown.visit(f"q=boiler&form=graph&at={moment}")
        assert "Ms Okafor services the boiler." in titles(shown)
        shown.visit(f"form=graph&around={KETTLE}")
        assert titles(shown) == ["Kettle care", "Plan"]
        shown.visit(f"form=graph&around={BOILER}")
        assert titles(shown) == ["Heating"]
    service.close()


def test_the_drawing_is_used_with_the_keyboard_alone(graph: Window) -> None:
    """Arrow keys choose a node, the space bar expands it, Enter reads it; the drawing keeps the focus."""
    graph.visit(f"form=graph&around={KETTLE}")
    graph.page.focus("canvas")
    keys = graph.page.keyboard
    for key in ("+", "-", "Shift+ArrowLeft", "0", "ArrowDown"):
        keys.press(key)
    assert "Kettle care" in graph.text(".graph-chosen")
    assert graph.page.evaluate("getComputedStyle(document.activeElement).outlineWidth") == "3px"
    for key in ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"):
        keys.press(key)
        if "boiler" in graph.text(".graph-chosen"):
            break
    keys.press("Space")
    has_nodes(graph, 3)
    graph.page.wait_for_function("() => document.activeElement.tagName === 'CANVAS'")
    keys.press("Enter")
    graph.page.wait_for_selector("#reading .content")
    assert graph.page.url.endswith(f"&atom={BOILER}")


def test_the_drawing_is_used_with_the_mouse(graph: Window) -> None:
    """A drag moves the nodes; a click chooses one, and another click expands it."""
    graph.visit(f"form=graph&around={PLAN}&around={KETTLE}")
    x, y = a_node(graph)
    mouse = graph.page.mouse
    mouse.move(x + 40, y + 40)
    mouse.down()
    mouse.move(x + 140, y + 88, steps=3)
    mouse.up()
    assert graph.page.evaluate(FIND_NODE) == [x + 100, y + 48]
    mouse.click(x + 100, y + 48)
    assert graph.page.locator(".graph-chosen p").count() == 1
    before = graph.page.url
    mouse.click(x + 100, y + 48)
    graph.page.wait_for_url(lambda url: url != before)


Place = tuple[float, float]


def touch(graph: Window, *steps: list[Place]) -> None:
    """Put fingers down at the places of the first step, move them to those of the others, and lift them."""
    session = graph.page.context.new_cdp_session(graph.page)

    def dispatch(kind: str, places: list[Place]) -> None:
        points = [{"x": x, "y": y, "id": finger} for finger, (x, y) in enumerate(places)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    dispatch("touchStart", steps[0])
    for step in steps[1:]:
        dispatch("touchMove", step)
    dispatch("touchEnd", [])
    session.detach()


def a_node(graph: Window) -> Place:
    """Return the place of the first node from above, when the graph is drawn."""
    graph.page.wait_for_function(f"() => {FIND_NODE} !== null")
    x, y = graph.page.evaluate(FIND_NODE)
    return x, y


def test_a_finger_moves_the_drawing_and_chooses_a_node(graph: Window) -> None:
    """A drag moves the nodes; a touch chooses one, and another touch expands it."""
    graph.visit(f"form=graph&around={PLAN}&around={KETTLE}")
    x, y = a_node(graph)
    touch(graph, [(x + 40, y + 40)], [(x + 90, y + 64)], [(x + 140, y + 88)])
    assert a_node(graph) == (x + 100, y + 48)
    touch(graph, [(x + 100, y + 48)])
    assert graph.page.locator(".graph-chosen p").count() == 1
    before = graph.page.url
    touch(graph, [(x + 100, y + 48)])
    graph.page.wait_for_url(lambda url: url != before)


def test_two_fingers_zoom_and_choose_nothing(graph: Window) -> None:
    """What is between the fingers stays there; a node comes nearer to it as the fingers come together."""
    graph.visit(f"form=graph&around={KETTLE}")
    x, y = a_node(graph)
    middle = (x + 200, y + 60)
    apart = [[(middle[0] - across, middle[1]), (middle[0] + across, middle[1])] for across in (100, 75, 50)]
    touch(graph, *apart)
    found = a_node(graph)
    assert abs(found[0] - (middle[0] - 100)) <= 8
    assert abs(found[1] - (middle[1] - 30)) <= 8
    assert graph.page.locator(".graph-chosen p").count() == 0


def test_what_shows_all_follows_the_window(graph: Window) -> None:
    """After a zoom, the button shows all of the graph again, and so does a narrower window."""
    graph.visit(f"form=graph&around={KETTLE}")
    first = a_node(graph)
    graph.page.get_by_role("button", name="Zoom in").click()
    graph.page.get_by_role("button", name="Zoom in").click()
    graph.page.get_by_role("button", name="Show all of the graph").click()
    assert a_node(graph) == first
    graph.page.set_viewport_size({"width": 400, "height": WIDE[1]})
    graph.page.wait_for_function(f"() => {{ const at = {FIND_NODE}; return at !== null && at[0] < 150; }}")
    graph.page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})


@pytest.fixture(scope="module")
def named(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    """A window on names, edges of registered types, and atoms that share what no claim is about."""
    url = f"sqlite:{tmp_path_factory.mktemp('names') / 'names.db'}"
    with Engine.open(url) as engine:
        engine.add("The oak is old.", id=OAK, source="trees.md", sequence=1, buckets=["garden"])
        engine.add("The oak is high.", id=HIGH, source="trees.md", sequence=2, buckets=["garden"])
        engine.add("The oak is wide.", id=WIDE_OAK, source="trees.md", sequence=3)
        for number in range(8):
            engine.add(f"The garden has a bed {number}.", id=id_of(30 + number))
        engine.register_type("shades")
        engine.link(OAK, "shades", HIGH)
        engine.relate("Ada Okafor", "works_at", "Berlin")
        engine.relate("Berlin", "uses", "PostgreSQL")
        engine.add("Ada Okafor met Grace Lindqvist.", id=id_of(40))
    with settled(browser, url) as made:
        yield made


@pytest.fixture
def names(named: Window) -> Iterator[Window]:
    """The window on names; its service is honest again after the test."""
    yield named
    named.service.lie = honest


def relations(shown: Window) -> dict[str, set[str]]:
    """Return what is shown of the relations in the list, by type: `proved`, or what their notes say."""
    for closed in shown.page.locator("#list details:not([open]) > summary").all():
        closed.click()
    found: dict[str, set[str]] = {}
    for row in shown.page.locator("#list .links > li").all():
        kind = row.locator("bdi").first.inner_text()
        is_proved = "proved" in str(row.get_attribute("class"))
        notes = [note.partition(" (")[0] for note in row.locator(".mark, .small.said").all_inner_texts()]
        found.setdefault(kind, set()).update([PROVED] if is_proved else notes)
    return found


def test_names_across_domains_are_drawn_and_their_edges_are_verified(names: Window) -> None:
    """The names on the paths are nodes. An edge is verified though its type is registered."""
    names.visit("q=Ada+Okafor+PostgreSQL&form=names")
    assert {"Ada Okafor", "PostgreSQL"} <= set(titles(names))
    assert {"works at", "uses"} <= set(relations(names))
    assert relations(names)["works at"] == {PROVED}
    assert relations(names)["uses"] == {PROVED}


def test_an_edge_of_a_registered_type_is_verified(names: Window) -> None:
    """By its code, and by the event that gave the code its name; in a graph and beside the atom."""
    names.visit(f"form=graph&around={OAK}")
    assert relations(names) == {"shades": {PROVED}}
    assert names.marks("#list .summary") == [f"{UNCHANGED}: 2 nodes, 1 relation"]
    names.visit(f"atom={OAK}")
    assert "shades" in names.text("#reading .links .proved")


def test_an_edge_that_is_shown_with_the_name_of_another_type_is_refused(names: Window) -> None:
    """The event that registered the name gave it another code."""

    def lie(operation: str, given: Any, answer: Any) -> Any:
        del given
        return [answer[0] | {"type": "works_at", "created_seq": 99}] if operation == "edges" else answer

    names.service.lie = lie
    names.visit(f"form=graph&around={OAK}")
    assert relations(names) == {"works at": {"Refused"}}


def test_a_name_that_the_service_gives_to_a_code_is_not_proved(names: Window) -> None:
    """The name of a type is that in the opened event, whatever the service says of it."""

    def lie(operation: str, given: Any, answer: Any) -> Any:
        del given
        if operation == "edges":
            return [answer[0] | {"type": "loves"}]
        is_log = operation == "log"
        return json.loads(json.dumps(answer).replace("shades", "loves")) if is_log else answer

    names.service.lie = lie
    names.visit(f"form=graph&around={OAK}")
    assert relations(names) == {"loves": {NOT_PROVABLE}}
    assert UNCHANGED in names.text("#list .summary")
    assert "1 relation: not provable" in names.text("#list .summary")


def test_a_type_whose_registration_is_not_found_is_not_provable(names: Window) -> None:
    """Its edges are never green, and the reason is given."""

    def lie(operation: str, given: Any, answer: Any) -> Any:
        del given
        return [answer[0] | {"type": "loves"}] if operation == "edges" else answer

    names.service.lie = lie
    names.visit(f"form=graph&around={OAK}")
    assert relations(names) == {"loves": {"This relation: not provable"}}
    assert "(the event that registered its type was not found)" in names.text("#list .links")
    assert "1 relation: not provable" in names.text("#list .summary")


def test_a_service_that_makes_no_proof_leaves_relations_unverified(names: Window) -> None:
    """It does not answer, so nothing is green, and nothing is refused."""
    names.page.route("**/prove", lambda route: route.abort())
    names.visit(f"form=graph&around={OAK}")
    names.page.unroute("**/prove")
    assert relations(names)["shades"] == {"Not verified: The service does not answer."}
    assert names.marks("#list .summary") == ["2 of 2 nodes not proved"]


def test_relations_without_a_claim_are_never_verified(names: Window) -> None:
    """A shared bucket, names that occur together: each says why. Texts of one source are drawn together."""
    names.visit("q=oak&form=graph")
    found = relations(names)
    assert found.pop("shades") == {PROVED}
    assert found == {"shares bucket": {NOT_PROVABLE}}
    assert names.marks("#list .summary") == [f"{UNCHANGED}: 3 nodes, 1 relation"]
    assert "1 relation: not provable" in names.text("#list .summary")
    assert "(no claim is about buckets)" in names.text("#list")
    names.visit("q=Ada+Okafor+Grace+Lindqvist&form=names")
    assert relations(names)["together"] == {NOT_PROVABLE}
    assert "(no claim is about names that occur together)" in names.text("#list")


def test_hostile_titles_are_text(graph: Window) -> None:
    """In the list, in the bar of a chosen node, and in the drawing."""
    graph.visit(f"form=graph&around={HOSTILE}")
    graph.page.focus("canvas")
    graph.page.keyboard.press("ArrowDown")
    assert graph.page.locator("#list img, #list b").count() == 0
    assert graph.page.title() == "memroot"
    assert graph.text(".graph-chosen p").startswith(f"{MARKUP} U+202EownedU+202C")
    picture(graph.page, "window-graph-hostile")


def test_an_edge_that_is_not_there_is_refused(graph: Window) -> None:
    """Beside the edge, and in the summary."""

    def lie(operation: str, given: Any, answer: Any) -> Any:
        del given
        return [answer[0] | {"dst": PLAN}] if operation == "edges" else answer

    graph.service.lie = lie
    graph.visit(f"form=graph&around={KETTLE}")
    assert "1 of 1 relation refused" in graph.marks("#list .summary")
    assert "The service makes no proof of this" in graph.text("#list .links")


def test_the_same_graph_always_looks_alike(browser: Browser) -> None:
    """Whatever the order of its parts; and nodes that have a place keep it when others come."""
    ids = [id_of(number) for number in range(40)]
    links = [[ids[number], ids[number // 3]] for number in range(1, 40)]
    with opened(browser, f"{ORIGIN}/engine/window/verify.html") as page:
        first = page.evaluate(LAYOUT, {"ids": ids, "links": links, "fixed": []})["places"]
        second = page.evaluate(LAYOUT, {"ids": ids[::-1], "links": links, "fixed": []})["places"]
        kept = first[:20]
        grown = page.evaluate(LAYOUT, {"ids": ids, "links": links, "fixed": kept})["places"]
    assert first == second
    assert grown[:20] == kept
    assert grown[20:] != first[20:]


def test_no_label_covers_another_one(browser: Browser) -> None:
    """Nor a button, however close the nodes are; the chosen node always has its label."""
    spots = [((37 * number) % 800, (53 * number) % 400) for number in range(200)]
    nodes: list[dict[str, Any]] = [
        {"x": x, "y": y, "radius": 6, "text": "The kettle and the boiler", "isFirst": number % 2 == 0}
        for number, (x, y) in enumerate(spots)
    ]
    nodes[7]["mustShow"] = True
    with opened(browser, f"{ORIGIN}/engine/window/verify.html") as page:
        boxes = page.evaluate(LABELS, nodes)
        alone = page.evaluate(LABELS, [{**nodes[0], "x": 790, "y": 20, "isFirst": False, "mustShow": True}])
    assert len(boxes) > 20
    assert len(alone) == 2
    meets = [
        (one, other)
        for at, one in enumerate([*boxes, [700, 0, 800, 150]])
        for other in boxes[:at]
        if one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
    ]
    assert meets == []


@pytest.mark.parametrize("count", [1500, pytest.param(5000, marks=pytest.mark.soak)])
def test_a_large_graph_is_laid_out_while_the_page_lives(browser: Browser, count: int) -> None:
    """The work is done in many slices, and the browser draws frames between them."""
    ids = [id_of(number) for number in range(count)]
    links = [[ids[number], ids[number // 7]] for number in range(1, count)]
    with opened(browser, f"{ORIGIN}/engine/window/verify.html") as page:
        found = page.evaluate(LAYOUT, {"ids": ids, "links": links, "fixed": []})
    assert len({tuple(place) for _, place in found["places"]}) == count
    assert found["slices"] > count / 100
    assert found["frames"] > 5
