package all_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"rcbench/adapters"
	"rcbench/adapters/adaptertest"
	"rcbench/adapters/all"
	"rcbench/internal/target"
)

func TestMain(m *testing.M) {
	target.Main()
	os.Exit(m.Run())
}

// TestConformance runs the conformance suite on every driver, against miniredis
// and against each real server that PATH has. A driver has servers of its own,
// because connections and calls are counted there.
func TestConformance(t *testing.T) {
	servers := []string{"miniredis"}
	for _, name := range []string{"redis-server", "valkey-server"} {
		if _, err := exec.LookPath(name); err == nil {
			servers = append(servers, name)
		}
	}
	for _, server := range servers {
		t.Run(server, func(t *testing.T) {
			for _, d := range all.Drivers() {
				t.Run(d.Name(), func(t *testing.T) {
					t.Parallel()
					s := start(t, target.Options{Target: server, TLS: true})
					auth := start(t, target.Options{Target: server, Password: "correct horse battery staple"})
					adaptertest.Run(t, d, s, auth)
				})
			}
		})
	}
	if len(servers) > 1 {
		return
	}
	t.Run("redis-server", func(t *testing.T) {
		const missing = "PATH has neither redis-server nor valkey-server: only miniredis was tested"
		if os.Getenv(target.EnvRequireServer) != "" {
			t.Fatalf("%s, and %s is set", missing, target.EnvRequireServer)
		}
		t.Skip(missing)
	})
}

func start(t *testing.T, o target.Options) *target.Server {
	t.Helper()
	s, err := target.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Died(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestComplete fails when a client has a folder and is not on the list, so
// that no client is left out of the tests by mistake.
func TestComplete(t *testing.T) {
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, entry := range entries {
		if name := entry.Name(); entry.IsDir() && name != "all" && name != "adaptertest" && name != "internal" {
			folders = append(folders, name)
		}
	}
	if got := names(all.Drivers()); !slices.Equal(got, folders) {
		t.Errorf("Drivers: got %q, want the folders %q", got, folders)
	}
}

func TestDriversIsACopy(t *testing.T) {
	d := all.Drivers()
	want := names(d)
	slices.Reverse(d)
	if got := names(all.Drivers()); !slices.Equal(got, want) {
		t.Errorf("Drivers after a caller reversed its result: got %q, want %q", got, want)
	}
}

func TestLookup(t *testing.T) {
	got, err := all.Lookup("resp", "goredis")
	if want := []string{"resp", "goredis"}; err != nil || !slices.Equal(names(got), want) {
		t.Errorf("Lookup: got %q and error %v, want %q", names(got), err, want)
	}
	if got, err := all.Lookup(); err != nil || len(got) != 0 {
		t.Errorf("Lookup of nothing: got %q and error %v", names(got), err)
	}
	_, err = all.Lookup("resp", "jedis")
	if err == nil {
		t.Fatal("Lookup of an unknown client: got no error")
	}
	for _, want := range append(names(all.Drivers()), `"jedis"`) {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("Lookup of an unknown client: got error %q, want %s in it", err, want)
		}
	}
}

func names(drivers []adapters.Driver) []string {
	var names []string
	for _, d := range drivers {
		names = append(names, d.Name())
	}
	return names
}
