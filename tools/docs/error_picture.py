#!/usr/bin/env python3
"""Draws a mistake, nnefc's report and its repair as a picture of a terminal: error_picture.py NNEFC [--check]

The picture is written to tools/docs/pages/images/error.svg; `--check` only compares it with the output of NNEFC."""

import html
import pathlib
import re
import subprocess
import sys
import tempfile

PICTURE = pathlib.Path(__file__).resolve().parent / "pages" / "images" / "error.svg"
FILE = "net.nnef"
DOCUMENT = """version 1.0;

graph net( image ) -> ( classes )
{
    image = external(shape = [1, 3, 32, 32]);
    kernel = variable(shape = [8, 3, 3, 3], label = 'kernel');
    features = conv(image, kernel, strides = [2, 2]);
    pooled = max_pool(features, size = [2, 2], border = 'ignore');
    classes = softmax(pooled);
}
"""
COMMANDS = ("nnefc check net.nnef", "nnefc check net.nnef --fix", "nnefc check net.nnef && echo valid")
CHARACTER_WIDTH, LINE_HEIGHT, MARGIN = 7.83, 19, 18
MAX_COLUMNS = 108
# Codes of the terminal, and their colours on a dark background.
COLOURS = {"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "35": "#d2a8ff", "36": "#79c0ff"}


def terminal_lines(nnefc: pathlib.Path) -> list[str]:
    """Returns the commands with their output, with the codes of a terminal."""
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / FILE).write_text(DOCUMENT, encoding="utf-8")
        bin_folder = pathlib.Path(folder) / "bin"
        bin_folder.mkdir()
        (bin_folder / "nnefc").symlink_to(nnefc.resolve())
        for command in COMMANDS:
            coloured = command.replace(FILE, f"{FILE} --color always")
            done = subprocess.run(["sh", "-c", coloured], cwd=folder, env={"PATH": f"{bin_folder}:/usr/bin:/bin"}, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            lines += [f"\033[32m$\033[0m \033[1m{command}\033[0m", *done.stdout.splitlines(), ""]
    return lines[:-1]


def spans(line: str) -> list[tuple[str, str]]:
    """Returns the parts of a line with their SVG attributes."""
    found, attributes = [], ""
    for part in re.split(r"(\033\[[0-9;]*m)", line):
        if part.startswith("\033["):
            codes = part[2:-1].split(";")
            colour = next((COLOURS[code[-2:]] for code in codes if code[-2:] in COLOURS and code != "0"), "")
            attributes = (f' fill="{colour}"' if colour else "") + (' font-weight="bold"' if "1" in codes else "")
        elif part:
            found.append((part, attributes))
    return found


def wrapped(parts: list[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """Breaks a line into rows of at most MAX_COLUMNS, at spaces."""
    rows: list[list[tuple[str, str]]] = [[]]
    column = 0
    for text, attributes in parts:
        while text:
            room = MAX_COLUMNS - column
            if len(text) > room:
                room = text.rfind(" ", 0, room) + 1 or room
            rows[-1].append((text[:room], attributes))
            column += len(text[:room])
            text = text[room:]
            if text:
                rows.append([])
                column = 0
    return rows


def draw(lines: list[str]) -> str:
    rows = [row for line in lines for row in wrapped(spans(line))]
    width = round(MAX_COLUMNS * CHARACTER_WIDTH + 2 * MARGIN)
    height = len(rows) * LINE_HEIGHT + 2 * MARGIN
    plain = " ".join(re.sub(r"\033\[[0-9;]*m", "", line).strip() for line in lines if line)
    texts = []
    for index, row in enumerate(rows):
        content = "".join(f"<tspan{attributes}>{html.escape(text, quote=False)}</tspan>" for text, attributes in row)
        y = MARGIN + (index + 1) * LINE_HEIGHT - 5
        texts.append(f'<text x="{MARGIN}" y="{y}" xml:space="preserve">{content}</text>')
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
        f"<title>{html.escape(plain, quote=False)}</title>",
        f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>',
        '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, \'DejaVu Sans Mono\', monospace" font-size="13" fill="#e6edf3">',
        *texts, "</g>", "</svg>", ""])


def main() -> int:
    picture = draw(terminal_lines(pathlib.Path(sys.argv[1])))
    if sys.argv[2:] != ["--check"]:
        PICTURE.parent.mkdir(parents=True, exist_ok=True)
        PICTURE.write_text(picture, encoding="utf-8")
        return 0
    if PICTURE.read_text(encoding="utf-8") == picture:
        return 0
    print(f"{PICTURE.name} differs from the output of nnefc; run {sys.argv[0]} NNEFC and review the difference")
    return 1


if __name__ == "__main__":
    sys.exit(main())
