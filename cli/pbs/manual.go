package pbs

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"rampart/cli"
)

// manual is what the manual pages say of commands and options.
//
//go:embed manual.txt
var manual string

// operators are the commands that are for those who run the cluster: their pages are in section 8.
var operators = []string{"pbsnodes", "qdisable", "qenable", "qmgr", "qrun", "qstart", "qstop", "qterm", "tracejob"}

// A Page is the manual page of a command.
type Page struct {
	File string // man1/qsub.1B
	Text string // for troff
}

// Pages returns the manual pages of all commands.
func Pages() []Page {
	var pages []Page
	for _, c := range Commands() {
		section := "1"
		if slices.Contains(operators, c.Name) {
			section = "8"
		}
		pages = append(pages, Page{File: fmt.Sprintf("man%s/%s.%sB", section, c.Name, section), Text: page(c, section+"B")})
	}
	return pages
}

// manualOf returns what the manual says of a command: sentences, and its options, each with its text behind a tab.
func manualOf(name string) (text string, options []string, ok bool) {
	_, rest, ok := strings.Cut(manual, "\n= "+name+"\n")
	for line := range strings.Lines(rest) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "= "):
			return text, options, ok
		case strings.HasPrefix(line, "-"):
			options = append(options, line)
		default:
			text = line
		}
	}
	return text, options, ok
}

func page(c *cli.Command, section string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s %s \"\" Rampart \"PBS commands\"\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.nf\n", c.Name, section, troff(c.Name), troff(c.Summary))
	usage := strings.TrimSpace(c.Usage)
	for _, word := range []string{"usage:", "Usage:"} {
		usage = strings.TrimSpace(strings.TrimPrefix(usage, word))
	}
	for line := range strings.SplitSeq(usage, "\n") {
		fmt.Fprintln(&b, troff(strings.TrimSpace(line)))
	}
	b.WriteString(".fi\n")
	text, options, _ := manualOf(c.Name)
	if text != "" {
		fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n", troff(text))
	}
	if len(options) > 0 {
		b.WriteString(".SH OPTIONS\n")
	}
	for _, o := range options {
		option, what, _ := strings.Cut(o, "\t")
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", troff(option), troff(what))
	}
	b.WriteString(".SH SEE ALSO\nThe documents of Rampart, in /usr/share/doc/rampart where its package is installed.\n")
	return b.String()
}

// troff returns text as troff sets it: what it would take for its own is escaped.
func troff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		return `\&` + text
	}
	return text
}
