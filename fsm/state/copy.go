package state

import "reflect"

// Copy returns a store with the same state, to try out what would become of it. Its cost
// grows with the state.
func (v *View) Copy() *Store {
	l := NewLoader()
	for _, s := range v.Sections() {
		for rec := range s.Records {
			same, err := Decode(s.Tag, func(into any) error {
				reflect.ValueOf(into).Elem().Set(reflect.ValueOf(rec).Elem())
				return nil
			})
			if err == nil {
				err = l.Put(same)
			}
			if err != nil {
				panic("state: copy: " + err.Error()) // a section that this build itself has made
			}
		}
	}
	return l.Store(v.index, v.term)
}
