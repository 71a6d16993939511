#!/usr/bin/env python3
"""Ask Spark SQL about the predicates that `predicate` wrote, and compare.

    compare.py CASES.jsonl SCHEMA.txt

Each predicate is evaluated on its rows, cast from text as Spark casts partition
values. Outcomes 'unknown' are lakesweep's own (a number that overflows, where
Spark wraps around): they delete nothing and are counted apart.
Prints each difference and, last, 'N passed, N failed'.
"""
import collections
import json
import os
import sys

os.environ.setdefault("TZ", "UTC")

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

SQL_TYPES = {"long": "bigint", "integer": "int", "short": "smallint", "byte": "tinyint"}
BATCH = 40


def session():
    spark = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
             .config("spark.sql.ansi.enabled", "false").config("spark.sql.legacy.timeParserPolicy", "CORRECTED")
             .config("spark.sql.shuffle.partitions", "1").config("spark.sql.codegen.wholeStage", "false")
             .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
             .config("spark.driver.extraJavaOptions", "-Duser.timezone=UTC -XX:TieredStopAtLevel=1")
             .config("spark.ui.showConsoleProgress", "false").getOrCreate())
    spark.sparkContext.setLogLevel("OFF")
    return spark


def frame(spark, columns, cases):
    schema = StructType([StructField("case", StringType()), StructField("row", StringType())] +
                        [StructField("__" + name, StringType()) for name, _ in columns])
    rows = [(str(i), str(j), *row) for i, case in enumerate(cases) for j, row in enumerate(case["rows"])]
    df = spark.createDataFrame(rows, schema)
    return df.select("case", "row", *[F.col("__" + n).cast(SQL_TYPES.get(t, t)).alias(n) for n, t in columns])


def outcomes(spark, columns, cases):
    """One outcome for each case and row."""
    df = frame(spark, columns, cases)
    select = [F.expr("CASE WHEN `case` = '%d' THEN (%s) END" % (i, c["predicate"])).alias("p%d" % i) for i, c in enumerate(cases)]
    out = {}
    for r in df.select("case", "row", *select).collect():
        value = r["p" + r["case"]]
        out[int(r["case"]), int(r["row"])] = "null" if value is None else str(value).lower()
    return out


def ask(spark, columns, cases):
    try:
        return outcomes(spark, columns, cases)
    except Exception as e:
        if len(cases) == 1:
            text = str(e).split("\n")[0][:300]
            return {(0, j): "error: " + text for j in range(len(cases[0]["rows"]))}
        half = len(cases) // 2
        out = ask(spark, columns, cases[:half])
        out.update({(i + half, j): v for (i, j), v in ask(spark, columns, cases[half:]).items()})
        return out


def main():
    cases = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
    columns = [line.split() for line in open(sys.argv[2], encoding="utf-8") if line.strip()]
    spark = session()
    passed = failed = 0
    tally = collections.Counter()
    for zone in sorted({c["zone"] for c in cases}):
        spark.conf.set("spark.sql.session.timeZone", zone)
        mine = [c for c in cases if c["zone"] == zone]
        for start in range(0, len(mine), BATCH):
            batch = mine[start:start + BATCH]
            got = ask(spark, columns, batch)
            for i, case in enumerate(batch):
                wrong = None
                for j, ours in enumerate(case["outcomes"]):
                    tally[ours] += 1
                    if ours != "unknown" and got[i, j] != ours and wrong is None:
                        wrong = (j, ours, got[i, j])
                if wrong is None:
                    passed += 1
                    continue
                failed += 1
                j, ours, theirs = wrong
                row = {n: v for (n, _), v in zip(columns, case["rows"][j]) if n in case["predicate"]}
                print("FAIL %s: %s\n  %s\n  lakesweep %s, Spark %s" % (zone, case["predicate"], json.dumps(row, ensure_ascii=False), ours, theirs))
    print("outcomes of %d evaluations: %s" % (sum(tally.values()), dict(tally)))
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
