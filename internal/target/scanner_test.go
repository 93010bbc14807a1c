package target

import (
	"fmt"
	"strings"
	"testing"
)

// transcript is a visitor that writes down what it is told.
type transcript struct{ strings.Builder }

func (t *transcript) value(depth int, kind byte, n int64, head []byte) {
	fmt.Fprintf(t, "%d%c%d%q ", depth, kind, n, head)
}

func (t *transcript) end() { t.WriteString("; ") }

// scan scans text in pieces of size bytes.
func scan(text string, size int) (string, bool) {
	var s scanner
	var t transcript
	for len(text) > 0 {
		n := min(size, len(text))
		s.feed([]byte(text[:n]), &t)
		text = text[n:]
	}
	return t.String(), s.lost
}

func TestScanner(t *testing.T) {
	long := strings.Repeat("x", 3*maxHead)
	for _, test := range []struct{ name, in, want string }{
		{"simple", "+OK\r\n-ERR no\r\n:12\r\n", `0+0"OK" ; 0-0"ERR no" ; 0:0"12" ; `},
		{"bulk", "$5\r\nhel\r\n\r\n$0\r\n\r\n$-1\r\n", `0$0"hel\r\n" ; 0$0"" ; 0_0"" ; `},
		{"bulk that looks like an error", "$6\r\n-ERR\r\n\r\n", `0$0"-ERR\r\n" ; `},
		{"array", "*2\r\n$1\r\na\r\n-ERR x\r\n", `0*2"" 1$0"a" 1-0"ERR x" ; `},
		{"empty and null arrays", "*0\r\n*-1\r\n*1\r\n*0\r\n", `0*0"" ; 0_0"" ; 0*1"" 1*0"" ; `},
		{"nested", "*2\r\n*1\r\n*1\r\n:1\r\n:2\r\n+x\r\n", `0*2"" 1*1"" 2*1"" 3:0"1" 1:0"2" ; 0+0"x" ; `},
		{"resp3", "%1\r\n+a\r\n_\r\n~1\r\n#t\r\n>1\r\n,1.5\r\n=5\r\ntxt:a\r\n(12\r\n!3\r\nERR\r\n",
			`0%1"" 1+0"a" 1_0"" ; 0~1"" 1#0"t" ; 0>1"" 1,0"1.5" ; 0=0"txt:a" ; 0(0"12" ; 0!0"ERR" ; `},
		{"long", "-" + long + "\r\n$192\r\n" + long + "\r\n+x\r\n",
			fmt.Sprintf("0-0%q ; 0$0%q ; 0+0%q ; ", long[:maxHead-1], long[:maxHead], "x")},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, size := range []int{1, 2, 3, 7, 1 << 20} {
				got, lost := scan(test.in, size)
				if got != test.want || lost {
					t.Errorf("in pieces of %d: lost %v\ngot  %s\nwant %s", size, lost, got, test.want)
				}
			}
		})
	}
}

func TestScannerIsLost(t *testing.T) {
	for _, in := range []string{
		"PING\r\n", "\r\n", "$x\r\n", "$-2\r\n", "*9999999999999\r\n", "*\r\n", "|1\r\n+a\r\n+b\r\n", "*?\r\n",
		strings.Repeat("*1\r\n", 1000),
	} {
		if got, lost := scan(in+"+OK\r\n", 5); !lost || strings.Contains(got, "OK") {
			t.Errorf("%.40q: lost %v, %s", in, lost, got)
		}
	}
}

func FuzzScanner(f *testing.F) {
	f.Add("*2\r\n$1\r\na\r\n-ERR x\r\n+OK\r\n", 1)
	f.Add("%1\r\n+a\r\n_\r\n$-1\r\n*-1\r\n", 3)
	f.Add("*2\r\n$4\r\nINFO\r\n$3\r\nall\r\n", 7)
	f.Fuzz(func(t *testing.T, in string, size int) {
		if size < 1 {
			size = 1
		}
		got, lost := scan(in, size)
		want, wantLost := scan(in, len(in)+1)
		if got != want || lost != wantLost {
			t.Errorf("%q in pieces of %d: lost %v\n%s\nat once: lost %v\n%s", in, size, lost, got, wantLost, want)
		}
	})
}
