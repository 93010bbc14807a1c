package param_test

import (
	"slices"
	"strings"
	"testing"

	"rcbench/bench/internal/param"
)

func TestEveryFaultNamesFlagValueAndWhatIsKnown(t *testing.T) {
	tests := []struct {
		arg  string
		want []string // in the error
	}{
		{"-clients=jedis", []string{"-clients", `"jedis"`, "goredis, redigo"}},
		{"-clients=goredis,,redigo", []string{"-clients", `""`, "goredis, redigo"}},
		{"-clients=GoRedis", []string{"-clients", `"GoRedis"`}},
		{"-conns=owned", []string{"-conns", `"owned"`, "own, shared, pool, fresh"}},
		{"-conns=own;pool", []string{"-conns", `"own;pool"`}},
		{"-nets=udp", []string{"-nets", `"udp"`, "tcp, unix, tls"}},
		{"-goroutines=0", []string{"-goroutines", `"0"`, "positive"}},
		{"-goroutines=-1", []string{"-goroutines", `"-1"`, "positive"}},
		{"-goroutines=1e3", []string{"-goroutines", `"1e3"`, "whole"}},
		{"-goroutines=99999999999999999999", []string{"-goroutines", `"99999999999999999999"`}},
		{"-loops=1,ten", []string{"-loops", `"ten"`, "positive"}},
		{"-loops=1.5", []string{"-loops", `"1.5"`, "whole"}},
		{"-depths=0x10", []string{"-depths", `"0x10"`, "positive"}},
		{"-depths=,", []string{"-depths", `""`}},
		{"-values=64", []string{"-values", `"64"`, "KiB"}},
		{"-values=64B,1GiB", []string{"-values", `"1GiB"`, "MiB"}},
		{"-values=513MiB", []string{"-values", "513MiB", "512MiB"}},
		{"-setup=fat", []string{"-setup", `"fat"`, "stock, lean"}},
		{"-proto=1", []string{"-proto", `"1"`, "2, 3"}},
		{"-how=slowly", []string{"-how", `"slowly"`, "variadic, loop, multi, multipipe, pipeline"}},
		{"-keys=0", []string{"-keys", `"0"`, "positive"}},
		{"-members=x", []string{"-members", `"x"`}},
		{"-reads=101", []string{"-reads", `"101"`, "0 to 100"}},
		{"-reads=-1", []string{"-reads", `"-1"`}},
		{"-dist=normal", []string{"-dist", `"normal"`, "uniform, zipf"}},
		{"-procs=0", []string{"-procs", `"0"`}},
		{"-connects=0", []string{"-connects", `"0"`}},
		{"-db=-2", []string{"-db", "-2"}},
		{"-backlog=-1", []string{"-backlog", "-1"}},
		{"-cmd=SET 'a", []string{"-cmd", "SET 'a", "single-quoted"}},
		{"-cmd= ", []string{"-cmd", "want a command"}},
		{"-cmd='' x", []string{"-cmd", "want a command"}},
		{"-auth=token", []string{"-auth", `"token"`, "password"}},
		{"-auth=none,password", []string{"-auth", "one value"}},
		{"-metrics=some", []string{"-metrics", `"some"`, "all"}},
		{"-pool=-1", []string{"-pool", "-1", "positive"}},
		{"-keyspace=0", []string{"-keyspace", "0", "positive"}},
		{"-keyspace=-5", []string{"-keyspace", "-5", "positive"}},
		// These two are numbers for package flag already.
		{"-pool=many", []string{"-pool", `"many"`}},
		{"-db=many", []string{"-db", `"many"`}},
	}
	for _, tt := range tests {
		t.Run(tt.arg, func(t *testing.T) {
			_, err := parse(tt.arg)
			checkError(t, err, tt.want)
		})
	}
}

// checkError wants an error that contains each of the texts.
func checkError(t *testing.T, err error, want []string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", want)
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q, want it to contain %q", err, w)
		}
	}
}

// TestDatabaseOfAForeignServer is that of the URL, whatever a family would have.
func TestDatabaseOfAForeignServer(t *testing.T) {
	for _, foreign := range []bool{false, true} {
		f := resolve(t)
		f.Limit([]string{"tcp", "unix"}, foreign)
		for _, c := range fills.Cases(f) {
			if want := map[bool]int{false: 254, true: 0}[foreign]; c.DB != want {
				t.Errorf("foreign %v: database %d, want %d", foreign, c.DB, want)
			}
		}
	}
}

// TestAllFaultsAtOnce: nobody corrects a command line one error at a time.
func TestAllFaultsAtOnce(t *testing.T) {
	_, err := parse("-clients=a", "-conns=b", "-nets=c", "-goroutines=d", "-loops=e", "-depths=f", "-values=g",
		"-setup=h", "-proto=i", "-auth=j", "-metrics=k", "-pool=-7", "-keyspace=-8")
	checkError(t, err, []string{`-clients: unknown value "a"`, `-conns: unknown value "b"`, `-nets: unknown value "c"`,
		`-goroutines: "d"`, `-loops: "e"`, `-depths: "f"`, `-values: size "g"`, `-setup: unknown value "h"`,
		`-proto: unknown value "i"`, `-auth: unknown value "j"`, `-metrics: unknown value "k"`, "-pool: -7", `-keyspace: "-8"`})
}

func TestTwoFaultsOfOneFlag(t *testing.T) {
	_, err := parse("-loops=x,1,y")
	checkError(t, err, []string{`-loops: "x"`, `-loops: "y"`})
}

func TestNoFlagIsNoFault(t *testing.T) {
	t.Setenv("RCBENCH_TARGET", "")
	f := resolve(t)
	if f.Target != "" || f.Auth != "" || f.Metrics != "" || f.TLS() || f.Password() != "" {
		t.Errorf("target %q, auth %q, metrics %q, TLS %v, password %q; want none",
			f.Target, f.Auth, f.Metrics, f.TLS(), f.Password())
	}
	if len(f.Drivers) != len(known) {
		t.Errorf("%d drivers, want all %d", len(f.Drivers), len(known))
	}
}

func TestFlagsThatAreNotOfTheMatrix(t *testing.T) {
	f := resolve(t, "-target=miniredis", "-metrics=all", "-auth=password", "-nets=unix,tls")
	if f.Target != "miniredis" || f.Auth != "password" || f.Metrics != "all" || !f.TLS() || f.Password() == "" {
		t.Errorf("target %q, auth %q, metrics %q, TLS %v, password %q",
			f.Target, f.Auth, f.Metrics, f.TLS(), f.Password())
	}
	// What the environment says is package target's to read: as the default
	// of a flag it would be shown by -h, with its password.
	t.Setenv("RCBENCH_TARGET", "redis://:hunter2@127.0.0.1:1")
	if f := resolve(t); f.Target != "" {
		t.Errorf("target %q, want none", f.Target)
	}
}

// TestListsAsPeopleTypeThem: spaces around a comma, and a value twice.
func TestListsAsPeopleTypeThem(t *testing.T) {
	got := names(reads, resolve(t, "-conns=own", "-loops=1, 10 ,1", "-values=1KiB,1024B", "-clients= redigo"))
	want := []string{
		"conn=own/net=tcp/goroutines=100/value=1KiB/loop=1/client=redigo",
		"conn=own/net=tcp/goroutines=100/value=1KiB/loop=10/client=redigo",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("names\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestLimitKeepsToTheNetworksOfTheServer(t *testing.T) {
	family := &param.Family{Name: "X", Conns: []string{param.Own}, Nets: []string{"tcp", "unix"}, Goroutines: []int{1}}
	for _, tt := range []struct {
		args, available []string
		want            string
	}{
		{nil, nil, "tcp unix"},
		{nil, []string{"tcp", "unix", "tls"}, "tcp unix"},
		{nil, []string{"tcp"}, "tcp"},
		{nil, []string{"unix"}, "unix"},
		{nil, []string{"tls"}, "tls"},
		{[]string{"-nets=unix"}, []string{"tcp"}, "unix"}, // asked for, so it fails aloud
	} {
		f := resolve(t, append([]string{"-clients=" + known[0].Name()}, tt.args...)...)
		f.Limit(tt.available, false)
		var nets []string
		for _, c := range family.Cases(f) {
			nets = append(nets, c.Net)
		}
		if got := strings.Join(nets, " "); got != tt.want {
			t.Errorf("%v on a server with %v: nets %q, want %q", tt.args, tt.available, got, tt.want)
		}
	}
}

func TestIgnoresNamesWhatAFamilyDoesNotUse(t *testing.T) {
	family := &param.Family{Name: "X", Conns: []string{param.Own}, Nets: []string{"tcp"}, Goroutines: []int{1}, Loops: []int{1}}
	if got := family.Ignores(resolve(t)); len(got) != 0 {
		t.Errorf("without flags: %v", got)
	}
	got := family.Ignores(resolve(t, "-loops=5", "-depths=7", "-values=1KiB", "-pool=3"))
	if want := []string{"-values", "-depths", "-pool"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
