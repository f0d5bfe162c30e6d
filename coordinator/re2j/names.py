"""Names that RE2J 1.8 knows: Unicode categories and scripts (of Unicode 6.0), Perl's and POSIX's
classes."""

from __future__ import annotations

_UNICODE = """
Any C Cc Cf Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs
Arabic Armenian Avestan Balinese Bamum Batak Bengali Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Cham Cherokee
Common Coptic Cuneiform Cypriot Cyrillic Deseret Devanagari Egyptian_Hieroglyphs Ethiopic Georgian Glagolitic Gothic Greek Gujarati
Gurmukhi Han Hangul Hanunoo Hebrew Hiragana Imperial_Aramaic Inherited Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi
Kannada Katakana Kayah_Li Kharoshthi Khmer Lao Latin Lepcha Limbu Linear_B Lisu Lycian Lydian Malayalam Mandaic Meetei_Mayek Mongolian
Myanmar New_Tai_Lue Nko Ogham Ol_Chiki Old_Italic Old_Persian Old_South_Arabian Old_Turkic Oriya Osmanya Phags_Pa Phoenician Rejang
Runic Samaritan Saurashtra Shavian Sinhala Sundanese Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Tamil Telugu Thaana
Thai Tibetan Tifinagh Ugaritic Unknown Vai Yi
"""
UNICODE = frozenset(_UNICODE.split())

WITHOUT_CHARACTERS = frozenset({"Cs", "Unknown"})
"""Surrogates, which no text here has; and a script that the engine does not know."""

PERL = frozenset("dDsSwW")

_POSIX = (
    "alnum",
    "alpha",
    "ascii",
    "blank",
    "cntrl",
    "digit",
    "graph",
    "lower",
    "print",
    "punct",
    "space",
    "upper",
    "word",
    "xdigit",
)
POSIX = frozenset(f"[:{mark}{name}:]" for name in _POSIX for mark in ("", "^"))
