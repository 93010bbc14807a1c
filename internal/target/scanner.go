package target

import (
	"bytes"
	"strconv"
)

// A scanner follows a stream of RESP values, requests or replies, in pieces of
// any size, and keeps no more of it than the beginning of the current value.
//
// It knows RESP2 and RESP3 but for attributes and streamed values, which
// miniredis does not send. What it does not understand makes it lost, and it
// then says nothing any more.
type scanner struct {
	stack []int64 // elements still to come of each open aggregate
	kind  byte    // of the bulk value that is being read, 0 in a line
	left  int64   // bytes of that value still to come, its CRLF included
	head  []byte  // beginning of the line, type byte included, or of the bulk value
	lost  bool
}

const (
	maxHead  = 64
	maxDepth = 64
)

// A visitor is told about the values of a stream.
type visitor interface {
	// value is called for each value, at its end, or for an aggregate at
	// its beginning with the number of its elements. depth is 0 for a
	// value that is in no aggregate. head is the beginning, up to maxHead
	// bytes, of a simple or bulk value, and valid during the call. A null
	// of RESP2 has the kind '_' of RESP3.
	value(depth int, kind byte, n int64, head []byte)
	// end is called when a value of depth 0 is complete.
	end()
}

// feed scans the next bytes of the stream.
func (s *scanner) feed(p []byte, v visitor) {
	for len(p) > 0 && !s.lost {
		if s.kind != 0 {
			p = s.bulk(p, v)
			continue
		}
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			s.keep(p)
			return
		}
		s.keep(p[:i])
		p = p[i+1:]
		s.line(v)
	}
}

// keep adds p to the head as far as it has room.
func (s *scanner) keep(p []byte) {
	s.head = append(s.head, p[:min(len(p), maxHead-len(s.head))]...)
}

// bulk takes what belongs to the current bulk value off p.
func (s *scanner) bulk(p []byte, v visitor) []byte {
	n := min(int64(len(p)), s.left)
	if payload := s.left - 2; payload > 0 {
		s.keep(p[:min(n, payload)])
	}
	s.left -= n
	if s.left == 0 {
		v.value(len(s.stack), s.kind, 0, s.head)
		s.kind, s.head = 0, s.head[:0]
		s.complete(v)
	}
	return p[n:]
}

// line ends the line in head.
func (s *scanner) line(v visitor) {
	line := bytes.TrimSuffix(s.head, []byte("\r"))
	s.head = s.head[:0]
	if len(line) == 0 {
		s.lost = true
		return
	}
	kind, rest := line[0], line[1:]
	switch kind {
	case '+', '-', ':', '_', ',', '#', '(':
		v.value(len(s.stack), kind, 0, rest)
		s.complete(v)
		return
	case '$', '=', '!', '*', '~', '>', '%':
	default:
		s.lost = true
		return
	}
	n, err := strconv.ParseInt(string(rest), 10, 64)
	if err != nil || n < -1 || n > 1<<40 || len(s.stack) == maxDepth {
		s.lost = true
		return
	}
	switch {
	case n < 0:
		v.value(len(s.stack), '_', 0, nil)
		s.complete(v)
	case kind == '$' || kind == '=' || kind == '!':
		s.kind, s.left = kind, n+int64(len("\r\n"))
	default:
		v.value(len(s.stack), kind, n, nil)
		if kind == '%' {
			n *= 2
		}
		if n == 0 {
			s.complete(v)
		} else {
			s.stack = append(s.stack, n)
		}
	}
}

// complete ends a value, and the aggregates of which it was the last element.
func (s *scanner) complete(v visitor) {
	for i := len(s.stack) - 1; i >= 0; i-- {
		s.stack[i]--
		if s.stack[i] > 0 {
			return
		}
		s.stack = s.stack[:i]
	}
	v.end()
}
