package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
)

// granting gives back what it is asked for: names, or, for a select, the vnode v3. It remembers the questions.
type granting struct{ asked []string }

func (g *granting) Objects(_ context.Context, kind, name string, yield func(Object) error) error {
	g.asked = append(g.asked, kind+" "+name)
	var wishes []Release
	if err := json.Unmarshal([]byte(name), &wishes); err != nil {
		return err
	}
	o := Object{Name: "released", Attrs: []Attr{{"exec_vnode", "", fmt.Sprintf("after %d", len(wishes))}, {"Resource_List", "ncpus", fmt.Sprint(9 - len(wishes))}}}
	for _, w := range wishes {
		gone := w.Vnodes
		if w.Keep == "too much" {
			return nil
		}
		if w.Keep != "" {
			gone = []string{"v3"}
		}
		for _, v := range gone {
			o.Attrs = append(o.Attrs, Attr{"released", "", v})
		}
	}
	return yield(o)
}

func starting() *Event {
	e := &Event{
		Event: "execjob_launch", Mom: true, MS: true, Env: map[string]string{"PBS_NODEFILE": "/n"}, Settable: SettableOnMom(), VnodesSettable: true,
		Job: &Object{Name: "1.srv", MS: true, Attrs: []Attr{
			{"tolerate_node_failures", "", "all"}, {"exec_vnode", "", "before"}, {"Resource_List", "ncpus", "9"}, {"Resource_List", "mem", "1gb"},
		}},
	}
	for i := range 4 {
		e.Vnodes = append(e.Vnodes, Object{Name: fmt.Sprintf("v%d", i), Attrs: []Attr{{"state", "", "free"}}})
	}
	return e
}

const twice = `
import pbs
e = pbs.event()
a = e.job.release_nodes({"v1": e.vnode_list["v1"]})
b = e.job.release_nodes(keep_select="ncpus=1")
c = e.job.release_nodes(keep_select="too much")
pbs.logmsg(pbs.LOG_DEBUG, "%s %s %s %s" % (sorted(a), sorted(b), c, e.job.exec_vnode))
`

// Reliable-startup section 7: calls of one hook, and of hooks one after the other, add up; one that fails
// changes nothing.
func TestRelease_AddsUp(t *testing.T) {
	r, asked, e := newTestRuntime(t), new(granting), starting()
	var lines []string
	hookOf := func(name, script string) Run {
		return Run{
			Hook: Hook{Name: name, Attrs: map[string]string{"alarm": "5", "event": e.Event}}, Script: []byte(script), Dir: "/", Source: asked,
			Log: func(l Line) { lines = append(lines, l.Text) },
		}
	}
	out := r.Sequence(t.Context(), []Run{hookOf("first", twice), hookOf("second", `
import pbs
e = pbs.event()
pbs.logmsg(pbs.LOG_DEBUG, "%s %s %s" % (e.job.exec_vnode, e.job.Resource_List["ncpus"], e.job.Resource_List["mem"]))
d = e.job.release_nodes(node_list={"v2": e.vnode_list["v2"]})
pbs.logmsg(pbs.LOG_DEBUG, "%s %s" % (sorted(d), d.exec_vnode))
`)}, e, false)
	if out.Rejected != nil || out.Job == nil {
		t.Fatalf("%+v", out)
	}
	if want := []string{"['v1'] ['v3'] None after 2", "after 2 7 None", "['v2'] after 3"}; !slices.Equal(lines, want) {
		t.Errorf("hooks saw %q, want %q", lines, want)
	}
	wishes, err := json.Marshal(out.Job.Release)
	if want := `[{"vnodes":["v1"],"gone":["v1"]},{"keep":"ncpus=1","gone":["v3"]},{"vnodes":["v2"],"gone":["v2"]}]`; err != nil || string(wishes) != want {
		t.Errorf("to be released are %s, want %s", wishes, want)
	}
}

// A hook that rejects releases nothing.
func TestRelease_Rejected(t *testing.T) {
	r, e := newTestRuntime(t), starting()
	out := r.Sequence(t.Context(), []Run{
		{
			Hook: Hook{Name: "first", Attrs: map[string]string{"alarm": "5", "event": e.Event}}, Script: []byte(twice), Dir: "/", Source: new(granting),
			Log: func(Line) {},
		},
		{
			Hook: Hook{Name: "second", Attrs: map[string]string{"alarm": "5", "event": e.Event}}, Dir: "/", Log: func(Line) {},
			Script: []byte("import pbs\npbs.event().reject('no')\n"),
		},
	}, e, false)
	if out.Rejected == nil || out.Job != nil && len(out.Job.Release) > 0 {
		t.Errorf("%+v", out.Job)
	}
}
