package attr

import "testing"

func TestOptions(t *testing.T) {
	for _, letter := range []byte(OptionLetters()) {
		o, ok := OptionOf(letter)
		if !ok || o.Letter != letter {
			t.Errorf("-%c is found as %+v", letter, o)
		}
		d, ok := Lookup(Job, o.Attribute)
		if !ok || d.Write != User {
			t.Errorf("-%c sets %s, which no user may", letter, o.Attribute)
			continue
		}
		if o.Flag != (o.Value != "") {
			t.Errorf("-%c is a flag without a value, or the other way round", letter)
		}
		if o.Alter && d.OnCreate {
			t.Errorf("-%c of qalter sets %s, which is set on creation only", letter, o.Attribute)
		}
		if o.Flag {
			if _, err := d.Parse(o.Value); err != nil {
				t.Errorf("-%c: %v", letter, err)
			}
		}
	}
	for letter, want := range map[byte]string{'N': "Job_Name", 'o': "Output_Path", 'p': "Priority", 'l': "", 'q': "", 'Z': ""} {
		if o, _ := OptionOf(letter); o.Attribute != want {
			t.Errorf("-%c sets %q, want %q", letter, o.Attribute, want)
		}
	}
}

func TestAdditional(t *testing.T) {
	for _, name := range []string{
		"umask", "run_count", "group_list", "pwd", "block", "max_run_subjobs", "depend", "sandbox",
		"stagein", "stageout", "release_nodes_on_stageout",
	} {
		if _, ok := Additional(name); !ok {
			t.Errorf("the value of -W %s is not judged", name)
		}
	}
	for _, name := range []string{"blah", "Job_Name", "", "priority", "tolerate_node_failures"} {
		if _, ok := Additional(name); ok {
			t.Errorf("the value of -W %s is judged", name)
		}
	}
}
