package cli

import (
	"fmt"
	"slices"
	"strings"
)

// A Manual holds the text of the manual pages of a set of commands.
type Manual struct {
	// Text has of each command "= NAME", lines of what it does besides its summary, and its options, each with its text behind a tab.
	Text string
	Set  string // of what the commands are: "PBS commands"
	// Suffix stands behind the number of a page's section: B for PBS.
	Suffix string
	// Operators are the commands that are for those who run the cluster: their pages are in section 8.
	Operators []string
}

// A Page is the manual page of a command.
type Page struct {
	File string // man1/qsub.1B
	Text string // for troff
}

// Pages returns the pages of commands.
func (m *Manual) Pages(commands []*Command) []Page {
	pages := make([]Page, 0, len(commands))
	for _, c := range commands {
		section := "1"
		if slices.Contains(m.Operators, c.Name) {
			section = "8"
		}
		pages = append(pages, Page{File: fmt.Sprintf("man%s/%s.%s%s", section, c.Name, section, m.Suffix), Text: m.page(c, section+m.Suffix)})
	}
	return pages
}

// Of returns what the manual says of a command: sentences, and its options, each with its text behind a tab.
func (m *Manual) Of(name string) (text string, options []string, ok bool) {
	_, rest, ok := strings.Cut(m.Text, "\n= "+name+"\n")
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

func (m *Manual) page(c *Command, section string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s %s \"\" Rampart \"%s\"\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.nf\n", c.Name, section, m.Set, troff(c.Name), troff(c.Summary))
	usage := strings.TrimSpace(c.Usage)
	for _, word := range []string{"usage:", "Usage:"} {
		usage = strings.TrimSpace(strings.TrimPrefix(usage, word))
	}
	for line := range strings.SplitSeq(usage, "\n") {
		fmt.Fprintln(&b, troff(strings.TrimSpace(line)))
	}
	b.WriteString(".fi\n")
	text, options, _ := m.Of(c.Name)
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
