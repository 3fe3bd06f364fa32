package pbs

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rampart/cli"
	"rampart/fsm/attr"
)

// fuzzEnv is a world without files and servers.
func fuzzEnv() *cli.Env {
	return &cli.Env{
		Environ: func() []string { return []string{"HOME=/home/ann", "PWD=/home/ann"} },
		Now:     func() time.Time { return time.Unix(1795242350, 0) }, Zone: time.UTC,
		Getwd: func() (string, error) { return "/home/ann", nil },
	}
}

// What -l and -W say is either refused or a list of named values.
func FuzzOptionValues(f *testing.F) {
	f.Add("select=2:ncpus=1+1:mem=2gb,walltime=01:00:00", "depend=afterok:1,umask=022")
	f.Add("software='a,b'", "stagein=a@b:c,d@e:f")
	f.Add("=,=", "block")
	f.Fuzz(func(t *testing.T, l, w string) {
		r := &request{env: fuzzEnv()}
		if r.resources(l) {
			for _, a := range r.changes {
				if a.Name != "Resource_List" || a.Resource == "" {
					t.Errorf("-l %q: %v", l, a)
				}
			}
		}
		r.extended(w)
		for _, a := range r.changes {
			if !isWord(a.Name) {
				t.Errorf("-W %q: %v", w, a)
			}
		}
	})
}

// The variables of -v arrive in the job as they were given.
func FuzzVariables(f *testing.F) {
	f.Add("A", "plain")
	f.Add("B", `a,b\c"d'e`)
	f.Fuzz(func(t *testing.T, name, value string) {
		if !isWord(name) || strings.HasPrefix(name, "PBS_O_") || !isText(value) {
			return
		}
		quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
		r := &request{env: fuzzEnv(), variables: name + "=" + quoted + ",Z=1"}
		list, err := r.variableList()
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := attr.Variable(list, name); !ok || got != value {
			t.Errorf("-v %s=%s: the job has %q", name, quoted, got)
		}
	})
}

func isText(s string) bool { return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' }) }

// Whatever qselect is given, what it asks for names attributes.
func FuzzSelectors(f *testing.F) {
	for _, s := range selectors() {
		f.Add(s.letter, ".gt.4")
		f.Add(s.letter, "ncpus.ge.4,mem=2gb")
	}
	f.Fuzz(func(t *testing.T, letter, value string) {
		all := selectors()
		i := slices.IndexFunc(all, func(s selector) bool { return s.letter == letter })
		if i < 0 {
			return
		}
		criteria, ok := all[i].read(fuzzEnv(), value)
		for _, c := range criteria {
			if _, known := attr.Lookup(attr.Job, c.Name); ok && !known {
				t.Errorf("-%s %q asks for %s", letter, value, c.Name)
			}
		}
	})
}

// A line of a log is of the job or it is not; it never breaks the trace.
func FuzzTrace(f *testing.F) {
	f.Add("11/21/2026 06:25:41.000123;0008;pbs_mom;Job;5.hosta;Started; pid = 839", "5.hosta")
	f.Add("11/21/2026 06:25:41;Q;5.hosta;user=ann", "5")
	f.Fuzz(func(t *testing.T, line, id string) {
		tr := &trace{columns: 40}
		for _, letter := range []string{"A", "S"} {
			m, ok := tr.message(traceSource{letter: letter}, line, id)
			if !ok {
				continue
			}
			if !strings.HasPrefix(line, m.shown+";") || !strings.HasSuffix(line, ";"+m.text) || len(m.at) != len(m.shown)-1 {
				t.Errorf("%q became %+v", line, m)
			}
			if got := strings.ReplaceAll(strings.ReplaceAll(tr.folded(m.text, 9), "\n         ", ""), "\n", ""); got != strings.ReplaceAll(strings.ReplaceAll(m.text, "\n         ", ""), "\n", "") {
				t.Errorf("%q folded is %q", m.text, got)
			}
		}
	})
}
