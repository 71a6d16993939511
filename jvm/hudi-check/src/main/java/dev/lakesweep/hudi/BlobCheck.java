package dev.lakesweep.hudi;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hudi.common.table.HoodieTableMetaClient;
import org.apache.hudi.exception.HoodieException;
import org.apache.hudi.exception.HoodieWriteConflictException;
import org.apache.hudi.storage.HoodieStorage;
import org.apache.hudi.storage.StoragePath;
import org.apache.hudi.storage.StoragePathInfo;

/** Runs {@code lakesweep hudi check-commit} over the files that a write has written. */
final class BlobCheck {
  private static final String MARK = ".marker.";
  private static final int FILES_AT_ONCE = 500;
  private static final int CONFLICT = 4;

  private final String binary;
  private final String[] options;

  /**
   * Takes {@code hoodie.lakesweep.binary} (default: "lakesweep" on the PATH) and {@code hoodie.lakesweep.options}, more options with
   * blanks between, such as {@code --map s3a://=s3://}.
   */
  BlobCheck(Properties config) {
    binary = config.getProperty("hoodie.lakesweep.binary", "lakesweep");
    String more = config.getProperty("hoodie.lakesweep.options", "").trim();
    options = more.isEmpty() ? new String[0] : more.split("\\s+");
  }

  /**
   * Fails if a blob that the write refers to is being deleted.
   *
   * @throws HoodieWriteConflictException if so
   * @throws HoodieException if it can't be found out
   */
  void check(HoodieTableMetaClient table, String instant) {
    List<String> files;
    try {
      files = new ArrayList<>(written(table, instant));
    } catch (IOException e) {
      throw new HoodieException("the markers of " + instant + " can't be read, so its blobs can't be checked", e);
    }
    for (int from = 0; from < files.size(); from += FILES_AT_ONCE) {
      ask(table.getBasePath().toString(), instant, files.subList(from, Math.min(from + FILES_AT_ONCE, files.size())));
    }
  }

  /** The base and log files that the write's markers name and that exist, relative to the table. */
  private static Set<String> written(HoodieTableMetaClient table, String instant) throws IOException {
    HoodieStorage storage = table.getStorage();
    StoragePath folder = new StoragePath(table.getMarkerFolderPath(instant));
    Set<String> out = new TreeSet<>();
    if (!storage.exists(folder)) {
      return out;
    }
    for (StoragePathInfo info : storage.listFiles(folder)) {
      if (info.isDirectory()) {
        continue;
      }
      String path = info.getPath().toString();
      if (path.contains(MARK)) { // one object a marker
        add(out, table, path.substring(path.indexOf("/" + instant + "/") + instant.length() + 2));
      } else if (info.getPath().getName().startsWith("MARKERS") && !info.getPath().getName().endsWith(".type")) { // many a file
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(storage.open(info.getPath()), StandardCharsets.UTF_8))) {
          for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            add(out, table, line.trim());
          }
        }
      }
    }
    return out;
  }

  private static void add(Set<String> out, HoodieTableMetaClient table, String marker) throws IOException {
    int end = marker.indexOf(MARK);
    if (end < 0) {
      return;
    }
    String file = marker.substring(0, end);
    // A task that was tried again may have left a marker without a file.
    if (table.getStorage().exists(new StoragePath(table.getBasePath(), file))) {
      out.add(file);
    }
  }

  private void ask(String table, String instant, List<String> files) {
    List<String> command = new ArrayList<>(List.of(binary, "hudi", "check-commit", table, "--instant", instant, "-o", "json", "--progress", "none"));
    command.addAll(List.of(options));
    for (String f : files) {
      command.add("--files");
      command.add(f);
    }
    int status;
    String said;
    try {
      Process p = new ProcessBuilder(command).redirectErrorStream(true).start();
      p.getOutputStream().close();
      said = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
      status = p.waitFor();
    } catch (IOException e) {
      throw new HoodieException("lakesweep can't be run, so the blobs of " + instant + " can't be checked; set hoodie.lakesweep.binary", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new HoodieException("interrupted while the blobs of " + instant + " were checked", e);
    }
    if (status == CONFLICT) {
      throw new HoodieWriteConflictException("a blob that " + instant + " refers to is being deleted: " + said);
    }
    if (status != 0) {
      throw new HoodieException("the blobs of " + instant + " can't be checked (exit " + status + "): " + said);
    }
  }
}
