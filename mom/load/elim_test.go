package load

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestParseReport(t *testing.T) {
	for line, want := range map[string]struct {
		values Values
		why    string
	}{
		"2 bandwidth 2.5 mem 100": {Values{"bandwidth": 2.5, "mem": 100}, ""},
		"  1   a   -  ":           {Values{}, ""},
		"0":                       {Values{}, ""},
		"hello":                   {nil, "begins with the number"},
		"-1 a 1":                  {nil, "begins with the number"},
		"2 a 1":                   {nil, "4 words behind that, not 2"},
		"1 a 1 b 2":               {nil, "2 words behind that, not 4"},
		"2 a NaN b 1":             {Values{"b": 1}, `a is "NaN", no number`},
		"3 a x b -1 c 3":          {Values{"c": 3}, `a is "x", no number`},
		"2 b -1 c 3":              {Values{"c": 3}, `b is "-1", a negative number`},
		"2 a 1 a 2":               {Values{"a": 1}, "a is there twice"},
		"1 a 1e999":               {Values{}, "no number"},
	} {
		got, err := parseReport(line)
		said := ""
		if err != nil {
			said = err.Error()
		}
		if !maps.Equal(got, want.values) || (got == nil) != (want.values == nil) || !strings.Contains(said, want.why) || want.why == "" && said != "" {
			t.Errorf("%q: %v, %v", line, got, err)
		}
	}
}

// TestElim: a program that dies is started again and has no values meanwhile; what it prints besides reports is named.
func TestElim(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	problems, told := make(chan string, 100), make(chan Values, 100)
	e := &Elim{
		Command: "echo x >> " + count + `; echo "1 bandwidth 2.5"; echo rubbish; echo "1 bandwidth 3"; echo "it broke" >&2; exit 7`,
		Log:     func(problem string) { problems <- problem },
		pause:   time.Millisecond,
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.Run(ctx, func(v Values) { told <- v })
	}()
	next := func() Values {
		t.Helper()
		select {
		case v := <-told:
			return v
		case <-time.After(20 * time.Second):
			t.Fatal("it tells nothing")
			return nil
		}
	}
	for _, want := range []Values{{"bandwidth": 2.5}, {"bandwidth": 3}, nil, {"bandwidth": 2.5}} {
		if got := next(); !maps.Equal(got, want) || (got == nil) != (want == nil) {
			t.Errorf("told %v, want %v", got, want)
		}
	}
	for _, want := range []string{`printed "rubbish": a report begins with the number of its values`, "exit status 7: it broke; it is started again in 1ms"} {
		if got := <-problems; !strings.Contains(got, want) {
			t.Errorf("the log has %q, want %q", got, want)
		}
	}
	cancel()
	<-done
	if starts, _ := os.ReadFile(count); len(starts) < 4 {
		t.Errorf("started %d times", len(starts)/2)
	}
}

// TestElim_Ends: a program that does not end is ended with its mom, with all that it has started.
func TestElim_Ends(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	told := make(chan Values, 1)
	done := make(chan struct{})
	e := &Elim{Command: `(sleep 1000 & echo "1 pid $!"; wait)`, Log: func(string) {}}
	go func() {
		defer close(done)
		e.Run(ctx, func(v Values) { told <- v })
	}()
	var pid int
	select {
	case v := <-told:
		pid = int(v["pid"])
	case <-time.After(20 * time.Second):
		t.Fatal("it tells nothing")
	}
	cancel()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("it does not end")
	}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
		if err != nil || strings.Contains(string(status), ") Z ") {
			return
		}
	}
	t.Errorf("process %d lives on", pid)
}

// TestElim_EndlessLine: a line without an end ends the program.
func TestElim_EndlessLine(t *testing.T) {
	e := &Elim{Command: "tr '\\0' x < /dev/zero", Log: func(string) {}}
	err := e.once(t.Context(), func(v Values) { t.Errorf("told %v", v) })
	if err == nil || !strings.Contains(err.Error(), "a line of more than 65536 bytes") {
		t.Error(err)
	}
}

func FuzzParseReport(f *testing.F) {
	for _, line := range []string{"1 a 1", "2 a - b 1e300", "x", "1 a NaN"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if strings.TrimSpace(line) == "" {
			return
		}
		v, _ := parseReport(line)
		for name, x := range v {
			if x < 0 || x != x {
				t.Errorf("%q: %s = %v", line, name, x)
			}
		}
	})
}
