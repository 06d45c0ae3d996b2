package io.pqcbench.loadgen.monitor;

import io.pqcbench.loadgen.monitor.ThreadRoles.Role;
import java.io.File;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Finds the threads of this process, and of processes that are to be watched, in /proc. */
final class ProcTasks implements Sampler.Tasks {

  private static final String OWN = "/proc/self/task";

  private final KernelText files;
  private final List<String> watched;

  /** Threads keep their name once they have one; before, they are called as the process is. */
  private final Map<String, Role> named = new HashMap<>();

  ProcTasks(KernelText files, List<String> watched) {
    this.files = files;
    this.watched = watched;
  }

  @Override
  public Map<String, Role> find() {
    Map<String, Role> found = new HashMap<>();
    for (String id : names(OWN)) {
      String directory = OWN + "/" + id;
      Role role = named.get(directory);
      if (role == null) {
        role = ThreadRoles.roleOf(files.read(directory + "/comm"));
      }
      if (role != Role.OTHER) {
        found.put(directory, role);
      }
    }
    named.clear();
    named.putAll(found);
    if (!watched.isEmpty()) {
      watch(found);
    }
    return found;
  }

  private void watch(Map<String, Role> found) {
    for (String pid : pids(files, watched)) {
      String tasks = "/proc/" + pid + "/task";
      for (String id : names(tasks)) {
        found.put(tasks + "/" + id, Role.WATCHED);
      }
    }
  }

  /** Returns the numbers of the processes that are called so. */
  static List<String> pids(KernelText files, List<String> called) {
    List<String> pids = new ArrayList<>();
    for (String pid : names("/proc")) {
      if (Character.isDigit(pid.charAt(0))) {
        String comm = files.read("/proc/" + pid + "/comm");
        if (comm != null && called.contains(comm.strip())) {
          pids.add(pid);
        }
      }
    }
    return pids;
  }

  private static String[] names(String directory) {
    String[] names = new File(directory).list();
    return names == null ? new String[0] : names;
  }
}
