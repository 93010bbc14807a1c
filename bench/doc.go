// Package bench holds the benchmarks: one workload family a file, all in the
// same shape, run against a Redis server that is always another process.
//
// To compare clients on the server that is found on PATH:
//
//	go test ./bench -bench='^BenchmarkGet$/conn=own' -clients=goredis,redigo -count=6 | tee new.txt
//	go tool benchstat -col /client new.txt
//
// The flow of a run is one way: flags -> cases (internal/param) -> server
// (internal/target) -> connections (adapters) -> body -> workers
// (internal/drive) -> counters (internal/meter) -> benchmark lines.
//
// A line is printed only if the server counted exactly the commands and the
// connections that the line claims, no command failed, and every reply was the
// expected one. Anything else fails the benchmark and the process.
//
// # Reading a line
//
// ns/op of a run with many goroutines is wall time divided by ops: the inverse
// of the throughput of all of them together. It is not the latency of an op,
// which is about goroutines times as long. cmds/s counts commands, whichever
// way they are grouped into ops.
//
// # Workloads
//
// A workload is a value of type workload: what it varies, what one op claims on
// the server, and the exchange of a worker. What else it needs is optional: a
// short exchange that warms a connection, keys that are brought into a state
// before each run and checked after it, figures of its own, or a crowd of
// processes in place of workers, whose claim is what each storm has done.
//
// # Tests
//
// With -bench set, the tests of this package are left out unless -run names
// them: they start servers of their own and would disturb the figures.
package bench
