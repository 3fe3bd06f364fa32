package attr

import (
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// PerResource reports whether the attribute has one value per resource.
func (d *Def) PerResource() bool {
	return d.Type == Resources || d.Type == Limits && strings.Contains(d.Name, "_res")
}

// Full returns the attribute's name with the resource, as messages and qstat show
// it: "Resource_List.ncpus".
func (d *Def) Full(res string) string {
	if res == "" {
		return d.Name
	}
	return d.Name + "." + res
}

// ParseResource returns the canonical text of a value for the attribute's resource,
// or for the attribute itself if it has no resources.
func (d *Def) ParseResource(res, text string, t resource.Table) (string, error) {
	if !d.PerResource() {
		if res != "" {
			return "", pbs.Refuse(pbs.UndefinedAttribute)
		}
		return d.Parse(text)
	}
	def, ok := t.Resource(res)
	switch {
	case !ok && res != "" && !resource.ValidName(res): // it cannot be the name of one
		return "", pbs.Attribute(pbs.BadAttributeValue, d.Full(res))
	case !ok:
		return "", pbs.Attribute(pbs.UnknownResource, d.Full(res))
	}
	if d.Shareable && strings.HasPrefix(text, "@") {
		return text, nil // the vnode that has the amount: whether it does is for the state to say
	}
	if canonical, ok := d.parseValue(def, text); ok {
		return canonical, nil
	}
	return "", d.refusal(res, text)
}

// refusal says why a value is not taken. A resource that stands twice in a select has
// a code of its own.
func (d *Def) refusal(res, text string) error {
	if res == "select" || res == "select_reliable_startup" {
		if _, err := spec.ParseSelect(text); pbs.CodeOf(err) == pbs.DuplicateResource {
			return err
		}
	}
	return pbs.Attribute(pbs.BadAttributeValue, d.Full(res))
}

func (d *Def) parseValue(def resource.Def, text string) (string, bool) {
	if d.Type == Limits {
		return parseLimits(text, func(value string) (string, bool) { return quantity(def, value) })
	}
	if !def.Builtin {
		return quantity(def, text)
	}
	switch def.Name {
	case "select", "select_reliable_startup":
		_, err := spec.ParseSelect(text)
		return text, err == nil
	case "place":
		_, err := spec.ParsePlace(text)
		return text, err == nil
	}
	return quantity(def, text)
}

func quantity(def resource.Def, text string) (string, bool) {
	q, err := def.Parse(text)
	return q.String(), err == nil
}

// CheckWrite refuses somebody who may not set the attribute, or its resource, with
// ReadOnlyAttribute.
func (d *Def) CheckWrite(res string, who Perm, t resource.Table) error {
	def, _ := t.Resource(res)
	hidden := def.Flags&(resource.ReadOnly|resource.Invisible) != 0
	requested := res == "select_requested" && d.Name == "Resource_List" // the server's own, whoever asks
	if !d.Write.Allows(who) || hidden && !Operator.Allows(who) || requested {
		return pbs.Attribute(pbs.ReadOnlyAttribute, d.Full(res))
	}
	if res == "select_reliable_startup" && d.Name == "Resource_List" && !Operator.Allows(who) {
		return pbs.Errorf(pbs.Unauthorized, "Only PBS managers and operators are allowed to set 'select_reliable_startup'")
	}
	return nil
}

// CheckChunks refuses a select, or nodes, of which a chunk asks for a resource that somebody may not give to the job as a whole: with
// ReadOnlyAttribute, as CheckWrite does. What is malformed is left to who reads it.
func (d *Def) CheckChunks(res, value string, who Perm, t resource.Table) error {
	if d.Name != "Resource_List" {
		return nil
	}
	var sel spec.Select
	switch res {
	case "select":
		sel, _ = spec.ParseSelect(value)
	case "nodes":
		sel, _, _ = spec.ParseNodes(value, nil, t)
	}
	for _, c := range sel.Chunks {
		for _, item := range c.Items {
			if def, ok := t.Resource(item.Name); !ok || !def.AtHost() {
				continue
			}
			if err := d.CheckWrite(item.Name, who, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// MayRead reports whether somebody may see the attribute, or its resource.
func (d *Def) MayRead(res string, who Perm, t resource.Table) bool {
	if res != "" {
		if def, ok := t.Resource(res); ok && !who.Knows(def) {
			return false
		}
	}
	return d.Read.Allows(who)
}

// Knows reports whether somebody may see that there is the resource: those with the flag i are not for users.
func (p Perm) Knows(def resource.Def) bool {
	return def.Flags&resource.Invisible == 0 || p >= Operator
}
