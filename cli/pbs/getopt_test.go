package pbs

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"rampart/cli"
)

const vectorFile = "testdata/getopt/vectors.golden"

// A vector is one command line.
type vector struct {
	command *cli.Command
	args    []string
}

func (v vector) String() string { return v.command.Name + "|" + strings.Join(v.args, "|") }

// vectors returns what people and scripts write, for each command and each of its options:
// attached and separate values, bundles, repeats, options behind operands, missing values.
func vectors() []vector {
	var all []vector
	for _, c := range Commands() {
		add := func(args ...string) { all = append(all, vector{c, args}) }
		flags, valued := letters(c.Grammar)
		for _, l := range valued {
			o := "-" + l
			add(o, "value")
			add(o + "value")
			add(o + "=value")
			add(o, "-"+l)
			add(o, "--")
			add(o, "")
			add(o, "-1")
			add(o, "a,b=c d", o+"e")
			add("1.srv", o, "value", "2")
			add("1.srv", o+"value", "--", o, "x")
			add("--", o, "value")
			add(o)
			add("1", o)
		}
		for _, f := range flags {
			add("-" + f)
			add("-" + f + f)
			add("1.srv", "-"+f, "2")
			add("-" + f + "?")
			add("-"+f, "-", "--", "-"+f)
		}
		for _, f := range first(flags, 4) {
			for _, l := range first(valued, 4) {
				add("-" + f + l + "value")
				add("-"+f+l, "value")
				add("-" + l + f)
				add("-" + f + l)
			}
		}
		if len(flags) > 1 {
			add("-"+strings.Join(flags, ""), "1")
		}
		add()
		add("")
		add("-")
		add("--")
		add("--", "--", "-x")
		add("-:")
		add("-%")
		add("a", "b", "-%", "c")
	}
	return all
}

// letters returns the options without and with values.
func letters(g cli.Grammar) (flags, valued []string) {
	for i := range len(g.Letters) {
		switch {
		case g.Letters[i] == ':' || g.Letters[i] == '+':
		case i+1 < len(g.Letters) && g.Letters[i+1] == ':':
			valued = append(valued, g.Letters[i:i+1])
		default:
			flags = append(flags, g.Letters[i:i+1])
		}
	}
	return flags, valued
}

func first(list []string, n int) []string { return list[:min(n, len(list))] }

// seen writes a line as getopt(1) prints it: options, "--", operands, faults.
func seen(l cli.Line, g cli.Grammar) string {
	var words []string
	_, valued := letters(g)
	for _, o := range l.Options {
		words = append(words, "-"+o.Name)
		if slices.Contains(valued, o.Name) {
			words = append(words, quoted(o.Value))
		}
	}
	words = append(words, "--")
	for _, o := range l.Operands {
		words = append(words, quoted(o))
	}
	for _, f := range l.Faults {
		words = append(words, "! "+f)
	}
	return strings.Join(words, " ")
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// The golden file was written by getopt(1) of util-linux, which asks getopt(3) of glibc.
func TestGetopt_VectorsOfEveryCommand(t *testing.T) {
	if *update {
		writeVectors(t)
	}
	want, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, v := range vectors() {
		got.WriteString(v.String() + " => " + seen(v.command.Grammar.Parse(v.args), v.command.Grammar) + "\n")
	}
	compare(t, got.String(), string(want))
	if n := strings.Count(got.String(), "\n"); n < 1000 {
		t.Errorf("only %d vectors", n)
	}
}

func writeVectors(t *testing.T) {
	t.Helper()
	var out strings.Builder
	for _, v := range vectors() {
		out.WriteString(v.String() + " => " + system(t, v) + "\n")
	}
	if err := os.WriteFile(vectorFile, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// system asks getopt(1) what it sees.
func system(t *testing.T, v vector) string {
	t.Helper()
	cmd := exec.Command("getopt", append([]string{"-n", "x", "-o", v.command.Grammar.Letters, "--"}, v.args...)...)
	cmd.Env = []string{"LC_ALL=C", "PATH=" + os.Getenv("PATH")}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Skipf("no getopt to ask: %v", err)
	}
	words := []string{strings.TrimSpace(stdout.String())}
	for line := range strings.Lines(stderr.String()) {
		words = append(words, "! "+strings.TrimSpace(strings.TrimPrefix(line, "x: ")))
	}
	return strings.Join(words, " ")
}
