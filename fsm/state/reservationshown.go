package state

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"rampart/fsm/alloc"
	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// reservedText returns the attribute resv of a vnode.
func (t *tables) reservedText(v *Vnode) string {
	var ids []string
	for r := range t.ReservationsOn(v.Name) {
		ids = append(ids, string(r.ID))
	}
	return strings.Join(ids, ", ")
}

// assignedWhole returns what the server has assigned: to reservations that have begun as a whole, and to jobs outside of them;
// to jobs in them what their reservation does not name.
func (t *tables) assignedWhole() resource.List {
	sum := t.assigned("")
	for r := range t.Reservations() {
		if !r.Started() {
			continue
		}
		whole := alloc.Reserved{Items: resource.Only(r.Resources, t, resource.PerQueue)}
		if less, err := resource.Sub(sum, whole.Within(t.assigned(r.ID.Queue())), t); err == nil {
			sum = less
		}
		if more, err := resource.Add(sum, whole.Items, t); err == nil {
			sum = more
		}
	}
	return nonZero(sum, t)
}

// ReservationAttributes returns every attribute of a reservation, in the order of the attribute table.
func (t *tables) ReservationAttributes(r *Reservation) attr.List {
	hot := map[string]string{
		"Reserve_Owner":    r.Owner.String(),
		"reserve_state":    r.State.String(),
		"reserve_substate": strconv.Itoa(int(r.Substate)),
		"reserve_start":    seconds(r.Start),
		"reserve_end":      seconds(r.End),
		"reserve_duration": strconv.FormatInt(r.shownLength().Unix(), 10),
		"queue":            string(r.ID.Queue()),
		"resv_nodes":       r.Nodes().String(),
		"server":           t.cluster.Name,
		"ctime":            seconds(r.Created),
		"mtime":            seconds(r.Changed),
		"reserve_rrule":    r.Rule,
		"reserve_count":    strconv.Itoa(r.Count),
		"reserve_retry":    seconds(r.Retry),
	}
	if _, named := r.Attrs.Get("Reserve_Name", ""); !named {
		hot["Reserve_Name"] = NoReserveName
	}
	if r.Rule != "" {
		hot["reserve_index"] = strconv.Itoa(r.Index())
	}
	if r.State != pbs.ResvUnconfirmed {
		hot["partition"] = cmp.Or(r.Partition, DefaultPartition)
	}
	var out attr.List
	for _, def := range attr.All(attr.Reservation) {
		switch v, computed := hot[def.Name]; {
		case def.Name == "Resource_List":
			out = appendItems(out, def.Name, r.ShownResources())
		case computed:
			out = appendValue(out, def.Name, v)
		default:
			out = appendCold(out, def, r.Attrs)
		}
	}
	return out
}

// NoReserveName is shown of a reservation without a name.
const NoReserveName = "NULL"

// Name returns Reserve_Name.
func (r *Reservation) Name() string {
	if name, ok := r.Attrs.Get("Reserve_Name", ""); ok {
		return name
	}
	return NoReserveName
}

func (r *Reservation) shownLength() pbs.Time {
	if r.Start == 0 {
		return r.Length
	}
	return r.End - r.Start
}

// ShownResources returns Resource_List in its order: consumables by name, nodect, select, place, walltime.
func (r *Reservation) ShownResources() resource.List {
	var out resource.List
	last := []string{"nodect", "select", "place", "walltime"}
	for _, it := range r.Resources {
		if !slices.Contains(last, it.Name) {
			out = append(out, it)
		}
	}
	for _, name := range last {
		if value, ok := r.Resources.Get(name); ok {
			out = append(out, resource.Item{Name: name, Value: value})
		}
	}
	return out
}
