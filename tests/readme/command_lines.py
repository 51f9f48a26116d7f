"""Checks that the commands and options of nnefc which a text names exist."""

from __future__ import annotations

import functools
import pathlib
import re
import subprocess

LINE = re.compile(r"(?:^ *|\$ |\| |&& |run: )(?:(?:build/release/bin/)?nnefc|python3? -m nnefc) ([a-z][a-z_]*)\b([^|#&;]*)")
OPTION = re.compile(r"(?<=\s)(--[a-z][a-z-]*)")
OPTION_ROW = re.compile(r"^ +(?:-\w,)?(--[a-z][a-z,-]*)", re.MULTILINE)


class Help:
    """The commands and options that the help of a binary lists."""

    def __init__(self, nnefc: pathlib.Path):
        self.nnefc = nnefc

    @functools.cache
    def text(self, *words: str) -> str:
        return subprocess.run([str(self.nnefc), "help", *words], capture_output=True, text=True, check=True).stdout

    @functools.cache
    def commands(self) -> set[str]:
        return set(re.findall(r"^  ([a-z]+) {2,}", self.text().partition("Subcommands:")[2], re.MULTILINE)) | {"help"}

    @functools.cache
    def options(self, command: str) -> set[str]:
        text = self.text("limits") + ("" if command == "help" else self.text(command))
        return {name for row in OPTION_ROW.findall(text) for name in row.split(",")} | {"--help"}


def code_lines(text: str) -> list[tuple[int, str]]:
    """Returns the lines of code blocks and the code in back-quotes, with their line numbers."""
    found, is_fenced = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_fenced = not is_fenced
        elif is_fenced or line.startswith("    "):
            found.append((number, line))
        else:
            found += [(number, word) for word in re.findall(r"`([^`]+)`", line)]
    return found


def wrong_lines(text: str, known: Help) -> list[str]:
    """Returns a message for each command and option in the text that the binary lacks."""
    found = []
    for line, code in code_lines(text):
        for match in LINE.finditer(code):
            command = match[1]
            if command not in known.commands():
                found.append(f"{line}: there is no command `nnefc {command}`")
                continue
            found += [f"{line}: `nnefc {command}` has no option `{option}`" for option in OPTION.findall(match[2])
                      if option not in known.options(command)]
    return found
