package render

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode"

	"rampart/transport/api"
)

// A Kind is how qmgr calls the objects of one kind.
type Kind struct {
	Word    string // in directives: "queue"
	Title   string // above a listing: "Queue"
	Plural  string // in the comments of print: "queues"; empty: no such comment
	Define  string // in the comments of print: "scheduler"
	What    string // "attributes" or "properties"
	Unnamed bool   // set directives name no object
	Given   bool   // the objects are always there: print creates none
	// AtCreate reports whether an attribute must be given with create.
	AtCreate func(o *api.Object, a *api.Attribute) bool
	// Settable returns what print sets of the attribute, if anything.
	Settable func(*api.Attribute) (value string, ok bool)
	// Late reports whether print sets the attribute when all objects are made, since it names
	// another of them.
	Late func(*api.Attribute) bool
	// Listed reports whether print sets the attribute item by item.
	Listed func(*api.Attribute) bool
}

// The column after which qmgr's list puts an item on a line of its own. It does
// not start counting afresh after a fold: once folded, each item gets a line.
const listFoldAt = 78

// List writes an object as qmgr's list does; only narrows it to some attributes.
func List(w io.Writer, k Kind, o *api.Object, only []string) {
	fmt.Fprintf(w, "%s %s\n", k.Title, o.Name)
	for _, a := range wanted(o, only) {
		name := label(a)
		fmt.Fprintf(w, "    %s = ", name)
		at := fixedAround + len(name)
		for n, item := range strings.Split(Printable(a.Value), ",") {
			if n > 0 {
				io.WriteString(w, ",")
				at++
				if at+len(item) >= listFoldAt {
					io.WriteString(w, "\n\t")
				}
			}
			io.WriteString(w, item)
			at += len(item)
		}
		io.WriteString(w, "\n")
	}
	io.WriteString(w, "\n")
}

func wanted(o *api.Object, only []string) []*api.Attribute {
	if len(only) == 0 {
		return o.Attributes
	}
	var out []*api.Attribute
	for _, a := range o.Attributes {
		for _, name := range only {
			if name == a.Name || name == label(a) {
				out = append(out, a)
			}
		}
	}
	return out
}

// PrintHead writes the comment above all objects of a kind.
func PrintHead(w io.Writer, k Kind) {
	if k.Plural != "" {
		fmt.Fprintf(w, "#\n# Create %s and set their %s.\n#\n", k.Plural, k.What)
	}
}

// Print writes the directives that make an object again, but for what PrintLate writes.
func Print(w io.Writer, k Kind, o *api.Object, only []string) {
	fmt.Fprintf(w, "#\n# Create and define %s %s\n#\n", cmp.Or(k.Define, k.Word), o.Name)
	if !k.Given {
		fmt.Fprintf(w, "create %s %s%s\n", k.Word, o.Name, atCreate(k, o))
	}
	settings(w, k, subject(k, o), o, only, false)
}

// PrintLate writes what can be set of the objects only when all of them are made.
func PrintLate(w io.Writer, k Kind, all []*api.Object, only []string) {
	if k.Late == nil {
		return
	}
	for _, o := range all {
		settings(w, k, subject(k, o), o, only, true)
	}
}

func subject(k Kind, o *api.Object) string {
	if k.Unnamed {
		return k.Word
	}
	return k.Word + " " + o.Name
}

// atCreate returns the attributes that create must give, with the blank before them.
func atCreate(k Kind, o *api.Object) string {
	if k.AtCreate == nil {
		return ""
	}
	var given []string
	for _, a := range o.Attributes {
		if k.AtCreate(o, a) {
			given = append(given, a.Name+"="+a.Value)
		}
	}
	if len(given) == 0 {
		return ""
	}
	return " " + strings.Join(given, ",")
}

// PrintServer writes the server's part of qmgr's print server.
func PrintServer(w io.Writer, k Kind, o *api.Object, only []string) {
	io.WriteString(w, "#\n# Set server attributes.\n#\n")
	settings(w, k, k.Word, o, only, false)
}

func settings(w io.Writer, k Kind, subject string, o *api.Object, only []string, late bool) {
	for _, a := range wanted(o, only) {
		if late != (k.Late != nil && k.Late(a)) {
			continue
		}
		for n, value := range directiveValues(k, a) {
			op := "="
			if n > 0 {
				op = "+="
			}
			fmt.Fprintf(w, "set %s %s %s %s\n", subject, label(a), op, quoted(value))
		}
	}
}

func directiveValues(k Kind, a *api.Attribute) []string {
	value := a.Value
	if k.Settable != nil {
		var ok bool
		if value, ok = k.Settable(a); !ok {
			return nil
		}
	}
	if k.Listed == nil || !k.Listed(a) {
		return []string{value}
	}
	return strings.Split(value, ",")
}

// quoted puts quotes around a value that qmgr would otherwise take apart.
func quoted(value string) string {
	switch {
	case value == `""`:
		return value // it stands for nothing already
	case value == "" || !strings.ContainsAny(value, ",#\"';") && !strings.ContainsFunc(value, unicode.IsSpace) && !strings.HasSuffix(value, `\`):
		return cmp.Or(value, `""`)
	case strings.Contains(value, `"`):
		return "'" + value + "'"
	default:
		return `"` + value + `"`
	}
}
