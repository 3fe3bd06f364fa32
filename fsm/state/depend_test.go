package state

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"rampart/fsm/pbs"
)

// What is read of dependencies is written and read as the same, and names no job twice.
func FuzzParseDepend(f *testing.F) {
	for _, text := range []string{"afterok:1:2.hosta,afterany:3[]", "on:2", "before:1:1", "afterok:1,afterok:1:2", "after", "on:x", "afterok:1[2]", ":", "afterok:", "singleton,on:1,singleton", "singleton:1", "runone:1:2[],runone:2[]:3", "runone", "runone:1[2]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseDepend(text, "srv")
		if err != nil {
			if pbs.CodeOf(err) != pbs.BadAttributeValue {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		var words []string
		for _, d := range list {
			if d.Kind == DependSingleton {
				words = append(words, "singleton")
				continue
			}
			if d.Kind == DependOn {
				words = append(words, fmt.Sprintf("on:%d", d.Count))
				continue
			}
			word, seen := d.Kind.String(), map[pbs.JobID]bool{}
			for _, id := range d.Jobs {
				if seen[id] {
					t.Errorf("%q names %s twice", text, id)
				}
				seen[id] = true
				word += ":" + string(id)
			}
			words = append(words, word)
		}
		again, err := ParseDepend(strings.Join(words, ","), "srv")
		if err != nil || !reflect.DeepEqual(again, list) {
			t.Errorf("%q: %v is written %q and read as %v, %v", text, list, words, again, err)
		}
	})
}

// A list as long as an attribute may be is read in a moment: it is read under Apply.
func BenchmarkParseDepend(b *testing.B) {
	var text strings.Builder
	text.WriteString("afterok")
	const jobs = 150_000
	for i := range jobs {
		fmt.Fprintf(&text, ":%d", i)
	}
	for b.Loop() {
		list, err := ParseDepend(text.String(), "srv")
		if err != nil || len(list) != 1 || len(list[0].Jobs) != jobs {
			b.Fatalf("%d kinds, %v", len(list), err)
		}
	}
}
