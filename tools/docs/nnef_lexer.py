"""Colours NNEF documents: a lexer of Pygments, which the hook `on_config` of MkDocs registers under the name `nnef`."""

import pathlib
import sys

from pygments import lexers, token
from pygments.lexer import RegexLexer, words

__all__ = ["NnefLexer"]

KEYWORDS = ("version", "extension", "graph", "fragment", "for", "in", "if", "else", "yield",
            "shape_of", "length_of", "range_of")
TYPES = ("tensor", "scalar", "integer", "extent", "logical", "string")


class NnefLexer(RegexLexer):
    name = "NNEF"
    aliases = ["nnef"]
    filenames = ["*.nnef", "*.quant"]
    tokens = {
        "root": [
            (r"#[^\n\f]*", token.Comment.Single),
            (r"'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"", token.String),
            (r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", token.Number),
            (words(("true", "false"), suffix=r"\b"), token.Keyword.Constant),
            (words(KEYWORDS, suffix=r"\b"), token.Keyword),
            (words(TYPES, suffix=r"\b"), token.Keyword.Type),
            (r"[A-Za-z_]\w*(?=\s*(?:<[^<>()]*>)?\()", token.Name.Function),
            (r"[A-Za-z_]\w*", token.Name),
            (r"[-+*/^<>=!&|?]+", token.Operator),
            (r"[()\[\]{},;:.]", token.Punctuation),
            (r"\s+", token.Whitespace),
        ]
    }


def on_config(config, **_):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    lexers.LEXERS["NnefLexer"] = ("nnef_lexer", "NNEF", ("nnef",), ("*.nnef",), ())
    return config
