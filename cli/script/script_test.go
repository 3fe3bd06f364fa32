package script

import (
	"reflect"
	"strings"
	"testing"
)

func TestDirectives(t *testing.T) {
	for _, c := range []struct {
		name, script, prefix string
		want                 [][]string
	}{
		{
			"the usual", "#!/bin/sh\n#PBS -N job\n#PBS -l select=1:ncpus=2,walltime=1\necho\n", "#PBS",
			[][]string{{"-N", "job"}, {"-l", "select=1:ncpus=2,walltime=1"}},
		},
		{"ended by the first command", "#PBS -N a\necho\n#PBS -N b\n", "#PBS", [][]string{{"-N", "a"}}},
		{"comments, blanks and colons do not end them", "# hello\n\n: note\n  \t\n#PBS -h\n", "#PBS", [][]string{{"-h"}}},
		{"indented", "  #PBS -h", "#PBS", [][]string{{"-h"}}},
		{"without a blank", "#PBS-h", "#PBS", [][]string{{"-h"}}},
		{"own prefix", "#PBS -h\n#BATCH -V\n", "#BATCH", [][]string{{"-V"}}},
		{"empty prefix", "#PBS -h\n", "", nil},
		{"two options", "#PBS -h -V", "#PBS", [][]string{{"-h", "-V"}}},
		{"quotes", `#PBS -v "A=x y",B='q"q' -N ""`, "#PBS", [][]string{{"-v", `A=x y,B=q"q`, "-N", ""}}},
		{"backslash", `#PBS -v A=x\ y`, "#PBS", [][]string{{"-v", "A=x y"}}},
		{"continued", "#PBS -l \\\nncpus=1\necho", "#PBS", [][]string{{"-l", "ncpus=1"}}},
		{"carriage returns", "#PBS -N a\r\n#PBS -h\r\n", "#PBS", [][]string{{"-N", "a"}, {"-h"}}},
		{"nothing in it", "#PBS", "#PBS", [][]string{nil}},
		{"no script", "", "#PBS", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Directives([]byte(c.script), c.prefix)
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestDirectives_UnmatchedQuote(t *testing.T) {
	if _, err := Directives([]byte(`#PBS -N "a`), "#PBS"); err == nil || err.Error() != `unmatched "` {
		t.Errorf("got %v", err)
	}
}

func FuzzDirectives(f *testing.F) {
	f.Add([]byte("#!/bin/sh\n#PBS -l select=1 \\\n:ncpus=2\n#PBS -N 'a b'\necho\n"), "#PBS")
	f.Add([]byte("#PBS \\"), "#PBS")
	f.Fuzz(func(t *testing.T, text []byte, prefix string) {
		all, err := Directives(text, prefix)
		if err == nil && len(all) > strings.Count(string(text), "\n")+1 {
			t.Errorf("%d directives in %q", len(all), text)
		}
	})
}
