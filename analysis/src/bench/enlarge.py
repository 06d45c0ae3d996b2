#!/usr/bin/env python3
"""Makes an experiment of millions of samples from a small one, to measure what its report takes.

    analysis/src/bench/enlarge.py samples/loopback/bundle DIR --blocks 5 --samples 1000000

Each trial's measured seconds are repeated, one after the other, until it has that many samples: the same lines, with the
index and the times moved on. The A/A arm is left out. Nothing follows from such an experiment but how long its report takes.
"""
import argparse
import gzip
import json
import pathlib
import shutil
import sys


def lines_of(bundle):
    with gzip.open(bundle / "samples.csv.gz", "rt") as file:
        header = file.readline()
        rows = [line.split(",", 3) for line in file]
    return header, [row for row in rows if row[2] == "1"]


def enlarge(source, target, wanted):
    target.mkdir(parents=True)
    for name in ("slow.csv", "disturbances.csv", "monitor.csv", "summary.json"):
        if (source / name).exists():
            shutil.copy(source / name, target / name)
    run = json.loads((source / "run.json").read_text())
    pace = run["plan"]["pace"]
    seconds = (pace["durationNanos"] - pace["warmupNanos"]) // 10**9
    header, rows = lines_of(source)
    times = -(-wanted // len(rows))
    pace["durationNanos"] = pace["warmupNanos"] + times * seconds * 10**9
    (target / "run.json").write_text(json.dumps(run))
    indices = [int(row[0]) for row in rows]
    span = max(indices) - min(indices) + 1
    with gzip.open(target / "samples.csv.gz", "wt", compresslevel=1) as out:
        out.write(header)
        for i in range(times):
            out.write("".join(
                f"{index + i * span},{float(row[1]) + i * seconds * 1e6:.3f},1,{row[3]}"
                for index, row in zip(indices, rows)))
    head, intervals = [], []
    for line in (source / "latency.hlog").read_text().splitlines(keepends=True):
        if not line.startswith("Tag="):
            head.append(line)
        elif not line.startswith("Tag=warmup-"):
            intervals.append(line.split(",", 2))
    with open(target / "latency.hlog", "w") as out:
        out.writelines(head)
        for i in range(times):
            out.writelines(f"{tag},{float(start) + i * seconds:.3f},{rest}" for tag, start, rest in intervals)
    return times * len(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=pathlib.Path, help="directory of an experiment")
    parser.add_argument("target", type=pathlib.Path, help="new directory")
    parser.add_argument("--blocks", type=int, default=5)
    parser.add_argument("--samples", type=int, default=1_000_000, help="of each trial")
    options = parser.parse_args()
    record = json.loads((options.source / "experiment.json").read_text())
    plan = record["plan"]
    plan["arms"] = [arm for arm in plan["arms"] if not arm["again"]]
    plan["blocks"] = options.blocks
    arms = {arm["name"] for arm in plan["arms"]}
    record["trials"] = [trial for trial in record["trials"]
                        if trial["arm"] in arms and trial["block"] <= options.blocks and trial["attempt"] == 1]
    for trial in record["trials"]:
        # All count, so that the report reads all.
        trial["verdict"] = "SUSPECT" if trial["verdict"] == "SATURATED" else trial["verdict"]
        trial["count"] = enlarge(options.source / trial["directory"], options.target / trial["directory"], options.samples)
        print(f"{trial['trial']}: {trial['count']} samples", file=sys.stderr)
    (options.target / "experiment.json").write_text(json.dumps(record))


if __name__ == "__main__":
    main()
