package io.pqcbench.loadgen.monitor;

import io.pqcbench.loadgen.monitor.ThreadRoles.Role;
import java.io.File;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Finds the threads of this process, and of processes that are to be watched, in /proc. */
final class ProcTasks implements Sampler.Tasks {

  private static final String OWN = "/proc/self/task";

  private final KernelText.Files files;
  private final List<String> watched;
  private Set<String> known = Set.of();

  /** Threads keep their name once they have one; before, they are called as the process is. */
  private final Map<String, Role> named = new HashMap<>();

  ProcTasks(KernelText.Files files, List<String> watched) {
    this.files = files;
    this.watched = watched;
  }

  @Override
  public Map<String, Role> find() {
    Map<String, Role> found = new HashMap<>();
    Set<String> seen = new HashSet<>();
    for (String id : names(OWN)) {
      String directory = OWN + "/" + id;
      seen.add(directory);
      Role role = named.get(directory);
      if (role == null) {
        String comm = files.read(directory + "/comm");
        role = comm == null ? Role.OTHER : ThreadRoles.roleOf(comm.strip());
        if (role == Role.OTHER) {
          files.forget(directory + "/comm");
        } else {
          named.put(directory, role);
        }
      }
      if (role != Role.OTHER) {
        found.put(directory, role);
      }
    }
    if (!watched.isEmpty()) {
      watch(found, seen);
    }
    for (String gone : known) {
      if (!seen.contains(gone)) {
        named.remove(gone);
        files.forget(gone + "/comm");
        files.forget(gone + "/schedstat");
      }
    }
    known = seen;
    return found;
  }

  private void watch(Map<String, Role> found, Set<String> seen) {
    for (String pid : names("/proc")) {
      if (!Character.isDigit(pid.charAt(0))) {
        continue;
      }
      String comm;
      try (KernelText.Files once = new KernelText.Files()) {
        comm = once.read("/proc/" + pid + "/comm");
      }
      if (comm != null && watched.contains(comm.strip())) {
        String tasks = "/proc/" + pid + "/task";
        for (String id : names(tasks)) {
          found.put(tasks + "/" + id, Role.WATCHED);
          seen.add(tasks + "/" + id);
        }
      }
    }
  }

  private static String[] names(String directory) {
    String[] names = new File(directory).list();
    return names == null ? new String[0] : names;
  }
}
