package timeline

// The schemas of what is written, as Hudi 1.2.0 has them (Apache Hudi, hudi-common/src/main/avro).
const (
	cleanPlanSchema = `
{"type":"record","name":"HoodieCleanerPlan","namespace":"org.apache.hudi.avro.model","fields":[{"name":"earliestInstantToRetain","type":["null",{"type":"record","name":"HoodieActionInstant","fields":[{"name":"timestamp","type":{"type":"string","avro.java.string":"String"}
},{"name":"action","type":{"type":"string","avro.java.string":"String"}},{"name":"state","type":{"type":"string","avro.java.string":"String"}}]}],"default":null
},{"name":"lastCompletedCommitTimestamp","type":{"type":"string","avro.java.string":"String"},"default":""},{"name":"policy","type":{"type":"string","avro.java.string":"String"}
},{"name":"filesToBeDeletedPerPartition","type":["null",{"type":"map","values":{"type":"array","items":{"type":"string","avro.java.string":"String"}},"avro.java.string":"String"}],"default":null
},{"name":"version","type":["int","null"],"default":1
},{"name":"filePathsToBeDeletedPerPartition","type":["null",{"type":"map","values":{"type":"array","items":{"type":"record","name":"HoodieCleanFileInfo","fields":[{"name":"filePath","type":["null",{"type":"string","avro.java.string":"String"}],"default":null
},{"name":"isBootstrapBaseFile","type":["null","boolean"],"default":null}]}},"avro.java.string":"String"}],"default":null
},{"name":"partitionsToBeDeleted","type":["null",{"type":"array","items":{"type":"string","avro.java.string":"String"}}],"default":null
},{"name":"extraMetadata","type":["null",{"type":"map","values":{"type":"string","avro.java.string":"String"},"avro.java.string":"String"}],"default":null}]}`

	cleanMetadataSchema = `{"type":"record","name":"HoodieCleanMetadata","namespace":"org.apache.hudi.avro.model","fields":[{"name":"startCleanTime","type":{"type":"string","avro.java.string":"String"}
},{"name":"timeTakenInMillis","type":"long"},{"name":"totalFilesDeleted","type":"int"},{"name":"earliestCommitToRetain","type":{"type":"string","avro.java.string":"String"}
},{"name":"lastCompletedCommitTimestamp","type":{"type":"string","avro.java.string":"String"},"default":""
},{"name":"partitionMetadata","type":{"type":"map","values":{"type":"record","name":"HoodieCleanPartitionMetadata","fields":[{"name":"partitionPath","type":{"type":"string","avro.java.string":"String"}
},{"name":"policy","type":{"type":"string","avro.java.string":"String"}},{"name":"deletePathPatterns","type":{"type":"array","items":{"type":"string","avro.java.string":"String"}}
},{"name":"successDeleteFiles","type":{"type":"array","items":{"type":"string","avro.java.string":"String"}}
},{"name":"failedDeleteFiles","type":{"type":"array","items":{"type":"string","avro.java.string":"String"}}
},{"name":"isPartitionDeleted","type":["null","boolean"],"default":null}]},"avro.java.string":"String"}},{"name":"version","type":["int","null"],"default":1
},{"name":"bootstrapPartitionMetadata","type":["null",{"type":"map","values":"HoodieCleanPartitionMetadata","avro.java.string":"String"}],"default":null
},{"name":"extraMetadata","type":["null",{"type":"map","values":{"type":"string","avro.java.string":"String"},"avro.java.string":"String"}],"default":null}` + schemaEnd

	schemaEnd = `]}`

	// blobStatsField is what RFC-100 part 2 adds to HoodieCleanMetadata. Hudi 1.2.0 skips fields that it doesn't know.
	blobStatsField = `,{"name":"blobCleanStats","type":["null",{"type":"record","name":"HoodieBlobCleanStats","fields":[{"name":"totalBlobFilesDeleted","type":"long"
},{"name":"totalBlobFilesRetained","type":"long"},{"name":"totalBlobStorageReclaimed","type":"long"
},{"name":"blobDeletesSidecarPath","type":["null",{"type":"string","avro.java.string":"String"}],"default":null
},{"name":"failedBlobFilePaths","type":{"type":"array","items":{"type":"string","avro.java.string":"String"}}}]}],"default":null}`

	commitSchema = `
{"type":"record","name":"HoodieCommitMetadata","namespace":"org.apache.hudi.avro.model","fields":[{"name":"partitionToWriteStats","type":["null",{"type":"map","values":{"type":"array","items":{"type":"record","name":"HoodieWriteStat","fields":[{"name":"fileId","type":["null",{"type":"string","avro.java.string":"String"}],"default":null
},{"name":"path","type":["null",{"type":"string","avro.java.string":"String"}],"default":null
},{"name":"prevCommit","type":["null",{"type":"string","avro.java.string":"String"}],"default":null},{"name":"numWrites","type":["null","long"],"default":null
},{"name":"numDeletes","type":["null","long"],"default":null},{"name":"numUpdateWrites","type":["null","long"],"default":null},{"name":"totalWriteBytes","type":["null","long"],"default":null
},{"name":"totalWriteErrors","type":["null","long"],"default":null},{"name":"partitionPath","type":["null",{"type":"string","avro.java.string":"String"}],"default":null
},{"name":"totalLogRecords","type":["null","long"],"default":null},{"name":"totalLogFiles","type":["null","long"],"default":null
},{"name":"totalUpdatedRecordsCompacted","type":["null","long"],"default":null},{"name":"numInserts","type":["null","long"],"default":null
},{"name":"totalLogBlocks","type":["null","long"],"default":null},{"name":"totalCorruptLogBlock","type":["null","long"],"default":null
},{"name":"totalRollbackBlocks","type":["null","long"],"default":null},{"name":"fileSizeInBytes","type":["null","long"],"default":null
},{"name":"logVersion","type":["null","int"],"default":null},{"name":"logOffset","type":["null","long"],"default":null
},{"name":"baseFile","type":["null",{"type":"string","avro.java.string":"String"}],"default":null
},{"name":"logFiles","type":["null",{"type":"array","items":{"type":"string","avro.java.string":"String"}}],"default":null
},{"name":"cdcStats","type":["null",{"type":"map","values":"long","avro.java.string":"String"}],"default":null
},{"name":"prevBaseFile","type":["null",{"type":"string","avro.java.string":"String"}],"default":null},{"name":"minEventTime","type":["null","long"],"default":null
},{"name":"maxEventTime","type":["null","long"],"default":null
},{"name":"runtimeStats","type":["null",{"type":"record","name":"HoodieRuntimeStats","fields":[{"name":"totalScanTime","type":["null","long"],"default":null
},{"name":"totalCreateTime","type":["null","long"],"default":null},{"name":"totalUpsertTime","type":["null","long"],"default":null}]}],"default":null
},{"name":"totalLogFilesCompacted","type":["null","long"],"default":null},{"name":"totalLogReadTimeMs","type":["null","long"],"default":null
},{"name":"totalLogSizeCompacted","type":["null","long"],"default":null},{"name":"tempPath","type":["null",{"type":"string","avro.java.string":"String"}],"default":null
},{"name":"numUpdates","type":["null","long"],"default":null}]}},"avro.java.string":"String"}],"default":null},{"name":"compacted","type":["null","boolean"],"default":null
},{"name":"extraMetadata","type":["null",{"type":"map","values":{"type":"string","avro.java.string":"String"},"avro.java.string":"String"}],"default":null
},{"name":"version","type":["int","null"],"default":1},{"name":"operationType","type":["null",{"type":"string","avro.java.string":"String"}],"default":null}]}`
)
