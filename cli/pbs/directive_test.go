package pbs

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestSplitDirectives(t *testing.T) {
	for text, want := range map[string][]string{
		"list server":                    {"list server"},
		" a ; b\nc ":                     {"a", "b", "c"},
		"# nothing\n\n":                  nil,
		"a # said\nb":                    {"a", "b"},
		"a x=b#c":                        {"a x=b#c"},
		`a x="b;c # d"; e`:               {`a x="b;c # d"`, "e"},
		"a \\\nb":                        {"a b"},
		"set s comment='it\nlist server": {"set s comment='it", "list server"},
		"set s comment='it\nis', x=\"a;\n#b\"\nlist server": {"set s comment='it\nis', x=\"a;\n#b\"", "list server"},
		"create node 'x\nlist node 'y":                      {"create node 'x", "list node 'y"},
		"create node 'x':y # a\nset s \\\n#":                {"create node 'x':y", "set s"},
	} {
		if got := splitDirectives(text); !reflect.DeepEqual(got, want) {
			t.Errorf("splitDirectives(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestParseDirective_Abbreviations(t *testing.T) {
	for line, want := range map[string][2]string{
		"c q a": {"create", "queue"}, "d n a": {"delete", "node"}, "s s scheduling=true": {"set", "server"},
		"u sc partition": {"unset", "sched"}, "l r": {"list", "resource"}, "p sched": {"print", "sched"},
		"l h": {"list", "hook"}, "i h x application/x-python default f": {"import", "hook"}, "e h x application/x-config base64": {"export", "hook"}, "LIST QUEUE": {"list", "queue"},
	} {
		d, err := parseDirective(line)
		if err != nil || d.verb != want[0] || d.object.word != want[1] {
			t.Errorf("parseDirective(%q) = %+v, %v; want %v", line, d, err, want)
		}
	}
	for _, line := range []string{"h", "q", "quit", "exit"} {
		if d, err := parseDirective(line); err != nil || d.object != nil {
			t.Errorf("parseDirective(%q) = %+v, %v", line, d, err)
		}
	}
}

func FuzzParseDirective(f *testing.F) {
	for _, line := range []string{
		"set queue q2 enabled=true,max_run=[u:PBS_GENERIC=2]", "set server managers += a@*", "list node @default",
		`set sched preempt_prio = "express_queue, normal_jobs"`, "unset server a,b", "set server nosuch=1", "c n a,b@c Mom=x",
		"set server comment='a\nb'\nlist server", "create node 'x\nlist node y'", "set s comment = \"it's\nso\", mailer='x",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, line := range splitDirectives(text) {
			d, err := parseDirective(line)
			var syntax *syntaxError
			switch {
			case errors.As(err, &syntax) && (syntax.at < 0 || syntax.at > len(line)):
				t.Errorf("%q: caret at %d", line, syntax.at)
			case err == nil && d.verb == "set" && len(d.changes) == 0:
				t.Errorf("%q: nothing to set", line)
			}
			if strings.Contains(withoutValues(line), "\n") {
				t.Errorf("a newline outside of quoted values in %q", line)
			}
		}
	})
}

// withoutValues returns a directive with its quoted values emptied.
func withoutValues(line string) string {
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		n := -1
		if line[i] == '"' || line[i] == '\'' {
			n = strings.IndexByte(line[i+1:], line[i])
		}
		if n < 0 {
			b.WriteByte(line[i])
			continue
		}
		if before := strings.TrimRight(b.String(), " \t"); !strings.HasSuffix(before, "=") && !strings.HasSuffix(before, ",") {
			b.WriteString(line[i : i+n+2])
		} else {
			b.WriteString(`""`)
		}
		i += n + 1
	}
	return b.String()
}
