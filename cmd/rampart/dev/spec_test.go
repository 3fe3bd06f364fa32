package dev

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseMom(t *testing.T) {
	tests := []struct {
		spec string
		want Mom
	}{
		{"borg", Mom{"borg", []Vnode{{"borg", standard()}}}},
		{"hostb:ncpus=1,mem=1gb/hostb[0]:ncpus=1,mem=1gb", Mom{"hostb", []Vnode{
			{"hostb", []Resource{{"ncpus", "1"}, {"mem", "1gb"}}},
			{"hostb[0]", []Resource{{"ncpus", "1"}, {"mem", "1gb"}}},
		}}},
		{"hosta/hosta[0]:ncpus=1", Mom{"hosta", []Vnode{
			{"hosta", nothing()}, {"hosta[0]", []Resource{{"ncpus", "1"}}},
		}}},
	}
	for _, tc := range tests {
		got, err := ParseMom(tc.spec)
		if err != nil || !reflect.DeepEqual(got, tc.want) {
			t.Errorf("ParseMom(%q) = %+v, %v; want %+v", tc.spec, got, err, tc.want)
		}
	}
}

func TestParseMom_Faults(t *testing.T) {
	for _, spec := range []string{"", ":ncpus=1", "a:", "a:ncpus", "a:ncpus=", "a/", "a b", "a[0]", "a:ncpus=-4", "a:ncpus=abc", "a:mem=lots", "a/a[0]:ncpus=1x", "a:1x=1"} {
		if m, err := ParseMom(spec); err == nil {
			t.Errorf("ParseMom(%q) = %+v, want an error", spec, m)
		} else if !strings.Contains(err.Error(), "--mom") {
			t.Errorf("ParseMom(%q): %v does not name the flag", spec, err)
		}
	}
}

func TestDefinition(t *testing.T) {
	m, err := ParseMom("hosta/hosta[0]:ncpus=1,mem=1gb")
	if err != nil {
		t.Fatal(err)
	}
	want := `$configversion 2
hosta: resources_available.ncpus = 0
hosta: resources_available.mem = 0
hosta[0]: resources_available.ncpus = 1
hosta[0]: resources_available.mem = 1gb
`
	if got := m.Definition(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDefaultMoms(t *testing.T) {
	var names []string
	for _, m := range DefaultMoms(6) {
		names = append(names, m.Name)
	}
	if got := strings.Join(names, " "); got != "borg federer lendl agassi sampras mom6" {
		t.Error(got)
	}
}
