# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lists the diagnostics of the compiler that no test mentions.

A diagnostic is a statement that emits an error; it counts as tested if four
words in a row of its fixed text stand in a test, or all where there are fewer.

usage: diagnostics.py [ROOT]
"""

import pathlib
import re
import sys

EMIT = re.compile(r"\bemit(?:Op)?Error\b|\bcreateStringError\b|\.fail\(|\bmakeError\b")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
FOLDERS = ("lib", "tools")


def statements(text):
    """The statements that emit, with their lines."""
    for match in EMIT.finditer(text):
        end = text.find(";", match.start())
        # A semicolon inside of a literal does not end the statement.
        while end >= 0 and text.count('"', match.start(), end) % 2:
            end = text.find(";", end + 1)
        yield text.count("\n", 0, match.start()) + 1, text[match.start() : end]


def pieces(statement):
    """Its fixed text: neighbouring literals are one."""
    joined = re.sub(r'"\s*\n?\s*"', "", statement)
    found = (re.sub(r"\\(.)", r"\1", piece) for piece in LITERAL.findall(joined))
    return sorted((piece.strip() for piece in found), key=len, reverse=True)


def is_mentioned(piece, texts):
    words = piece.split()
    runs = [words[i : i + 4] for i in range(max(len(words) - 3, 1))]
    return any(" ".join(run) in texts for run in runs)


def tests(root):
    texts = []
    for pattern in ("*.mlir", "*.test", "*.cpp", "*.py"):
        for path in (root / "test").rglob(pattern):
            texts.append(path.read_text(errors="replace"))
    return re.sub(r"\\(.)", r"\1", "\n".join(texts))


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    tested = tests(root)
    missing = total = 0
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.cpp")):
            for line, statement in statements(path.read_text()):
                found = [piece for piece in pieces(statement) if len(piece) > 5]
                if not found:
                    continue
                total += 1
                if not any(is_mentioned(piece, tested) for piece in found[:2]):
                    missing += 1
                    print(f"{path.relative_to(root)}:{line}: {found[0]}")
    print(f"{total} diagnostics, {missing} that no test mentions")


if __name__ == "__main__":
    main()
