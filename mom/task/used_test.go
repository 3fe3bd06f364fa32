package task

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/spool"
)

// values writes what hooks have set: "type name value".
func values(lines ...string) []spool.Used {
	var all []spool.Used
	for _, l := range lines {
		f := strings.SplitN(l, " ", 3)
		all = append(all, spool.Used{Type: f[0], Resource: f[1], Value: f[2]})
	}
	return overlaid(nil, all)
}

// The values of the conformance cases (specification: resources-used section 5).
var (
	ms = values("size vmem 9gb", "long foo_i 9", "float foo_f 0.09", `string foo_str {"seven":7}`, "time cput 00:00:10",
		`string_array stra "glad,elated","happy"`, `string foo_str3 {"a":6,"b":"some value #$%^&*@","c":54.4,"d":"32.5gb"}`,
		"string foo_str2 seven", "string foo_str4 eight", "boolean foo_bool True")
	others = values("size vmem 10gb", "long foo_i 10", "float foo_f 0.1", `string foo_str {"eight":8,"nine":9}`, "time cput 00:00:20",
		`string_array stra "cucumbers,bananas"`, `string foo_str2 {"seven":7}`, `string foo_str3 "vn1":4,"vn2":5,"vn3":6`, "boolean foo_bool False")
)

func TestUsed_SetByHooks(t *testing.T) {
	three := in(Running, asked, limited("ncpus", "3"))
	three.Peak = Peak{CPU: time.Minute, Wall: 10 * time.Second, VSize: 1 << 40, RSS: 1024}
	three.HookUsed = ms
	three.Shares = map[pbs.HostName]Share{"hostb": {Hooked: others, Peak: Peak{RSS: 1 << 20}}, "hostc": {Hooked: others}}
	lone := in(Running, limited("ncpus", "1"))
	lone.HookUsed = ms
	alone := three // the sisters' hooks have set nothing
	alone.Shares = map[pbs.HostName]Share{"hostb": {}, "hostc": {}}
	missing := three // one that was down before its first report
	missing.Shares = map[pbs.HostName]Share{"hostc": {Hooked: others}}
	for _, c := range []struct {
		name    string
		task    Task
		want    []string
		misfits []string
	}{
		{"RU-1", three, []string{
			"cpupercent=0", "cput=00:00:50", "foo_bool=True", "foo_f=0.29", "foo_i=29", `foo_str='{"seven": 7, "eight": 8, "nine": 9}'`,
			"foo_str4=eight", "mem=1025kb", "ncpus=3", `stra="glad,elated","happy"`, "vmem=29gb", "walltime=00:00:10",
		}, []string{"foo_str2 hosta seven", `foo_str3 hostb "vn1":4,"vn2":5,"vn3":6`, `foo_str3 hostc "vn1":4,"vn2":5,"vn3":6`}},
		{"RU-11", lone, []string{
			"cpupercent=0", "cput=00:00:10", "foo_bool=True", "foo_f=0.09", "foo_i=9", `foo_str='{"seven": 7}'`, "foo_str2=seven",
			`foo_str3='{"a": 6, "b": "some value #$%^&*@", "c": 54.4, "d": "32.5gb"}'`, "foo_str4=eight",
			"mem=0kb", "ncpus=1", `stra="glad,elated","happy"`, "vmem=9gb", "walltime=00:00:00",
		}, nil},
		{"RU-12", alone, []string{
			"cpupercent=0", "cput=00:00:10", "foo_bool=True", "foo_f=0.09", "foo_i=9", `foo_str='{"seven": 7}'`, "foo_str2=seven",
			`foo_str3='{"a": 6, "b": "some value #$%^&*@", "c": 54.4, "d": "32.5gb"}'`, "foo_str4=eight",
			"mem=1kb", "ncpus=3", `stra="glad,elated","happy"`, "vmem=9gb", "walltime=00:00:10",
		}, nil},
		{"a sister that never reported", missing, []string{
			"cpupercent=0", "cput=00:00:30", "foo_bool=True", "foo_f=0.19", "foo_i=19", `foo_str='{"seven": 7, "eight": 8, "nine": 9}'`,
			"foo_str4=eight", "mem=1kb", "ncpus=3", `stra="glad,elated","happy"`, "vmem=19gb", "walltime=00:00:10",
		}, []string{"foo_str2 hosta seven", `foo_str3 hostc "vn1":4,"vn2":5,"vn3":6`}},
	} {
		var got, misfits []string
		for _, u := range c.task.Used() {
			got = append(got, u.Resource+"="+u.Value)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%q, want\n%q", c.name, got, c.want)
		}
		for _, m := range c.task.Reckoning().Misfits() {
			misfits = append(misfits, m.Resource+" "+string(m.Host)+" "+m.Value)
		}
		if !slices.Equal(misfits, c.misfits) {
			t.Errorf("%s: misfits %q, want %q", c.name, misfits, c.misfits)
		}
	}
}

// A hook reads what its own host has contributed, as hooks there have set it: it may add to that.
func TestOwn(t *testing.T) {
	job := in(Running, asked, limited("ncpus", "3"))
	job.Peak = Peak{CPU: time.Minute, Wall: 10 * time.Second, RSS: 1024}
	job.HookUsed = values("long foo_i 9", `string foo_str {"seven":7}`, "size vmem 9gb")
	job.Shares = map[pbs.HostName]Share{"hostb": {Hooked: others, Peak: Peak{CPU: time.Hour, RSS: 1 << 20}}, "hostc": {Hooked: others}}
	var got []string
	for _, u := range job.Reckoning().Own() {
		got = append(got, u.Resource+"="+u.Value)
	}
	want := []string{"cpupercent=0", "cput=00:01:00", "foo_i=9", `foo_str={"seven":7}`, "mem=1kb", "ncpus=3", "vmem=9gb", "walltime=00:00:10"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want\n%q", got, want)
	}
}

func TestSum(t *testing.T) {
	for _, c := range []struct{ kind, values, want string }{
		{"size", "1000b 1000b 1000b", "3kb"},
		{"size", "1000b", "1kb"},
		{"size", "9gb 10gb", "19gb"},
		{"size", "1gb 512mb", "1572864kb"},
		{"size", "1024kb 1024kb 1024kb", "3072kb"},
		{"float", "1.02 1.02 1.02", "3.06"},
		{"float", "2.868 2.868 2.87", "8.606"},
		{"long", "9 rubbish 10", "19"},
		{"time", "00:00:10 00:00:50", "00:01:00"},
		{"nonsense", "1 2", ""},
	} {
		var set []valueOf
		for _, v := range strings.Fields(c.values) {
			set = append(set, valueOf{value: v, kind: c.kind})
		}
		if got := sum(set); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.kind, c.values, got, c.want)
		}
	}
}

// Of equal names that of the mother superior survives, else that of the last sister.
func TestUnion(t *testing.T) {
	set := []valueOf{{"hosta", `{"a": 1}`, "string"}, {"hostb", `{"a": 2, "b": 2}`, "string"}, {"hostc", ` {"b" : 3, "c": [1, {"d": null}]}`, "string"}}
	if got, bad := union("hosta", set); got != `'{"a": 1, "b": 3, "c": [1, {"d": null}]}'` || bad != nil {
		t.Errorf("%s, %v", got, bad)
	}
	set[0] = valueOf{"hosta", `{}`, "string"}
	for range 2 { // the mother superior says nothing of it, and then nothing at all
		if got, bad := union("hosta", set); got != `'{"a": 2, "b": 3, "c": [1, {"d": null}]}'` || bad != nil {
			t.Errorf("%s, %v", got, bad)
		}
		set = set[1:]
	}
	if got, bad := union("hosta", []valueOf{{"hostb", `{"a": 1}`, "string"}, {"hostc", `{"a": 2}`, "string"}}); got != `'{"a": 2}'` || bad != nil {
		t.Errorf("of two sisters: %s, %v", got, bad)
	}
	for _, text := range []string{`[1]`, `"x"`, `{"a": 1} x`, `{"a": 1`, `{'a': 1}`, ``, `seven`, `{"a": ` + strings.Repeat("[", 2000)} {
		if got, bad := union("hosta", []valueOf{{"hosta", `{"a": 1}`, "string"}, {"hostb", text, "string"}}); got != "" || len(bad) != 1 || bad[0].Why == "" {
			t.Errorf("%.20s: %s, %v", text, got, bad)
		}
	}
}

// The canonical form is that of Python's json.dumps.
func TestCanonical(t *testing.T) {
	for text, want := range map[string]string{
		`{"seven":7}`: `'{"seven": 7}'`,
		`{"b":1,"a":[true,false,null,"x"],"b":2}`:         `'{"b": 2, "a": [true, false, null, "x"]}'`,
		`{"ü":"\n\u00e9😀\/"}`:                             `'{"\u00fc": "\n\u00e9\ud83d\ude00/"}'`,
		`{"f":[1.50,1e3,1E-7,12345678901234567890,-0.0]}`: `'{"f": [1.5, 1000.0, 1e-07, 12345678901234567890, -0.0]}'`,
		`{}`:        `'{}'`,
		`hello`:     `hello`,
		`"hello"`:   `"hello"`,
		`{hello}`:   `{hello}`,
		`[1,2]`:     `[1,2]`,
		` {"a":1} `: `'{"a": 1}'`,
	} {
		if got := canonical(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// What a hook unsets it has not set: the host's own measure counts again, and of strings the others' stay.
func TestUsed_Unset(t *testing.T) {
	job := in(Running, asked, limited("ncpus", "3"))
	job.Peak = Peak{CPU: time.Minute}
	job.Shares = map[pbs.HostName]Share{"hostb": {Hooked: others}, "hostc": {}}
	job.HookUsed = overlaid(ms, []spool.Used{{Resource: "cput"}, {Resource: "foo_str"}, {Resource: "foo_i"}, {Resource: "never_set"}})
	got := map[string]string{}
	for _, u := range job.Used() {
		got[u.Resource] = u.Value
	}
	for name, want := range map[string]string{"cput": "00:01:20", "foo_str": `'{"eight": 8, "nine": 9}'`, "foo_i": "10", "never_set": "", "vmem": "19gb"} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	after := job
	after.Shares = map[pbs.HostName]Share{"hostb": {}, "hostc": {}}
	if !hookedOtherwise(job, after) || hookedOtherwise(job, job) {
		t.Error("that a sister has taken its values back is not seen")
	}
}

// What hooks of a sister have taken back does not count any more; a part that tells nothing changes nothing.
func TestUsed_TakenBack(t *testing.T) {
	job := in(Running)
	told := func(hooked []spool.Used) {
		job.Usage = job.Usage.withShares(map[pbs.HostName]Share{"hostb": {Hooked: hooked}})
	}
	told(values("long foo_i 3", "long foo_j 4"))
	told(nil)
	if !job.Reckoning().Set("foo_i") || !job.Reckoning().Set("foo_j") {
		t.Errorf("after no word: %v", job.Shares)
	}
	told(values("long foo_j 4"))
	if job.Reckoning().Set("foo_i") || !job.Reckoning().Set("foo_j") {
		t.Errorf("after one was taken back: %v", job.Shares)
	}
	told([]spool.Used{})
	if job.HooksCount() {
		t.Errorf("after both were: %v", job.Shares)
	}
}
