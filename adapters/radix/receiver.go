package radix

import (
	"errors"
	"fmt"

	"github.com/mediocregopher/radix/v4/resp"
	"github.com/mediocregopher/radix/v4/resp/resp3"
)

// The receivers of replies. radix unmarshals a reply into any Go type, or
// into a resp.Unmarshaler, which these are.
//
// Note: the plain types would do, were it not for a reply that does not fit
// them (QUEUED for an *int64). radix has read that reply when it says so, and
// says that the connection is usable; but then its reader throws away the
// reply after it as well (conn.reader), so that the next command is answered
// with that of its successor, or never. An Unmarshaler that keeps the error
// to itself avoids that, and does not cost an allocation more.
//
// Note: radix.Maybe, which its documentation has for telling nil from empty,
// reads each reply into memory and then once more through a new bufio.Reader,
// which makes a GET of 64 bytes allocate 4 KiB. It is not needed for a []byte:
// Unmarshal sets that to nil for nil, and to []byte{} for an empty string.

// unmarshal reads a reply into rcv. What is wrong with the reply goes to
// *wrong; what is wrong with the connection is returned.
func unmarshal(br resp.BufferedReader, rcv any, o *resp.Opts, wrong *error) error {
	err := resp3.Unmarshal(br, rcv, o)
	if err != nil && errors.As(err, new(resp.ErrConnUsable)) {
		*wrong = err
		return nil
	}
	return err
}

// integer receives a number.
type integer struct {
	n     int64
	wrong error
}

func (r *integer) UnmarshalRESP(br resp.BufferedReader, o *resp.Opts) error {
	return unmarshal(br, &r.n, o, &r.wrong)
}

// list receives an array of strings.
type list struct {
	s     []string
	wrong error
}

func (r *list) UnmarshalRESP(br resp.BufferedReader, o *resp.Opts) error {
	return unmarshal(br, &r.s, o, &r.wrong)
}

// text receives a status. A resp3.SimpleString would refuse anything else, but
// costs one allocation more than the string of radix's examples.
type text struct {
	s     string
	wrong error
}

func (r *text) UnmarshalRESP(br resp.BufferedReader, o *resp.Opts) error {
	return unmarshal(br, &r.s, o, &r.wrong)
}

// reply receives whatever comes, as the contract wants it from Do.
//
// Note: into an *any radix reads the maps of RESP3 as map[any]any, for which
// its own []byte is no key. It then leaves the rest of the map unread, and
// the connection out of step.
type reply struct{ v any }

func (r *reply) UnmarshalRESP(br resp.BufferedReader, o *resp.Opts) (err error) {
	r.v, err = decode(br, o)
	return err
}

// decode reads a reply. An error reply is an adapters.ReplyError, as a value.
func decode(br resp.BufferedReader, o *resp.Opts) (any, error) {
	if err := resp3.DiscardAttribute(br, o); err != nil {
		return nil, err
	}
	b, err := br.Peek(1)
	if err != nil {
		return nil, err
	}
	switch resp3.Prefix(b[0]) {
	case resp3.ArrayHeaderPrefix:
		// The least array is *0\r\n, so that four bytes will come.
		if b, err = br.Peek(4); err != nil {
			return nil, err
		}
		if string(b) == "*-1\r" {
			return nil, resp3.Unmarshal(br, nil, o)
		}
		var h resp3.ArrayHeader
		if err := h.UnmarshalRESP(br, o); err != nil {
			return nil, err
		}
		return elements(br, o, h.NumElems)
	case resp3.SetHeaderPrefix:
		var h resp3.SetHeader
		if err := h.UnmarshalRESP(br, o); err != nil {
			return nil, err
		}
		return elements(br, o, h.NumElems)
	case resp3.MapHeaderPrefix:
		var h resp3.MapHeader
		if err := h.UnmarshalRESP(br, o); err != nil {
			return nil, err
		}
		pairs, err := elements(br, o, 2*h.NumPairs)
		if err != nil {
			return nil, err
		}
		m := make(map[string]any, h.NumPairs)
		for i := 0; i < len(pairs); i += 2 {
			m[fmt.Sprint(pairs[i])] = pairs[i+1]
		}
		return m, nil
	}
	var v any
	if err := resp3.Unmarshal(br, &v, o); err != nil {
		if e := replyError(err); e != nil {
			return e, nil
		}
		return nil, err
	}
	if b, ok := v.([]byte); ok {
		if b == nil {
			return nil, nil
		}
		return string(b), nil
	}
	return v, nil
}

func elements(br resp.BufferedReader, o *resp.Opts, n int) ([]any, error) {
	all := make([]any, 0, min(n, 1<<16))
	for range n {
		v, err := decode(br, o)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}
