package lsf

import (
	"fmt"
	"slices"
	"testing"

	"rampart/fsm/resreq"
)

// The groups of ResourceMap (specification: reservation section 8.6).
func TestPlaced(t *testing.T) {
	eight, two := int64(8), int64(2)
	numeric := func(name string) Resource { return Resource{Name: name, Kind: resreq.Numeric, Consumable: true} }
	c := &Config{
		Resources: []Resource{numeric("wide"), numeric("group"), numeric("each"), numeric("some"), {Name: "load", Kind: resreq.Numeric, Interval: 60}, {Name: "big", Kind: resreq.Boolean}, {Name: "rack", Kind: resreq.Text}},
		Instances: []Instance{
			{"wide", "10", []string{"all"}},
			{"group", "2", []string{"a", "b"}},
			{"group", "4", []string{"others"}},
			{"each", "1", []string{"default"}},
			{"some", "7", []string{"all", "~b"}},
			{"load", "", []string{"default"}},
			{"rack", "r1", []string{"a"}},
		},
		Hosts: []Host{{Name: "a", Slots: &eight, Has: []string{"big"}, Listed: true}, {Name: "d", Has: []string{"big"}}, {Name: DefaultHost, Slots: &two, Listed: true}},
	}
	hosts := []string{"a", "b", "c", "d"}
	p := c.Placed(hosts)
	for host, want := range map[string][]string{
		"a": {"ncpus=8", "big=True", "group=2", "each=1", "some=7", "rack=r1"},
		"b": {"ncpus=2", "group=2@a", "each=1"},
		"c": {"ncpus=2", "group=4", "each=1", "some=7@a"},
		"d": {"ncpus=2", "big=True", "group=4@c", "each=1", "some=7@a"},
	} {
		var got []string
		for _, v := range p.Of(host) {
			text := fmt.Sprintf("%s=%s", v.Resource, v.Text)
			if v.From != "" {
				text += "@" + v.From
			}
			got = append(got, text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
	for at, host := range hosts {
		looked := 0
		p := c.PlacedOn(host, func(yield func(string) bool) {
			for _, h := range hosts {
				if looked++; !yield(h) {
					return
				}
			}
		})
		if one, all := p.Of(host), c.Placed(hosts).Of(host); !slices.Equal(one, all) || looked > at+1 {
			t.Errorf("%s alone: %v, want %v; %d hosts were looked at", host, one, all, looked)
		}
	}
	if !c.Wide("wide") || c.Wide("group") || c.Wide("some") {
		t.Error("one instance for all hosts is the cluster's, and nothing else")
	}
}
