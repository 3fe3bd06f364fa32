package lsf

import (
	"errors"
	"flag"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/resreq"
	"rampart/fsm/rusage"
	"rampart/fsm/spec"
)

var update = flag.Bool("update", false, "print the vocabulary into the document anew")

// The document has the vocabulary as it is in the code.
func TestDocument_IsCurrent(t *testing.T) {
	const (
		path  = "../../docs/lsf.md"
		begin = "<!-- printed by: go test ./fsm/lsf -update -->\n"
		end   = "<!-- end of what is printed -->\n"
	)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(text), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no place for the vocabulary", path)
	}
	want := before + begin + "\n" + document() + "\n" + end + after
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(text) {
		t.Errorf("%s is not current: go test ./fsm/lsf -update", path)
	}
}

// A table is what a site has defined beside what is built in.
type table []resource.Def

func (t table) Resource(name string) (resource.Def, bool) {
	for _, d := range t {
		if d.Name == name {
			return d, true
		}
	}
	return resource.Lookup(name)
}

var site = table{
	{Name: "lic", Type: resource.Long, Flags: resource.PerQueue},
	{Name: "disk", Type: resource.Long, Flags: resource.AtHost | resource.PerVnode},
	{Name: "share", Type: resource.Float, Flags: resource.AtHost | resource.PerVnode},
	{Name: "bigmem", Type: resource.Boolean, Flags: resource.AtHost},
	{Name: "color", Type: resource.String, Flags: resource.AtHost},
	{Name: "hidden", Type: resource.Long, Flags: resource.AtHost | resource.PerVnode | resource.Invisible},
}

func shaped(text string, slots int, host string) (Shape, error) {
	known := SiteOf(site)
	r, err := resreq.Parse(text, known)
	if err != nil {
		return Shape{}, err
	}
	var hosts []string
	if host != "" {
		hosts = strings.Fields(host)
	}
	return Shaped(Request{Requirement: r, Slots: slots, Hosts: hosts}, site, known)
}

func TestShaped(t *testing.T) {
	for _, c := range []struct {
		text     string
		slots    int
		host     string
		sel      string
		place    string
		wide     string
		layout   string
		describe string // "" where it is text
	}{
		{text: "span[ptile=4]", slots: 6, sel: "1:ncpus=4+1:ncpus=2", place: "scatter"}, // RSV-58
		{text: "span[hosts=1]", slots: 4, sel: "1:ncpus=4", place: "pack"},
		{text: "", slots: 3, sel: "3:ncpus=1", place: "free"},
		{text: "span[ptile=2]", slots: 6, sel: "3:ncpus=2", place: "scatter"},
		{text: "span[ptile=8]", slots: 3, sel: "1:ncpus=3", place: "scatter", describe: "span[ptile=3]"},
		{text: "span[hosts=-1]", slots: 2, sel: "2:ncpus=1", place: "free", describe: "-"},
		{text: "type==any", slots: 1, sel: "1:ncpus=1", place: "free", describe: "-"},
		{text: "rusage[mem=100]", slots: 1, sel: "1:ncpus=1:mem=100mb", place: "free"},
		{text: "rusage[mem=0.5]", slots: 1, sel: "1:ncpus=1:mem=512kb", place: "free"},
		{text: "rusage[mem=1G] span[hosts=1]", slots: 2, sel: "1:ncpus=2:mem=1024mb", place: "pack", describe: "rusage[mem=1024] span[hosts=1]"},
		{text: "rusage[mem=50] span[ptile=2]", slots: 5, sel: "2:ncpus=2:mem=50mb+1:ncpus=1:mem=50mb", place: "scatter"},
		{text: "rusage[lic=2]", slots: 4, sel: "4:ncpus=1", place: "free", wide: "lic=2", describe: "-"},
		{text: "rusage[disk=3:share=1.5]", slots: 1, sel: "1:ncpus=1:disk=3:share=1.5", place: "free"},
		{text: "rusage[tmp=30:duration=30:decay=1]", slots: 1, sel: "1:ncpus=1:tmp=30mb", place: "free", describe: "rusage[tmp=30]"},
		{text: "rusage[mem=0]", slots: 4, sel: "4:ncpus=1", place: "free", describe: "-"},
		{text: "select[bigmem && color==red]", slots: 1, sel: "1:ncpus=1:bigmem=True:color=red", place: "free"},
		{text: "select[!bigmem && type==linux && hname==h1]", slots: 1, sel: "1:ncpus=1:bigmem=False:arch=linux:host=h1", place: "free"},
		{text: "same[color]", slots: 2, sel: "2:ncpus=1", place: "free:group=color"},
		{text: "select[bigmem]", slots: 2, host: "h2", sel: "2:ncpus=1:host=h2:bigmem=True", place: "free", describe: "select[hname==h2 && bigmem]"},
		{text: "rusage[mem=60:lic=1]", slots: 2, host: "h2", sel: "1:ncpus=2:mem=60mb:host=h2", place: "free", wide: "lic=1", describe: "select[hname==h2] rusage[mem=60] span[hosts=1]"},
		{text: "2*{rusage[mem=10] span[hosts=1]}+4*{select[bigmem]}", slots: 1, sel: "1:ncpus=2:mem=10mb+4:ncpus=1:bigmem=True", place: "free", describe: "2*{rusage[mem=10]}+4*{select[bigmem]}"},
		{text: "2*{span[ptile=1]}+4*{span[ptile=2]}", slots: 6, sel: "2:ncpus=1+2:ncpus=2", place: "free", layout: "1:scatter 2:scatter", describe: "2*{}+4*{}"},
		{text: "2*{rusage[mem=10]}+4*{span[ptile=2]}", slots: 1, sel: "2:ncpus=1:mem=10mb+2:ncpus=2", place: "free", layout: "1:once=mem 2:scatter", describe: "2*{rusage[mem=10]}+4*{}"}, // RSV-01
		{text: "1*{}+3*{span[ptile=2]}", slots: 1, sel: "1:ncpus=1+1:ncpus=2+1:ncpus=1", place: "free", layout: "1 2:scatter 2:scatter", describe: "1*{}+2*{}+1*{}"},
		{text: "rusage[mem=10:disk=2]", slots: 3, sel: "3:ncpus=1:mem=10mb:disk=2", place: "free", layout: "1:once=mem:job=disk", describe: "rusage[mem=10:disk=2]"},
		{text: "span[ptile=2] rusage[mem=10:disk=2]", slots: 3, sel: "1:ncpus=2:mem=10mb:disk=2+1:ncpus=1:mem=10mb:disk=2", place: "scatter", layout: "1:job=disk 1:job=disk", describe: "rusage[mem=10:disk=2] span[ptile=2]"},
		{text: "1*{rusage[disk=2]}+2*{rusage[disk=1]}", slots: 3, sel: "1:ncpus=1:disk=2+2:ncpus=1:disk=1", place: "free", layout: "1 2:job=disk"},
		{text: "same[model]", slots: 2, sel: "2:ncpus=1", place: "free", describe: "-"},
		{text: "same[color:type]", slots: 2, sel: "2:ncpus=1", place: "free:group=color", layout: "1 same=arch", describe: "same[color]"},
		{text: "span[ptile='!'] rusage[mem=5]", slots: 5, sel: "5:ncpus=1:mem=5mb", place: "free", layout: "1:once=mem:ptile=!", describe: "rusage[mem=5]"},
		{text: "2*{span[ptile='!',linux:2,decx:7] same[color]}+3*{}", slots: 5, sel: "2:ncpus=1+3:ncpus=1", place: "free", layout: "1:same=color:ptile=!,linux=2,decx=7 2", describe: "2*{}+3*{}"},
		{text: "1*{rusage[lic=1]}+2*{rusage[lic=2]}", slots: 3, sel: "1:ncpus=1+2:ncpus=1", place: "free", wide: "lic=3", describe: "1*{}+2*{}"},
		{text: "2*{same[color]}+3*{span[ptile=1] same[type:color:model]}", slots: 5, sel: "2:ncpus=1+3:ncpus=1", place: "free", layout: "1:same=color 2:scatter:same=arch,color", describe: "2*{}+3*{}"},
		{text: "same[model:color]", slots: 2, sel: "2:ncpus=1", place: "free:group=color", describe: "same[color]"},
	} {
		s, err := shaped(c.text, c.slots, c.host)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		wide := ""
		for _, item := range s.Wide {
			wide += item.Name + "=" + item.Value
		}
		if s.Select.String() != c.sel || s.Place.String() != c.place || wide != c.wide {
			t.Errorf("%s: %s, %s, %q, want %s, %s, %q", c.text, s.Select, s.Place, wide, c.sel, c.place, c.wide)
		}
		layout := ""
		if s.Layout.Given() {
			layout = s.Layout.String()
		}
		if layout != c.layout || !reflect.DeepEqual(ReadLayout(s.Layout.String()), s.Layout) {
			t.Errorf("%s: layout %q, want %q; it is read as %+v", c.text, layout, c.layout, ReadLayout(s.Layout.String()))
		}
		want := c.describe
		switch want {
		case "":
			want = c.text
		case "-":
			want = ""
		}
		if got := Described(c.sel, c.place); got != want {
			t.Errorf("%s %s is %q, want %q", c.sel, c.place, got, want)
		}
		if _, err := spec.ParseSelect(s.Select.String()); err != nil {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

// RSV-21 to RSV-23: the method says what an amount is asked for.
func TestShaped_Methods(t *testing.T) {
	known := SiteOf(site)
	for _, c := range []struct {
		text    string
		slots   int
		row     rusage.Method
		perSlot bool
		sel     string
		wide    string
	}{
		{"span[ptile=2] rusage[lic=1:mem=50]", 4, rusage.PerJob, false, "2:ncpus=2:mem=50mb", "1"},
		{"span[ptile=2] rusage[lic=1:mem=50]", 4, rusage.PerHost, false, "2:ncpus=2:mem=50mb", "2"},
		{"span[ptile=2] rusage[lic=1:mem=50]", 4, rusage.PerSlot, false, "2:ncpus=2:mem=50mb", "4"},
		{"span[ptile=2] rusage[lic=1:mem=50]", 4, rusage.PerHost, true, "2:ncpus=2:mem=100mb", "2"},
		{"span[ptile=2] rusage[lic=1:mem=50]", 3, rusage.PerHost, true, "1:ncpus=2:mem=100mb+1:ncpus=1:mem=50mb", "2"},
		{"span[hosts=1] rusage[lic=1]", 4, rusage.PerHost, false, "1:ncpus=4", "1"},
		{"rusage[lic=1:mem=50]", 4, rusage.PerSlot, true, "4:ncpus=1:mem=50mb", "4"},
		{"rusage[lic=1]", 4, rusage.PerHost, false, "", ""},
	} {
		r, err := resreq.Parse(c.text, known)
		if err != nil {
			t.Fatal(err)
		}
		m := rusage.Methods{Rows: map[string]rusage.Method{"lic": c.row}, PerSlot: c.perSlot}
		s, err := Shaped(Request{Requirement: r, Slots: c.slots, Methods: m}, site, known)
		wide, _ := s.Wide.Get("lic")
		if err != nil != (c.sel == "") || err == nil && (s.Select.String() != c.sel || wide != c.wide) {
			t.Errorf("%s by %s: %s, lic %s, %v", c.text, c.row, s.Select, wide, err)
		}
	}
}

// RSV-01: a job that may have one compute unit has all of its chunks on hosts with one value of the resource that units of the type are.
func TestShaped_Units(t *testing.T) {
	defs := append(slices.Clone(site), resource.Def{Name: "rack", Type: resource.String, Flags: resource.AtHost})
	known := SiteOf(defs)
	known.UnitTypes = []string{"rack", "row"}
	for text, want := range map[string]string{
		"cu[type=rack:maxcus=1]":               "free:group=rack",
		"cu[maxcus=1:pref=maxavail]":           "free:group=rack",
		"cu[type=rack]":                        "free cus=rack",
		"same[rack] cu[type=rack:maxcus=1]":    "free:group=rack",
		"span[hosts=1] cu[type=rack:maxcus=1]": "pack:group=rack",
		"cu[type=rack:maxcus=1:excl]":          "free:exclhost:group=rack unit",
		"cu[type=rack:excl]":                   "free:exclhost unit cus=rack",
		"cu[type=rack:maxcus=2]":               "free cus=rack:max=2",
		"cu[balance]":                          "free cus=rack:balance",
		"cu[usablecuslots=3:maxcus=4]":         "free cus=rack:max=4:usable=3",
		"cu[maxcus=1:balance]":                 "free:group=rack",
		"cu[balance:usablecuslots=3]":          "free cus=rack:usable=3:balance",
		"same[color] cu[maxcus=2]":             "free:group=color cus=rack:max=2",
		"cu[maxcus=2:excl]":                    "free:exclhost unit cus=rack:max=2",
		"cu[type=row]":                         "no host has a resource row",
		"same[color] cu[type=rack:maxcus=1]":   "free:group=rack same=color",
		"same[color] cu[maxcus=1:excl]":        "free:exclhost:group=rack unit same=color",
		"same[color:type] cu[excl]":            "free:exclhost:group=color unit cus=rack same=arch",
		"same[rack:color] cu[maxcus=1]":        "free:group=rack same=color",
		"same[rack] cu[maxcus=1:excl]":         "free:exclhost:group=rack unit",
	} {
		r, err := resreq.Parse(text, known)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Shaped(Request{Requirement: r, Slots: 2}, defs, known)
		got := s.Place.String()
		if s.Layout.Unit {
			got += " unit"
		}
		if u := s.Layout.Units; u.Type != "" {
			got += " " + u.String()
		}
		if len(s.Layout.Same) > 0 {
			got += " same=" + strings.Join(s.Layout.Same, ",")
		}
		if read := ReadLayout(s.Layout.String()); err == nil && !reflect.DeepEqual(read, s.Layout) {
			t.Errorf("%s: %q is read as %+v", text, s.Layout, read)
		}
		if err == nil && got != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
	}
}

// RSV-20: what raises an index is asked for of each host, and fits in any amount.
func TestShaped_Raises(t *testing.T) {
	s, err := shaped("rusage[r1m=0.5:ut=10]", 1, "")
	if err != nil || s.Select.String() != "1:ncpus=1:r1m=0.5:ut=10" {
		t.Errorf("%s, %v", s.Select, err)
	}
	if short := resource.Fits(s.Select.Chunks[0].Items, resource.List{{Name: "ncpus", Value: "1"}}, nil, site); short != nil {
		t.Errorf("%v", short)
	}
}

// What the job model does not hold is refused, and never passed over.
func TestShaped_Refusals(t *testing.T) {
	for _, c := range []struct {
		text  string
		slots int
		want  string
	}{
		{"select[model==x]", 1, "select[] by model is not supported yet"},
		{"select[color==red && color==blue]", 1, "select[] names two values of color, red and blue"},
		{"rusage[r1m=100000001]", 1, "rusage[r1m=100000001] is not supported: all slots of the job may raise the index by 100000000 together"},
		{"rusage[r1m=60000000]", 2, "rusage[r1m=60000000] is not supported"},
		{"1*{rusage[r1m=60000000]}+1*{rusage[r1m=50000000]}", 2, "rusage[r1m=50000000] is not supported"},
		{"rusage[it=10]", 1, "rusage[it=...] is not supported: for how long nobody has typed is nothing that a job can hold; select[it>10] asks for it"},
		{"1*{rusage[idle=2]}+1*{}", 2, "rusage[it=...] is not supported: for how long"},
		{"rusage[disk=1.5]", 1, "rusage[disk=1.5] is not supported: the resource is of type long"},
		{"same[color:lic]", 2, "same[lic] is not supported: it is no resource of hosts"},
		{"same[lic]", 2, "same[lic] is not supported: it is no resource of hosts"},
		{"2*{span[ptile=1]}+4*{span[ptile=2]}", 7, "the terms of the requirement are for 6 slots, and the job has 7"},
		{"", MaxSlots + 1, "Too many processors requested"},
		{"rusage[hidden=1]", 1, "Bad resource requirement syntax"},
	} {
		_, err := shaped(c.text, c.slots, "")
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
		var r *pbs.Error
		if errors.As(err, &r) && r.Code != pbs.NotSupported {
			t.Errorf("%s: code %d", c.text, r.Code)
		}
	}
}

func FuzzDescribed(f *testing.F) {
	f.Add("2:ncpus=1:mem=5gb+1:host=a", "scatter:excl")
	f.Add("ncpus=0", "pack")
	f.Fuzz(func(t *testing.T, sel, place string) {
		text := Described(sel, place)
		if _, err := spec.ParseSelect(sel); err != nil && text != "" {
			t.Errorf("%q is %q", sel, text)
		}
	})
}

func TestStateOf(t *testing.T) {
	for _, c := range []struct{ letter, holds, substate, exit, want string }{
		{"Q", "n", "10", "", "PEND"},
		{"W", "n", "30", "", "PEND"},
		{"H", "s", "22", "", "PEND"},
		{"H", "u", "20", "", "PSUSP"},
		{"H", "so", "20", "", "PSUSP"},
		{"R", "n", "42", "", "RUN"},
		{"E", "n", "53", "", "RUN"},
		{"S", "n", "43", "", "USUSP"},
		{"S", "n", "45", "", "SSUSP"},
		{"U", "n", "45", "", "SSUSP"},
		{"F", "n", "92", "0", "DONE"},
		{"F", "n", "92", "1", "EXIT"},
		{"F", "n", "91", "", "EXIT"},
		{"X", "n", "93", "0", "DONE"},
		{"X", "n", "93", "271", "EXIT"},
		{"M", "n", "92", "", "UNKWN"},
		{"", "", "", "", "UNKWN"},
		{"?", "", "", "", "UNKWN"},
	} {
		if got := StateOf(c.letter, c.holds, c.substate, c.exit); got != c.want {
			t.Errorf("%v is %s", c, got)
		}
	}
	// A listing by letters has all jobs of a state.
	for _, c := range []struct {
		states []string
		want   string
	}{
		{[]string{Pending}, "QWTH"},
		{[]string{HeldPending}, "H"},
		{[]string{Running}, "BRE"},
		{[]string{Done}, "FX"},
		{[]string{Exited}, "FX"},
		{[]string{SysSuspended}, "SU"},
		{[]string{Pending, HeldPending, Running}, "QWTHBRE"},
	} {
		if got := Letters(c.states...); got != c.want {
			t.Errorf("%q: %s, want %s", c.states, got, c.want)
		}
	}
}

func TestReasonOf(t *testing.T) {
	for comment, want := range map[string]string{
		"": "New job is waiting for scheduling;",
		"Not Running: Insufficient amount of resource: ncpus (R: 4 A: 0 T: 8)":      "Job slot limit reached;",
		"Not Running: Insufficient amount of resource: ncpus (R: 4 A: 2 T: 8)":      "Not enough job slot(s);",
		"Can Never Run: Insufficient amount of resource: ncpus (R: 9 A: 8 T: 8)":    "Not enough job slot(s);",
		"Not Running: Insufficient amount of resource: mem (R: 4gb A: 0kb T: 8gb)":  "Job requirements for reserving resource (mem) not satisfied;",
		"Not Running: Insufficient amount of server resource: lic (R: 1 A: 0 T: 1)": "Job requirements for reserving resource (lic) not satisfied;",
		"Can Never Run: Insufficient amount of resource: color (blue != red)":       "Job's resource requirements not satisfied;",
		"Not Running: Insufficient amount of server resource: color (blue != )":     "Job's resource requirements not satisfied;",
		"Can Never Run: Insufficient amount of resource: color":                     "Job's resource requirements not satisfied;",
		"Not Running: Queue not started.":                                           "The queue is inactivated by the administrator;",
		"Not Running: Placement set x=1 has too few free resources":                 "Not enough hosts to meet the job's spanning requirement;",
		"Not Running: would exceed per-user limit on resource ncpus in queue q":     "User has reached the per-user job slot limit of the queue;",
		"Not Running: PBS Error: no":                                                "PBS Error: no;",
		"whatever a hook says;":                                                     "whatever a hook says;",
	} {
		if got := ReasonOf(comment); got != want {
			t.Errorf("%q is %q, want %q", comment, got, want)
		}
	}
	for _, w := range Reasons {
		if got := ReasonOf("Not Running: " + strings.ReplaceAll(w.Pattern, "*", "x")); !strings.HasSuffix(got, ";") {
			t.Errorf("%q is %q", w.Pattern, got)
		}
	}
}

// What chunks cannot say of hosts is left for them to be asked; each alternative has chunks of its own.
func TestShapes(t *testing.T) {
	known := SiteOf(site)
	for _, c := range []struct {
		text, sel, where, alternatives string
		hosts                          []string
		order, layout                  string
	}{
		{text: "type==any", sel: "1:ncpus=1", where: "hname==h1 || hname==h-2.site", hosts: []string{"h1", "h-2.site"}},
		{text: "select[mem>100]", sel: "1:ncpus=1", where: "(mem>100) && (hname==h1 || hname==h2)", hosts: []string{"h1", "h2"}},
		{text: "select[mem>100]", sel: "1:ncpus=1", where: "mem>100", alternatives: ""},
		{text: "select[bigmem && mem>100 && (color==red && tmp>5)]", sel: "1:ncpus=1:bigmem=True:color=red", where: "(mem>100) && (tmp>5)", alternatives: ""},
		{text: "select[bigmem || color==red]", sel: "1:ncpus=1", where: "bigmem || color==red", alternatives: ""},
		{text: "select[color!=red]", sel: "1:ncpus=1", where: "color!=red", alternatives: ""},
		{text: "rusage[mem=20||mem=10:swp=20]", sel: "1:ncpus=1:mem=20mb", where: "", alternatives: "1:ncpus=1:mem=20mb || 1:ncpus=1:mem=10mb:swp=20mb"},
		{text: "1*{select[mem>5]}+2*{select[bigmem]}", sel: "1:ncpus=1+2:ncpus=1:bigmem=True", where: "1*{select[mem>5]}+2*{}", layout: "1 2"},
		{text: "1*{order[mem:-r1m]}+2*{rusage[mem=5]}", sel: "1:ncpus=1+2:ncpus=1:mem=5mb", order: "1*{order[mem:-r1m]}+2*{}", layout: "1 2:once=mem"},
		{text: "order[mem]", sel: "1:ncpus=1", order: "mem"},
		{text: "rusage[lic=1||mem=10]", sel: "1:ncpus=1", where: "", alternatives: "1:ncpus=1 lic=1 || 1:ncpus=1:mem=10mb"},
	} {
		r, err := resreq.Parse(c.text, known)
		if err != nil {
			t.Fatal(err)
		}
		all, err := Shapes(Request{Requirement: r, Slots: 1, Hosts: c.hosts}, site, known)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		where := all[0].WhereText()
		wheres, ok := ReadWhere(where, known)
		if orders, read := ReadOrder(all[0].OrderText(), known); !read || !ok || len(wheres) != len(all[0].Where.Terms) || len(orders) != len(all[0].Order.Terms) {
			t.Errorf("%s: %q, %q are read as %v, %v", c.text, where, all[0].OrderText(), wheres, orders)
		}
		if all[0].OrderText() != c.order || all[0].LayoutText() != c.layout && c.layout != "" {
			t.Errorf("%s: order %q, layout %q", c.text, all[0].OrderText(), all[0].LayoutText())
		}
		text := PrintAlternatives(all)
		if all[0].Select.String() != c.sel || where != c.where || text != c.alternatives {
			t.Errorf("%s: %s, %q, %q", c.text, all[0].Select, where, text)
		}
		if read := ReadAlternatives(text); len(read) != len(all) && len(all) > 1 {
			t.Errorf("%q is read as %v", text, read)
		}
	}
	have := resource.List{{Name: "lic", Value: "1"}, {Name: "select", Value: "1:ncpus=1"}, {Name: "walltime", Value: "60"}}
	next := Instead(have, ReadAlternatives("1:ncpus=1 lic=1 || 1:ncpus=1:mem=10mb"), 1)
	if _, still := next.Get("lic"); still || len(next) != 2 {
		t.Errorf("the other alternative has %v", next)
	}
}
