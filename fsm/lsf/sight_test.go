package lsf

import (
	"testing"

	"rampart/fsm/resource"
	"rampart/fsm/resreq"
)

// A seen host has what tests say of it.
type seen struct {
	resource.Table
	row    Host
	offers map[string]string
	left   map[string][2]int64
	told   map[string]float64
	agent  bool
}

func (seen) Word() string   { return "hosta" }
func (s seen) Row() Host    { return s.row }
func (seen) Status() string { return StatusBusy }
func (s seen) Offer(def resource.Def) (string, bool) {
	v, ok := s.offers[def.Name]
	return v, ok
}

func (s seen) Left(def resource.Def) (left, total int64, has bool) {
	v, ok := s.left[def.Name]
	return v[0], v[1], ok
}

func (s seen) Told(index string) (float64, bool) {
	v, ok := s.told[index]
	return v, ok
}
func (s seen) ByAgent() bool { return s.agent }

// Specification: reservation sections 1.3 and 1.4: what selections and thresholds see of a host is what is available there.
func TestValueOf(t *testing.T) {
	table := append(table(nil),
		resource.Def{Name: "lic", Type: resource.Float, Flags: resource.PerVnode | resource.AtHost},
		resource.Def{Name: "maximal", Type: resource.Long, Flags: resource.PerVnode | resource.AtHost},
		resource.Def{Name: "shared", Type: resource.Long, Flags: resource.PerQueue},
		resource.Def{Name: "fast", Type: resource.Boolean, Flags: resource.AtHost},
		resource.Def{Name: "colour", Type: resource.String, Flags: resource.AtHost},
		resource.Def{Name: "speed", Type: resource.Long, Flags: resource.AtHost},
	)
	h := seen{
		Table:  table,
		row:    Host{Model: "Intel", Factor: 2500},
		offers: map[string]string{"arch": "linux", "fast": "True", "colour": "red"},
		left:   map[string][2]int64{"ncpus": {3, 8}, "mem": {512000, 1024000}, "lic": {1500000, 4000000}, "maximal": {2, 9}, "shared": {5, 7}},
		told:   map[string]float64{"r1m": 1.5, "mem": 300, "maxmem": 2000, "tmp": 70, "maxtmp": 90, "swp": 20, "ndisks": 2, "speed": 4, "lic": 99},
	}
	for _, c := range []struct {
		name string
		want resreq.Value
		not  bool
	}{
		{name: "hname", want: resreq.Value{Text: "hosta"}},
		{name: "status", want: resreq.Value{Text: "busy"}},
		{name: "model", want: resreq.Value{Text: "Intel"}},
		{name: "type", want: resreq.Value{Text: "linux"}},
		{name: "cpuf", want: resreq.Value{Number: 2.5}},
		{name: "ncpus", want: resreq.Value{Number: 8}},
		{name: "mem", want: resreq.Value{Number: 500}},
		{name: "maxmem", want: resreq.Value{Number: 1000}},
		{name: "tmp", want: resreq.Value{Number: 90}}, // load_source=config, and no other capacity
		{name: "maxtmp", want: resreq.Value{Number: 90}},
		{name: "swp", want: resreq.Value{Number: 20}},
		{name: "maxswp", not: true},
		{name: "r1m", want: resreq.Value{Number: 1.5}},
		{name: "r15s", not: true},
		{name: "ndisks", want: resreq.Value{Number: 2}},
		{name: "lic", want: resreq.Value{Number: 1.5}},
		{name: "maximal", want: resreq.Value{Number: 2}},
		{name: "shared", want: resreq.Value{Number: 5}},
		{name: "fast", want: resreq.Value{Number: 1}},
		{name: "colour", want: resreq.Value{Text: "red"}},
		{name: "speed", want: resreq.Value{Number: 4}},
	} {
		if got, has := ValueOf(h, c.name); has == c.not || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", c.name, got, has, c.want)
		}
	}
	h.agent, h.row = true, Host{Type: "LINUX86"}
	for name, want := range map[string]resreq.Value{"tmp": {Number: 70}, "type": {Text: "LINUX86"}, "cpuf": {Number: 1}} {
		if got, has := ValueOf(h, name); !has || got != want {
			t.Errorf("by its agent %s: %+v, %v, want %+v", name, got, has, want)
		}
	}
	if _, has := ValueOf(h, "model"); has {
		t.Error("a host without a model has one")
	}
}

// A threshold compares what is available; of what a host does not have it keeps jobs away as long as the host may still tell of it.
func TestThreshold_Keeps(t *testing.T) {
	table := append(table(nil), resource.Def{Name: "lic", Type: resource.Long, Flags: resource.PerVnode | resource.AtHost})
	site := SiteOf([]resource.Def{{Name: "lic", Type: resource.Long, Flags: resource.PerVnode | resource.AtHost}})
	h := seen{Table: table, left: map[string][2]int64{"lic": {2, 9}, "mem": {102400, 102400}}, told: map[string]float64{"ut": 91}}
	for text, want := range map[string]bool{"lic=3": true, "lic=2": false, "mem=100": false, "mem=101": true, "ut=90": true, "ut=91": false, "r1m=1": false} {
		all, err := ParseThresholds(text, site)
		if err != nil {
			t.Fatal(err)
		}
		if all[0].Keeps(h, site, false) != want {
			t.Errorf("%s: %v", text, !want)
		}
		if wary := all[0].Keeps(h, site, true); wary != (want || text == "r1m=1") {
			t.Errorf("%s, warily: %v", text, wary)
		}
	}
}
