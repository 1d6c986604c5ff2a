"""Compares the ops in the table of a page with those that the compiler accepts.

usage: accepted_ops.py LIST PAGE
"""

import re
import sys


def main():
    listed, page = (open(name, encoding="utf-8").read() for name in sys.argv[1:])
    accepted = re.findall(r"^accepted: (\S+)$", listed, re.MULTILINE)
    rows = re.findall(r"^\| (`(?:arith|math)\..*?) \|", page, re.MULTILINE)
    written = [op for row in rows for op in re.findall(r"`(.*?)`", row)]
    for op in sorted(set(accepted) - set(written)):
        print(f"{op} is accepted but not on the page")
    for op in sorted(set(written) - set(accepted)):
        print(f"{op} is on the page but not accepted")
    for op in sorted({op for op in written if written.count(op) > 1}):
        print(f"{op} is on the page twice")
    if sorted(accepted) != sorted(written) or not accepted:
        return 1
    print(f"{len(accepted)} ops, as the page says")
    return 0


sys.exit(main())
