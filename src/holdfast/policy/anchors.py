"""Find places in code that a text names, carefully: much that has a slash or a dot is not a file."""

import re

MOST = 8
_EXTENSIONS = (
    "py pyi js jsx mjs cjs ts tsx mts cts go rs java kt kts scala swift c h cc cpp cxx hpp hh cs php rb sh bash sql proto graphql "
    "toml yaml yml json jsonc ini cfg conf env xml html css scss vue svelte md rst txt tf lua dart ex exs erl hs ml zig gradle lock"
)
_FILE = rf"[\w.@+-]*\w\.(?:{'|'.join(_EXTENSIONS.split())})|Makefile|Dockerfile|Justfile|Gemfile|Rakefile|Procfile"
_PLACE = re.compile(
    rf"(?<![\w/.:@~<$\\-])(?P<path>(?:\./)?(?:[\w.@+-]+/)*(?:{_FILE}))"
    r"(?P<inside>::[A-Za-z_][\w.]*(?:::[A-Za-z_]\w*)*(?:=[\w.'\"+-]+)?|:L?\d+(?:-L?\d+)?)?(?![\w/<>{}*]|\.\w)"
)
_QUOTED = re.compile(r"`([^`\n]{3,200})`")
_ADDRESS = re.compile(r"\b(?:https?|ftp|ssh|git|file)://\S+|\b\w[\w.-]*@[\w.-]+:\S+")
# Placeholder names.
_EXAMPLE = re.compile(r"(?:^|/)(?:path/to|some|your|my|foo|bar|baz|example|examples?-?\w*|dir|tmp)(?:/|\.|$)|[<>{}*…$]")


def anchors_in(text: str) -> list[str]:
    """Return the places a text names, those in backticks first, without URLs, routes, commands and examples.

    A bare name without a folder counts only in backticks: in prose `node.js` is not a file.
    """
    bare = _ADDRESS.sub(" ", text)
    quoted = [match[0] for quote in _QUOTED.findall(bare) if (match := _PLACE.fullmatch(quote.strip()))]
    prose = [match[0] for match in _PLACE.finditer(_QUOTED.sub(" ", bare)) if "/" in match["path"]]
    places = dict.fromkeys(place.removeprefix("./") for place in (*quoted, *prose) if not _EXAMPLE.search(place))
    return list(places)[:MOST]
