package trace

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/snapshot"
	"rampart/fsm/state"
)

// living is the state of a cluster in which two jobs have run for a minute, and three wait.
func living(t *testing.T) []byte {
	t.Helper()
	dir := files(t, map[string]string{"a.qmgr": "set queue workq max_run = [u:PBS_GENERIC=2]\n"})
	m := newMachine(pbs.Time(standardBegin.UnixNano()))
	if err := m.addHosts(Hosts{2, resource.List{}.Set("ncpus", "4")}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.configure(dir); err != nil {
		t.Fatal(err)
	}
	e := newEngine(m, none{m.at}, &Troubles{}, newTally(8, m.at))
	for _, j := range []Job{
		{Name: "0", CPUs: 4, Limit: 10 * time.Minute},
		{Name: "1", CPUs: 4, Limit: 20 * time.Minute},
		{Name: "2", CPUs: 3, Limit: 30 * time.Minute},
		{Name: "3", CPUs: 1, Limit: time.Hour},
		{Name: "4", CPUs: 9, Limit: time.Hour},
	} {
		j.User, j.Runs, j.Submit = "ann", 10*time.Hour, m.at
		e.submitted(&j, e.entry(command.Proposal{Commands: []command.Command{e.submission(&j)}})[0])
	}
	for at, ok := e.nextTime(); ok && at < m.at+pbs.Time(time.Minute) && at < pbs.Time(standardBegin.UnixNano())+pbs.Time(time.Minute); at, ok = e.nextTime() {
		if err := e.step(at); err != nil {
			t.Fatal(err)
		}
	}
	m.at = pbs.Time(standardBegin.UnixNano()) + pbs.Time(time.Minute)
	if err := m.do(&command.TimeTick{}); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := snapshot.Write(&b, m.view()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReasonOf(t *testing.T) {
	if got := reasonOf(&state.Job{State: pbs.Held}); got != "its state is H" {
		t.Errorf("%q", got)
	}
}

// minutes are the minutes after the begin at which jobs start, without and with the changes; -1: they do not.
func minutes(f *Forecast) map[string][2]int {
	all := map[string][2]int{}
	minute := func(at time.Time) int {
		if at.IsZero() {
			return -1
		}
		return int(at.Sub(standardBegin).Minutes())
	}
	for _, j := range f.Jobs {
		all[j.Job] = [2]int{minute(j.Start), minute(j.Changed)}
	}
	return all
}

func TestForesee(t *testing.T) {
	saved := living(t)
	script := files(t, map[string]string{"job.sh": "#PBS -l select=1:ncpus=2,walltime=5:00\n"}) + "/job.sh"
	for _, c := range []struct {
		name    string
		changes []Change
		want    map[string][2]int
	}{
		{"as it is", nil, map[string][2]int{"2.srv": {10, -1}, "3.srv": {20, -1}, "4.srv": {-1, -1}}},
		{
			"a limit",
			[]Change{{Qmgr: "set queue workq max_run = [u:PBS_GENERIC=4]"}},
			map[string][2]int{"2.srv": {10, 10}, "3.srv": {20, 10}, "4.srv": {-1, -1}},
		},
		{
			// job 0 is put back when the fence of its host has fallen, in the fifth minute after it, and is the first of the queue.
			"a host",
			[]Change{{Down: "node1", At: standardBegin.Add(2 * time.Minute)}},
			map[string][2]int{"0.srv": {-1, 20}, "2.srv": {10, 30}, "3.srv": {20, 30}, "4.srv": {-1, -1}},
		},
		{
			"a job",
			[]Change{{Submit: script}},
			map[string][2]int{"2.srv": {10, 10}, "3.srv": {20, 20}, "4.srv": {-1, -1}, "5.srv": {-1, 20}},
		},
	} {
		f, err := Foresee(saved, TwinOptions{User: "ben", Changes: c.changes, Ahead: 24 * time.Hour})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := minutes(f); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		var text strings.Builder
		if err := f.Text(&text); err != nil || !strings.Contains(text.String(), "2.srv            ann          workq        2001-01-01 00:10:00  0:09:00") {
			t.Errorf("%s: %v\n%s", c.name, err, &text)
		}
		if strings.Count(text.String(), "Can Never Run") != 1 {
			t.Errorf("%s: nobody says why job 4 does not start, or it is said twice:\n%s", c.name, &text)
		}
	}
}

// The same state and changes give the same forecast, to the byte.
func TestForesee_Again(t *testing.T) {
	saved := living(t)
	script := files(t, map[string]string{"job.sh": "#PBS -J 0-3\n#PBS -l select=1:ncpus=1,walltime=5:00\n"}) + "/job.sh"
	var texts [2]string
	for i := range texts {
		f, err := Foresee(saved, TwinOptions{User: "ben", Ahead: 24 * time.Hour, Changes: []Change{
			{Down: "node1", At: standardBegin.Add(2 * time.Minute)}, {Qmgr: "set queue workq max_run = [u:PBS_GENERIC=4]"}, {Submit: script},
		}})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := errors.Join(f.Text(&b), f.JSON(&b)); err != nil {
			t.Fatal(err)
		}
		texts[i] = b.String()
	}
	if texts[0] != texts[1] {
		t.Errorf("once\n%s\nand again\n%s", texts[0], texts[1])
	}
}

func TestForesee_BadChanges(t *testing.T) {
	saved := living(t)
	for _, c := range []struct {
		change Change
		want   string
	}{
		{Change{Down: "node1", At: standardBegin}, "host node1 goes down at 2001-01-01 00:00:00: that is past: the state is of 2001-01-01 00:01:00"},
		{Change{Down: "node1", At: standardBegin.Add(2 * time.Hour)}, "host node1 goes down at 2001-01-01 02:00:00: that is not looked at, but until 2001-01-01 01:01:00"},
		{Change{Down: "nosuch"}, "host nosuch goes down: there is no such host"},
		{Change{Qmgr: "set queue nosuch Priority = 1"}, "set queue nosuch Priority = 1: Unknown queue"},
		{Change{Submit: "nosuch.sh"}, "nosuch.sh is submitted: qsub: script file:: No such file or directory"},
	} {
		if _, err := Foresee(saved, TwinOptions{User: "ann", Changes: []Change{c.change}, Ahead: time.Hour}); err == nil || err.Error() != c.want {
			t.Errorf("%v: %v, want %s", c.change, err, c.want)
		}
	}
	if _, err := Foresee([]byte("RAMPART"), TwinOptions{}); err == nil {
		t.Error("a file that is no snapshot is taken")
	}
}

func TestBegin(t *testing.T) {
	saved := living(t)
	for _, c := range []struct {
		job    pbs.JobID
		ahead  time.Duration
		minute time.Duration // after the begin, 0: it does not start
		ends   time.Duration
		why    string
	}{
		{job: "2.srv", ahead: 24 * time.Hour, minute: 10 * time.Minute, ends: 40 * time.Minute},
		{job: "3.srv", ahead: 24 * time.Hour, minute: 20 * time.Minute, ends: 80 * time.Minute},
		{job: "3.srv", ahead: 15 * time.Minute, why: "Not Running"},
		{job: "4.srv", ahead: 24 * time.Hour, why: "Can Never Run"},
	} {
		x, until, err := Begin(saved, c.job, c.ahead, nil)
		if err != nil {
			t.Errorf("%s: %v", c.job, err)
			continue
		}
		if want := standardBegin.Add(time.Minute + c.ahead); !until.Equal(want) {
			t.Errorf("%s: looked until %v, want %v", c.job, until, want)
		}
		if c.why != "" {
			if !x.Start.IsZero() || !strings.Contains(x.Why, c.why) {
				t.Errorf("%s in %v: %+v, want %q", c.job, c.ahead, x, c.why)
			}
			continue
		}
		if x.Start.Truncate(time.Minute).Sub(standardBegin) != c.minute || x.End.Truncate(time.Minute).Sub(standardBegin) != c.ends {
			t.Errorf("%s: %+v, want a start after %v and an end after %v", c.job, x, c.minute, c.ends)
		}
	}
	for _, job := range []pbs.JobID{"0.srv", "99.srv"} { // runs, is not there
		if _, _, err := Begin(saved, job, time.Hour, nil); err == nil || err.Error() != "it is gone, or waits no more" {
			t.Errorf("%s: %v", job, err)
		}
	}
}
