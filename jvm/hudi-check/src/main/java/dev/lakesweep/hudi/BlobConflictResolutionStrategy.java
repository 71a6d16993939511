package dev.lakesweep.hudi;

import java.util.stream.Stream;
import org.apache.hudi.client.transaction.SimpleConcurrentFileWritesConflictResolutionStrategy;
import org.apache.hudi.common.table.HoodieTableMetaClient;
import org.apache.hudi.common.table.timeline.HoodieInstant;
import org.apache.hudi.common.util.Option;
import org.apache.hudi.config.HoodieWriteConfig;

/**
 * Hudi's own resolution of conflicts between writers, and before it the question whether a blob that the write refers
 * to is being deleted. Hudi asks its strategy before each commit of an insert, upsert, delete or overwrite, while it
 * holds the table's lock, if the writer's concurrency mode knows other writers.
 *
 * <p>Set as {@code hoodie.write.lock.conflict.resolution.strategy}.
 */
public class BlobConflictResolutionStrategy extends SimpleConcurrentFileWritesConflictResolutionStrategy {

  @Override
  public Stream<HoodieInstant> getCandidateInstants(HoodieTableMetaClient table, HoodieInstant write,
      Option<HoodieInstant> lastCompleted, Option<HoodieWriteConfig> config) {
    new BlobCheck(config.isPresent() ? config.get().getProps() : new java.util.Properties()).check(table, write.requestedTime());
    return super.getCandidateInstants(table, write, lastCompleted, config);
  }
}
