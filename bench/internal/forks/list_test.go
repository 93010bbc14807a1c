package forks_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rcbench/bench/internal/forks"
	"rcbench/bench/internal/turns"
)

func TestList(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, script{Name: "x"})
	l, err := forks.List(t.Context(), r.Arms[0], r.Env)
	if err != nil {
		t.Fatal(err)
	}
	if l.Version != turns.Version || l.Procs != 2 || len(l.Clients) != 1 || l.Clients[0] != (turns.Client{Name: "x", Version: "v1"}) {
		t.Errorf("list %+v", l)
	}
	r.checkNoProcess()
}

func TestListOfAnArmThatIsNotSound(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		s    script
		want []string // in the error
	}{
		{"later protocol", script{Name: "head", Version: turns.Version + 1}, []string{"head", "protocol 1"}},
		{"error", script{Faults: []fault{{Turn: -1, What: "error"}}}, []string{"no list today"}},
		{"crash", script{Name: "head", Faults: []fault{{Turn: -1, What: "crash"}}}, []string{"exit status 3", "head: boom"}},
		{"garbage", script{Faults: []fault{{Turn: -1, What: "garbage"}}}, []string{"list", "unreadable"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil, tt.s)
			l, err := forks.List(t.Context(), r.Arms[0], r.Env)
			if err == nil {
				t.Fatalf("list %+v, want an error", l)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q, want it to contain %q", err, want)
				}
			}
			r.checkNoProcess()
		})
	}
}

func TestListOfNothing(t *testing.T) {
	t.Parallel()
	_, err := forks.List(t.Context(), forks.Arm{Name: "base", Binary: filepath.Join(t.TempDir(), "nothing")}, nil)
	if err == nil || !strings.Contains(err.Error(), "starting arm base") {
		t.Errorf("error %v, want one that names the arm", err)
	}
}

// TestListOfAProgramThatIsNoArm is a build from before there were turns: it
// ends with the usage of its flags.
func TestListOfAProgramThatIsNoArm(t *testing.T) {
	t.Parallel()
	start := time.Now()
	r := newRig(t, nil, script{Name: "x"})
	r.Arms[0].Args = []string{"-no-such-flag"}
	_, err := forks.List(t.Context(), r.Arms[0], r.Env)
	if err == nil || !strings.Contains(err.Error(), "exit status 1") || !strings.Contains(err.Error(), "no-such-flag") {
		t.Errorf("error %v, want one with how the process ended and what it said", err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}
