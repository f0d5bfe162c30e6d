"""The words of the glossary are explained where they first stand on a lesson's page."""

from __future__ import annotations

from coordinator.lab.page.site.pages import Hover

WORDS = {
    "member": "One client in a group.",
    "static member": "A member with a <group.instance.id>.",
}


def test_a_word_is_explained_once_and_the_longer_one_first() -> None:
    hover = Hover(WORDS)
    assert hover("A static member is a member.") == (
        'A <abbr title="A member with a &lt;group.instance.id&gt;.">static member</abbr> is a '
        '<abbr title="One client in a group.">member</abbr>.'
    )
    assert hover("Another member, and remembering it.") == "Another member, and remembering it."


def test_texts_are_never_markup() -> None:
    assert Hover({})("<b>member</b>") == "&lt;b&gt;member&lt;/b&gt;"
    assert Hover(WORDS)("<i>group</i>") == "&lt;i&gt;group&lt;/i&gt;"
