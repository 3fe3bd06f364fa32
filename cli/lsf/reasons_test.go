package lsf

import (
	"bufio"
	"slices"
	"strings"
	"testing"

	"rampart/fsm/lsf"
	"rampart/fsm/resource"
	"rampart/fsm/resreq"
	"rampart/transport/api"
)

// object makes an object of attributes written NAME[.RESOURCE]=VALUE.
func object(name, attributes string) *api.Object {
	o := &api.Object{Name: name}
	for word := range strings.FieldsSeq(attributes) {
		key, value, _ := strings.Cut(word, "=")
		of, resource, _ := strings.Cut(key, ".")
		o.Attributes = append(o.Attributes, &api.Attribute{Name: of, Resource: resource, Value: strings.ReplaceAll(value, "_", " ")})
	}
	return o
}

// Each host gives one reason at most, equal ones are told together, and what is kept for the job counts as free for it
// (specification: reservation section 9.2).
func TestHostReasons(t *testing.T) {
	full := "resources_available.ncpus=4 resources_available.mem=1000mb state=free resources_assigned.ncpus="
	for _, c := range []struct {
		name, job string
		hosts     []string
		want      []string
	}{
		{
			"RSV-27", "Resource_List.select=1:ncpus=1:mem=150mb",
			[]string{full + "2 resources_assigned.mem=800mb resources_reserved.mem=200mb"},
			[]string{"Job requirements for reserving resource (mem) not satisfied: a;"},
		},
		{"RSV-29", "Resource_List.select=1:ncpus=1:mem=400mb", []string{full + "4"}, []string{"Job slot limit reached: a;"}},
		{
			"RSV-31", "Resource_List.select=1:ncpus=2:mem=60mb:host=a Resource_List.place=free Resource_List.ncpus=2 lsf_reserved=(a:ncpus=1)",
			[]string{full + "3 resources_reserved.ncpus=1"},
			[]string{"Not enough job slot(s): a;"},
		},
		{
			"RSV-41", "Resource_List.select=3:ncpus=2 Resource_List.place=scatter Resource_List.ncpus=6 lsf_reserved=(c:ncpus=2)",
			[]string{full + "4", full + "4", full + "2 resources_reserved.ncpus=2"},
			[]string{"Not enough hosts to meet the job's spanning requirement;", "Job slot limit reached: a, b;"},
		},
		{
			"one host", "Resource_List.select=1:ncpus=4 Resource_List.place=pack Resource_List.ncpus=4",
			[]string{full + "2", full + "1"},
			[]string{"Not enough processors to meet the job's spanning requirement: a, b;"},
		},
		{"a host that was named", "Resource_List.select=1:ncpus=1:host=a", []string{full + "4", full + "0"}, []string{"Job slot limit reached: a;"}},
		{
			"of a kind", "Resource_List.select=1:ncpus=1:arch=linux",
			[]string{full + "0 resources_available.arch=bsd"},
			[]string{"Job's resource requirements not satisfied: a;"},
		},
		{"closed", "Resource_List.select=1:ncpus=1", []string{"state=offline"}, []string{"Closed by LSF administrator: a;"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := &jobsView{long: true, site: &siteView{reasons: map[string][]string{}}}
			for i, h := range c.hosts {
				name := string(rune('a' + i))
				v.site.hosts = append(v.site.hosts, offer{object(name, h+" resources_available.host="+name), 4})
			}
			j := newJob(object("7.srv", "job_state=Q comment=Not_Running:_Insufficient_amount_of_resource:_ncpus "+c.job))
			if got := v.hostReasons(j); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			if again := v.hostReasons(j); !slices.Equal(again, c.want) {
				t.Errorf("of another job that asks for the same: %q, want %q", again, c.want)
			}
			v.long, v.site.reasons = false, map[string][]string{} // another command
			if got := v.hostReasons(j); len(got) != len(c.want) || !strings.Contains(got[len(got)-1], " host") {
				t.Errorf("counted: %q", got)
			}
		})
	}
}

// What is kept for a job counts as free for it also where its selection asks what a host has left.
func TestHostReasons_OwnIsFree(t *testing.T) {
	of := "state=free resources_available.ncpus=10 resources_assigned.ncpus=2 resources_reserved.ncpus=1 resources_available.mem=1000mb resources_assigned.mem=800mb resources_reserved.mem=200mb"
	for job, want := range map[string]string{
		"lsf_reserved=(a:ncpus=1:mem=204800kb)": "Job requirements for reserving resource (mem) not satisfied: a;",
		"":                                      "Job's resource requirements not satisfied: a;",
	} {
		hosts := []offer{{object("a", of), 10}}
		v := &jobsView{long: true, site: &siteView{hosts: hosts, reasons: map[string][]string{}}}
		v.site.look = func() *around { return &around{site: lsf.SiteOf(nil), hosts: hosts} }
		j := newJob(object("7.srv", "job_state=Q comment=Not_Running:_Insufficient_amount_of_resource:_mem Resource_List.select=1:ncpus=1:mem=400mb lsf_select=mem>150 "+job))
		if got := v.hostReasons(j); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q, want %q", job, got, want)
		}
	}
}

// What hosts are asked for is compared with what the scheduler compares it with: what they have left, report and are.
func TestHostReasons_SeesHosts(t *testing.T) {
	defs := []resource.Def{{Name: "maximal", Type: resource.Long, Flags: resource.PerVnode | resource.AtHost}, {Name: "lic", Type: resource.Long, Flags: resource.PerVnode | resource.AtHost}}
	of := "state=free resources_available.ncpus=4 resources_assigned.ncpus=4 resources_available.mem=1000mb resources_available.maximal=5 resources_assigned.maximal=3 "
	hosts := []offer{{object("a", of), 4}, {object("b", of+"resources_available.lic=@c"), 4}, {object("c", of+"resources_available.lic=3 resources_assigned.lic=2"), 4}}
	config := lsf.Config{Hosts: []lsf.Host{{Name: "b", Model: "Intel", Factor: 2000}}}
	for text, want := range map[string]string{ // hosts that it is not true of
		"maximal>2": "a, b, c", "maximal>=2": "", "r1m<1": "b, c", "cpuf>1": "a, c", "model==Intel": "a, c", "status==ok": "c", "maxmem>500": "", "lic>0": "a",
	} {
		v := &jobsView{long: true, site: &siteView{site: combiner{lsf.SiteOf(defs)}, defs: defs, hosts: hosts, reasons: map[string][]string{}}}
		v.site.look = func() *around {
			return &around{defs: defs, config: config, site: config.Site(defs), hosts: hosts, loads: map[string]loadOf{"a": {"r1m": 0.5}, "b": {"r1m": 2}}}
		}
		j := newJob(object("7.srv", "job_state=Q comment=Not_Running:_Insufficient_amount_of_resource:_ncpus Resource_List.select=1:ncpus=1"))
		j.Attributes = append(j.Attributes, &api.Attribute{Name: lsf.JobSelect, Value: text})
		got := ""
		for _, why := range v.hostReasons(j) {
			if hosts, is := strings.CutPrefix(why, strings.TrimSuffix(lsf.ReasonSelect, ";")+": "); is {
				got = strings.TrimSuffix(hosts, ";")
			}
		}
		if got != want {
			t.Errorf("%s is not true of %q, want %q", text, got, want)
		}
	}
}

// The hosts of a reason stand in the order in which the job has them.
func TestHostReasons_Order(t *testing.T) {
	const full = "state=free resources_available.ncpus=4 resources_assigned.ncpus=4"
	hosts := []offer{{object("a", full), 4}, {object("b", full), 4}, {object("c", full), 4}}
	for order, want := range map[string]string{"": "a, b, c", "r15s": "b, a, c", "-r15s": "a, b, c", "nosuch": "a, b, c"} {
		v := &jobsView{long: true, site: &siteView{hosts: hosts, reasons: map[string][]string{}}}
		v.site.look = func() *around {
			return &around{hosts: hosts, loads: map[string]loadOf{"a": {"r15s": 0.5}, "b": {"r15s": 0}}}
		}
		j := newJob(object("7.srv", "job_state=Q comment=Not_Running:_Not_enough_free_nodes_available Resource_List.select=1:ncpus=1"))
		j.Attributes = append(j.Attributes, &api.Attribute{Name: lsf.JobOrder, Value: order})
		if got := v.hostReasons(j); len(got) != 1 || got[0] != "Job slot limit reached: "+want+";" {
			t.Errorf("order[%s]: %q, want %s", order, got, want)
		}
	}
}

// RSV-47: what the whole cluster has too little of is told of each host that a job could run on.
func TestHostReasons_Wide(t *testing.T) {
	defs := []resource.Def{{Name: "lic", Type: resource.Long, Flags: resource.PerQueue}}
	hosts := []offer{{object("a", "state=free resources_available.ncpus=4 resources_assigned.ncpus=4"), 4}, {object("b", "state=free resources_available.ncpus=4"), 4}}
	for assigned, want := range map[string][]string{
		"1": {"Job requirements for reserving resource (lic) not satisfied: a, b;"},
		"0": {"Not enough job slot(s): b;", "Job slot limit reached: a;"},
	} {
		v := &jobsView{long: true, site: &siteView{defs: defs, hosts: hosts, reasons: map[string][]string{}}}
		v.site.look = func() *around {
			return &around{defs: defs, hosts: hosts, server: object("srv", "resources_available.lic=1 resources_assigned.lic="+assigned)}
		}
		j := newJob(object("7.srv", "job_state=Q comment=Not_Running:_Insufficient_amount_of_server_resource:_lic Resource_List.select=8:ncpus=1 Resource_List.ncpus=8 Resource_List.lic=1"))
		if got := v.hostReasons(j); !slices.Equal(got, want) {
			t.Errorf("%s in use: %q, want %q", assigned, got, want)
		}
	}
}

// bhosts closes a host for every threshold that keeps jobs from it, of a resource of the site as well.
func TestHostRow_Busy(t *testing.T) {
	defs := []resource.Def{{Name: "lic", Type: resource.Long, Flags: resource.PerVnode | resource.AtHost}}
	two, users := 2*resreq.One, int64(3)
	config := lsf.Config{Hosts: []lsf.Host{{Name: "a", Listed: true, UserSlots: &users, Thresholds: []lsf.Threshold{{Index: "lic", Start: &two}}}}}
	a := &around{defs: defs, config: config, site: config.Site(defs)}
	for assigned, want := range map[string]string{"3": "a closed 3 4 0 0 0 0 0", "2": "a ok 3 4 0 0 0 0 0"} {
		var text strings.Builder
		out := bufio.NewWriter(&text)
		hostRow(out, a.see(offer{object("a", "state=free resources_available.lic=4 resources_assigned.lic="+assigned), 4}), tally{}, false, false)
		out.Flush()
		if got := strings.Join(strings.Fields(text.String()), " "); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// That the queue wants so much of a resource is told otherwise than that the job does, and hosts that are not the queue's only where
// nothing else keeps the job (specification: reservation section 9.2).
func TestHostReasons_OfTheQueue(t *testing.T) {
	hosts := []offer{{object("a", "state=free resources_available.ncpus=4 resources_assigned.ncpus=4"), 4}, {object("b", "state=free resources_available.ncpus=4 resources_available.mem=1000mb resources_assigned.mem=800mb"), 4}}
	config := lsf.Config{Applications: []lsf.Application{{Name: "big", Requirement: "rusage[mem=400]"}}}
	const queue, job = "Queue requirements for reserving resource (mem) not satisfied: b;", "Job requirements for reserving resource (mem) not satisfied: b;"
	for of, want := range map[string][]string{
		"queue=only lsf_combined=rusage[mem=400]":                                {queue},
		"queue=only lsf_combined=rusage[mem=400] lsf_resreq=select[type==any]":   {queue},
		"queue=only lsf_combined=rusage[mem=400:swp=5] lsf_resreq=rusage[swp=5]": {queue},
		"queue=only lsf_combined=rusage[mem=400] lsf_resreq=rusage[mem=400]":     {job},
		"queue=only lsf_combined=rusage[mem=400] lsf_app=big":                    {job},
		"queue=only lsf_combined=rusage[mem=400] lsf_app=gone":                   {queue},
		"queue=only lsf_resreq=rusage[mem=400]":                                  {job},
		"queue=none lsf_resreq=rusage[mem=400]":                                  {"Not usable to the queue: a, b;"},
		"queue=only lsf_asked_hosts=a":                                           {"Not usable to the queue: a;", "Not specified in job submission: b;"},
		"queue=any lsf_asked_hosts=a":                                            {"Job requirements for reserving resource (mem) not satisfied: a;"},
		"queue=any lsf_asked_hosts=c":                                            {"Not specified in job submission: a, b;"},
	} {
		usable := map[string][]string{"only": {"b"}, "none": {"c"}}
		v := &jobsView{long: true, site: &siteView{site: combiner{lsf.SiteOf(nil)}, hosts: hosts, usable: usable, reasons: map[string][]string{}}}
		v.site.look = func() *around { return &around{site: lsf.SiteOf(nil), config: config, hosts: hosts} }
		j := newJob(object("7.srv", "job_state=Q comment=Not_Running:_Insufficient_amount_of_resource:_mem Resource_List.select=1:ncpus=1:mem=400mb"))
		for word := range strings.FieldsSeq(of) {
			name, text, _ := strings.Cut(word, "=")
			j.Attributes = append(j.Attributes, &api.Attribute{Name: name, Value: text})
		}
		if got := v.hostReasons(j); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", of, got, want)
		}
	}
}
