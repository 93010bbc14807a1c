package target

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"rcbench/adapters"
)

// ErrNoCounters is wrapped by the errors of Counters where the server does not
// report its counters: results can then not be verified.
var ErrNoCounters = errors.New("the server reports no counters")

// Counters is what a server has counted since it started, or, from Since, over
// a run. A number that the server does not report is negative.
type Counters struct {
	// Calls counts executed commands by name as INFO commandstats has it,
	// lower-case, with the subcommand where there is one ("client|setinfo").
	// Commands of a transaction count when EXEC runs them. Calls that
	// failed are among them, commands that the server does not know are
	// not.
	Calls map[string]int64

	// Failed counts by the same names the calls that ended in an error and
	// those that were rejected before they were executed (no permission,
	// wrong number of arguments). It is nil where the server does not
	// report it (Redis before 6.2).
	Failed map[string]int64

	// ErrorCodes counts error replies by their first word: "ERR",
	// "WRONGTYPE". It is nil where Errors is negative.
	ErrorCodes map[string]int64

	Commands    int64 // executed commands, the sum of Calls
	Connections int64 // connections accepted
	Refused     int64 // connections closed at once because of maxclients
	Clients     int64 // connections open now, the control connection among them
	Errors      int64 // error replies, those within the reply of EXEC too; Redis 6.2
	Reads       int64 // read(2) of client sockets, also those that saw the end; Redis 6
	InBytes     int64 // read from clients
	OutBytes    int64 // written to clients

	// CPU is the user and system time of the server's process.
	CPU time.Duration

	reply int64 // bytes of the INFO reply that these counters came in
}

// The counters are read with one command and not with one per section: Redis
// before 7.0 takes one section at a time, and "all" has them all.
var infoCommand = []string{"INFO", "all"}

// infoRequest is infoCommand on the wire.
const infoRequest = "*2\r\n$4\r\nINFO\r\n$3\r\nall\r\n"

// Counters reads the counters with one INFO on the control connection. The
// error wraps ErrNoCounters, and has the server's words, where INFO is refused or
// incomplete.
func (s *Server) Counters(ctx context.Context) (Counters, error) {
	ctx, cancel := context.WithTimeout(ctx, infoTimeout)
	defer cancel()
	reply, err := s.control.Do(ctx, infoCommand...)
	if errors.Is(err, adapters.ErrReply) {
		return Counters{}, fmt.Errorf("target %s: INFO: %w: %w", s.Label, ErrNoCounters, err)
	}
	if err != nil {
		return Counters{}, fmt.Errorf("target %s: INFO: %w", s.Label, errors.Join(err, s.Died()))
	}
	text, _ := reply.(string)
	c, err := parseCounters(text)
	if err != nil {
		return Counters{}, fmt.Errorf("target %s: INFO: %w", s.Label, err)
	}
	return c, nil
}

// Since is the difference of two readings on one control connection, with what
// the readings themselves cost taken out exactly:
//
//   - A server counts a command when it has executed it, so between two readings
//     it has counted the first INFO and not the second: one of Commands and of
//     Calls["info"] is taken off.
//   - It counts a request when it has read it, which of the second INFO it has:
//     one of Reads and the length of the request are taken off.
//   - It counts a reply when it has written it, which of the first INFO it has:
//     the length of that reply is taken off OutBytes.
//
// The CPU time of the reading cannot be told apart and stays. Clients is that of
// c, the later reading. Maps have no entry for what did not change.
func (c Counters) Since(before Counters) Counters {
	d := Counters{
		Calls:       difference(c.Calls, before.Calls),
		Failed:      difference(c.Failed, before.Failed),
		ErrorCodes:  difference(c.ErrorCodes, before.ErrorCodes),
		Commands:    less(c.Commands, before.Commands, 1),
		Connections: less(c.Connections, before.Connections, 0),
		Refused:     less(c.Refused, before.Refused, 0),
		Clients:     c.Clients,
		Errors:      less(c.Errors, before.Errors, 0),
		Reads:       less(c.Reads, before.Reads, 1),
		InBytes:     less(c.InBytes, before.InBytes, int64(len(infoRequest))),
		OutBytes:    less(c.OutBytes, before.OutBytes, before.reply),
		CPU:         time.Duration(less(int64(c.CPU), int64(before.CPU), 0)),
		reply:       c.reply,
	}
	if d.Calls["info"]--; d.Calls["info"] == 0 {
		delete(d.Calls, "info")
	}
	return d
}

// less is after - before - own, or -1 where one of the two was not reported.
func less(after, before, own int64) int64 {
	if after < 0 || before < 0 {
		return -1
	}
	return after - before - own
}

// difference is after - before, nil where either is.
func difference(after, before map[string]int64) map[string]int64 {
	if after == nil || before == nil {
		return nil
	}
	d := maps.Clone(after)
	for name, n := range before {
		d[name] -= n
	}
	maps.DeleteFunc(d, func(_ string, n int64) bool { return n == 0 })
	return d
}

// info is a reply of INFO, taken apart.
type info struct {
	fields   map[string]string           // of all sections; their names do not repeat
	commands map[string]map[string]int64 // cmdstat_get:calls=1,... by "get" and "calls"
	errors   map[string]int64            // errorstat_ERR:count=1 by "ERR"
	sections map[string]bool             // by lower-case name
}

// parseInfo takes a reply of INFO apart, and passes over lines that it does not
// understand.
func parseInfo(text string) info {
	in := info{
		fields:   map[string]string{},
		commands: map[string]map[string]int64{},
		errors:   map[string]int64{},
		sections: map[string]bool{},
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if section, ok := strings.CutPrefix(line, "# "); ok {
			in.sections[strings.ToLower(section)] = true
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		if command, ok := strings.CutPrefix(name, "cmdstat_"); ok {
			in.commands[strings.ToLower(command)] = parseStats(value)
		} else if code, ok := strings.CutPrefix(name, "errorstat_"); ok {
			in.errors[code] = parseStats(value)["count"]
		} else {
			in.fields[name] = value
		}
	}
	return in
}

// parseStats parses calls=1,usec=2,usec_per_call=2.00 and keeps the integers.
func parseStats(s string) map[string]int64 {
	stats := map[string]int64{}
	for pair := range strings.SplitSeq(s, ",") {
		name, value, _ := strings.Cut(pair, "=")
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			stats[name] = n
		}
	}
	return stats
}

// number is a field that counts, -1 if it is not there.
func (in info) number(field string) int64 {
	n, err := strconv.ParseInt(in.fields[field], 10, 64)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// seconds is a field of seconds with decimals, -1 if it is not there.
func (in info) seconds(field string) time.Duration {
	s, err := strconv.ParseFloat(in.fields[field], 64)
	if err != nil || !(s >= 0 && s < 1e9) {
		return -1
	}
	return time.Duration(s * float64(time.Second))
}

// parseCounters finds the counters in a reply of INFO. Without the number of
// connections and the calls of each command nothing can be verified, so these
// must be there.
func parseCounters(text string) (Counters, error) {
	in := parseInfo(text)
	c := Counters{
		Calls:       map[string]int64{},
		Commands:    in.number("total_commands_processed"),
		Connections: in.number("total_connections_received"),
		Refused:     in.number("rejected_connections"),
		Clients:     in.number("connected_clients"),
		Errors:      in.number("total_error_replies"),
		Reads:       in.number("total_reads_processed"),
		InBytes:     in.number("total_net_input_bytes"),
		OutBytes:    in.number("total_net_output_bytes"),
		CPU:         -1,
		reply:       int64(len("$\r\n\r\n") + len(strconv.Itoa(len(text))) + len(text)),
	}
	if c.Commands < 0 || c.Connections < 0 {
		return Counters{}, fmt.Errorf("%w: no section Stats in a reply of %d bytes, %.40q", ErrNoCounters, len(text), text)
	}
	if len(in.commands) == 0 && !in.sections["commandstats"] {
		return Counters{}, fmt.Errorf("%w: no section Commandstats in a reply of %d bytes, %.40q", ErrNoCounters, len(text), text)
	}
	if user, sys := in.seconds("used_cpu_user"), in.seconds("used_cpu_sys"); user >= 0 && sys >= 0 {
		c.CPU = user + sys
	}
	if c.Errors >= 0 {
		c.ErrorCodes = in.errors
		c.Failed = map[string]int64{}
	}
	for name, stats := range in.commands {
		c.Calls[name] = stats["calls"]
		if n := stats["failed_calls"] + stats["rejected_calls"]; n != 0 && c.Failed != nil {
			c.Failed[name] = n
		}
	}
	return c, nil
}
