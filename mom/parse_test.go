package mom

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// What is read of a vnode definition file is written and read as the same.
func FuzzParseDefinition(f *testing.F) {
	for _, text := range []string{
		"$configversion 2\nhosta: resources_available.ncpus = 0\nhosta[0]: resources_available.mem = 1048576kb\n",
		"$configversion 2\n# a comment\n\nhosta: sharing = default_excl", "$configversion 2\na: b", "$configversion 2\na:resources_available.=1",
		"$configversion 2\na:resources_available.ncpus=@a", "$configversion 1\n", "",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := parseDefinition(text)
		if err != nil {
			return
		}
		var b strings.Builder
		b.WriteString(definitionHeader + "\n")
		for _, d := range all {
			if d.vnode == "" || d.name == "" {
				t.Errorf("%q: a line about nothing: %+v", text, d)
			}
			name := d.name
			if d.resource != "" {
				name += "." + d.resource
			}
			fmt.Fprintf(&b, "%s: %s = %s\n", d.vnode, name, d.value)
		}
		again, err := parseDefinition(b.String())
		if err != nil || !reflect.DeepEqual(again, all) {
			t.Errorf("%q is written %q and read as %+v, %v", text, b.String(), again, err)
		}
	})
}

// No line of a mom's configuration breaks it: a directive is taken, passed over or refused by
// its name.
func FuzzDirective(f *testing.F) {
	for _, line := range []string{
		"$logevent 0x1ff", "$usecp *:/home /home", "$tmpdir /scratch/a b", "$action checkpoint_abort 30 !/bin/ckpt %sid", "$action x",
		"$enforce mem", "$job_launch_early maybe", "$cgroup_parent ../x", "$max_poll_downtime 0", "$nosuch", "$", "ideal_load 2",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		err := new(settings).directive(line)
		word, _, _ := strings.Cut(strings.Join(strings.Fields(line), " "), " ")
		if err != nil && !strings.Contains(err.Error(), word) {
			t.Errorf("%q is refused with %v", line, err)
		}
	})
}
