package trace

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// An endless workload is a source that makes its jobs as they are asked for: one each minute, which runs for five.
type endless struct{ n, most int }

func (e *endless) Next() (*Job, error) {
	if e.n == e.most {
		return nil, io.EOF
	}
	e.n++
	return &Job{
		Name: fmt.Sprint(e.n), File: "made", Line: e.n, Submit: e.Begin() + pbs.Time(e.n)*pbs.Time(time.Minute),
		Runs: 5 * time.Minute, Limit: 10 * time.Minute, CPUs: 1, User: fmt.Sprintf("user%d", e.n%9),
	}, nil
}

func (e *endless) Read() float64   { return float64(e.n) / float64(e.most) }
func (e *endless) Begin() pbs.Time { return pbs.Time(standardBegin.UnixNano()) }
func (e *endless) Close() error    { return nil }

// However long a trace is, only the jobs that wait or run are held.
func TestReplay_HoldsLittle(t *testing.T) {
	source, troubles := &endless{most: 5000}, &Troubles{}
	m := newMachine(source.Begin() - pbs.Time(time.Minute))
	s, err := m.configure("")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.furnish(Options{Hosts: Hosts{2, resource.List{}.Set("ncpus", "4")}}, source); err != nil {
		t.Fatal(err)
	}
	e := newEngine(m, source, troubles, newTally(8, source.Begin()))
	most := 0
	e.seen = func(float64, pbs.Time) {
		jobs := 0
		for range e.view().Jobs() {
			jobs++
		}
		most = max(most, jobs+len(e.lives)+len(e.due)+len(e.acked)+len(e.given))
	}
	if err := e.run(); err != nil {
		t.Fatal(err)
	}
	if r := e.report(s); r.Figures.Finished != source.most || most == 0 || most > 60 {
		t.Errorf("%d jobs finished, and up to %d things were held", r.Figures.Finished, most)
	}
}

// Of records, no more jobs are held than those behind one that does not end, up to a bound: one that runs by then is taken to run until
// its walltime, and one that waits comes when it begins.
func TestRecords_HoldLittle(t *testing.T) {
	var text strings.Builder
	line := func(at int, kind string, n int, more string) {
		fmt.Fprintf(&text, "%s;%s;%d.srv;user=ann group=users queue=workq ctime=%[4]d qtime=%[4]d etime=%[4]d%s\n",
			time.Unix(int64(at), 0).UTC().Format("01/02/2006 15:04:05"), kind, n, begun(n), more)
	}
	const asks = " Resource_List.ncpus=1 Resource_List.select=1:ncpus=1 Resource_List.walltime=01:00:00"
	start := func(n, at int) { line(at, "S", n, fmt.Sprintf(" start=%d%s", at, asks)) }
	end := func(n, from, at int) {
		line(at, "E", n, fmt.Sprintf(" start=%d%s end=%d Exit_status=0", from, asks, at))
	}
	line(begun(0), "Q", 0, "")
	start(0, begun(0))
	line(begun(1), "Q", 1, "")
	for n := 2; n < 100; n++ {
		at := begun(n)
		line(at, "Q", n, "")
		start(n, at)
		end(n, at, at+1)
	}
	start(1, begun(200))
	end(1, begun(200), begun(200)+7)
	end(0, begun(0), begun(300))
	in, err := openInput([]string{files(t, map[string]string{"a": text.String()}) + "/a"})
	if err != nil {
		t.Fatal(err)
	}
	troubles := &Troubles{}
	r, err := openRecords(in, troubles, 5)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var got []string
	for j, err := r.Next(); err == nil; j, err = r.Next() {
		if len(r.window) > r.most || len(r.of) > r.most+1 || len(r.early) > 1 {
			t.Fatalf("%d, %d and %d jobs are held", len(r.window), len(r.of), len(r.early))
		}
		got = append(got, fmt.Sprintf("%s %d %s", j.Name, j.Submit.Unix()-int64(begun(0)), j.Runs))
	}
	if len(got) != 100 || got[0] != "0.srv 0 1h0m0s" || got[1] != "2.srv 20 980ms" || got[99] != "1.srv 2000 7s" {
		t.Errorf("%q", got)
	}
	if troubles.Kinds["its end is not recorded"] != 1 || troubles.Kinds["it has waited behind very many"] != 1 || troubles.Skipped != 0 {
		t.Errorf("%+v", troubles)
	}
}

// begun is when the nth job comes, in seconds.
func begun(n int) int { return 1826791200 + 10*n }

// A trace may come from a pipe, of which nothing can be read twice.
func TestReplay_FromAPipe(t *testing.T) {
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	var text strings.Builder // less than a pipe holds
	text.WriteString("; MaxProcs: 4\n")
	for n := range 50 {
		text.WriteString(swfLine(n+1, n, 10, 1, 20, 1, 1))
	}
	if _, err := to.WriteString(text.String()); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Replay(Options{Files: []string{fmt.Sprintf("/dev/fd/%d", from.Fd())}})
	if err != nil || r.Figures.Finished != 50 {
		t.Errorf("%+v, %v", r, err)
	}
}
