package adaptertest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"rcbench/adapters"
	"rcbench/adapters/resp"
	"rcbench/adapters/rueidis"
	"rcbench/internal/target"
)

func TestMain(m *testing.M) {
	target.Main()
	os.Exit(m.Run())
}

// servers starts a server, and one with a password, that the test has for
// itself.
func servers(t *testing.T) (s, auth *target.Server) {
	t.Helper()
	for _, o := range []struct {
		server   **target.Server
		password string
	}{{&s, ""}, {&auth, "correct horse battery staple"}} {
		server, err := target.Start(t.Context(), target.Options{TLS: true, Password: o.password})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { server.Close() })
		*o.server = server
	}
	return s, auth
}

// TestSound expects no complaint about drivers that are not broken, one of
// each class: without it, a check that always fails would pass TestBroken.
func TestSound(t *testing.T) {
	t.Run("resp", func(t *testing.T) {
		t.Parallel()
		s, auth := servers(t)
		Run(t, resp.Driver, s, auth)
	})
	t.Run("rueidis", func(t *testing.T) {
		t.Parallel()
		s, auth := servers(t)
		Run(t, rueidis.Driver, s, auth)
	})
}

// TestBroken expects of each broken driver that the check that is named after
// the fault finds it, and that no other check complains, but for those that
// cannot do without what is broken. With -short the others are not tried, which
// is most of the time.
func TestBroken(t *testing.T) {
	for _, b := range brokenDrivers {
		t.Run(b.fault, func(t *testing.T) {
			t.Parallel()
			s, auth := servers(t)
			d := b.driver(t)
			try := func(c Check, m Mode) error {
				return c.Try(t.Context(), &Env{Driver: d, Server: s, Auth: auth, Mode: m, Logf: t.Logf})
			}
			for _, c := range Checks() {
				modes := modesOf(c, d)
				switch {
				case slices.Contains(b.also, c.Name) || len(modes) == 0:
				case testing.Short() && c.Name != b.want:
				case c.Name == b.want:
					// More than once, because a machine that is slow just
					// then can make a check miss a fault (see meanwhile).
					var err error
					for i := 0; i < 3*len(modes) && err == nil; i++ {
						err = try(c, modes[i%len(modes)])
					}
					if err == nil {
						t.Errorf("the check %q finds nothing", c.Name)
					} else if !strings.Contains(err.Error(), b.says) {
						t.Errorf("the check %q: got %q, want it to say %q", c.Name, err, b.says)
					}
				default:
					// The last mode is the most demanding one.
					if err := try(c, modes[len(modes)-1]); err != nil {
						t.Errorf("the check %q complains too: %v", c.Name, err)
					}
				}
			}
		})
	}
}

// modesOf returns the modes to try c in: those in which d is broken. They are
// Share alone for a driver that multiplexes, because such are broken there.
func modesOf(c Check, d adapters.Driver) []Mode {
	_, lacks := d.Lacks()[c.Needs]
	_, exclusive := d.Lacks()[adapters.CapMultiplex]
	switch {
	case lacks:
		return nil
	case c.Modes == nil:
		return []Mode{""}
	}
	return slices.DeleteFunc(slices.Clone(c.Modes), func(m Mode) bool { return exclusive == (m == Share) })
}

// TestBrokenDriversNameChecks keeps the table up to date with the names.
func TestBrokenDriversNameChecks(t *testing.T) {
	var names []string
	for _, c := range Checks() {
		if c.Name == "" || c.Doc == "" || c.Run == nil {
			t.Errorf("Check %q: got no name, doc or function", c.Name)
		}
		if slices.Contains(names, c.Name) {
			t.Errorf("Check %q: got the name twice", c.Name)
		}
		names = append(names, c.Name)
	}
	caught := map[string]bool{}
	for _, b := range brokenDrivers {
		for _, name := range append(slices.Clone(b.also), b.want) {
			if !slices.Contains(names, name) {
				t.Errorf("%s: got %q, want the name of a check", b.fault, name)
			}
		}
		caught[b.want] = true
	}
	for _, name := range names {
		if !caught[name] {
			t.Errorf("Check %q: no broken driver shows that it can fail", name)
		}
	}
}
