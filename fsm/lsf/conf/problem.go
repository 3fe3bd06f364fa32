package conf

import (
	"fmt"
	"slices"
)

// A Problem is something in a file that is not as it should be. Of a fatal one nothing of the configuration is taken;
// otherwise what it names is ignored, and the rest is taken.
type Problem struct {
	Path    string
	Section string // empty: the file has none
	Line    int    // where the section ends
	Text    string
	Fatal   bool
}

// String returns the message as badmin prints it.
func (p Problem) String() string {
	if p.Section == "" {
		return fmt.Sprintf("File %s: %s", p.Path, p.Text)
	}
	return fmt.Sprintf("File %s in section %s ending at line %d: %s", p.Path, p.Section, p.Line, p.Text)
}

// Fatal reports whether one of the problems is fatal.
func Fatal(all []Problem) bool {
	return slices.ContainsFunc(all, func(p Problem) bool { return p.Fatal })
}

// problems collects what is wrong with all files.
type problems struct{ all []Problem }

func (p *problems) warn(s section, format string, args ...any) { p.add(s, false, format, args) }
func (p *problems) fail(s section, format string, args ...any) { p.add(s, true, format, args) }

func (p *problems) add(s section, fatal bool, format string, args []any) {
	p.all = append(p.all, Problem{Path: s.path, Section: s.name, Line: s.end, Text: fmt.Sprintf(format, args...), Fatal: fatal})
}
