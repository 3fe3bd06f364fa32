package cli

import (
	"slices"
	"strings"
	"testing"
)

// The wanted column is what getopt(3) of glibc hands out for the vector.
func TestParse_AsGetopt(t *testing.T) {
	const letters = "a:hl:N:VzW:"
	for _, c := range []struct {
		name, args, want string
	}{
		{"separate value", "-l|select=1", "l=select=1 ;"},
		{"attached value", "-lselect=1:ncpus=2", "l=select=1:ncpus=2 ;"},
		{"commas kept", "-lncpus=1,mem=2gb", "l=ncpus=1,mem=2gb ;"},
		{"repeated", "-l|a|-l|b", "l=a l=b ;"},
		{"bundle", "-hVz", "h V z ;"},
		{"bundle ends in a value", "-hNjob", "h N=job ;"},
		{"bundle takes the next argument", "-hN|job", "h N=job ;"},
		{"value that looks like an option", "-N|-V", "N=-V ;"},
		{"value that is two dashes", "-N|--", "N=-- ;"},
		{"empty value", "-N|", "N= ;"},
		{"options after operands", "script|-V|more|-N|x", "V N=x ; script more"},
		{"two dashes", "-V|--|-h|x", "V ; -- -h x"},
		{"operands move behind the dashes", "x|--|y", "; -- x y"},
		{"only the first two dashes count", "--|a|--|b", "; -- a -- b"},
		{"single dash is an operand", "-|-V", "V ; -"},
		{"equals is part of the value", "-N=x", "N==x ;"},
		{"unknown letter", "-Z", "; ! invalid option -- 'Z'"},
		{"unknown inside a bundle", "-hZV", "h V ; ! invalid option -- 'Z'"},
		{"missing value", "-V|-N", "V ; ! option requires an argument -- 'N'"},
		{"long option of nobody", "--ab", "a=b ; ! invalid option -- '-'"},
		{"colon is no option", "-:", "; ! invalid option -- ':'"},
		{"own long option", "--server|s1|x", "server=s1 ; x"},
		{"own long option, attached", "--server=s1:15001", "server=s1:15001 ;"},
		{"own switch", "--stale|x", "stale ; x"},
		{"own long option without value", "--server", "; ! option '--server' requires an argument"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := Grammar{Letters: letters, Long: map[string]bool{"server": true, "stale": false}}
			if got := show(g.Parse(strings.Split(c.args, "|")), g); got != c.want {
				t.Errorf("Parse(%q)\n got %s\nwant %s", c.args, got, c.want)
			}
		})
	}
}

// Long options as pbs_rsub has them.
func TestParse_Words(t *testing.T) {
	g := Grammar{Letters: "I:R:", Long: map[string]bool{"server": true}, Words: map[string]int{"hosts": -1, "job": 1}}
	for _, c := range []struct {
		args    string
		want    string
		misused bool
	}{
		{"--hosts|a|b|-R|1|c", "hosts=a hosts=b R=1 ; c", false},
		{"-R|1|--hosts|a|-I5", "R=1 hosts=a I=5 ;", false},
		{"--hosts", "hosts= ;", false},
		{"--hosts|-R|1", "hosts= R=1 ;", false},
		{"--hosts|a|--hosts|b", "hosts=a hosts=b ;", false},
		{"--hosts|a|--|b", "hosts=a ; -- b", false},
		{"--hosts|-|a", "hosts=- hosts=a ;", false},
		{"--job|5|6", "job=5 ; 6", false},
		{"--job|-I|-5", "job= I=-5 ;", false},
		{"--server|s|--job|5", "server=s job=5 ;", false},
		{"--hosts=a", ";", true},
		{"--job=5|x", "; x", true},
		{"--nosuch|x|-Z", "; x ! invalid option -- 'Z'", true},
	} {
		l := g.Parse(strings.Split(c.args, "|"))
		if got := show(l, g); got != c.want || l.Misused != c.misused {
			t.Errorf("Parse(%q)\n got %s, %v\nwant %s, %v", c.args, got, l.Misused, c.want, c.misused)
		}
	}
}

func TestParse_PlusStopsAtTheFirstOperand(t *testing.T) {
	g := Grammar{Letters: "+n:v"}
	if got, want := show(g.Parse([]string{"-v", "ls", "-n", "1"}), g), "v ; ls -n 1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func show(l Line, g Grammar) string {
	var words []string
	for _, o := range l.Options {
		w := o.Name
		wants, long := g.Long[o.Name]
		if _, word := g.Words[o.Name]; wants || word {
			w += "=" + o.Value
		} else if _, wants := g.letter(o.Name[0]); wants && !long {
			w += "=" + o.Value
		}
		words = append(words, w)
	}
	words = append(words, ";")
	if l.Dashed {
		words = append(words, "--")
	}
	words = append(words, l.Operands...)
	for _, f := range l.Faults {
		words = append(words, "! "+f)
	}
	return strings.Join(words, " ")
}

func FuzzParse(f *testing.F) {
	f.Add("-lselect=1\x00-hN\x00x\x00--\x00y", "hl:N:")
	f.Add("--server=x\x00-", "+v")
	f.Fuzz(func(t *testing.T, line, letters string) {
		g := Grammar{Letters: letters, Long: map[string]bool{"server": true}}
		l := g.Parse(strings.Split(line, "\x00"))
		again := g.Parse(append(rebuild(l, g), append([]string{"--"}, l.Operands...)...))
		if !slices.Equal(l.Options, again.Options) || !slices.Equal(l.Operands, again.Operands) {
			t.Errorf("%q, %q: parsed %v, again %v", line, letters, l, again)
		}
	})
}

// rebuild writes the options in their plainest form.
func rebuild(l Line, g Grammar) []string {
	var args []string
	for _, o := range l.Options {
		if _, long := g.Long[o.Name]; long {
			args = append(args, "--"+o.Name+"="+o.Value)
			continue
		}
		args = append(args, "-"+o.Name)
		if _, wants := g.letter(o.Name[0]); wants {
			args = append(args, o.Value)
		}
	}
	return args
}
