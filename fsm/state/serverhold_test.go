package state

import (
	"testing"

	"pgregory.net/rapid"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// TestServerHold_Peak: however holds are added, before the first question or after it, as much is held at most in a time as the
// sum of those that have an instant in common with it at once.
func TestServerHold_Peak(t *testing.T) {
	type hold struct {
		from, until pbs.Time
		n           int64
	}
	rapid.Check(t, func(r *rapid.T) {
		s := &serverHold{def: resource.Def{Name: "lic", Type: resource.Long, Flags: resource.PerQueue}}
		h := &ServerHolds{of: []*serverHold{s}}
		var all []hold
		r.Repeat(map[string]func(*rapid.T){
			"add": func(r *rapid.T) {
				from := pbs.Time(rapid.IntRange(0, 20).Draw(r, "from"))
				one := hold{from, from + pbs.Time(rapid.IntRange(0, 10).Draw(r, "long")), int64(rapid.IntRange(0, 4).Draw(r, "n"))}
				all = append(all, one)
				h.Add(one.from, one.until, resource.List{{Name: "lic", Value: s.def.Measured(one.n)}})
			},
			"ask": func(r *rapid.T) {
				from := pbs.Time(rapid.IntRange(0, 25).Draw(r, "from"))
				until := from + pbs.Time(rapid.IntRange(1, 12).Draw(r, "long"))
				most := int64(0)
				for at := from; at < until; at++ {
					sum := int64(0)
					for _, o := range all {
						if o.from <= at && at < o.until {
							sum += o.n
						}
					}
					most = max(most, sum)
				}
				if got := s.peak(from, until); got != most {
					r.Fatalf("from %d until %d: %d, want %d of %v", from, until, got, most, all)
				}
			},
		})
	})
}
