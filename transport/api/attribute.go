package api

import "iter"

// Usage yields what a mom has told of resources_used: a resource and its value.
func Usage(list []*Attribute) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for _, a := range list {
			name := a.GetResource()
			if name == "" {
				name = a.GetName()
			}
			if !yield(name, a.GetValue()) {
				return
			}
		}
	}
}
