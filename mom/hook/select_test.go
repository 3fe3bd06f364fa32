package hook

import (
	"slices"
	"testing"
)

// RS-9, and what else the specification says of increment_chunks.
func TestRuntime_RS9_IncrementChunks(t *testing.T) {
	a, lines := try(t, newTestRuntime(t), queue(), `
import pbs
def show(s, *args, **kw):
    try:
        out = pbs.select(s).increment_chunks(*args, **kw)
        pbs.logmsg(pbs.LOG_DEBUG, "%s %s" % (type(out).__name__, out))
    except ValueError as e:
        pbs.logmsg(pbs.LOG_DEBUG, str(e))
given = "ncpus=3:mem=1gb+1:ncpus=2:mem=2gb+2:ncpus=1:mem=3gb"
same = pbs.select(given)
same.increment_chunks(2)
pbs.logmsg(pbs.LOG_DEBUG, str(same))
for by in (2, "3", "23.5%", {0: 0, 1: 4, 2: "50%"}):
    show(given, by)
show("5:" + given, {0: "50%", 1: "50%", 2: "50%"})
s = "ncpus=2:mem=2gb+ncpus=2:mem=2gb+2:ncpus=1:mem=1gb"
show(s, 2)
show(s, 2, first_chunk=True)
show("ncpus=1:a=\"x+y\"+2:ncpus=1", 1)
show("ncpus=2+3:ncpus=1", -1)
for by in ("x", 1.5, None, [1], {1: "x"}, {0: "x"}, {7: "x"}, {"1": 1}, {True: 1}, {-1: 1}, "%", "-1", "\u00b2", -1):
    show("ncpus=1+ncpus=1", by)
`)
	want := []string{
		"ncpus=3:mem=1gb+1:ncpus=2:mem=2gb+2:ncpus=1:mem=3gb",
		"select 1:ncpus=3:mem=1gb+3:ncpus=2:mem=2gb+4:ncpus=1:mem=3gb",
		"select 1:ncpus=3:mem=1gb+4:ncpus=2:mem=2gb+5:ncpus=1:mem=3gb",
		"select 1:ncpus=3:mem=1gb+2:ncpus=2:mem=2gb+3:ncpus=1:mem=3gb",
		"select 1:ncpus=3:mem=1gb+5:ncpus=2:mem=2gb+3:ncpus=1:mem=3gb",
		"select 7:ncpus=3:mem=1gb+2:ncpus=2:mem=2gb+3:ncpus=1:mem=3gb",
		"select 1:ncpus=2:mem=2gb+3:ncpus=2:mem=2gb+4:ncpus=1:mem=1gb",
		"select 3:ncpus=2:mem=2gb+3:ncpus=2:mem=2gb+4:ncpus=1:mem=1gb",
		`select 1:ncpus=1:a="x+y"+3:ncpus=1`,
		"select 1:ncpus=2+2:ncpus=1", "bad increment specs",
	}
	for range 13 {
		want = append(want, "bad increment specs")
	}
	if !slices.Equal(lines, want) || !a.Accept {
		t.Errorf("logged %q, want %q; %+v", lines, want, a)
	}
}
