"""Small programs that an environment's own Python runs, each a stage of `stackfix validate`.

Each also runs alone, without stackfix: `python conv.py --json` prints one JSON object a line. They
use nothing but the standard library, `reporting.py` beside them and the package that they prove.
"""
