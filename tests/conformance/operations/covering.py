"""Covering arrays: few combinations of values in which every pair (or triple) of values of different parameters occurs."""

from __future__ import annotations

import itertools
import random
from collections.abc import Hashable, Mapping, Sequence


def covering_array(parameters: Mapping[Hashable, Sequence], strength: int = 2, max_rows: int = 1000) -> list[dict]:
    """Greedy: each combination of `strength` values is in a row of the result, unless `max_rows` ends it before."""
    names = [name for name, values in parameters.items() if len(values) > 1]
    if len(names) < strength:
        return []
    draw = random.Random(1)
    missing = {tuple(zip(chosen, indices)) for chosen in itertools.combinations(names, strength)
               for indices in itertools.product(*(range(len(parameters[name])) for name in chosen))}
    rows = []
    while missing and len(rows) < max_rows:
        # A row begins with a combination that is missing; each other value is the one that completes most of them.
        row = dict(min(missing, key=repr))
        others = [name for name in names if name not in row]
        draw.shuffle(others)
        for name in others:
            def gain(index: int) -> int:
                chosen = {**row, name: index}
                return sum((name, index) in group and all(chosen.get(n) == i for n, i in group) for group in missing)
            row[name] = max(range(len(parameters[name])), key=lambda index: (gain(index), draw.random()))
        missing -= {group for group in missing if all(row[n] == i for n, i in group)}
        rows.append({name: parameters[name][index] for name, index in row.items()})
    return rows
