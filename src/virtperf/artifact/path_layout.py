"""Run folders proposed from the layout of an artifact: which parts of the paths vary, and how.

A path is a list of parts: its folders and the stem of its name, each split at hyphens, underscores
and blanks. A part is a **factor** if its levels are crossed with the other parts: files that look
alike have equal paths but for this part. Any other part that varies tells **tests** apart, each with
factors of its own. Files of one condition that look different belong to one run.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from virtperf.artifact.factor_names import (
    MEASURES,
    name_by_folder,
    name_by_word_before,
    names_by_levels,
)
from virtperf.artifact.inspection import InspectedFile
from virtperf.artifact.undeclared_tables import conditions, is_number
from virtperf.core.grouping import grouped
from virtperf.core.levels import Level, parse_level
from virtperf.core.stage_tables import TABLES_WITH_FACTORS

CONFIGURATION = "configuration"
"""Factor of folders whose names are in no form that tells what their words are."""
NONE = "none"
"""Level of a part that some paths lack."""
TEST, REPLICATE = "test", "replicate"
RESERVED_NAMES = frozenset(
    {TEST, *(name for table in TABLES_WITH_FACTORS for name in table.columns)}
)
"""Names that the factor of a column can't have."""
MIN_CROSSED = 1 / 3
"""Least share of files with a counterpart at another level of the part, for a factor."""
MIN_SHARED_LEVELS = 2
_SPLIT = re.compile(r"[-_ ]+")
_SUFFIX = re.compile(r"(?:\.(?:gz|xz|bz2|zst))?$")
_IDENTIFIER = re.compile(r"\d{9,}")
"""A time or a random number that makes a name unique."""
_EXTENSION = re.compile(r"\.\w{1,12}")
_REPLICATE = re.compile(
    r"(?i)(?:r|run|rep|replicate|repeat|repetition|trial|iter|iteration|round|try)"
)
_PREFIXED = re.compile(r"([A-Za-z]+)(\d+(?:\.\d+)?)")
_SUFFIXED = re.compile(r"(\d+(?:\.\d+)?)([A-Za-z]{3,})")
_NUMBERED = re.compile(r"(?:folder|name|column)_\d+")
_ZERO_ENDED = re.compile(r"\d+\.\d*0")

Place = tuple[int, int]
"""Position of a part: index of the path's segment, and of the token in it."""
Settings = Mapping[tuple[str, ...], Mapping[str, frozenset[str]]]
"""Lists of numbers of JSON files, by folder and name."""


@dataclass(frozen=True)
class ProposedRun:
    """A run to be made: the files of one condition, or rows of a table.

    `factors` are levels by name; `rows` are the cells of keys that select rows, of a run with one
    file. `replicate` numbers the runs of a condition.
    """

    factors: Mapping[str, Level]
    files: tuple[InspectedFile, ...]
    rows: Mapping[str, str] = field(default_factory=dict)
    replicate: int = 1


@dataclass(frozen=True)
class ProposedRuns:
    """Proposal for an artifact: its runs, each factor's words on where its levels stand in the
    paths, and the files that belong to no run.
    """

    runs: tuple[ProposedRun, ...]
    sources: Mapping[str, str]
    left: tuple[InspectedFile, ...]

    @property
    def unnamed(self) -> list[str]:
        """Factors whose name is a number, since nothing says what their levels are."""
        return [name for name in self.sources if _NUMBERED.fullmatch(name)]


@dataclass
class _Path:
    """A file with its path in tokens."""

    file: InspectedFile
    segments: list[list[str]]

    def level(self, place: Place, lengths: Sequence[int]) -> str:
        """The token at a place; the last place of a segment has all further ones."""
        segment, token = place
        tokens = self.segments[segment]
        if token < lengths[segment]:
            return tokens[token]
        return "-".join(tokens[token:]) or NONE


@dataclass
class _Group:
    """Files with the same parts: those that vary are `factors`, `label` names the test; `whole` are
    segments of several words that are one part.
    """

    paths: list[_Path]
    lengths: list[int]
    factors: list[Place]
    label: str = ""
    names: dict[Place, str] = field(default_factory=dict)
    whole: frozenset[Place] = frozenset()


def propose_runs(files: Iterable[InspectedFile]) -> ProposedRuns:
    """Propose run folders for the files of an artifact."""
    data = [file for file in files if file.kind != "beside"]
    used = _used_clusters(data, {})
    settings = _settings_by_folder(data)
    sources = _name_factors(used, settings)
    if whole := _folders_without_form(used):
        used = _used_clusters(data, whole)
        sources = _name_factors(used, settings)
    versions = _versions(used)
    runs = [run for cluster in used for run in _runs(cluster, versions, several=len(used) > 1)]
    if any(TEST in run.factors for run in runs):
        sources = {**sources, TEST: "the parts of the paths that tell tests apart"}
        sources = {TEST: sources.pop(TEST), **sources}
    sources.pop(REPLICATE, None)
    in_runs = {file.path for run in runs for file in run.files}
    left = tuple(file for file in data if file.path not in in_runs)
    return ProposedRuns(tuple(_numbered(runs)), sources, left)


def _used_clusters(
    files: Iterable[InspectedFile], whole: Mapping[int, Mapping[int, int]]
) -> list[_Cluster]:
    """Clusters that are read, with their labels; `whole` are segments that are one part, by depth."""
    parts = _by_depth(files)
    groups = [g for part in parts for g in _split(part, whole.get(len(part[0].segments), {}))]
    used = [cluster for cluster in _clusters(groups) if _is_read(cluster)]
    _label(used)
    return used


def _folders_without_form(clusters: Sequence[_Cluster]) -> dict[int, dict[int, int]]:
    """Folders, by depth, of which words vary that nothing names: only their whole names are levels that
    one can compare.
    """
    named: set[Place] = set()
    unnamed: dict[Place, None] = {}
    for group in (cluster.first for cluster in clusters):
        for place in group.factors:
            levels = {path.level(place, group.lengths) for path in group.paths} - {NONE}
            at = (len(group.lengths), place[0])
            if not _NUMBERED.fullmatch(group.names[place]):
                if levels and group.names[place] not in {level.lower() for level in levels}:
                    named.add(at)
            elif (
                place[0] < len(group.lengths) - 1
                and not all(map(is_number, levels))
                and any(len(path.segments[place[0]]) > 1 for path in group.paths)
            ):
                unnamed[at] = None
    whole: dict[int, dict[int, int]] = defaultdict(dict)
    for depth, segment in unnamed:
        if (depth, segment) not in named:
            whole[depth][segment] = 0
    return whole


# ---- groups of paths


def _by_depth(files: Iterable[InspectedFile]) -> list[list[_Path]]:
    parts: dict[tuple[int, str], list[_Path]] = defaultdict(list)
    for file in files:
        path = PurePosixPath(file.path)
        name = _SUFFIX.sub("", path.name)
        suffix = PurePosixPath(name).suffix
        suffix = suffix if _EXTENSION.fullmatch(suffix) else ""  # in kata.v2-qemu-100 it is no type
        stem = name.removesuffix(suffix) or name
        segments = [_tokens(part) for part in (*path.parts[:-1], stem)]
        parts[len(segments), suffix].append(_Path(file, segments))
    return [parts[key] for key in sorted(parts)]


def _tokens(text: str) -> list[str]:
    tokens = [token for token in _SPLIT.split(text) if token]
    return [token for token in tokens if not _IDENTIFIER.fullmatch(token)] or tokens or [text]


def _split(paths: list[_Path], joined: Mapping[int, int]) -> list[_Group]:
    """Split files to groups, at the first part that varies without being a factor.

    `joined` has the tokens, by segment, from which on tokens are one part.
    """
    count = len(paths[0].segments)
    lengths = [min(len(path.segments[s]) for path in paths) for s in range(count)]
    lengths = [min(length, joined.get(s, length)) for s, length in enumerate(lengths)]
    places = [(s, t) for s in range(count) for t in range(lengths[s] + 1)]
    factors: list[Place] = []
    for place in places:
        levels = {path.level(place, lengths) for path in paths}
        if len(levels) == 1:
            continue
        segment, token = place
        is_joined = joined.get(segment) == token
        if is_joined or _crossed(paths, place, places, lengths) >= MIN_CROSSED:
            factors.append(place)
            continue
        start = _join_at(paths, place, places, lengths, factors)
        if start is not None:
            return _split(paths, {**joined, segment: start})
        parts = grouped((path.level(place, lengths), path) for path in paths)
        return [group for level in sorted(parts) for group in _split(parts[level], joined)]
    whole = frozenset((segment, 0) for segment, token in joined.items() if not token)
    return [_Group(paths, lengths, factors, whole=whole)]


def _crossed(
    paths: Sequence[_Path],
    place: Place,
    places: Sequence[Place],
    lengths: Sequence[int],
    *,
    alike: bool = True,
) -> float:
    """Share of the files that have a counterpart at another level of a part, of the same shape if
    `alike`.
    """
    full = [path for path in paths if path.file.kind != "empty"]
    levels: dict[tuple[object, ...], set[str]] = defaultdict(set)
    keys = []
    for path in full:
        others = tuple(path.level(p, lengths) for p in places if p != place)
        key = (path.file.shape if alike else "", *others)
        keys.append(key)
        levels[key].add(path.level(place, lengths))
    return sum(len(levels[key]) > 1 for key in keys) / len(full) if full else 0.0


def _join_at(
    paths: Sequence[_Path],
    place: Place,
    places: Sequence[Place],
    lengths: Sequence[int],
    factors: Sequence[Place],
) -> int | None:
    """The token from which on the rest of a segment is one part: for names in no common form."""
    segment, token = place
    are_alike = len({path.file.shape for path in paths if path.file.kind != "empty"}) <= 1
    if token and (segment, token - 1) in factors:
        share = _crossed(paths, place, places, lengths)
        is_name = share == _crossed(paths, place, places, lengths, alike=False) > 0
        return token - 1 if are_alike or is_name else None
    n_levels = len({path.level(place, lengths) for path in paths})
    is_list_of_names = n_levels >= 3 and n_levels >= len(paths) / 2
    return token if are_alike and is_list_of_names else None


# ---- files of one run


@dataclass
class _Cluster:
    """Groups whose files belong to the same runs, the first one with the shortest names."""

    groups: list[_Group]

    @property
    def first(self) -> _Group:
        return self.groups[0]


def _clusters(groups: Sequence[_Group]) -> list[_Cluster]:
    clusters: list[_Cluster] = []
    for group in sorted(groups, key=lambda g: min(len(p.file.path) for p in g.paths)):
        home = next((c for c in clusters if _belongs(group, c.first)), None)
        if home is None:
            clusters.append(_Cluster([group]))
        else:
            home.groups.append(group)
    return clusters


def _belongs(group: _Group, other: _Group) -> bool:
    """Whether the files of two groups stand in pairs: in the same folders, with the same levels in
    their names.
    """
    if any(path.file.roles.keys for path in (*group.paths, *other.paths)):
        return False
    if len(group.paths[0].segments) != len(other.paths[0].segments):
        return False
    shapes = [{path.file.shape for path in g.paths if path.file.is_read} for g in (group, other)]
    if shapes[0] & shapes[1]:
        return False  # a run has one file of a form: two would have the same numbers
    own, others = set(_keys(group)), set(_keys(other))
    common = own & others
    stems = {path.segments[-1][0] for path in (*group.paths, *other.paths)}
    named_alike = len(stems) == 1 or not any(key[1] for key in common)
    enough = len(common) >= 2 and len(common) >= min(len(own), len(others)) / 2
    return enough and named_alike and len(own) == len(group.paths)


def _keys(group: _Group) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    last = len(group.lengths) - 1
    in_name = [place for place in group.factors if place[0] == last]
    return [
        (
            PurePosixPath(path.file.path).parts[:-1],
            tuple(path.level(place, group.lengths) for place in in_name),
        )
        for path in group.paths
    ]


def _is_read(cluster: _Cluster) -> bool:
    """Whether at least half of the runs have a file that is read."""
    runs: dict[object, bool] = defaultdict(bool)
    for group in cluster.groups:
        for key, path in zip(_keys(group), group.paths, strict=True):
            runs[key] |= path.file.is_read
    return sum(runs.values()) >= max(1, len(runs) / 2)


def _versions(clusters: Sequence[_Cluster]) -> set[str]:
    """Factors whose levels are texts, since one ends in a zero: 5.10 is not the number 5.1."""
    columns = _cells_of_keys(p.file for c in clusters for p in c.first.paths).keys()
    return {
        cluster.first.names[place]
        for cluster in clusters
        for place in cluster.first.factors
        for path in cluster.first.paths
        if _ZERO_ENDED.fullmatch(path.level(place, cluster.first.lengths))
    } - columns


def _runs(cluster: _Cluster, versions: Set[str], *, several: bool) -> list[ProposedRun]:
    first = cluster.first
    beside: dict[object, list[InspectedFile]] = defaultdict(list)
    for group in cluster.groups[1:]:
        for key, path in zip(_keys(group), group.paths, strict=True):
            beside[key].append(path.file)
    runs = []
    for key, path in zip(_keys(first), first.paths, strict=True):
        factors: dict[str, Level] = {TEST: first.label} if several else {}
        for place in first.factors:
            name, token = first.names[place], path.level(place, first.lengths)
            if name == TEST:
                factors[TEST] = clean_level("-".join([*([first.label] if several else []), token]))
                continue
            factors[name] = _cleaned(token) if name in versions else _level(token, name)
        runs += _of_file(factors, path.file, beside[key])
    return runs


def _of_file(
    factors: dict[str, Level], file: InspectedFile, beside: Sequence[InspectedFile]
) -> list[ProposedRun]:
    """The runs of a file: one, or one for each condition of its rows."""
    if file.table is None or not file.roles.keys:
        return [ProposedRun(factors, (file, *beside))]
    runs = []
    for cells in conditions(file.table, file.roles.keys):
        of_rows = {column_factor(key, file): clean_level(cell) for key, cell in cells.items()}
        runs.append(ProposedRun({**factors, **of_rows}, (file,), cells))
    return runs


def _numbered(runs: Iterable[ProposedRun]) -> list[ProposedRun]:
    """Number the runs of each condition; replicates in paths only order them."""
    counts: Counter[tuple[tuple[str, Level], ...]] = Counter()
    numbered = []
    for run in runs:
        factors = {name: level for name, level in run.factors.items() if name != REPLICATE}
        key = tuple(sorted(factors.items(), key=lambda item: item[0]))
        counts[key] += 1
        numbered.append(replace(run, factors=factors, replicate=counts[key]))
    return numbered


# ---- names


def _label(clusters: Sequence[_Cluster]) -> None:
    """Name each test by the outermost part of its paths that no other test has, else by all."""
    folders = {
        place
        for cluster in clusters
        for place in cluster.first.factors
        if place[0] < len(cluster.first.lengths) - 1
    }
    parts_of = [_constants(cluster.first, folders) for cluster in clusters]
    common = Counter(part for parts in parts_of for part in set(parts))
    seen: Counter[str] = Counter()
    for cluster, parts in zip(clusters, parts_of, strict=True):
        label = next((part for part in parts if common[part] == 1), "-".join(parts))
        if not isinstance(parse_level(label), str):
            label = f"part-{label}"  # a number would be another level
        seen[label] += 1
        cluster.first.label = label if seen[label] == 1 else f"{label}-{seen[label]}"


def _constants(group: _Group, folders: Set[Place]) -> list[str]:
    """The constant tokens of each segment, joined; segments without one are left out, and `folders`
    that other tests vary.
    """
    path = group.paths[0]
    parts = []
    for segment, length in enumerate(group.lengths):
        tokens = [
            path.level((segment, token), group.lengths)
            for token in range(length + 1)
            if (segment, token) not in group.factors
            and (segment == len(group.lengths) - 1 or (segment, token) not in folders)
        ]
        if text := "-".join(token for token in tokens if token != NONE):
            parts.append(clean_level(text))
    return [str(part) for part in parts] or ["files"]


def _name_factors(clusters: Sequence[_Cluster], settings: Settings) -> dict[str, str]:
    """Name the parts that vary; parts of several tests with the same levels get one name.

    Returns the words on each factor.
    """
    files = [path.file for c in clusters for path in c.first.paths]
    known = list(_cells_of_keys(files).items())
    sources: dict[str, str] = {}
    taken = {TEST, *(name for name, _ in known)}
    beside: dict[object, list[tuple[str, set[str]]]] = defaultdict(list)
    for cluster in clusters:
        group = cluster.first
        for place in group.factors:
            levels = {path.level(place, group.lengths) for path in group.paths} - {NONE}
            own = {column_factor(k, p.file) for p in group.paths for k in p.file.roles.keys}
            used = own | set(group.names.values())
            named = [(n, of) for n, of in known if not _NUMBERED.fullmatch(n)]
            candidates = [
                _own_name(group, place, levels),
                _shared_name(named, levels, used),
                *names_by_levels(levels),
                _shared_name(known, levels, used),
                *(n for n, others in beside[_tree(group, place)] if _overlap(levels, others)),
                _name_by_settings(group, place, settings),
            ]
            taken = {*used, *RESERVED_NAMES} - {REPLICATE}
            free = (n for n in candidates if n and n not in taken)
            name = next(free, "")
            in_folder = place[0] < len(group.lengths) - 1
            are_words = not all(map(is_number, levels))
            said = all(not MEASURES.isdisjoint(level.lower().split("-")) for level in levels)
            if not name and are_words and in_folder and place in group.whole:
                name = CONFIGURATION if CONFIGURATION not in used else ""
            elif not name and are_words and not in_folder and (said or (own and not place[1])):
                name = TEST  # the names tell what was measured, as those of tables of conditions do
            if not name:
                kind = "folder" if in_folder else "name"
                number = place[0] + 1 if kind == "folder" else 1
                while f"{kind}_{number}" in taken:
                    number += 1
                name = f"{kind}_{number}"
            taken.add(name)
            known.append((name, levels))
            beside[_tree(group, place)].append((name, levels))
            group.names[place] = name
            sources[name] = sources.get(name, _where(group, place))
    for cluster in clusters:
        _add_constant_folders(cluster.first, clusters)
    columns = grouped((column_factor(key, file), key) for file in files for key in file.roles.keys)
    for name, keys in columns.items():
        words = f"column {', '.join(dict.fromkeys(keys))}"
        sources[name] = f"{words}, {sources[name]}" if name in sources else words
    return sources


def _cells_of_keys(files: Iterable[InspectedFile]) -> dict[str, set[str]]:
    """The cells of the columns of keys, by factor."""
    cells: dict[str, set[str]] = {}
    for file in files:
        if file.table is not None:
            for key in file.roles.keys:
                cells.setdefault(column_factor(key, file), set()).update(file.table.cells(key))
    return cells


def _settings_by_folder(files: Iterable[InspectedFile]) -> Settings:
    found: dict[tuple[str, ...], dict[str, frozenset[str]]] = {}
    for file in files:
        if file.settings:
            found.setdefault(PurePosixPath(file.path).parts[:-1], {}).update(file.settings)
    return found


def _name_by_settings(group: _Group, place: Place, settings: Settings) -> str:
    """The list of numbers, in a JSON file above a part, that are its levels; "" if none or several are."""
    levels: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for path in group.paths:
        folders = PurePosixPath(path.file.path).parts[: place[0]]
        above = (folders[:n] for n in range(len(folders), -1, -1))
        if home := next((each for each in above if each in settings), None):
            levels[home].add(path.level(place, group.lengths))
    if len(set().union(*levels.values())) < MIN_SHARED_LEVELS:
        return ""
    names = [
        {n for n, of in settings[home].items() if of == found} for home, found in levels.items()
    ]
    common = set.intersection(*names)
    return factor_name(common.pop()) if len(common) == 1 else ""


def _add_constant_folders(group: _Group, clusters: Sequence[_Cluster]) -> None:
    """Add the folders that other tests vary: a test of one machine has its level too."""
    last = len(group.lengths) - 1
    for other in (cluster.first for cluster in clusters):
        for place in other.factors:
            name = other.names[place]
            known = place in group.factors or name in group.names.values()
            if known or place[0] >= min(last, len(other.lengths) - 1):
                continue
            level = group.paths[0].level(place, group.lengths)
            if level in {path.level(place, other.lengths) for path in other.paths}:
                group.factors.append(place)
                group.names[place] = name


def _own_name(group: _Group, place: Place, levels: set[str]) -> str:
    """The name that a part states itself: ``threads=4``, ``qd32``, ``threads-4``,
    ``kernels/5.4``; "" for none.
    """
    pairs = {level.partition("=")[0] for level in levels}
    if len(pairs) == 1 and all("=" in level for level in levels):
        return factor_name(pairs.pop())
    for pattern, group_number in ((_PREFIXED, 1), (_SUFFIXED, 2)):
        found = [pattern.fullmatch(level) for level in levels]
        words = {match[group_number] for match in found if match}
        if all(found) and len(words) == 1:
            word = words.pop()
            return REPLICATE if _REPLICATE.fullmatch(word) else factor_name(word)
    segment, token = place
    path = group.paths[0]
    if token and (segment, token - 1) not in group.factors:
        word = path.level((segment, token - 1), group.lengths)
        if name := name_by_word_before(word, levels):
            return REPLICATE if _REPLICATE.fullmatch(name) else factor_name(name)
    if not token and segment and not any(at == segment - 1 for at, _ in group.factors):
        folder = "-".join(path.segments[segment - 1])
        if _REPLICATE.fullmatch(folder.removesuffix("s")) and all(map(str.isdigit, levels)):
            return REPLICATE
        return name_by_folder(folder)
    return ""


def _shared_name(known: Sequence[tuple[str, set[str]]], levels: set[str], used: set[str]) -> str:
    texts = {level for level in levels if not level.isdigit()}
    for name, others in known:
        if name not in used and (_overlap(texts, others) or (texts and texts == others)):
            return name
    return ""


def _overlap(levels: Set[str], others: Set[str]) -> bool:
    common = len(levels & others)
    return common >= MIN_SHARED_LEVELS and common >= min(len(levels), len(others)) / 2


def _tree(group: _Group, place: Place) -> object:
    """Equal for parts at one depth below the same outermost folder: with the same levels, which may
    be numbers, they are one factor.
    """
    if not place[0] or any(segment == 0 for segment, _ in group.factors):
        return object()
    return len(group.lengths), tuple(group.paths[0].segments[0]), place


def _where(group: _Group, place: Place) -> str:
    """A path with the part in braces: ``m5d.metal/raw/mem-{fc}-128``."""
    path = max(group.paths, key=lambda p: p.level(place, group.lengths) != NONE)
    segments = []
    for number, tokens in enumerate(path.segments):
        if number != place[0]:
            segments.append("-".join(tokens))
        else:
            end = place[1] + 1 if place[1] < group.lengths[number] else len(tokens)
            marked = "{" + "-".join(tokens[place[1] : end]) + "}"
            segments.append("-".join([*tokens[: place[1]], marked, *tokens[end:]]))
    return "/".join(segments)


def factor_name(text: str) -> str:
    """A name that quantities can give levels of: letters, digits and underscores."""
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:40]
    return name if name and name[0].isalpha() else f"factor_{name}".rstrip("_")


def _level(token: str, name: str) -> Level:
    """The level of a token: ``qd32`` of the factor qd is the number 32."""
    token = token.partition("=")[2] or token
    for pattern, word, number in ((_PREFIXED, 1, 2), (_SUFFIXED, 2, 1)):
        match = pattern.fullmatch(token)
        if match and factor_name(match[word]) == name:
            return parse_level(match[number])
        if match and name == REPLICATE:
            return parse_level(match[number])
    return clean_level(token)


def clean_level(text: str) -> Level:
    """A level without the characters that delimit levels in quantities."""
    cleaned = _cleaned(text)
    level = parse_level(cleaned)
    return level if not isinstance(level, float) or abs(level) < 1e15 else cleaned


def _cleaned(text: str) -> str:
    return re.sub(r"[^\w.+%/ -]+", "-", text).strip(" -")[:60] or NONE


def column_factor(key: str, file: InspectedFile) -> str:
    """The factor of a column, with a name that a study may use and that no other factor has."""
    column = file.roles.called.get(key, key)
    if _REPLICATE.fullmatch(column):
        return REPLICATE
    name = factor_name(column)
    return f"{name}_column" if name in RESERVED_NAMES else name
