package render

import (
	"bytes"
	"io"
	"testing"
	"time"

	"rampart/transport/api"
)

// What a user puts into an attribute reaches no terminal as a control character; only JSON has it as it is
// (specification: cli-contract section 3).
func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "größe\tof\nit": "größe\tof\nit", "\x01a\x1b[2J\x7f": "^Aa^[[2J^?", "\x00\r\x1f\xff": "^@^M^_\xff", "^A": "^A",
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	o := &api.Object{Name: "1.srv", Attributes: []*api.Attribute{{Name: "comment", Value: "a\x1b,\x08b"}}}
	for name, form := range map[string]struct {
		write func(io.Writer)
		want  string
	}{
		"qstat -f":    {func(w io.Writer) { Long(w, "Job Id: 1.srv", o, false, time.UTC) }, "Job Id: 1.srv\n    comment = a^[,^Hb\n\n"},
		"qstat -fw":   {func(w io.Writer) { Long(w, "Job Id: 1.srv", o, true, time.UTC) }, "Job Id: 1.srv\n    comment = a^[,^Hb\n\n"},
		"dsv":         {func(w io.Writer) { Wide(w, "1.srv", o, "|", Plain) }, "1.srv|comment=a^[,^Hb\n"},
		"pbsnodes":    {func(w io.Writer) { Node(w, o, time.UTC) }, "1.srv\n     comment = a^[,^Hb\n\n"},
		"pbs_rstat":   {func(w io.Writer) { Reservation(w, o, time.UTC) }, "Resv ID: 1.srv\ncomment = a^[,^Hb\n\n"},
		"qmgr's list": {func(w io.Writer) { List(w, Kind{Title: "Job"}, o, nil) }, "Job 1.srv\n    comment = a^[,^Hb\n\n"},
	} {
		var b bytes.Buffer
		if form.write(&b); b.String() != form.want {
			t.Errorf("%s: %q, want %q", name, b.String(), form.want)
		}
	}
}
