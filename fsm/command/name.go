package command

import (
	"reflect"
	"slices"
)

// NameOf returns the name of a command's kind, such as SubmitJob.
func NameOf(c Command) string { return reflect.TypeOf(c).Elem().Name() }

// Names lists the names of all kinds, sorted.
func Names() []string {
	names := make([]string, 0, len(kinds))
	for _, make := range kinds {
		names = append(names, NameOf(make()))
	}
	slices.Sort(names)
	return names
}
