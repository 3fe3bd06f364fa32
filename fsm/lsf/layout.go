package lsf

import (
	"slices"
	"strconv"
	"strings"

	"rampart/fsm/resreq"
)

// A Layout says of the kinds of chunks of a select what the select and its place cannot: it is the job attribute lsf_layout.
type Layout struct {
	Kinds []KindLayout // one for each kind of chunk, in their order
	Unit  bool         // the job has the compute units that its hosts are in to itself
	Units UnitLayout   // how the hosts are over compute units, where they may be in several
	Same  []string     // resources in which its hosts are to agree, beside that of its place
	Alone bool         // and it is to have its hosts to itself also where a later requirement does not ask for the unit
}

// A KindLayout says how the chunks of one kind stand on hosts. The zero value says nothing.
type KindLayout struct {
	Term    int      // of the requirement, from 1 on
	Scatter bool     // no two chunks of the term are on one host
	Once    []string // resources that a host gives to the first of the term's chunks on it, and to no other
	Job     []string // resources that each instance gives to the first of the term's chunks on its hosts, and to no other: PER_JOB
	Same    []string // resources in which the hosts of the term are to agree

	Full bool             // each host but the last has as many of the term's chunks as it has slots
	Of   []resreq.PtileOf // or as many as hosts of its type or model are to have
}

// The words of a layout.
const (
	layoutScatter = "scatter"
	layoutOnce    = "once="
	layoutJob     = "job="
	layoutUnit    = "unit"
	layoutAlone   = "alone"
	layoutSame    = "same="
	layoutUnits   = "cus="
	layoutMax     = "max="
	layoutUsable  = "usable="
	layoutBalance = "balance"
	layoutFull    = "ptile=!"
)

// A UnitLayout says over which compute units the hosts of a job may be. The zero value says nothing.
type UnitLayout struct {
	Type    string // the resource of hosts that tells the units apart
	Max     int    // so many units at most; 0: any number
	Usable  int    // slots that it has of each unit at least, but of one, which takes the rest; 0: any number
	Balance bool   // it has as many chunks in each of the units, or one less
}

func (u UnitLayout) String() string {
	text := layoutUnits + u.Type
	if u.Max > 0 {
		text += ":" + layoutMax + strconv.Itoa(u.Max)
	}
	if u.Usable > 0 {
		text += ":" + layoutUsable + strconv.Itoa(u.Usable)
	}
	if u.Balance {
		text += ":" + layoutBalance
	}
	return text
}

// readUnits reads what String has printed, without its beginning.
func readUnits(text string) (u UnitLayout) {
	parts := strings.Split(text, ":")
	u.Type = parts[0]
	for _, part := range parts[1:] {
		if n, is := strings.CutPrefix(part, layoutMax); is {
			u.Max, _ = strconv.Atoi(n)
		} else if n, is := strings.CutPrefix(part, layoutUsable); is {
			u.Usable, _ = strconv.Atoi(n)
		} else {
			u.Balance = u.Balance || part == layoutBalance
		}
	}
	return u
}

// Given reports whether the layout says anything.
func (l Layout) Given() bool {
	return l.Unit || len(l.Same) > 0 || l.Units.Type != "" || slices.ContainsFunc(l.Kinds, func(k KindLayout) bool { return k.Scatter || len(k.Once)+len(k.Job)+len(k.Same) > 0 || k.Full })
}

// Once reports whether a host, or an instance of the resource, gives it to some kind of chunk once.
func (l Layout) Once(resource string) bool {
	return l.PerJob(resource) || slices.ContainsFunc(l.Kinds, func(k KindLayout) bool { return slices.Contains(k.Once, resource) })
}

// PerJob reports whether an instance of a resource gives it to some kind of chunk once, on whichever of its hosts they are.
func (l Layout) PerJob(resource string) bool {
	return slices.ContainsFunc(l.Kinds, func(k KindLayout) bool { return slices.Contains(k.Job, resource) })
}

// String prints the layout as the attribute has it: "1:once=mem:job=lic 2:scatter:same=disk unit alone same=color,model".
func (l Layout) String() string {
	var words []string
	for _, k := range l.Kinds {
		word := strconv.Itoa(k.Term)
		if k.Scatter {
			word += ":" + layoutScatter
		}
		if len(k.Once) > 0 {
			word += ":" + layoutOnce + strings.Join(k.Once, ",")
		}
		if len(k.Job) > 0 {
			word += ":" + layoutJob + strings.Join(k.Job, ",")
		}
		if len(k.Same) > 0 {
			word += ":" + layoutSame + strings.Join(k.Same, ",")
		}
		if k.Full {
			word += ":" + layoutFull
			for _, of := range k.Of {
				word += "," + of.Name + "=" + strconv.Itoa(of.Slots)
			}
		}
		words = append(words, word)
	}
	if l.Unit {
		words = append(words, layoutUnit)
	}
	if l.Alone {
		words = append(words, layoutAlone)
	}
	if l.Units.Type != "" {
		words = append(words, l.Units.String())
	}
	if len(l.Same) > 0 {
		words = append(words, layoutSame+strings.Join(l.Same, ","))
	}
	return strings.Join(words, " ")
}

// ReadLayout reads what String has printed; what it cannot read says nothing.
func ReadLayout(text string) (l Layout) {
	for word := range strings.FieldsSeq(text) {
		if word == layoutUnit || word == layoutAlone {
			l.Unit, l.Alone = l.Unit || word == layoutUnit, l.Alone || word == layoutAlone
			continue
		}
		if units, is := strings.CutPrefix(word, layoutUnits); is {
			l.Units = readUnits(units)
			continue
		}
		if names, same := strings.CutPrefix(word, layoutSame); same {
			l.Same = strings.Split(names, ",")
			continue
		}
		parts := strings.Split(word, ":")
		term, err := strconv.Atoi(parts[0])
		if err != nil {
			return Layout{}
		}
		k := KindLayout{Term: term}
		for _, part := range parts[1:] {
			if names, once := strings.CutPrefix(part, layoutOnce); once {
				k.Once = strings.Split(names, ",")
			} else if names, job := strings.CutPrefix(part, layoutJob); job {
				k.Job = strings.Split(names, ",")
			} else if names, same := strings.CutPrefix(part, layoutSame); same {
				k.Same = strings.Split(names, ",")
			} else if of, full := strings.CutPrefix(part, layoutFull); full {
				k.Full, k.Of = true, readPtiles(of)
			} else {
				k.Scatter = k.Scatter || part == layoutScatter
			}
		}
		l.Kinds = append(l.Kinds, k)
	}
	return l
}

// readPtiles reads for which hosts a term has other numbers than their slots.
func readPtiles(text string) (all []resreq.PtileOf) {
	for part := range strings.SplitSeq(strings.TrimPrefix(text, ","), ",") {
		if name, slots, ok := strings.Cut(part, "="); ok {
			n, _ := strconv.Atoi(slots)
			all = append(all, resreq.PtileOf{Name: name, Slots: n})
		}
	}
	return all
}

// joined adds what another alternative, whose kinds of chunks are the same, says.
func (l Layout) joined(o Layout) Layout {
	if len(l.Kinds) != len(o.Kinds) {
		return l
	}
	l.Kinds = slices.Clone(l.Kinds)
	for i, k := range o.Kinds {
		l.Kinds[i].Once, l.Kinds[i].Job = united(l.Kinds[i].Once, k.Once), united(l.Kinds[i].Job, k.Job)
	}
	return l
}

// united returns names with those of others that are not among them.
func united(names, others []string) []string {
	for _, name := range others {
		if !slices.Contains(names, name) {
			names = append(slices.Clip(names), name)
		}
	}
	return names
}
