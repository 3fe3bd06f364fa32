package command

import (
	"strings"
	"testing"

	"rampart/fsm/pbs"
)

// Several calls of release_nodes are one change: each sees what those before have left.
func TestPrune_AddsUp(t *testing.T) {
	hostb := []string{"hostb", "hostb[0]", "hostb[1]"}
	for _, c := range []struct {
		name    string
		command PruneJob
		vnode   string
		host    string
	}{
		{"names, then a select", PruneJob{Earlier: []PruneStep{{Vnodes: hostb}}, Keep: selSO}, chunkA + "+" + chunkD + "+" + chunkC, "hosta/0*0+hostd/0*3+hostc/0*2"},
		{
			"a select, then a smaller one",
			PruneJob{Earlier: []PruneStep{{Keep: selSO}}, Keep: "ncpus=3:mem=2gb+ncpus=2:mem=1gb"},
			chunkA + "+(hostc:ncpus=2:mem=1048576kb)", "hosta/0*0+hostc/0*2",
		},
		{"a select, then names", PruneJob{Earlier: []PruneStep{{Keep: selSO}}, Vnodes: []string{"hostc"}}, chunkA + "+" + chunkB, "hosta/0*0+hostb/0*0"},
		{
			"names, names, nothing",
			PruneJob{Earlier: []PruneStep{{Vnodes: hostb}, {Vnodes: []string{"hostd"}}}},
			chunkA + "+" + chunkC + "+" + chunkE, "hosta/0*0+hostc/0*2+hoste/0*0",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newPruning(t)
			c.command.Job, c.command.RunCount, c.command.Host = w.job, 1, "hosta"
			w.must(&c.command)
			w.check()
			w.confirm("hosta", nil)
			w.check()
			j := w.now()
			if j.LastRun().ExecVnode.String() != c.vnode || j.LastRun().ExecHost.String() != c.host {
				t.Errorf("exec_vnode %s, exec_host %s", j.LastRun().ExecVnode.String(), j.LastRun().ExecHost.String())
			}
			n := strings.Count(c.vnode, "(")
			if got, want := w.letters(), "S5 s5 u5 c"+string(rune('0'+n))+" s"+string(rune('0'+n)); got != want {
				t.Errorf("the records are %s, want %s", got, want)
			}
		})
	}
	w := newPruning(t)
	err := w.run(&PruneJob{Job: w.job, RunCount: 1, Host: "hosta", Earlier: []PruneStep{{Vnodes: hostb}}, Vnodes: []string{"hostb"}})
	if pbs.CodeOf(err) != pbs.SystemError || !strings.Contains(err.Error(), "node(s) requested to be released not part of the job: hostb") {
		t.Errorf("a vnode that was released by the call before: %v", err)
	}
	if j := w.now(); j.LastRun().Release != nil || j.LastRun().ExecVnode.String() != evOfR1 {
		t.Errorf("the job has %s, %+v", j.LastRun().ExecVnode.String(), j.LastRun().Release)
	}
}
