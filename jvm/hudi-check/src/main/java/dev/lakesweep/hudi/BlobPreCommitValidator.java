package dev.lakesweep.hudi;

import java.util.Set;
import org.apache.hudi.client.WriteStatus;
import org.apache.hudi.client.validator.SparkPreCommitValidator;
import org.apache.hudi.common.data.HoodieData;
import org.apache.hudi.common.engine.HoodieEngineContext;
import org.apache.hudi.config.HoodieWriteConfig;
import org.apache.hudi.table.HoodieSparkTable;
import org.apache.hudi.table.action.HoodieWriteMetadata;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * The question of {@link BlobConflictResolutionStrategy} for a single writer, whom Hudi doesn't ask that strategy. Hudi on Spark runs its
 * validators after the files of a write are written, before the write takes the table's lock to commit them. A drain reads the files of
 * writes in flight after it has told whom it deletes, so that one of the two sees the other.
 *
 * <p>Set in {@code hoodie.precommit.validators}.
 */
public class BlobPreCommitValidator<T, I, K, O extends HoodieData<WriteStatus>> extends SparkPreCommitValidator<T, I, K, O> {

  public BlobPreCommitValidator(HoodieSparkTable<T> table, HoodieEngineContext context, HoodieWriteConfig config) {
    super(table, context, config);
  }

  /**
   * {@inheritDoc}
   *
   * @throws org.apache.hudi.exception.HoodieException as {@link BlobCheck#check} does; of a HoodieValidationException Hudi tells no reason
   */
  @Override
  public void validate(String instant, HoodieWriteMetadata<O> write, Dataset<Row> before, Dataset<Row> after) {
    new BlobCheck(getWriteConfig().getProps()).check(getHoodieTable().getMetaClient(), instant);
  }

  @Override
  protected void validateRecordsBeforeAndAfter(Dataset<Row> before, Dataset<Row> after, Set<String> partitions) {
    // validate looks at the files themselves.
  }
}
