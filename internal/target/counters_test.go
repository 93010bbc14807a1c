package target

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

const infoText = "# Server\r\nredis_version:7.0.15\r\nprocess_id:12\r\n\r\n# Clients\r\nconnected_clients:2\r\n\r\n" +
	"# Stats\r\ntotal_connections_received:5\r\ntotal_commands_processed:40\r\ntotal_net_input_bytes:600\r\n" +
	"total_net_output_bytes:7000\r\nrejected_connections:1\r\ntotal_error_replies:8\r\ntotal_reads_processed:90\r\n\r\n" +
	"# CPU\r\nused_cpu_sys:0.250000\r\nused_cpu_user:1.500000\r\n\r\n" +
	"# Commandstats\r\ncmdstat_get:calls=30,usec=9,usec_per_call=0.30,rejected_calls=2,failed_calls=1\r\n" +
	"cmdstat_client|setinfo:calls=4,usec=9,usec_per_call=0.30,rejected_calls=0,failed_calls=0\r\n\r\n" +
	"# Errorstats\r\nerrorstat_ERR:count=8\r\n"

func TestParseCounters(t *testing.T) {
	got, err := parseCounters(infoText)
	want := Counters{
		Calls:       map[string]int64{"get": 30, "client|setinfo": 4},
		Failed:      map[string]int64{"get": 3},
		ErrorCodes:  map[string]int64{"ERR": 8},
		Commands:    40,
		Connections: 5,
		Refused:     1,
		Clients:     2,
		Errors:      8,
		Reads:       90,
		InBytes:     600,
		OutBytes:    7000,
		CPU:         1750 * time.Millisecond,
		reply:       int64(len("$700\r\n") + len(infoText) + len("\r\n")),
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
}

func TestParseCountersOfAnOldServer(t *testing.T) {
	got, err := parseCounters("# Stats\r\ntotal_connections_received:5\r\ntotal_commands_processed:40\r\n" +
		"# Commandstats\r\ncmdstat_get:calls=3,usec=9,usec_per_call=0.30\r\n")
	if err != nil || got.Failed != nil || got.ErrorCodes != nil {
		t.Fatalf("got %+v, %v", got, err)
	}
	d := got.Since(got)
	if d.Errors != -1 || d.Reads != -1 || d.InBytes != -1 || d.CPU != -1 || d.Clients != -1 || d.Failed != nil || d.Connections != 0 {
		t.Errorf("got %+v", d)
	}
}

func TestParseCountersIncomplete(t *testing.T) {
	stats, commands, _ := strings.Cut(infoText, "# Commandstats")
	for _, text := range []string{"", "hello", stats, "# Commandstats" + commands} {
		if _, err := parseCounters(text); !errors.Is(err, ErrNoCounters) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

func TestSince(t *testing.T) {
	before := Counters{
		Calls:    map[string]int64{"get": 5, "set": 2, "info": 1},
		Failed:   map[string]int64{"get": 1},
		Commands: 8, Connections: 1, Reads: 9, InBytes: 100, OutBytes: 200, Clients: 4, reply: 50,
	}
	after := Counters{
		Calls:    map[string]int64{"get": 15, "set": 2, "info": 3, "incr": 1},
		Failed:   map[string]int64{"get": 1, "incr": 1},
		Commands: 21, Connections: 3, Reads: 20, InBytes: 500, OutBytes: 900, Clients: 3, reply: 60,
	}
	want := Counters{
		// One INFO of the two is somebody's own.
		Calls:    map[string]int64{"get": 10, "info": 1, "incr": 1},
		Failed:   map[string]int64{"incr": 1},
		Commands: 12, Connections: 2, Reads: 10, InBytes: 400 - 23, OutBytes: 650, Clients: 3, reply: 60,
	}
	if got := after.Since(before); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func FuzzParseCounters(f *testing.F) {
	f.Add(infoText)
	f.Add("# Commandstats\ncmdstat_:calls=,=\ncmdstat_x\nused_cpu_user:NaN\nused_cpu_sys:1e300\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseCounters(text)
		if err != nil {
			if !errors.Is(err, ErrNoCounters) {
				t.Error(err)
			}
			return
		}
		if c.Calls == nil || c.Connections < 0 || c.Commands < 0 || c.CPU < -1 {
			t.Errorf("%+v", c)
		}
		if d := c.Since(c); d.Connections != 0 || len(d.Failed) != 0 {
			t.Errorf("%+v", d)
		}
	})
}

func TestParseIdentity(t *testing.T) {
	for _, test := range []struct {
		text string
		want identity
	}{
		{infoText, identity{Name: "redis", Version: "7.0.15", PID: 12}},
		{"# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.1.1\r\nprocess_id:3\r\nmaxclients:100\r\n",
			identity{Name: "valkey", Version: "8.1.1", PID: 3, MaxClients: 100}},
		{"redis_version:7.4.0\r\ndragonfly_version:df-v1.30.0\r\n", identity{Name: "dragonfly", Version: "df-v1.30.0"}},
		{"", identity{Name: "redis", Version: "unknown"}},
	} {
		if got := parseIdentity(test.text); got != test.want {
			t.Errorf("%.60q: got %+v, want %+v", test.text, got, test.want)
		}
	}
}
