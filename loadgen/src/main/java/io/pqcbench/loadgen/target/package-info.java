/**
 * Something to shoot at: a TLS server that measures nothing and answers predictably.
 *
 * <p>It exists so that a first run needs no second machine. It shares no state with the load
 * generator and belongs in a process of its own, because a server inside the measuring JVM would
 * add its garbage and its safepoints to the latencies.
 */
package io.pqcbench.loadgen.target;
