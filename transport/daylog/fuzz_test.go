package daylog

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// Whatever is told, a log gets one line of six fields, from which the text is read back.
func FuzzFormat(f *testing.F) {
	f.Add(int64(1795242350), true, uint16(0x8008), "5.srv", "Started; pid = 839")
	f.Add(int64(-1), false, uint16(0), "a\nb", "two\r\nlines\n\n")
	f.Add(int64(1<<40), true, uint16(0xffff), "", "\n")
	f.Add(int64(0), false, uint16(1), "job\n", "a\rb\x0b\u2028c")
	f.Fuzz(func(t *testing.T, unix int64, highRes bool, event uint16, object, text string) {
		at := time.Unix(unix%(1<<37), 123000).UTC()
		line := Format(at, highRes, event, "pbs_mom", "Job", object, text)
		body, ended := strings.CutSuffix(line, "\n")
		if !ended || strings.ContainsAny(body, "\r\n") {
			t.Fatalf("%q and %q make %q", object, text, line)
		}
		fields := strings.SplitN(body, ";", 4)
		if len(fields) != 4 || len(fields[1]) != 4 || fields[2] != "pbs_mom" {
			t.Fatalf("%q", line)
		}
		words := func(s string) string {
			return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\r' || r == '\n' || r == ' ' }), " ")
		}
		if got, want := words(strings.TrimPrefix(fields[3], "Job;")), words(strings.TrimRight(object, "\n")+";"+text); got != want {
			t.Errorf("%q holds %q, not %q", line, got, want)
		}
	})
}

// Of the days that are kept long enough the oldest go, never more than leaves as many as are to be
// kept, and none that was not over by then.
func FuzzExpired(f *testing.F) {
	f.Add("20261101,20261102,20261103,20261120", "20261121", 2)
	f.Add("20261101", "20261121", 1)
	f.Add("99999999,00000000,20260230", "20261121", 1)
	f.Add("20261101", "x", 1)
	f.Add("", "20261121", -1)
	f.Add("20261101,20261102", "20261121", 1<<62)
	f.Fuzz(func(t *testing.T, list, today string, keep int) {
		days := slices.DeleteFunc(strings.Split(list, ","), func(d string) bool { return !IsDay(d) })
		was := slices.Clone(days)
		gone := Expired(days, today, keep)
		if !slices.Equal(days, was) {
			t.Fatalf("%q was changed to %q", was, days)
		}
		if len(gone) > 0 && (keep <= 0 || len(days)-len(gone) < keep) || !slices.IsSorted(gone) {
			t.Fatalf("of %q, as of %q, with %d to keep, %q go", days, today, keep, gone)
		}
		for _, d := range gone {
			if d >= today || !slices.Contains(days, d) {
				t.Errorf("%s goes as of %s", d, today)
			}
		}
	})
}
