package dev

import (
	"errors"
	"fmt"
	"strings"

	"rampart/fsm/resource"
)

// DefaultMoms are the execution hosts of a cluster for which none were named.
var defaultMoms = [...]string{"borg", "federer", "lendl", "agassi", "sampras"}

// A Resource is what a vnode offers.
type Resource struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// A Vnode is a name and what is available there.
type Vnode struct {
	Name      string     `json:"name"`
	Resources []Resource `json:"resources"`
}

// A Mom is an execution host: its name and its vnodes, the natural one first.
type Mom struct {
	Name   string  `json:"name"`
	Vnodes []Vnode `json:"vnodes"`
}

func standard() []Resource { return []Resource{{"ncpus", "4"}, {"mem", "8gb"}} }

// nothing returns what a natural vnode offers when others stand for the host.
func nothing() []Resource { return []Resource{{"ncpus", "0"}, {"mem", "0"}} }

// DefaultMoms returns the first n execution hosts, named after the default hosts
// and then mom6, mom7, ...
func DefaultMoms(n int) []Mom {
	moms := make([]Mom, n)
	for i := range moms {
		name := fmt.Sprintf("mom%d", i+1)
		if i < len(defaultMoms) {
			name = defaultMoms[i]
		}
		moms[i] = Mom{Name: name, Vnodes: []Vnode{{Name: name, Resources: standard()}}}
	}
	return moms
}

// ParseMom is ReadMom for the option: faults name it.
func ParseMom(spec string) (Mom, error) {
	m, err := ReadMom(spec)
	if err != nil {
		err = fmt.Errorf("--mom %q: %w", spec, err)
	}
	return m, err
}

// ReadMom reads what --mom says: NAME[:RES=VALUE,...][/VNODE[:RES=VALUE,...]]...
func ReadMom(spec string) (Mom, error) {
	var m Mom
	for i, part := range strings.Split(spec, "/") {
		v, err := parseVnode(part)
		if err != nil {
			return Mom{}, err
		}
		if i == 0 {
			m.Name = v.Name
		}
		m.Vnodes = append(m.Vnodes, v)
	}
	if strings.Contains(m.Name, "[") {
		return Mom{}, errors.New("a host comes before its vnodes")
	}
	natural := &m.Vnodes[0]
	switch {
	case len(natural.Resources) > 0:
	case len(m.Vnodes) > 1:
		natural.Resources = nothing()
	default:
		natural.Resources = standard()
	}
	return m, nil
}

func parseVnode(text string) (Vnode, error) {
	name, list, has := strings.Cut(text, ":")
	v := Vnode{Name: name}
	if name == "" || strings.ContainsAny(name, " \t\n=,") {
		return v, fmt.Errorf("%q is no name of a host or vnode", name)
	}
	if !has {
		return v, nil
	}
	for item := range strings.SplitSeq(list, ",") {
		res, value, ok := strings.Cut(item, "=")
		if !ok || res == "" || value == "" {
			return v, fmt.Errorf("%q of %s is not RES=VALUE", item, name)
		}
		if def, known := resource.Lookup(res); known {
			if _, err := def.Parse(value); err != nil {
				return v, fmt.Errorf("%q of %s: %q is no value of type %s that a vnode can have", item, name, value, def.Type)
			}
		} else if !resource.ValidName(res) {
			return v, fmt.Errorf("%q of %s: %q is no name of a resource", item, name, res)
		}
		v.Resources = append(v.Resources, Resource{res, value})
	}
	return v, nil
}

// Definition returns the vnode definition file of the mom.
func (m Mom) Definition() string {
	var b strings.Builder
	b.WriteString("$configversion 2\n")
	for _, v := range m.Vnodes {
		for _, r := range v.Resources {
			fmt.Fprintf(&b, "%s: resources_available.%s = %s\n", v.Name, r.Name, r.Value)
		}
	}
	return b.String()
}
