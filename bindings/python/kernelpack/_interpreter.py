"""Refuses sub-interpreters: loading the module there would take its types away from the main interpreter."""

from __future__ import annotations

import importlib


def _is_main() -> bool:
    for name in ("_interpreters", "_xxsubinterpreters"):  # 3.13 and newer, 3.12 and older
        try:
            interpreters = importlib.import_module(name)
        except ImportError:
            continue
        current = interpreters.get_current()
        return int(current[0] if isinstance(current, tuple) else current) == 0
    return True


if not _is_main():
    raise ImportError("kernelpack cannot be imported in a sub-interpreter")
