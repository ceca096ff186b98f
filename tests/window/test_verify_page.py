"""The page that checks a proof, in a browser, opened from a file as a person opens it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from engine.engine import Engine
from engine.trust.notes.signing import new_key
from engine.window.page import whole_page
from proofs.note import parse_note
from tests.support.engines import engine_on
from tests.support.shared_data import needs
from tests.support.workloads import id_of
from tests.window.browser import NARROW, ORIGIN, WIDE, faults_of_access, opened, picture

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

ATOM = "1f0c0000-0000-4000-8000-000000000001"
TEXT = "The kettle is descaled on Mondays.\nMs Okafor services the boiler."
MISSING_ED25519 = """
const subtle = crypto.subtle;
const importKey = subtle.importKey.bind(subtle);
subtle.importKey = (form, key, name, ...rest) =>
  name === "Ed25519" ? Promise.reject(new Error("unknown")) : importKey(form, key, name, ...rest);
"""


class Given(NamedTuple):
    """What a person has in a folder: the page, proofs, checkpoints, a key, and the root that they trust."""

    folder: Path
    root: str
    store: str

    def files(self, *names: str) -> list[str]:
        """Return the paths of files."""
        return [str(self.folder / name) for name in names]

    def text(self, name: str) -> str:
        """Return the text in a file."""
        return (self.folder / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Given:
    """A store of two atoms, proofs about it, and a changed copy of one of them."""
    folder = tmp_path_factory.mktemp("given")
    (folder / "verify.html").write_text(whole_page("verify.html"), encoding="utf-8")
    with engine_on() as engine:
        engine.add(TEXT, id=ATOM, title="Kettle care", tags=["kitchen", "Straße"], source="house/kettle.md")
        engine.add("Ms Okafor takes her tea without milk.", id=id_of(2), tags=["kitchen"])
        root, store = engine.root().root, engine.status().store_id
        claims = [f"atom {ATOM} live", "tagged kitchen", "no-term unicorn"]
        (folder / "claims.txt").write_text("\n".join(claims) + "\n")
        prove(engine, folder / "several.proof", *claims)
        prove(engine, folder / "atom.proof", f"atom {ATOM} live")
        prove(engine, folder / "street.proof", "tagged Straße")
        (folder / "atom.memproof").write_bytes(engine.prove([["atom", ATOM]]).envelope())
        (folder / "cut.memproof").write_bytes(engine.prove([["atom", ATOM]]).envelope()[:99])
        new_key(folder / "signing.key", f"memroot.local/{store}")
        note = engine.checkpoint_note(key=folder / "signing.key").note
        (folder / "kept.checkpoint").write_text(note, encoding="utf-8")
        prove(engine, folder / "then.proof", "no-term unicorn", checkpoint=note)
        then = engine.prove([["no-term", "unicorn"]], checkpoint=note)
        (folder / "then.memproof").write_bytes(then.envelope(parse_note(note.encode())))
    changed = (folder / "atom.proof").read_bytes().replace(b"Mondays", b"Tuesday")
    (folder / "changed.proof").write_bytes(changed)
    return Given(folder, root, store)


def prove(engine: Engine, path: Path, *claims: str, checkpoint: str | None = None) -> None:
    """Write a proof of claims to a file."""
    path.write_bytes(engine.prove([claim.split() for claim in claims], checkpoint=checkpoint).data)


def page_of(browser: Browser, given: Given, **options: Any) -> AbstractContextManager[Page]:
    """Open the page from its file."""
    return opened(browser, (given.folder / "verify.html").as_uri(), **options)


@pytest.fixture(scope="module")
def shared(browser: Browser, given: Given) -> Iterator[Page]:
    """A page that several tests use in turn."""
    with page_of(browser, given) as page:
        yield page


@pytest.fixture
def page(shared: Page) -> Page:
    """The shared page, loaded again."""
    shared.reload()
    return shared


def trust_root(page: Page, given: Given) -> None:
    """Give the root."""
    page.fill("#root", given.root)
    page.fill("#store", given.store)


def verdict(page: Page, expected: str) -> str:
    """Wait for the answer, which has this verdict, and return its text."""
    page.locator('#answer[aria-busy="false"]').wait_for()
    assert page.inner_text("#verdict .mark.large") == expected
    return page.inner_text("#answer")


@pytest.mark.parametrize(
    ("size", "dark"),
    [(WIDE, False), (WIDE, True), (NARROW, False)],
    ids=["wide-light", "wide-dark", "narrow-light"],
)
def test_every_state_can_be_read_by_everybody(
    browser: Browser, given: Given, size: tuple[int, int], dark: bool
) -> None:
    """Light and dark, wide and 360 pixels narrow: nothing is cut off sideways, and axe finds no fault."""
    name = f"verify-{{}}-{size[0]}-{'dark' if dark else 'light'}"
    with page_of(browser, given, size=size, dark=dark) as page:
        states = []
        verdict(page, "Not verified")
        states.append(look(page, name.format("empty")))
        trust_root(page, given)
        page.set_input_files("#files", given.files("several.proof", "claims.txt"))
        verdict(page, "Verified")
        states.append(look(page, name.format("verified")))
        page.set_input_files("#files", given.files("changed.proof"))
        page.fill("#claims", f"atom {ATOM}")
        verdict(page, "Refused")
        states.append(look(page, name.format("refused")))
        page.set_input_files("#files", given.files("then.proof", "kept.checkpoint"))
        page.fill("#claims", "no-term unicorn")
        verdict(page, "Verified")
        states.append(look(page, name.format("checkpoint")))
    assert states == [[]] * 4


def look(page: Page, name: str) -> list[str]:
    """Keep a picture; return the faults of a state. Of the narrow page, axe would say the same again."""
    picture(page, name)
    faults = faults_of_access(page) if str(WIDE[0]) in name else []
    wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return faults + [f"{wider} pixels are cut off"] * (wider > 0)


def test_a_proof_is_verified_against_the_root_that_is_given(page: Page, given: Given) -> None:
    """The answer names the root, and shows the content as it was written."""
    trust_root(page, given)
    page.set_input_files("#files", given.files("several.proof", "claims.txt"))
    answer = verdict(page, "Verified")
    content = page.inner_text(".content")
    assert given.root in answer
    assert content == TEXT
    assert "These live atoms have the tag, and no others." in answer
    assert "No live atom has the term in its title or content." in answer


def test_a_proof_is_verified_against_a_checkpoint(page: Page, given: Given) -> None:
    """A dropped checkpoint is trusted. Its signature is checked with its key, and only then."""
    page.set_input_files("#files", given.files("then.proof", "kept.checkpoint"))
    page.fill("#claims", "no-term unicorn")
    assert "Signature not checked: no key for it is known" in verdict(page, "Verified")
    page.set_input_files("#files", given.files("signing.key.vkey"))
    answer = verdict(page, "Verified")
    assert f"Signed by memroot.local/{given.store}." in answer
    assert "Signature not checked" not in answer


def test_a_checkpoint_that_another_key_signed_is_refused(page: Page, given: Given, tmp_path: Path) -> None:
    """A key that must have signed, and has not, is the reason."""
    new_key(tmp_path / "other.key", "memroot.local/" + given.store)
    page.set_input_files("#files", given.files("then.proof", "kept.checkpoint"))
    page.fill("#claims", "no-term unicorn")
    page.fill("#keys", (tmp_path / "other.key.vkey").read_text())
    assert "Reason: signature, none of the given keys has signed the checkpoint" in verdict(page, "Refused")


def unchecked(page: Page, given: Given) -> str:
    """Give a signed checkpoint with its key; return why the page did not check the signature."""
    page.set_input_files("#files", given.files("then.proof", "kept.checkpoint", "signing.key.vkey"))
    page.fill("#claims", "no-term unicorn")
    verdict(page, "Verified")
    return page.inner_text("#verdict .notice.warned")


def test_a_browser_without_ed25519_says_so(browser: Browser, given: Given) -> None:
    """The proof is verified, and the signature is not checked."""
    with page_of(browser, given, script=MISSING_ED25519) as page:
        assert unchecked(page, given).startswith("Signature not checked: this browser has no Ed25519")


def test_a_page_without_a_secure_context_says_so(browser: Browser, given: Given) -> None:
    """Over HTTP from another machine, proofs are verified all the same, and signatures are not checked."""
    address = ORIGIN.replace("https:", "http:") + "/engine/window/verify.html"
    with opened(browser, address) as page:
        reason = "the page was not opened over HTTPS, from this machine or from a file"
        assert unchecked(page, given).startswith(f"Signature not checked: {reason}")


@pytest.mark.parametrize(
    ("file", "claim", "reason"),
    [
        ("changed.proof", f"atom {ATOM}", "payload"),
        ("several.proof", f"atom {ATOM}", "kind"),
        ("atom.proof", f"atom {id_of(2)}", "tree"),
        ("verify.html", f"atom {ATOM}", "encoding"),
    ],
)
def test_what_does_not_show_the_claim_is_refused(
    page: Page, given: Given, tmp_path: Path, file: str, claim: str, reason: str
) -> None:
    """The answer names the reason, and shows nothing of the proof."""
    data = (given.folder / file).read_bytes()
    (tmp_path / "a.proof").write_bytes(data if file.endswith("proof") else b"\xff" + data)
    trust_root(page, given)
    page.fill("#claims", claim)
    page.set_input_files("#files", str(tmp_path / "a.proof"))
    assert f"Reason: {reason}," in verdict(page, "Refused")
    assert page.inner_text("#facts") == ""


def test_a_changed_field_changes_the_answer(page: Page, given: Given) -> None:
    """No verdict outlives what it was about."""
    trust_root(page, given)
    page.fill("#claims", f"atom {ATOM}")
    page.set_input_files("#files", given.files("atom.proof"))
    verdict(page, "Verified")
    page.fill("#root", "00" * 32)
    assert "Reason: root" in verdict(page, "Refused")
    page.fill("#root", "my root")
    assert "not a root of 64 lower-case hex digits" in verdict(page, "Not verified")
    page.fill("#root", "")
    assert "Still needed: the root and the id of the store" in verdict(page, "Not verified")


def test_an_envelope_fills_the_page(page: Page, given: Given) -> None:
    """The file alone is verified, and the answer says that what is trusted came with the claims."""
    page.set_input_files("#files", given.files("atom.memproof"))
    answer = verdict(page, "Verified")
    assert page.input_value("#claims") == f"atom {ATOM} live"
    assert (page.input_value("#root"), page.input_value("#store")) == (given.root, given.store)
    assert "The root came together with the claim." in answer
    page.set_input_files("#files", given.files("then.memproof"))
    answer = verdict(page, "Verified")
    assert page.input_value("#note") == given.text("kept.checkpoint")
    assert "The checkpoint came together with the claim." in answer


def test_an_envelope_does_not_replace_the_root_that_is_given(page: Page, given: Given) -> None:
    """The root of the person is the one that counts."""
    page.fill("#root", given.root)
    page.set_input_files("#files", given.files("atom.memproof"))
    assert "came together with" not in verdict(page, "Verified")
    page.fill("#root", "00" * 32)
    page.set_input_files("#files", given.files("atom.memproof"))
    assert "Reason: root" in verdict(page, "Refused")
    assert page.input_value("#root") == "00" * 32


def test_a_damaged_envelope_is_refused(page: Page, given: Given) -> None:
    """A file that only begins like an envelope is refused before anything is entered."""
    page.set_input_files("#files", given.files("cut.memproof"))
    assert "Reason: encoding" in verdict(page, "Refused")


def test_a_tag_may_be_spelled_as_people_spell_it(page: Page, given: Given) -> None:
    """The claim is about the identity of the tag, and the answer shows it."""
    trust_root(page, given)
    page.fill("#claims", "tagged #STRASSE")
    page.set_input_files("#files", given.files("street.proof"))
    assert "tagged strasse" in verdict(page, "Verified")


def test_the_page_is_used_with_the_keyboard_alone(page: Page, given: Given) -> None:
    """Tab reaches every field in its order, the arrows choose the kind, and typing gives an answer."""
    page.set_input_files("#files", given.files("then.proof"))
    reached = []
    for _ in range(3):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.value"))
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")
    page.keyboard.insert_text(given.text("kept.checkpoint"))
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.type("no-term unicorn")
    verdict(page, "Verified")
    assert reached == ["files", "root", "root"]


@pytest.fixture(scope="module")
def hostile(given: Given) -> Iterator[tuple[Engine, list[str]]]:
    """A store with the texts of the list of naughty strings, in every field that takes text."""
    listed = json.loads((needs("vectors") / "strings" / "blns.json").read_bytes())
    markup = [text for text in listed if any(mark in text for mark in "<&\"'{")]
    strings = [*markup, *MARKUP]
    with engine_on() as engine:
        for at, text in enumerate(strings):
            engine.add(text, id=id_of(at + 1), title=text[:80].strip() or "none", source=f"{at}.md")
        yield engine, strings


MARKUP = (
    "<script>document.title = 'owned'</script>",
    "<img src=x onerror=\"document.title = 'owned'\">",
    "</div></main><h1>Verified</h1>",
    "javascript:alert(1)",
    "\u202everified\u202c and \u200bhidden\ue0041",
)


def test_hostile_contents_are_text(
    page: Page, given: Given, hostile: tuple[Engine, list[str]], tmp_path: Path
) -> None:
    """Every text is shown as it is, no element comes of it, and characters that nobody sees are named."""
    engine, strings = hostile
    claims = [f"atom {id_of(at + 1)}" for at in range(len(strings))]
    prove(engine, tmp_path / "hostile.proof", *claims)
    name = "<img src=x onerror=alert(1)>.txt"
    (tmp_path / name).write_text("\n".join(claims))
    page.fill("#root", engine.root().root)
    page.fill("#store", engine.status().store_id)
    before = page.locator("script, img, iframe, a, [onerror]").count()
    page.set_input_files("#files", [str(tmp_path / "hostile.proof"), str(tmp_path / name)])
    verdict(page, "Verified")
    shown = page.locator(".content").all_text_contents()
    assert page.locator("script, img, iframe, a, [onerror]").count() == before
    assert (page.title(), page.locator("h1").count()) == ("Check a memroot proof", 1)
    assert name in page.inner_text("#received")
    picture(page, "verify-hostile", whole=False)
    plain = [at for at, text in enumerate(strings) if text.isprintable()]
    assert [shown[at] for at in plain] == [strings[at] for at in plain]
    assert shown[-1] == "U+202EverifiedU+202C and U+200Bhidden\ue0041"


def test_claims_that_are_hostile_are_text(page: Page, given: Given) -> None:
    """What the person pastes is text as well."""
    trust_root(page, given)
    page.set_input_files("#files", given.files("atom.proof"))
    page.fill("#claims", "<b>atom</b> x")
    assert '"<b>atom</b>" is not a claim' in verdict(page, "Not verified")
