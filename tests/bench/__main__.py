"""``python -m tests.bench NAME [--quick] [--runs N] [--json] [--set KEY=VALUE]``."""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from argparse import ArgumentParser

import tests.bench as package
from tests.bench import Options


def names() -> list[str]:
    return sorted(
        m.name.replace("_", "-") for m in pkgutil.iter_modules(package.__path__) if not m.name.startswith("_")
    )


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.bench", description="Measure; ratios of medians, one run.")
    parser.add_argument("name", choices=names(), nargs="+")
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    parser.add_argument("--runs", type=int, help="samples of each side")
    parser.add_argument("--json", action="store_true", help="only the JSON line")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="an option of the benchmark")
    args = parser.parse_args()
    options = Options(args.quick, args.runs, dict(item.split("=", 1) for item in args.set))
    for name in args.name:
        module = importlib.import_module(f"tests.bench.{name.replace('-', '_')}")
        result = {"name": name, **module.run(options)}
        if not args.json:
            for key, value in result.items():
                if key != "samples":
                    print(f"{key:24} {value}")
        print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
