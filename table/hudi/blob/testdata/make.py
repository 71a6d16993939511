"""Makes duckdb.parquet and spark.parquet: files with Parquet Bloom filters by two
other writers. Each names 36 blobs, s3://media/ and an even number below 80.

pip install "duckdb==1.5.6" "pyspark==3.5.9"; python make.py duckdb spark
"""
import glob
import os
import shutil
import sys

PATH = "img.reference.external_path"


def duckdb_file():
    import duckdb

    duckdb.connect().execute("""
        COPY (SELECT 'k' || i AS _hoodie_record_key,
            CASE WHEN i % 10 = 9 THEN NULL ELSE {'type': 'OUT_OF_LINE', 'data': NULL::BLOB,
                'reference': {'external_path': 's3://media/' || (i % 40 * 2), 'offset': NULL::BIGINT, 'length': NULL::BIGINT, 'managed': true}} END AS img
            FROM range(400) t(i))
        TO 'duckdb.parquet' (FORMAT parquet, DICTIONARY_SIZE_LIMIT 100)""")


def spark_file():
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master("local[1]").config("spark.driver.memory", "1g").config("spark.ui.enabled", "false").getOrCreate()
    spark.sql("""
        SELECT concat('k', id) AS _hoodie_record_key,
            CASE WHEN id % 10 = 9 THEN NULL ELSE named_struct('type', 'OUT_OF_LINE', 'data', CAST(NULL AS BINARY),
                'reference', named_struct('external_path', concat('s3://media/', id % 40 * 2), 'offset', CAST(NULL AS BIGINT), 'length', CAST(NULL AS BIGINT), 'managed', true)) END AS img
        FROM range(0, 400, 1, 1)""").write.mode("overwrite").option("parquet.bloom.filter.enabled#" + PATH, "true").option(
        "parquet.bloom.filter.expected.ndv#" + PATH, "100").option("parquet.enable.dictionary", "false").parquet("spark")
    os.replace(glob.glob("spark/*.parquet")[0], "spark.parquet")
    shutil.rmtree("spark")


for name in sys.argv[1:]:
    {"duckdb": duckdb_file, "spark": spark_file}[name]()
