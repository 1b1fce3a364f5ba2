"""Which codes a command reports: `--select` and `--ignore`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clustergen.diagnostics.codes import CODES
from clustergen.diagnostics.words import did_you_mean, quote
from clustergen.records import record


@record
class Selection:
    """Codes, or their first words (`slurm-key`), to report and to leave out. Nothing selected means everything."""

    selected: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    def reports(self, code: str) -> bool:
        """True if diagnostics of this code are reported; the longer of two words that match it decides."""
        selected = _longest_match(code, self.selected) if self.selected else 0
        ignored = _longest_match(code, self.ignored)
        return selected is not None and (ignored is None or selected > ignored)


def _longest_match(code: str, words: Iterable[str]) -> int | None:
    return max((len(word) for word in words if _matches(code, word)), default=None)


def _matches(code: str, word: str) -> bool:
    return code == word or code.startswith(f"{word}-")


def words_of(texts: Iterable[str]) -> tuple[str, ...]:
    """The words of `A,B` and `C`, in order."""
    return tuple(word.strip() for text in texts for word in text.split(",") if word.strip())


def codes_in(texts: Sequence[str]) -> tuple[str, ...]:
    """The codes of `--select A,B --select C`. Raises ValueError for one that no diagnostic has."""
    words = words_of(texts)
    for word in words:
        if not any(_matches(code, word.rstrip("-")) for code in CODES):
            longer = next((code for code in CODES if code.startswith(word)), None)
            guess = f"did you mean {quote(longer)}?" if longer else did_you_mean(word, CODES)
            hint = guess or "`clustergen explain` lists all codes"
            raise ValueError(f"no diagnostic code is or begins with '{word}': {hint}")
    return tuple(word.rstrip("-") for word in words)
