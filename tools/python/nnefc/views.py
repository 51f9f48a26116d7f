"""Views of models for terminals and notebooks: tables and drawings."""

from __future__ import annotations

import html
import json
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nnefc.model import Model
    from nnefc.port import Port

# Drawings of more characters are not part of a notebook: each view of the model would add them to its file.
LARGEST_DRAWING = 2_000_000
# The operations that a table of a notebook lists.
MOST_ROWS = 200
_STYLE = "text-align:left;vertical-align:top;padding:2px 10px 2px 0"


def summary(model: Model) -> str:
    """Returns the operations of a model as a text table, with their costs if these are known."""
    rows, totals, has_costs = _rows(model)
    return "\n".join([*text_table(_headings(has_costs), rows, (3, 4)), "", *totals])


def model_html(model: Model) -> str:
    """Returns a model for a notebook: its ports and operations as tables, and its folded drawing."""
    rows, totals, has_costs = _rows(model)
    shown = rows[:MOST_ROWS]
    note = _operations(len(rows)) + ("" if len(shown) == len(rows) else f", the first {len(shown)} of them")
    parts = [
        _ports("inputs", model.inputs),
        _ports("outputs", model.outputs),
        *(f"<p>{html.escape(line)}</p>" for line in totals),
        _folded(note, html_table("operations", _headings(has_costs), shown)),
    ]
    page = model._native.draw("html", has_costs)[0]
    if len(page) <= LARGEST_DRAWING:
        frame = f'<iframe title="Drawing of the graph" style="width:100%;height:640px;border:0" srcdoc="{html.escape(page)}"></iframe>'
        parts.append(_folded("drawing", frame))
    return f"<div>{''.join(parts)}</div>"


def executable_html(inputs: Sequence[Port], outputs: Sequence[Port]) -> str:
    """Returns the ports of an executable as tables."""
    return f"<div>{_ports('inputs', inputs)}{_ports('outputs', outputs)}</div>"


def difference_html(text: str) -> str:
    """Returns the text of a difference with its old lines as deletions and its new ones as insertions."""
    elements = {"-": "del", "+": "ins"}
    lines = []
    for line in text.splitlines():
        name = elements.get(line[:1])
        lines.append(f"<{name}>{html.escape(line)}</{name}>" if name else html.escape(line))
    return f'<pre style="line-height:1.4">{chr(10).join(lines)}</pre>'


def html_table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a table of HTML; all texts are escaped."""
    head = "".join(f'<th scope="col" style="{_STYLE}">{html.escape(text)}</th>' for text in headings)
    body = "".join("<tr>" + "".join(f'<td style="{_STYLE}">{html.escape(cell)}</td>' for cell in row) + "</tr>" for row in rows)
    return f"<table><caption>{html.escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _folded(title: str, content: str) -> str:
    return f"<details><summary>{html.escape(title)}</summary>{content}</details>"


def _ports(caption: str, ports: Sequence[Port]) -> str:
    return html_table(caption, ("name", "type"), [(port.name, str(port).rpartition(": ")[2]) for port in ports])


def _headings(has_costs: bool) -> tuple[str, ...]:
    return ("name", "operation", "result", *(("parameters", "MACs") if has_costs else ()))


def _rows(model: Model) -> tuple[list[tuple[str, ...]], list[str], bool]:
    """Returns a row per operation, lines with totals, and whether the rows have costs."""
    from nnefc.errors import NnefError

    try:
        described = json.loads(model._native.draw("json", True)[0])
    except NnefError:  # an operation cannot be lowered, or an extent is unknown
        described = json.loads(model._native.draw("json", False)[0])
    has_costs = "costs" in described
    rows = []
    for node in described["graph"]["nodes"]:
        if node["kind"] != "operation":
            continue
        row = [node["name"], node["operation"], ", ".join(_type(output) for output in node["outputs"])]
        if has_costs:
            row += [_number(node.get("parameters", 0)), _number(node.get("macs", 0))]
        rows.append(tuple(row))
    if not has_costs:
        return rows, [_operations(len(rows))], False
    nodes = described["graph"]["nodes"]
    totals = [sum(node.get(name, 0) for node in nodes) for name in ("parameters", "macs")]
    line = f"{_operations(len(rows))}, {_number(totals[0])} parameters, {_number(totals[1])} multiply-accumulates"
    return rows, [line], True


def _type(output: dict[str, Any]) -> str:
    if output["shape"] is None:
        return f"{output['type']}[...]"
    extents = ",".join("?" if extent is None else str(extent) for extent in output["shape"])
    return f"{output['type']}[{extents}]"


def _number(value: float) -> str:
    return f"{int(value):,}"


def _operations(count: int) -> str:
    return "1 operation" if count == 1 else f"{_number(count)} operations"


def text_table(headings: Sequence[str], rows: Sequence[Sequence[str]], numbers: Collection[int]) -> list[str]:
    """Returns the lines of a table, with the columns of these indices aligned at the right."""
    widths = [max(len(row[column]) for row in (headings, *rows)) for column in range(len(headings))]
    lines = []
    for row in (headings, *rows):
        cells = [cell.rjust(width) if column in numbers else cell.ljust(width) for column, (cell, width) in enumerate(zip(row, widths))]
        lines.append("  ".join(cells).rstrip())
    return lines
