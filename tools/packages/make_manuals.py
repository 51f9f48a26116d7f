#!/usr/bin/env python3
"""Generates man pages, and completions for bash, zsh and fish, from the command line's help: make_manuals.py NNEFC FOLDER"""

import pathlib
import re
import subprocess
import sys
from dataclasses import dataclass, field


@dataclass
class Option:
    """An option in the help."""

    names: list[str]
    value: str  # "FILE"; empty for a flag
    words: list[str]  # allowed values
    text: str

    @property
    def takes_value(self) -> bool:
        return bool(self.value)


@dataclass
class Command:
    """The contents of `nnefc COMMAND --help`."""

    name: str
    summary: str = ""
    usage: str = ""
    positionals: list[tuple[str, str]] = field(default_factory=list)
    options: list[Option] = field(default_factory=list)
    footer: str = ""


def help_of(nnefc: str, *words: str) -> str:
    return subprocess.run([nnefc, *words, "--help"], capture_output=True, text=True, check=True).stdout


def entries(block: str) -> list[tuple[str, str]]:
    """Returns the entries of a list in the help: the left column, and the text to its right or below it."""
    found: list[tuple[str, str]] = []
    for line in block.splitlines():
        if not line.startswith("  ") or not line.strip():
            continue
        if line.startswith(" " * 28):
            head, text = found[-1]
            found[-1] = (head, f"{text} {line.strip()}".strip())
            continue
        head, _, text = line.strip().partition("  ")
        found.append((head, text.strip()))
    return found


def option(head: str, text: str) -> Option:
    names, _, value = head.partition(" ")
    # "[auto|never; default: auto]" at the end
    words = re.search(r" \[([a-z0-9|]*\|[a-z0-9|]*)(;[^\]]*)?\]$", text)
    return Option(names.split(","), value, words[1].split("|") if words else [], text)


def section(text: str, title: str) -> str:
    found = re.search(rf"^{title}:\n((?:[ ]+.*\n|\n(?=  ))*)", text, re.MULTILINE)
    return found[1] if found else ""


def read(nnefc: str, name: str) -> Command:
    text = help_of(nnefc, *([name] if name else []))
    command = Command(name or "nnefc", " ".join(text.split("\nUsage:")[0].split()))
    usage = re.search(r"^Usage: (.*)$", text, re.MULTILINE)
    command.usage = usage[1] if usage else ""
    command.positionals = [(head.split()[0], text) for head, text in entries(section(text, "Positionals"))]
    for title in ("Options", "Transformation options", "Common options"):
        command.options += [option(*entry) for entry in entries(section(text, title))]
    examples = re.search(r"^Examples?:\n((?:  .*\n)*)", text, re.MULTILINE)
    command.footer = examples[1].strip() if examples else ""
    return command


def roff(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = re.sub(r"`([^`]*)`", r"\\fB\1\\fR", text)
    return re.sub(r"^([.'])", r"\\&\1", text)


def page(command: Command, title: str, version: str, commands: list[Command]) -> str:
    lines = [f'.TH {title.upper()} 1 "" "nnefc {version}" "User Commands"', ".SH NAME",
             f"{roff(title)} \\- {roff(command.summary.rstrip('.'))}", ".SH SYNOPSIS", f".B {roff(command.usage)}"]  # fmt: skip
    if command.positionals:
        lines.append(".SH ARGUMENTS")
        for name, text in command.positionals:
            lines += [".TP", f".I {roff(name)}", roff(text)]
    if commands:
        lines.append(".SH COMMANDS")
        for item in commands:
            lines += [".TP", f".B {roff(item.name)}", f"{roff(item.summary)}; see \\fBnnefc\\-{item.name}\\fR(1)"]
    lines.append(".SH OPTIONS")
    for item in command.options:
        value = f" \\fI{roff(item.value)}\\fR" if item.value else ""
        names = ", ".join(f"\\fB{roff(name)}\\fR" for name in item.names)
        lines += [".TP", names + value, roff(item.text)]
    if command.footer:
        lines += [".SH EXAMPLES", ".nf"]
        for example in command.footer.splitlines():
            lines.append(roff(example.strip()))
        lines.append(".fi")
    lines += [".SH EXIT STATUS", "0: all is well; 1: the input is invalid, or a comparison failed; 2: misuse, or the environment."]
    if not commands:
        lines += [".SH SEE ALSO", "\\fBnnefc\\fR(1)"]
    return "\n".join(lines) + "\n"


def bash(commands: list[Command]) -> str:
    cases = []
    for command in commands:
        words = " ".join(name for item in command.options for name in item.names)
        values = "".join(
            f'        {"|".join(item.names)}) COMPREPLY=($(compgen -W "{" ".join(item.words)}" -- "$current")); return ;;\n'
            for item in command.options
            if item.words
        )
        cases.append(f'    {command.name})\n      case $previous in\n{values}      esac\n      options="{words}" ;;\n')
    names = " ".join(command.name for command in commands)
    return f"""# Completion of nnefc for bash, made of its help.
_nnefc() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} options=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{names} help --help --version" -- "$current"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
    help) COMPREPLY=($(compgen -W "{names} limits" -- "$current")); return ;;
{"".join(cases)}  esac
  case $current in
    -*) COMPREPLY=($(compgen -W "$options" -- "$current")) ;;
    *) COMPREPLY=($(compgen -f -- "$current")) ;;
  esac
}}
complete -o filenames -F _nnefc nnefc
"""


def quoted(text: str) -> str:
    return text.replace("'", "").replace("`", "").replace("[", "(").replace("]", ")").replace(":", " -").replace("\\", "")


def zsh(commands: list[Command]) -> str:
    lines = ["#compdef nnefc", "# Completion of nnefc for zsh, made of its help.", "_nnefc() {", "  local -a commands", "  commands=("]
    lines += [f"    '{command.name}:{quoted(command.summary)}'" for command in commands]
    lines += ["  )", "  if (( CURRENT == 2 )); then", "    _describe command commands", "    return", "  fi",
              "  local command=$words[2]", "  shift words", "  (( CURRENT-- ))", "  case $command in"]  # fmt: skip
    for command in commands:
        lines.append(f"    {command.name}) _arguments \\")
        for item in command.options:
            for name in item.names:
                action = f":value:({' '.join(item.words)})" if item.words else ":file:_files" if item.takes_value else ""
                lines.append(f"        '{name}[{quoted(item.text)}]{action}' \\")
        lines.append("        '*:file:_files' ;;")
    lines += ["  esac", "}", '_nnefc "$@"']
    return "\n".join(lines) + "\n"


def fish(commands: list[Command]) -> str:
    lines = ["# Completion of nnefc for fish, made of its help."]
    for command in commands:
        lines.append(f"complete -c nnefc -n __fish_use_subcommand -f -a {command.name} -d '{quoted(command.summary)}'")
        for item in command.options:
            names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in item.names)
            value = f" -x -a '{' '.join(item.words)}'" if item.words else " -r" if item.takes_value else ""
            lines.append(f"complete -c nnefc -n '__fish_seen_subcommand_from {command.name}' {names}{value} -d '{quoted(item.text)}'")
    return "\n".join(lines) + "\n"


def main() -> int:
    nnefc, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    version = subprocess.run([nnefc, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    top = read(nnefc, "")
    names = [head for head, _ in entries(section(help_of(nnefc), "Subcommands"))]
    commands = [read(nnefc, name) for name in names]
    (folder / "man1").mkdir(parents=True, exist_ok=True)
    pages = {"nnefc": page(top, "nnefc", version, commands)}
    pages |= {f"nnefc-{command.name}": page(command, f"nnefc-{command.name}", version, []) for command in commands}
    for name, text in pages.items():
        file = folder / "man1" / f"{name}.1"
        file.write_text(text, encoding="utf-8")
        subprocess.run(["gzip", "-9nf", str(file)], check=True)
    for file_name, text in {"nnefc.bash": bash(commands), "_nnefc": zsh(commands), "nnefc.fish": fish(commands)}.items():
        (folder / file_name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
