package fsm_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"rampart/fsm/acct"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// released is what a PBS has written of a job that gave vnodes back and was suspended then.
const released = `
11/21/2026 05:26:14;S;141.hosta;user=pbsuser group=tstgrp00 project=_pbs_project_default jobname=samp queue=workq ctime=1795238774 qtime=1795238774 etime=1795238774 start=1795238774 exec_host=hosta/1+hostb/1+hostd/0*2 exec_vnode=(hosta[1]:ncpus=1:mem=10240kb)+(hostb:ncpus=1:mem=10240kb)+(hostd:ncpus=2) Resource_List.mem=20mb Resource_List.ncpus=4 Resource_List.nodect=3 Resource_List.place=scatter Resource_List.select=2:ncpus=1:mem=10mb+1:ncpus=2 resource_assigned.mem=20480kb resource_assigned.ncpus=4
11/21/2026 05:26:17;u;141.hosta;user=pbsuser group=tstgrp00 project=_pbs_project_default jobname=samp queue=workq ctime=1795238774 qtime=1795238774 etime=1795238774 start=1795238774 exec_host=hosta/1+hostb/1+hostd/0*2 exec_vnode=(hosta[1]:ncpus=1:mem=10240kb)+(hostb:ncpus=1:mem=10240kb)+(hostd:ncpus=2) Resource_List.mem=20mb Resource_List.ncpus=4 Resource_List.nodect=3 Resource_List.place=scatter Resource_List.select=2:ncpus=1:mem=10mb+1:ncpus=2 session=10744 run_count=1 resources_used.cpupercent=0 resources_used.cput=00:00:00 resources_used.mem=0kb resources_used.ncpus=4 resources_used.vmem=0kb resources_used.walltime=00:00:00
11/21/2026 05:26:17;c;141.hosta;user=pbsuser group=tstgrp00 project=_pbs_project_default jobname=samp queue=workq ctime=1795238774 qtime=1795238774 etime=1795238774 start=1795238774 exec_host=hosta/1+hostd/0*2 exec_vnode=(hosta[1]:ncpus=1:mem=10240kb)+(hostd:ncpus=2) Resource_List.mem=10240kb Resource_List.ncpus=3 Resource_List.nodect=2 Resource_List.place=scatter Resource_List.select=1:ncpus=1:mem=10240kb+1:ncpus=2 resource_assigned.mem=10240kb resource_assigned.ncpus=3
11/21/2026 05:26:19;z;141.hosta;resources_used.cpupercent=0 resources_used.cput=00:00:00 resources_used.mem=0kb resources_used.ncpus=4 resources_used.vmem=0kb resources_used.walltime=00:00:03
`

// incidental is what differs from one session to the next: dates, ids, sessions.
var incidental = []struct {
	of *regexp.Regexp
	by string
}{
	{regexp.MustCompile(`\d\d/\d\d/\d{4} \d\d:\d\d:\d\d`), "STAMP"},
	{regexp.MustCompile(`;\d+\.hosta;`), ";ID;"},
	{regexp.MustCompile(`\b(ctime|qtime|etime|start)=\d+`), "$1=TIME"},
	{regexp.MustCompile(`\bsession=\d+`), "session=SESSION"},
	// The specification adds these to c (ramp-down section 13).
	{regexp.MustCompile(`(;c;.*) session=SESSION run_count=1`), "$1"},
}

// Our records of the same session say the same.
func TestRecorded_ReleaseOfVnodes(t *testing.T) {
	store, index := state.NewStore(), uint64(0)
	var lines []string
	do := func(c command.Command) {
		t.Helper()
		index++
		entry := command.Entry{Time: pbs.Time(index) * pbs.Time(time.Second), Proposals: []command.Proposal{{Commands: []command.Command{c}}}}
		out, events := command.Run(store, index, 1, entry)
		if err := out[0].Err(); err != nil {
			t.Fatalf("%T: %v", c, err)
		}
		store.Publish()
		for _, e := range events {
			if r, ok := acct.Of(e, time.UTC); ok && e.Job != nil && e.Job.Name == "samp" && e.Kind != state.JobQueued {
				lines = append(lines, strings.TrimSpace(r.Line))
			}
		}
	}
	confirm := func(used resource.List) {
		var open []pbs.OrderID
		for o := range store.View().Orders("hosta") {
			open = append(open, o.ID)
		}
		for _, id := range open {
			do(&command.OrderConfirmed{Host: "hosta", Order: id, Used: used})
		}
	}
	used := func(wall string) resource.List {
		return resource.List{
			{Name: "cpupercent", Value: "0"},
			{Name: "cput", Value: "00:00:00"},
			{Name: "mem", Value: "0kb"},
			{Name: "ncpus", Value: "4"},
			{Name: "vmem", Value: "0kb"},
			{Name: "walltime", Value: wall},
		}
	}
	do(&command.InitCluster{ID: "c", Name: "hosta"})
	do(&command.RaiseLevel{Level: command.FeatureLevel})
	offer := func(cpus string) resource.List {
		return resource.List{{Name: "mem", Value: "1gb"}, {Name: "ncpus", Value: cpus}}
	}
	do(&command.HostUp{Host: "hosta", Address: "a:1", BootID: "b", SpoolID: "s", Vnodes: []command.ReportedVnode{
		{Name: "hosta"}, {Name: "hosta[0]", Available: offer("1")}, {Name: "hosta[1]", Available: offer("1")},
	}})
	for _, h := range []pbs.HostName{"hostb", "hostd"} {
		do(&command.HostUp{Host: h, Address: string(h) + ":1", BootID: "b", SpoolID: "s", Vnodes: []command.ReportedVnode{{Name: pbs.VnodeName(h), Available: offer("2")}}})
	}
	submit := func(name, sel, on string) pbs.JobID {
		id := pbs.NewJobID(store.View().Cluster().NextJob, "hosta")
		do(&command.SubmitJob{Owner: pbs.User{Name: "pbsuser", Host: "hosta"}, Attributes: attr.List(nil).
			Set("Job_Name", "", name).Set("euser", "", "pbsuser").Set("egroup", "", "tstgrp00").
			Set("Resource_List", "select", sel).Set("Resource_List", "place", "scatter")})
		do(&command.StartJob{Job: id, ExecVnode: on})
		confirm(nil)
		return id
	}
	submit("STDIN", "2:ncpus=1", "(hosta[0]:ncpus=1)+(hostb:ncpus=1)")
	id := submit("samp", "2:ncpus=1:mem=10mb+1:ncpus=2", "(hosta[1]:ncpus=1:mem=10240kb)+(hostb:ncpus=1:mem=10240kb)+(hostd:ncpus=2)")
	do(&command.JobStarted{Source: command.Source{Host: "hosta", Spool: "s", Seq: 1}, Job: id, RunCount: 1, Session: 10744})
	do(&command.ReleaseNodes{Job: id, Vnodes: []string{"hostb"}})
	confirm(used("00:00:00"))
	do(&command.UsageSample{Host: "hosta", Jobs: []command.JobUsage{{Job: id, RunCount: 1, Used: used("00:00:03")}}})
	confirm(nil)
	do(&command.SignalJob{Job: id, Signal: command.Suspend})
	confirm(nil)

	got, want := strings.Join(lines, "\n"), strings.TrimSpace(released)
	for _, m := range incidental {
		got, want = m.of.ReplaceAllString(got, m.by), m.of.ReplaceAllString(want, m.by)
	}
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(gotLines), len(wantLines)) {
		g, w := "", ""
		if i < len(gotLines) {
			g = gotLines[i]
		}
		if i < len(wantLines) {
			w = wantLines[i]
		}
		if g != w {
			t.Errorf("got  %s\nwant %s", g, w)
		}
	}
}
