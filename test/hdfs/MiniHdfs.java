import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/** A small HDFS on loopback for tests: MiniHdfs DIRECTORY PORT. It serves until it is killed. */
public class MiniHdfs {
    public static void main(String[] args) throws Exception {
        Configuration conf = new Configuration();
        conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, args[0]);
        conf.set("dfs.permissions.enabled", "false");
        conf.set("dfs.ls.limit", "7"); // pages are short, so that their edges are met
        conf.set("dfs.namenode.fs-limits.min-block-size", "1");
        MiniDFSCluster cluster = new MiniDFSCluster.Builder(conf).numDataNodes(1).nameNodePort(Integer.parseInt(args[1])).build();
        cluster.waitActive();
        cluster.getFileSystem().mkdirs(new Path("/user"), new FsPermission((short) 0777));
        System.out.println("ready");
        Thread.sleep(Long.MAX_VALUE);
    }
}
