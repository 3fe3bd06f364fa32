package lsf

import (
	"slices"
	"strings"
	"testing"

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
			"RSV-31", "Resource_List.select=2:ncpus=1 Resource_List.ncpus=2 lsf_reserved=(a:ncpus=1)",
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
