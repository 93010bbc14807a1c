// Package turns is how the command rcbench and a test binary of package bench
// talk: one process an arm, each waiting until it is told to take a turn.
//
// The test binary, started with -rcbench.turns, reads requests as JSON values
// from its standard input and answers each with one response on its standard
// output. It ends at the end of its input, so it never outlives the command.
//
//	list                     what the binary has
//	open CASE                connect, warm up; says what one op claims
//	prepare OPS              bring the keys into the state that ops start from
//	turn OPS                 run ops, measured; again and again
//	close                    disconnect
//
// Note: turns of a few milliseconds in processes that stay alive were chosen
// over one process a sample. A process carries a bias of its own for life, and
// a machine drifts by tens of per cent within a second: the first is averaged
// out by restarting the processes many times, the second only by taking turns
// much faster than it drifts.
package turns

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Version is the version of this protocol. Builds of other versions, as a diff
// may meet, are not compared. A build that does not know a field leaves it
// zero, which means what it meant before there was the field.
const Version = 1

// Flag is the name of the flag that makes a test binary take turns.
const Flag = "rcbench.turns"

// A Request is one of those of the package comment.
type Request struct {
	Do   string // "list", "open", "prepare", "turn", "close"
	Case string `json:",omitempty"` // open: its full name
	Ops  int64  `json:",omitempty"` // prepare, turn
}

// A Response answers one Request. Error is empty if it succeeded, and then
// the field named after the request is set.
type Response struct {
	Error string   `json:",omitempty"`
	List  *List    `json:",omitempty"`
	Open  *Opened  `json:",omitempty"`
	Turn  *Outcome `json:",omitempty"`
}

// A List says what a binary has.
type List struct {
	Version int
	Procs   int // GOMAXPROCS, the suffix of benchmark names
	Clients []Client
	Cases   []Case
}

// A Client is a driver with the version of the library that it wraps.
type Client struct{ Name, Version string }

// A Case is one case of the selection. Group is its name without the client:
// the cases of a group are what a comparison compares.
type Case struct {
	Name, Group, Client string
	Skip                string // why the client cannot run it; empty if it can
}

// A Claim is what ops must have done on the server; see package meter.
type Claim struct {
	Commands map[string]int64 // calls by lower-case command name
	Conns    int64            // connections opened
	Errors   int64            // error replies of these connections' handshakes
}

// Opened says what one op of the case claims, for the check against the
// server's counters, and how many workers there are: a turn should have at
// least as many ops.
type Opened struct {
	Claim
	Workers  int
	Stall    time.Duration // after which the arm itself gives up on ops that hang
	Prepares bool          // wants prepare before each turn
	Skip     string        // why the client cannot run it on this server; else empty
}

// An Outcome is what one turn cost.
type Outcome struct {
	Elapsed time.Duration
	CPU     time.Duration // user and system, of the process
	Bytes   int64         // allocated
	Mallocs int64         // number of allocations
	Idle    float64       // drive.Result.IdleTail

	// Claim is what the turn has done, for a workload of which only the turn
	// itself knows; nil where that is as many times what one op claims.
	Claim   *Claim   `json:",omitempty"`
	Metrics []Metric `json:",omitempty"` // of the workload's own
}

// A Metric is a figure with its unit.
type Metric struct {
	Value float64
	Unit  string
}

// A Handler is the side of the test binary.
type Handler interface {
	List() (*List, error)
	Open(name string) (*Opened, error)
	Prepare(ops int64) error
	Turn(ops int64) (*Outcome, error)
	Close() error
}

// Serve answers requests until the input ends. An error of the handler goes
// to the other side; the error that Serve returns is one of the talk itself.
func Serve(h Handler, in io.Reader, out io.Writer) error {
	requests, responses := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var q Request
		if err := requests.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("turns: reading a request: %w", err)
		}
		var p Response
		var err error
		switch q.Do {
		case "list":
			p.List, err = h.List()
		case "open":
			p.Open, err = h.Open(q.Case)
		case "prepare":
			err = h.Prepare(q.Ops)
		case "turn":
			p.Turn, err = h.Turn(q.Ops)
		case "close":
			err = h.Close()
		default:
			err = fmt.Errorf("turns: unknown request %q", q.Do)
		}
		if err != nil {
			p = Response{Error: err.Error()}
		}
		if err := responses.Encode(p); err != nil {
			return fmt.Errorf("turns: writing a response: %w", err)
		}
	}
}
