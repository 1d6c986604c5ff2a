# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the English text of the quickstart, its last tenth held out:
`hold_out.py FOLDER` makes FOLDER/train.txt and FOLDER/eval.txt."""

import pathlib
import sys

LICENCES = pathlib.Path("/usr/share/common-licenses")
NAMES = ("Apache-2.0", "Artistic", "GFDL-1.3", "GPL-1", "GPL-2", "GPL-3", "LGPL-2", "LGPL-2.1",
         "LGPL-3", "MPL-1.1", "MPL-2.0")  # fmt: skip


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    text = b"".join((LICENCES / name).read_bytes() for name in NAMES)
    cut = len(text) * 9 // 10
    (folder / "train.txt").write_bytes(text[:cut])
    (folder / "eval.txt").write_bytes(text[cut:])


main()
