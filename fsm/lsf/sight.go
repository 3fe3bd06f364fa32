package lsf

import (
	"cmp"
	"math"
	"strings"

	"rampart/fsm/resource"
	"rampart/fsm/resreq"
)

// A Sight is what is known of a host where it is looked at.
type Sight interface {
	resource.Table
	// Word is the name of the host.
	Word() string
	// Row is what the files of LSF say of it.
	Row() Host
	// Status is what LSF calls its state; empty: that is not known.
	Status() string
	// Offer returns the value that it is configured with of what nobody consumes.
	Offer(resource.Def) (value string, has bool)
	// Left returns what jobs may still have of what they consume, of the host or of the cluster, and what there is in all, in the measure
	// of the resource. Of what raises an index there is no end; the difference is what jobs have.
	Left(resource.Def) (left, total int64, has bool)
	// Told returns what the host has reported of an index.
	Told(index string) (value float64, said bool)
	// ByAgent reports whether what is free of its memory is known from its mom (load_source).
	ByAgent() bool
}

// ValueOf returns what a host has of a resource as selections, orders and thresholds see it: what is available, not what is reported
// (specification: reservation sections 1.3 and 1.4).
func ValueOf(h Sight, name string) (resreq.Value, bool) {
	text := func(word string) (resreq.Value, bool) { return resreq.Value{Text: word}, word != "" }
	model, total := name, name == "ncpus"
	switch name {
	case "hname":
		return text(h.Word())
	case "status":
		return text(h.Status())
	case "model":
		return text(h.Row().Model)
	case "cpuf":
		return resreq.Value{Number: float64(cmp.Or(h.Row().Factor, 1000)) / 1000}, true
	case "type":
		if v, known := text(h.Row().Type); known {
			return v, true
		}
		model = modelNames[name]
	case "maxmem", "maxswp", "maxtmp":
		model, total = strings.TrimPrefix(name, "max"), true
	}
	def, known := h.Resource(model)
	switch {
	case !known:
		return told(h, name)
	case !def.Consumable() && def.AtHost():
		return offered(h, def)
	}
	left, all, has := h.Left(def)
	switch {
	case def.Raises():
		v, said := told(h, name)
		v.Number += ShownAmount(def, all-left)
		return v, said
	case has && total:
		return resreq.Value{Number: ShownAmount(def, all)}, true
	case has:
		return resreq.Value{Number: ShownAmount(def, left)}, true
	case !total && resreq.Unit(name) == resreq.Megabyte && !h.ByAgent():
		if v, said := told(h, "max"+name); said {
			return v, true
		}
	}
	return told(h, name)
}

func told(h Sight, index string) (resreq.Value, bool) {
	n, said := h.Told(index)
	return resreq.Value{Number: n}, said
}

// offered returns what a host is configured with, else what it has told.
func offered(h Sight, def resource.Def) (resreq.Value, bool) {
	value, has := h.Offer(def)
	switch {
	case !has || value == "":
		return told(h, def.Name)
	case def.Type == resource.Boolean && strings.EqualFold(value, "true"):
		return resreq.Value{Number: 1}, true
	case def.Type == resource.Boolean:
		return resreq.Value{}, true
	case def.Type.Numeric():
		return resreq.Value{Number: ShownAmount(def, def.Measure(value))}, true
	}
	return resreq.Value{Text: value}, true
}

// ShownAmount returns an amount as commands show it, and as it is compared: of a size in megabytes.
func ShownAmount(def resource.Def, amount int64) float64 {
	switch def.Type {
	case resource.Size:
		return float64(amount) / 1024
	case resource.Float:
		return float64(amount) / 1e6
	}
	return float64(amount)
}

// Keeps reports whether the threshold keeps jobs from a host. One of what the host does not have does where wary says that the host may
// still tell of it.
func (t Threshold) Keeps(h Sight, site resreq.Site, wary bool) bool {
	r, known := site.Resource(t.Index)
	if !known {
		return false
	}
	v, has := ValueOf(h, t.Index)
	if !has {
		return wary
	}
	return t.Shuts(resreq.Amount(math.Round(v.Number*float64(resreq.Unit(t.Index)))), r.Increasing)
}
