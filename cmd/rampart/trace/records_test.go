package trace

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"rampart/cluster/sched"
	"rampart/fsm/pbs"
)

const accounting = `11/21/2027 10:00:00;Q;1.srv;user=ann group=users account="a b" project=_pbs_project_default jobname=x queue=workq ctime=1826791200 qtime=1826791200 etime=1826791200
11/21/2027 10:00:00;S;1.srv;user=ann group=users project=_pbs_project_default jobname=x queue=workq ctime=1826791200 qtime=1826791200 etime=1826791200 start=1826791200 exec_host=a/0 exec_vnode=(a:ncpus=2) Resource_List.ncpus=2 Resource_List.nodect=1 Resource_List.place=pack Resource_List.select=1:ncpus=2 Resource_List.walltime=00:01:00
11/21/2027 10:00:00;Q;2.srv;user=ben group=users project=p jobname=x queue=workq ctime=1826791200 qtime=1826791200 etime=1826791200
11/21/2027 10:00:01;Q;3[].srv;user=ann group=users project=_pbs_project_default jobname=x queue=workq ctime=1826791201 qtime=1826791201 etime=1826791201 array_indices=0-2:2
11/21/2027 10:00:02;Q;4.srv;user=cat group=users project=_pbs_project_default jobname=x queue=workq ctime=1826791202 qtime=1826791202 etime=1826791202
11/21/2027 10:00:03;D;4.srv;requestor=cat@h
11/21/2027 10:00:05;S;3[2].srv;user=ann group=users jobname=x queue=workq ctime=1826791201 qtime=1826791201 etime=1826791201 start=1826791205 exec_host=a/0 exec_vnode=(a:ncpus=1) Resource_List.ncpus=1 Resource_List.select=1:ncpus=1
11/21/2027 10:00:06;E;3[2].srv;user=ann group=users jobname=x queue=workq ctime=1826791201 qtime=1826791201 etime=1826791201 start=1826791205 exec_host=a/0 exec_vnode=(a:ncpus=1) Resource_List.ncpus=1 Resource_List.select=1:ncpus=1 end=1826791206 Exit_status=3 resources_used.walltime=00:00:01 run_count=1
nonsense
11/21/2027 10:00:07;E;0.srv;user=dan group=users jobname=x queue=workq ctime=1826791100 qtime=1826791100 etime=1826791150 start=1826791110 exec_host=a/0 exec_vnode=(a:ncpus=1) Resource_List.ncpus=1 Resource_List.select=1:ncpus=1 end=1826791207 Exit_status=0
11/21/2027 10:00:08;E;5.srv;user= group=users jobname=x queue=workq ctime=1826791203 qtime=1826791203 etime=1826791203 start=1826791208 exec_host=a/0 exec_vnode=(a:ncpus=1) Resource_List.ncpus=1 Resource_List.select=1:ncpus=1 end=1826791201 Exit_status=0
11/21/2027 10:00:20;E;1.srv;user=ann group=users project=_pbs_project_default jobname=x queue=workq ctime=1826791200 qtime=1826791200 etime=1826791200 start=1826791200 exec_host=a/0 exec_vnode=(a:ncpus=2) Resource_List.ncpus=2 Resource_List.nodect=1 Resource_List.place=pack Resource_List.select=1:ncpus=2 Resource_List.walltime=00:01:00 session=1 end=1826791220 Exit_status=271 resources_used.walltime=00:00:20 run_count=1
11/21/2027 10:00:20;S;2.srv;user=ben group=users project=p jobname=x queue=workq ctime=1826791200 qtime=1826791200 etime=1826791230 start=1826791240 exec_host=a/0 exec_vnode=(a:ncpus=2) Resource_List.ncpus=2 Resource_List.select=1:ncpus=2 Resource_List.walltime=00:01:00
`

func TestRecords(t *testing.T) {
	name := files(t, map[string]string{"20271121": accounting}) + "/20271121"
	troubles := &Troubles{}
	s, err := open([]string{filepath.Dir(name)}, troubles)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var got []string
	begin := pbs.Time(1826791200) * pbs.Time(time.Second)
	for j, err := s.Next(); err == nil; j, err = s.Next() {
		eligible := 0.0
		if j.Eligible != 0 {
			eligible = time.Duration(j.Eligible - begin).Seconds()
		}
		got = append(got, fmt.Sprintf("%s %.3f %g %s %s %q %q %s %s %d", j.Name, time.Duration(j.Submit-begin).Seconds(), eligible, j.Runs, j.Limit, j.Project, j.Account, j.Select, j.User, j.Exit))
	}
	if want := []string{
		`0.srv -100.000 -50 1m37s 0s "" "" 1:ncpus=1 dan 0`,
		`1.srv 0.000 0 19.98s 1m0s "" "a b" 1:ncpus=2 ann 271`,
		`2.srv 0.030 30 1m0s 1m0s "p" "" 1:ncpus=2 ben 0`,
		`3[2].srv 1.000 0 1s 0s "" "" 1:ncpus=1 ann 3`,
	}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	var lines []string
	for _, one := range troubles.List {
		lines = append(lines, strings.TrimPrefix(one.String(), name))
	}
	if want := []string{
		":6: deleted before it began: job 4.srv",
		":9: no record: want MM/DD/YYYY HH:MM:SS;TYPE;ID;TEXT",
		":10: its queueing is not recorded: job 0.srv is taken to have been queued at its ctime",
		":11: its queueing is not recorded: job 5.srv is taken to have been queued at its ctime",
		":11: no user: it is counted as nobody's",
		":11: negative run time: job 5.srv, -7",
		":3: its end is not recorded: job 2.srv is taken to run until its walltime, or the last record",
		":4: it has never begun: job 3[0].srv",
	}; !reflect.DeepEqual(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
}

// lives are the records of jobs in a cluster of one host with one cpu, ahead of UTC by an hour: job 1 is put back after 20 s and altered
// as it runs again, beyond its first walltime; job 3 passes job 2 since somebody has raised its priority; job 4 is put back and deleted.
const lives = `11/21/2027 11:00:00;Q;1.srv;user=ann group=users queue=workq ctime=1826791200 qtime=1826791200 etime=1826791200
11/21/2027 11:00:00;S;1.srv;user=ann group=users queue=workq ctime=1826791200 qtime=1826791200 etime=1826791200 start=1826791200 Resource_List.ncpus=1 Resource_List.select=1:ncpus=1 Resource_List.walltime=00:01:00
11/21/2027 11:00:05;Q;2.srv;user=ben group=users queue=workq ctime=1826791205 qtime=1826791205 etime=1826791205
11/21/2027 11:00:06;Q;3.srv;user=ann group=users queue=workq ctime=1826791206 qtime=1826791206 etime=1826791206
11/21/2027 11:00:07;a;3.srv;Resource_List.walltime=00:00:30
11/21/2027 11:00:20;R;1.srv;user=ann group=users queue=workq ctime=1826791200 qtime=1826791200 etime=1826791200 start=1826791200 Resource_List.select=1:ncpus=1 end=1826791220 Exit_status=271 resources_used.walltime=00:00:20 run_count=1
11/21/2027 11:00:20;S;1.srv;user=ann group=users queue=workq ctime=1826791200 qtime=1826791200 etime=1826791220 start=1826791220 Resource_List.ncpus=1 Resource_List.select=1:ncpus=1 Resource_List.walltime=00:01:00
11/21/2027 11:00:40;a;1.srv;Resource_List.walltime=00:02:00
11/21/2027 11:00:50;a;3.srv;Priority=100
11/21/2027 11:02:00;E;1.srv;user=ann group=users queue=workq ctime=1826791200 qtime=1826791200 etime=1826791220 start=1826791220 Resource_List.select=1:ncpus=1 Resource_List.walltime=00:02:00 end=1826791320 Exit_status=0 resources_used.walltime=00:01:40 run_count=2
11/21/2027 11:02:00;S;3.srv;user=ann group=users queue=workq ctime=1826791206 qtime=1826791206 etime=1826791206 start=1826791320 Resource_List.ncpus=1 Resource_List.select=1:ncpus=1 Resource_List.walltime=00:00:30
11/21/2027 11:02:10;E;3.srv;user=ann group=users queue=workq ctime=1826791206 qtime=1826791206 etime=1826791206 start=1826791320 Resource_List.select=1:ncpus=1 Resource_List.walltime=00:00:30 end=1826791330 Exit_status=0 run_count=1
11/21/2027 11:02:10;S;2.srv;user=ben group=users queue=workq ctime=1826791205 qtime=1826791205 etime=1826791205 start=1826791330 Resource_List.ncpus=1 Resource_List.select=1:ncpus=1 Resource_List.walltime=00:05:00
11/21/2027 11:02:15;E;2.srv;user=ben group=users queue=workq ctime=1826791205 qtime=1826791205 etime=1826791205 start=1826791330 Resource_List.select=1:ncpus=1 Resource_List.walltime=00:05:00 end=1826791335 Exit_status=0 run_count=1
11/21/2027 11:03:00;Q;4.srv;user=ben group=users queue=workq ctime=1826791380 qtime=1826791380 etime=1826791380
11/21/2027 11:03:00;S;4.srv;user=ben group=users queue=workq ctime=1826791380 qtime=1826791380 etime=1826791380 start=1826791380 Resource_List.ncpus=1 Resource_List.select=1:ncpus=1
11/21/2027 11:03:09;R;4.srv;user=ben group=users queue=workq ctime=1826791380 qtime=1826791380 etime=1826791380 start=1826791380 Resource_List.select=1:ncpus=1 end=1826791389 Exit_status=271 run_count=1
11/21/2027 11:03:20;D;4.srv;requestor=ben@h
`

// Runs that were requeued are played as such, and what was altered is altered at its time.
func TestReplay_RequeuedAndAltered(t *testing.T) {
	dir := files(t, map[string]string{
		"20271121": lives, "site/a.qmgr": "create node hosta\nset node hosta resources_available.ncpus = 1\nset server job_sort_formula = job_priority\n",
	})
	r, all := play(t, Options{Files: []string{dir + "/20271121"}, Site: dir + "/site"})
	var got []string
	for _, one := range all {
		begin := pbs.Time(1826791200) * pbs.Time(time.Second)
		got = append(got, fmt.Sprintf("%s %.0f-%.0f", one.Job.Name, time.Duration(one.Start-begin).Seconds(), time.Duration(one.End-begin).Seconds()))
	}
	if want := []string{"1.srv 0-120", "3.srv 120-130", "2.srv 130-135", "4.srv 180-189"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if f := r.Figures; f.Requeued != 1 || f.Limited != 0 || len(r.SiteLines) != 0 {
		t.Errorf("%+v, %v", f, r.SiteLines)
	}
	if len(r.Troubles.List) != 1 || !strings.Contains(r.Troubles.List[0].String(), "/20271121:5: it was altered before it began: job 3.srv is replayed with what") {
		t.Errorf("%v", r.Troubles.List)
	}
}

func TestFieldsOf(t *testing.T) {
	got := fieldsOf(`user=ann  account="a b" x='{"a": "b c"}' word empty= open="a b`)
	want := map[string]string{"user": "ann", "account": "a b", "x": `{"a": "b c"}`, "empty": "", "open": `"a`}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzRecords(f *testing.F) {
	f.Add(accounting)
	f.Fuzz(func(t *testing.T, text string) {
		in, err := openInput([]string{files(t, map[string]string{"a": text}) + "/a"})
		if err != nil {
			t.Fatal(err)
		}
		s, err := openRecords(in, &Troubles{}, 3)
		if err != nil {
			return
		}
		defer s.Close()
		last := pbs.Time(0)
		for j, err := s.Next(); err == nil; j, err = s.Next() {
			if j.Submit < last || j.Runs < 0 || j.User == "" {
				t.Errorf("%+v", j)
			}
			last = j.Submit
		}
	})
}

// A run of rampart dev, two hosts with 4 cpus each, is replayed from its accounting and what its qmgr printed: each job starts
// within a second of where it was. With a planner that is wrong about priorities they do not.
func TestReplay_OfARecordedRun(t *testing.T) {
	for _, c := range []struct {
		planner func(*machine) planner
		right   bool
	}{
		{nil, true},
		{func(m *machine) planner { return wrong{m, sched.NewPlanner()} }, false},
	} {
		r, all := play(t, Options{Files: []string{"testdata/dev/20261125"}, Site: "testdata/dev", planner: c.planner})
		if len(all) != 51 || len(r.SiteLines) != 0 || r.Troubles.Skipped+r.Troubles.Amended > 0 {
			t.Fatalf("%d jobs, %v, %+v", len(all), r.SiteLines, r.Troubles)
		}
		right := true
		for _, one := range all {
			if off := one.Start.Unix() - one.Job.Began.Unix(); off < -1 || off > 1 {
				if right = false; c.right {
					t.Errorf("job %s starts %d s off", one.Job.Name, off)
				}
			}
		}
		if right != c.right {
			t.Errorf("all are within a second: %v, want %v", right, c.right)
		}
	}
}
