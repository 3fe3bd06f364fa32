package lsf

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"rampart/fsm/resource"
	"rampart/fsm/resreq"
)

// Section 7 of docs/spec/reservation.md: whom a rule counts together, and how many slots it allows on which host (RSV-52, RSV-53).
func TestSlotRules(t *testing.T) {
	n := func(n int64) *int64 { return &n }
	half := Thousandths(500)
	c := &Config{
		Hosts: []Host{{Name: "hosta", Listed: true, UserSlots: n(1)}, {Name: "hostb", Listed: true}, {Name: DefaultHost, Listed: true, UserSlots: n(3)}},
		Limits: []Limit{
			{Name: "wide", Slots: n(100)},
			{Name: "sum", Users: Consumers{Names: []string{"u1", "staff"}}, Hosts: Consumers{Names: []string{"hosta", "hostb"}}, Slots: n(8)},
			{Name: "each", Users: Consumers{Names: []string{AllHosts, "~u9"}, Each: true}, Projects: Consumers{Names: []string{"p"}, Each: true}, Slots: n(0)},
			{Name: "cpus", Hosts: Consumers{Names: []string{"hosta"}}, PerCPU: &half},
			{Name: "memory", Quantities: []Quantity{{Resource: "mem", Amount: 2048 * resreq.One}}},
		},
	}
	rules := c.SlotRules([]QueueSlots{{Name: "q", PerCPU: "1.5", PerHost: "0", InAll: "4", PerUser: "2"}, {Name: "none"}})
	told := func(o SlotOwner, host string) string {
		var all []string
		for _, r := range rules {
			whom, bounded := r.Whom(o)
			most, here := r.Most(host, 4)
			if bounded && here && r.Resource == "" {
				all = append(all, fmt.Sprintf("%s %d %s%s%s %t/%t", strings.Fields(r.Reason)[0], most, whom.User, whom.Queue, whom.Project, r.EachHost, r.Wide()))
			}
		}
		return strings.Join(all, ", ")
	}
	for _, x := range []struct {
		owner SlotOwner
		host  string
		want  string
	}{
		{SlotOwner{User: "u1", Queue: "q"}, "hosta", "Host's 1 u1 true/false, Queue's 6  true/false, Queue's 0  true/false, The 4  false/true, User 2 u1 false/true, Resource 100  false/true, Resource 8  false/false, Resource 2  true/false"},
		{SlotOwner{User: "u2", Group: "staff", Queue: "r", Project: "p"}, "hostb", "Resource 100  false/true, Resource 8  false/false, Resource 0 u2p false/true"},
		{SlotOwner{User: "u9", Queue: "r", Project: "p"}, "hostc", "Host's 3 u9 true/false, Resource 100  false/true"},
	} {
		if got := told(x.owner, x.host); got != x.want {
			t.Errorf("%+v on %s:\n%s, want\n%s", x.owner, x.host, got, x.want)
		}
	}
	if !c.LimitsSlots() || !(&Config{Limits: c.Limits[4:]}).LimitsSlots() || (&Config{Hosts: c.Hosts[1:2]}).LimitsSlots() {
		t.Error("LimitsSlots")
	}
	last := rules[len(rules)-1]
	mem, _ := resource.Lookup("mem")
	if last.Resource != "mem" || last.Reason != "Resource (mem) limit defined cluster-wide has been reached;" || last.Amount(mem)[0].Value != "2048kb" {
		t.Errorf("%+v", last)
	}
	for text, want := range map[string]resource.Def{"3": {Name: "lic", Type: resource.Long}, "3.5": {Name: "lic", Type: resource.Float}} {
		if got := (&SlotRule{amount: 3500}).Amount(want); got[0].Value != text {
			t.Errorf("%s: %v", text, got)
		}
	}
	if got := Thousandths(1500).Times(3); got != 5 {
		t.Errorf("1.5 for each of 3 cpus is %d, want 5: it is rounded up", got)
	}
}

// A limit may name host groups and compute units, and who is excluded is so also from a group that is named.
func TestSlotRules_Groups(t *testing.T) {
	n := int64(1)
	c := &Config{
		HostGroups: []HostGroup{{Name: "fast", Members: []string{"h1", "h2"}}, {Name: "most", Members: []string{AllHosts, "~fast"}}, {Name: "gone", Members: []string{"~h1"}}},
		Units:      []Unit{{Name: "rack1", Type: "rack", Members: []string{"h3"}}},
	}
	for words, want := range map[string]string{
		"fast": "h1 h2", "fast ~h2": "h1", "h4 rack1": "h3 h4", "most": "h3 h4", "all ~fast": "h3 h4", "gone": "", "h1 ~h1": "", "h4": "h4",
	} {
		c.Limits = []Limit{{Hosts: Consumers{Names: strings.Fields(words)}, Slots: &n}}
		rule := c.SlotRules(nil)[0]
		var on []string
		for _, h := range []string{"h1", "h2", "h3", "h4"} {
			if _, bounded := rule.Most(h, 4); bounded {
				on = append(on, h)
			}
		}
		if got := strings.Join(on, " "); got != want || rule.Wide() {
			t.Errorf("%s bounds %q, want %q", words, got, want)
		}
	}
	if (Consumers{Names: []string{"staff", "~u1"}}).Counts("u1", "staff") {
		t.Error("u1 counts, who is excluded from his group")
	}
}

// What the scheduler says of hosts the commands find again.
func TestLimitAt(t *testing.T) {
	many := make([]string, 20)
	for i := range many {
		many[i] = fmt.Sprint("n", i)
	}
	text := AtHosts(ReasonHostUser, many)
	if !strings.HasPrefix(text, "Host's per-user job slot limit reached: n0, n1, ") || !strings.HasSuffix(text, ", n15 and 4 more") {
		t.Error(text)
	}
	reason, hosts, ok := LimitAt(text)
	if !ok || reason != ReasonHostUser || !slices.Equal(hosts, many[:16]) {
		t.Errorf("%q, %v, %t", reason, hosts, ok)
	}
	if reason, _, ok := LimitAt("Not enough free nodes available"); ok {
		t.Errorf("%q", reason)
	}
}
