"""Tables as real writers leave them. Each function writes one at root and returns nothing; its last version is the live one."""
from harness import orphan, quoted, spark, sql


def events(root):
    """Partitioned by strings; append, overwrite of a partition, delete, update, merge, optimize, restore."""
    t = quoted(root)
    sql("CREATE TABLE %s (id BIGINT, v STRING, year STRING, month STRING) USING delta PARTITIONED BY (year, month)" % t)
    sql("INSERT INTO %s VALUES (1,'a','2023','06'), (2,'b','2023','07'), (3,'c','2024','01'), (4,'d',NULL,'01')" % t)
    sql("INSERT INTO %s VALUES (5,'e','2023','06'), (6,'f','2023','07')" % t)
    sql("DELETE FROM %s WHERE id = 1" % t)
    sql("UPDATE %s SET v = 'x' WHERE id = 2" % t)
    sql("INSERT INTO %s REPLACE WHERE year = '2024' VALUES (7,'g','2024','01')" % t)
    sql("MERGE INTO %s t USING (SELECT 5L AS id, 'm' AS v, '2023' AS year, '06' AS month UNION SELECT 8L, 'n', '2024', '02') s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *" % t)
    sql("OPTIMIZE %s" % t)
    sql("RESTORE TABLE %s TO VERSION AS OF 4" % t)
    sql("INSERT INTO %s VALUES (9,'z','2023','08')" % t)
    orphan(root, "year=2023/month=06/part-orphan.parquet")
    orphan(root, "part-orphan.parquet")
    orphan(root, "_hidden/part-orphan.parquet")


def special(root):
    """Partition values that need escaping, in the order that shows the most ways to get it wrong."""
    values = ["a b", "50%", "50%25", "%41", "a/b", "a+b", "a:b", "x=y", "q\"u'o", "#h?", "Москва", "a\\\\b", "~", "", " lead", "tab\\t", "{x}", "[y]", "^", "a%2Fb"]
    t = quoted(root)
    sql("CREATE TABLE %s (id BIGINT, p STRING) USING delta PARTITIONED BY (p)" % t)
    for start in (0, 100):
        rows = ", ".join("(%d, \"%s\")" % (start + i, v.replace('"', '\\"')) for i, v in enumerate(values))
        sql("INSERT INTO %s VALUES %s" % (t, rows))
    sql("DELETE FROM %s WHERE id < 10" % t)
    orphan(root, "p=a b/orphan #1%20.parquet")


def vectors(root):
    """Deletion vectors by delete, update and merge; purge and restore."""
    t = quoted(root)
    sql("CREATE TABLE %s (id BIGINT, v STRING, p INT) USING delta PARTITIONED BY (p) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')" % t)
    sql("INSERT INTO %s SELECT id, concat('v', id), cast(id %% 2 AS int) FROM range(40)" % t)
    sql("DELETE FROM %s WHERE id %% 5 = 0" % t)
    sql("DELETE FROM %s WHERE id = 1" % t)
    sql("UPDATE %s SET v = 'u' WHERE id = 2" % t)
    sql("MERGE INTO %s t USING (SELECT 3L AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE" % t)
    sql("RESTORE TABLE %s TO VERSION AS OF 3" % t)
    sql("DELETE FROM %s WHERE id = 4" % t)


def purged(root):
    vectors(root)
    sql("REORG TABLE %s APPLY (PURGE)" % quoted(root))


def changes(root):
    """Change data feed."""
    t = quoted(root)
    sql("CREATE TABLE %s (id BIGINT, v STRING, p STRING) USING delta PARTITIONED BY (p) TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')" % t)
    sql("INSERT INTO %s VALUES (1,'a','x'), (2,'b','x'), (3,'c','y z')" % t)
    sql("UPDATE %s SET v = 'u' WHERE id = 1" % t)
    sql("DELETE FROM %s WHERE id = 3" % t)
    orphan(root, "_change_data/cdc-orphan.parquet")


def mapped(root):
    """Column mapping by name: renamed partition column, random prefixes."""
    t = quoted(root)
    sql("CREATE TABLE %s (id BIGINT, `odd ,;{}()=name` STRING, p INT) USING delta PARTITIONED BY (p) TBLPROPERTIES "
        "('delta.columnMapping.mode' = 'name', 'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5', 'delta.randomizeFilePrefixes' = 'true')" % t)
    sql("INSERT INTO %s VALUES (1,'a',1), (2,'b',2)" % t)
    sql("ALTER TABLE %s RENAME COLUMN p TO q" % t)
    sql("ALTER TABLE %s DROP COLUMN `odd ,;{}()=name`" % t)
    sql("INSERT INTO %s VALUES (3, 1), (4, NULL)" % t)
    sql("UPDATE %s SET id = 10 WHERE id = 1" % t)
    orphan(root, "Zz/part-orphan.parquet")


def checkpoints(root):
    """V2 checkpoints with sidecars, and a table that is read from them."""
    t = quoted(root)
    sql("CREATE TABLE %s (id BIGINT, p INT) USING delta PARTITIONED BY (p) TBLPROPERTIES ('delta.checkpointPolicy' = 'v2', 'delta.checkpointInterval' = '3')" % t)
    for i in range(4):
        sql("INSERT INTO %s VALUES (%d, %d)" % (t, i, i % 2))
    sql("DELETE FROM %s WHERE id = 1" % t)
    sql("OPTIMIZE %s" % t)
    sql("INSERT INTO %s VALUES (9, 1)" % t)


def classic(root):
    """Classic checkpoints, and a commit after the last."""
    t = quoted(root)
    sql("CREATE TABLE %s (id BIGINT, d DATE, ts TIMESTAMP) USING delta PARTITIONED BY (d, ts) TBLPROPERTIES ('delta.checkpointInterval' = '3')" % t)
    for i in range(4):
        sql("INSERT INTO %s VALUES (%d, DATE '2024-02-2%d', TIMESTAMP '2024-02-29 10:00:0%d.5')" % (t, i, i, i))
    sql("DELETE FROM %s WHERE id = 1" % t)
    sql("INSERT OVERWRITE %s SELECT * FROM %s WHERE id > 1" % (t, t))
    sql("UPDATE %s SET id = 7 WHERE id = 3" % t)


def rust(root):
    """Written by delta-rs alone: special partition values, merge, delete, optimize, overwrite, checkpoint."""
    import pyarrow as pa
    from deltalake import DeltaTable, write_deltalake
    values = ["plain", "a b", "50%", "a/b", "x=y", "é", None, "a+b:c"]

    def rows(start):
        return pa.table({"id": pa.array(range(start, start + len(values)), pa.int64()), "p": pa.array(values, pa.string())})

    write_deltalake(root, rows(0), partition_by=["p"])
    write_deltalake(root, rows(100), mode="append")
    DeltaTable(root).delete("id = 3")
    DeltaTable(root).update(updates={"id": "id + 1000"}, predicate="id = 101")
    DeltaTable(root).merge(pa.table({"id": pa.array([1, 500], pa.int64()), "p": ["a b", "new"]}), "t.id = s.id AND t.p = s.p", source_alias="s", target_alias="t") \
        .when_matched_delete().when_not_matched_insert_all().execute()
    DeltaTable(root).optimize.compact()
    DeltaTable(root).create_checkpoint()
    write_deltalake(root, pa.table({"id": pa.array([7], pa.int64()), "p": ["plain"]}), mode="overwrite", predicate="p = 'plain'")
    orphan(root, "p=plain/orphan.parquet")


def mixed(root):
    """Spark and delta-rs take turns."""
    import pyarrow as pa
    from deltalake import DeltaTable, write_deltalake
    t = quoted(root)
    sql("CREATE TABLE %s (id BIGINT, p STRING) USING delta PARTITIONED BY (p)" % t)
    sql("INSERT INTO %s VALUES (1,'a b'), (2,'c%%d')" % t)
    write_deltalake(root, pa.table({"id": pa.array([3, 4], pa.int64()), "p": ["a b", "c%d"]}), mode="append")
    spark()._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    sql("DELETE FROM %s WHERE id = 3" % t)
    DeltaTable(root).delete("id = 2")
    spark()._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    sql("INSERT INTO %s VALUES (5,'a b')" % t)


ALL = [events, special, vectors, purged, changes, mapped, checkpoints, classic, rust, mixed]
