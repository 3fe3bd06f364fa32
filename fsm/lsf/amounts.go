package lsf

import (
	"slices"
	"strconv"

	"rampart/fsm/resource"
	"rampart/fsm/resreq"
	"rampart/fsm/rusage"
)

// method returns how much of a resource is reserved for what a job asks.
func (s *shaper) method(name string) rusage.Method {
	r, _ := s.site.Resource(name)
	return s.methods.Of(r)
}

// idle is the load index of the minutes since somebody has typed at a host: it grows by itself, and no job takes of it.
const idle = "it"

// defined refuses what no job can hold, and returns the definition of a resource; false: nothing is asked for.
func (s *shaper) defined(r resreq.Reservation) (def resource.Def, asked bool, err error) {
	def, known := s.table.Resource(r.Resource)
	if r.Amount > 0 && !known && r.Resource == idle {
		return def, false, unsupported("rusage[it=...] is not supported: for how long nobody has typed is nothing that a job can hold; select[it>%s] asks for it", r.Amount.Print(idle))
	}
	if r.Amount > 0 && !known {
		return def, false, unsupported("rusage[%s=...] is not supported yet: no resource of that name is defined", r.Resource)
	}
	return def, r.Amount > 0, nil
}

// byHost reports whether something is asked for that a host gives once, however many of the slots it has.
func (s *shaper) byHost(u resreq.Usage) bool {
	return slices.ContainsFunc(u, func(r resreq.Reservation) bool {
		def, known := s.table.Resource(r.Resource)
		return known && r.Amount > 0 && def.AtHost() && s.method(r.Resource) != rusage.PerSlot
	})
}

// raise refuses a term with which the job would raise an index too much.
func (s *shaper) raise(u resreq.Usage, slots int) error {
	const most = resource.MostRaised * resreq.One
	for _, r := range u {
		def, known := s.table.Resource(r.Resource)
		if !known || !def.Raises() {
			continue
		}
		if r.Amount > (most-s.raised[def.Name])/resreq.Amount(slots) {
			return unsupported("rusage[%s=%s] is not supported: all slots of the job may raise the index by %d together", r.Resource, r.Amount.Print(r.Resource), resource.MostRaised)
		}
		if s.raised == nil {
			s.raised = map[string]resreq.Amount{}
		}
		s.raised[def.Name] += r.Amount * resreq.Amount(slots)
	}
	return nil
}

// onHost returns what a chunk of so many slots has of its host, and what of that a host gives once, however many of the chunks are
// on it, and an instance that may be of several hosts.
func (s *shaper) onHost(u resreq.Usage, slots int) (items resource.List, once KindLayout, err error) {
	for _, r := range u {
		def, asked, err := s.defined(r)
		if err != nil {
			return nil, once, err
		}
		if !asked || !def.AtHost() {
			continue
		}
		amount := r.Amount
		switch known, _ := s.site.Resource(r.Resource); {
		case s.method(r.Resource) == rusage.PerSlot:
			amount *= resreq.Amount(slots)
		case s.method(r.Resource) == rusage.PerJob && !known.Builtin && !def.Raises():
			once.Job = append(once.Job, r.Resource)
		default:
			once.Once = append(once.Once, r.Resource)
		}
		value, err := valueOf(def, amount)
		if err != nil {
			return nil, once, err
		}
		items = append(items, resource.Item{Name: r.Resource, Value: value})
	}
	return items, once, nil
}

// wide adds what the job has as a whole; 0 hosts are as many as there is room on.
func (s *shaper) wide(u resreq.Usage, slots, hosts int) error {
	for _, r := range u {
		def, asked, err := s.defined(r)
		if err != nil {
			return err
		}
		if !asked || def.AtHost() {
			continue
		}
		amount := r.Amount
		switch m := s.method(r.Resource); {
		case m == rusage.PerSlot:
			amount *= resreq.Amount(slots)
		case m == rusage.PerHost && hosts == 0:
			return unsupported("rusage[%s=...] is for each host, and needs span[hosts=1] or span[ptile=N], which say how many there are", r.Resource)
		case m == rusage.PerHost:
			amount *= resreq.Amount(hosts)
		}
		if s.wides == nil {
			s.wides = map[string]resreq.Amount{}
		}
		s.wides[r.Resource] += amount // of several terms in sum: the job has it as a whole
		amount = s.wides[r.Resource]
		value, err := valueOf(def, amount)
		if err != nil {
			return err
		}
		s.shape.Wide = s.shape.Wide.Set(r.Resource, value)
	}
	return nil
}

// valueOf writes an amount as a value of the resource.
func valueOf(def resource.Def, a resreq.Amount) (string, error) {
	megabytes := resreq.Unit(def.Name) == resreq.Megabyte
	switch {
	case def.Type == resource.Size && !megabytes:
		return "", unsupported("rusage[%s=...] is not supported yet: the resource is a size, and rusage knows sizes of mem, swp and tmp only", def.Name)
	case def.Type == resource.Size && a%resreq.Megabyte == 0:
		return strconv.FormatInt(int64(a/resreq.Megabyte), 10) + "mb", nil
	case def.Type == resource.Size:
		return strconv.FormatInt(int64((a+resreq.One-1)/resreq.One), 10) + "kb", nil
	case def.Type == resource.Float && !megabytes:
		return a.Print(def.Name), nil
	case a%resreq.One != 0 || megabytes:
		return "", unsupported("rusage[%s=%s] is not supported: the resource is of type %s", def.Name, a.Print(def.Name), def.Type)
	}
	return strconv.FormatInt(int64(a/resreq.One), 10), nil
}
