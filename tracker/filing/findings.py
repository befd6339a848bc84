"""Open drifts -> findings: what there is to tell, each with its key. Decides neither when nor how."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from tracker.ledger import Family, Finding, Found, Gone, Item, State, key

CATALOGUE = "catalogue"
"""What a grouped finding is about where it is not about one file."""
TOGETHER = 10
"""More findings than this in one file, or in all, are told in one issue; the number is flakybot's."""
SHARE = 0.1
"""Or more than this share of all that was checked."""


def findings(
    repository: str,
    drifts: Iterable[Found],
    accepted: Collection[tuple[str, str]],
    items: Mapping[str, Item],
    families: Collection[Family],
    checked: int,
) -> tuple[dict[str, Finding], dict[str, str]]:
    """By key, all that there is to tell of these drifts; and of those that are told together, the key of their group.

    `accepted` holds (entry, fingerprint) of what a person accepted; `families` are those that are filed at all;
    `checked` is how many entries the run looked at.
    """
    told = [one for one in drifts if (one.entry, one.fingerprint) not in accepted]
    single = [
        Finding(
            key=(name := key(repository, one.entry, Family.MEANING)),
            family=Family.MEANING,
            entry=one.entry,
            fingerprint=one.fingerprint,
            drifts=(one,),
            ready=one.confirmed and (not one.baseline or (name in items and items[name].number is not None)),
        )
        for one in told
        if one.family is Family.MEANING
    ]
    groups = _groups(repository, single, items, checked)
    grouped = {member.key: name for name, (_, members) in groups.items() for member in members}
    found = {one.key: replace(one, ready=False) if one.key in grouped else one for one in single}
    for name, (subject, members) in groups.items():
        found[name] = _together(name, Family.MASS, subject, [one for member in members for one in member.drifts])
    for family in (Family.NEW, Family.LINES):
        if family in families:
            name = key(repository, "", family)
            of_family = [one for one in told if one.family is family]
            if ready := [one for one in of_family if not one.baseline]:
                found[name] = _together(name, family, "", ready)
            elif of_family:
                # Nothing to tell, and no reason to close what a lost database may once have told.
                found[name] = replace(_together(name, family, "", of_family), ready=False)
    return found, grouped


def gone(
    item: Item,
    found: Mapping[str, Finding],
    items: Mapping[str, Item],
    ended: Mapping[tuple[str, Family], Gone],
    accepted: Mapping[str, str],
    covered: Collection[str],
    whole: bool,
    new_known: bool,
) -> Gone | None:
    """Why there is nothing to tell of an item any more; None where that is not known.

    `ended` says why drifts ended, `accepted` why entries were accepted; `covered` are the entries that the last
    verified run looked at, `whole` says that it could read every page, `new_known` that it looked for new errors.
    """
    if item.family is Family.MASS:
        if any(one.group == item.key and one.key in found for one in items.values()):
            return None
        return Gone(reason="all of them are settled", by_hand=True)
    if item.family is Family.NEW:
        return Gone(reason="every error has its page, or was accepted", by_hand=True) if new_known else None
    if item.family is Family.LINES:
        return Gone(reason="every page is on its line", by_hand=True) if whole else None
    if item.entry in accepted:
        return Gone(reason=f"accepted: {accepted[item.entry]}", by_hand=True)
    if (why := ended.get((item.entry, Family.MEANING))) is not None:
        return why
    if item.entry in covered:
        return Gone(reason="the source says what the page says", by_hand=False)
    return Gone(reason="there is no such page any more", by_hand=False) if whole else None


def _groups(
    repository: str, single: Sequence[Finding], items: Mapping[str, Item], checked: int
) -> dict[str, tuple[str, list[Finding]]]:
    """Key of a group -> what it is about, and its members: those of before, and what is too much at once now."""
    groups: dict[str, list[Finding]] = defaultdict(list)
    free = []
    for finding in single:
        item = items.get(finding.key)
        if item is not None and item.group:
            groups[item.group].append(finding)
        elif finding.ready and (item is None or (item.state is State.QUEUED and item.previous is None)):
            free.append(finding)
    counts = Counter(map(_path, free))
    rest = []
    for finding in free:
        if counts[_path(finding)] > TOGETHER:
            groups[key(repository, _path(finding), Family.MASS)].append(finding)
        else:
            rest.append(finding)
    if len(rest) > max(TOGETHER, SHARE * checked):
        groups[key(repository, CATALOGUE, Family.MASS)] += rest
    about = {key(repository, path, Family.MASS): path for path in set(map(_path, single))}
    return {name: (about.get(name, CATALOGUE), members) for name, members in groups.items()}


def _path(finding: Finding) -> str:
    site = finding.drifts[0].drift.before
    return site.path if site is not None else ""


def _together(name: str, family: Family, entry: str, drifts: Sequence[Found]) -> Finding:
    said = sorted(f"{one.entry} {one.fingerprint if family is not Family.LINES else ''}" for one in drifts)
    digest = hashlib.sha256("\0".join(said).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return Finding(key=name, family=family, entry=entry, fingerprint=digest, drifts=tuple(drifts))
