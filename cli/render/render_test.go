package render

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rampart/transport/api"
)

// The files under testdata are blocks of what a PBS printed. Each test takes a
// block apart into objects and demands that rendering them gives the same bytes.

func recorded(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimRight(string(b), "\n") + "\n"
}

// same compares texts; how many newlines end a block is the recorder's.
func same(t *testing.T, got, want string) {
	t.Helper()
	got = strings.TrimRight(got, "\n") + "\n"
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("line %d\n got %q\nwant %q", i+1, g[i], w[i])
		}
	}
	t.Fatalf("got %d lines, want %d", len(g), len(w))
}

// unfold reads objects whose attributes are indented and folded with newline and
// tab; a line that is not indented names an object.
func unfold(text string) (heads []string, objects []*api.Object) {
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\n\t", ""), "\n") {
		name, value, isAttribute := strings.Cut(line, " = ")
		switch {
		case line == "":
		case line[0] != ' ':
			_, object, ok := strings.Cut(line, ": ")
			if !ok {
				_, object, _ = strings.Cut(line, " ")
			}
			if object == "" {
				object = line
			}
			heads, objects = append(heads, line), append(objects, &api.Object{Name: object})
		case isAttribute:
			o := objects[len(objects)-1]
			o.Attributes = append(o.Attributes, attribute(strings.TrimSpace(name), value))
		}
	}
	return heads, objects
}

func attribute(name, value string) *api.Attribute {
	name, resource, _ := strings.Cut(name, ".")
	return &api.Attribute{Name: name, Resource: resource, Value: value}
}

func TestLong(t *testing.T) {
	for _, name := range []string{
		"qstat-f-array.txt", "qstat-f-job.txt", "qstat-f-deleted.txt", "qstat-f-finished.txt",
		"qstat-f-server.txt", "qstat-Bf.txt", "qstat-Qf.txt",
	} {
		t.Run(name, func(t *testing.T) {
			want := recorded(t, name)
			heads, objects := unfold(want)
			var got bytes.Buffer
			for i, o := range objects {
				Long(&got, heads[i], o, false, time.UTC)
			}
			same(t, got.String(), want)
		})
	}
}

func TestLong_NoLineOver79ColumnsAndUnfoldsExactly(t *testing.T) {
	value := strings.Repeat("(hosta[1]:ncpus=1:mem=10240kb)+", 9) + "," + strings.Repeat("x", 200) + ",y"
	o := &api.Object{Attributes: []*api.Attribute{{Name: "exec_vnode", Value: value}}}
	var got bytes.Buffer
	Long(&got, "Job Id: 1.srv", o, false, time.UTC)
	for line := range strings.SplitSeq(got.String(), "\n") {
		if n := len(strings.ReplaceAll(line, "\t", "        ")); n > 79 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	if flat := strings.ReplaceAll(got.String(), "\n\t", ""); !strings.Contains(flat, " = "+value+"\n") {
		t.Errorf("does not unfold: %q", flat)
	}
}

func TestLong_Wide(t *testing.T) {
	o := &api.Object{Attributes: []*api.Attribute{
		{Name: "comment", Value: strings.Repeat("a,", 60) + "\nb"},
		{Name: "ctime", Value: "1795242337"},
		{Name: "estimated", Resource: "start_time", Value: "1795242337"},
		{Name: "history_timestamp", Value: "1795242342"},
	}}
	var got bytes.Buffer
	Long(&got, "Job Id: 1.srv", o, true, time.UTC)
	same(t, got.String(), "Job Id: 1.srv\n    comment = "+strings.Repeat("a,", 60)+
		`\nb`+"\n    ctime = Sat Nov 21 06:25:37 2026\n    estimated.start_time = Sat Nov 21 06:25:37 2026\n    history_timestamp = 1795242342\n")
}

func TestNode(t *testing.T) {
	for _, name := range []string{"pbsnodes-a.txt", "pbsnodes-v.txt"} {
		want := recorded(t, name)
		_, objects := unfold(want)
		var got bytes.Buffer
		for _, o := range objects {
			Node(&got, o, time.UTC)
		}
		same(t, got.String(), want)
	}
}

func TestNodeSummary(t *testing.T) {
	_, objects := unfold(recorded(t, "pbsnodes-a.txt"))
	var got bytes.Buffer
	NodeSummary(&got, objects, false)
	same(t, got.String(), recorded(t, "pbsnodes-aS.txt"))
}

func undelimit(line, delimiter string) (string, *api.Object) {
	o := new(api.Object)
	words := strings.Split(strings.TrimRight(line, "\n"), delimiter)
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		o.Attributes = append(o.Attributes, attribute(name, value))
	}
	return words[0], o
}

func TestWide(t *testing.T) {
	for name, delimiter := range map[string]string{"qstat-f.dsv": "|", "qstat-f-percent.dsv": "%", "pbsnodes-v.dsv": "|"} {
		want := recorded(t, name)
		head, o := undelimit(want, delimiter)
		var got bytes.Buffer
		Wide(&got, head, o, delimiter, Plain)
		same(t, got.String(), want)
	}
}

func TestWide_EscapesTheDelimiter(t *testing.T) {
	var got bytes.Buffer
	Wide(&got, "Job Id: 1", &api.Object{Attributes: []*api.Attribute{{Name: "comment", Value: "a|b\nc"}}}, "|", Dated(time.UTC))
	same(t, got.String(), `Job Id: 1|comment=a\|b\nc`+"\n")
}

func TestJSON_Job(t *testing.T) {
	_, o := undelimit(recorded(t, "qstat-f.dsv"), "|")
	o.Name = "0.hosta"
	var got bytes.Buffer
	j := NewJSON(&got, "Jobs", &api.ListHeader{Timestamp: 1795242350, Version: "23.06.06", Server: "hosta"}, Dated(time.UTC))
	j.Object(o)
	if err := j.End(); err != nil {
		t.Fatal(err)
	}
	same(t, got.String(), recorded(t, "qstat-f.json"))
}

func TestJSON_Others(t *testing.T) {
	for name, section := range map[string]string{"qstat-Qf.json": "Queue", "qstat-Bf.json": "Server", "pbsnodes-a.json": "nodes"} {
		t.Run(name, func(t *testing.T) {
			want := recorded(t, name)
			header, objects := fromJSON(t, want, section)
			var got bytes.Buffer
			j := NewJSON(&got, section, header, Plain)
			j.Skip = NothingAssigned
			for _, o := range objects {
				if section == "nodes" && len(o.Attributes) > 0 && Find(o, "resources_assigned", "ncpus") == "" {
					o.Attributes = beforeResv(o.Attributes) // an empty object in the recording
				}
				j.Object(o)
			}
			if err := j.End(); err != nil {
				t.Fatal(err)
			}
			same(t, got.String(), want)
		})
	}
}

func beforeResv(attributes []*api.Attribute) []*api.Attribute {
	var out []*api.Attribute
	for _, a := range attributes {
		if a.Name == "resv_enable" {
			out = append(out, &api.Attribute{Name: "resources_assigned", Resource: "mem", Value: "0kb"})
		}
		out = append(out, a)
	}
	return out
}

// fromJSON reads objects in the order of the document.
func fromJSON(t *testing.T, text, section string) (*api.ListHeader, []*api.Object) {
	t.Helper()
	var top struct {
		Timestamp int64  `json:"timestamp"`
		Version   string `json:"pbs_version"`
		Server    string `json:"pbs_server"`
	}
	if err := json.Unmarshal([]byte(text), &top); err != nil {
		t.Fatal(err)
	}
	var objects []*api.Object
	var group string
	for line := range strings.SplitSeq(text, "\n") {
		depth := len(line) - len(strings.TrimLeft(line, "\t"))
		key, value, ok := strings.Cut(strings.TrimSuffix(strings.TrimSpace(line), ","), ":\t")
		key = strings.Trim(key, `"`)
		switch {
		case !ok || depth == 1:
		case depth == 2:
			objects = append(objects, &api.Object{Name: key})
		case value == "{":
			group = key
		default:
			o := objects[len(objects)-1]
			a := &api.Attribute{Name: key, Value: strings.Trim(value, `"[]`)}
			if depth == 4 {
				a.Name, a.Resource = group, key
			}
			o.Attributes = append(o.Attributes, a)
		}
	}
	return &api.ListHeader{Timestamp: top.Timestamp, Version: top.Version, Server: top.Server}, objects
}

func TestJSON_Values(t *testing.T) {
	o := &api.Object{Name: "1.srv", Attributes: []*api.Attribute{
		{Name: "Job_Name", Value: "12"},
		{Name: "project", Value: "7"},
		{Name: "Priority", Value: "-5"},
		{Name: "a", Value: "007"},
		{Name: "b", Value: "1e3"},
		{Name: "c", Value: "inf"},
		{Name: "d", Value: "a\"b\\c\n\t\x01é"},
		{Name: "resources_used", Resource: "foo", Value: `'{"hosta": 1}'`},
		{Name: "resources_used", Resource: "bar", Value: `'{nonsense'`},
		{Name: "Variable_List", Value: `A=1,B=x\,y,C=,A=2`},
	}}
	var got bytes.Buffer
	j := NewJSON(&got, "Jobs", &api.ListHeader{}, Dated(time.UTC))
	j.Object(o)
	j.Object(&api.Object{Name: "2.srv"})
	if err := j.End(); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(got.Bytes()) {
		t.Fatalf("not valid JSON:\n%s", got.String())
	}
	for _, want := range []string{
		`"Job_Name":	"12"`, `"project":	"7"`, `"Priority":	-5`, `"a":	"007"`, `"b":	1e3`, `"c":	"inf"`,
		`"d":	"a\"b\\c\n\t\u0001é"`, `"foo":	{"hosta": 1}`, `"bar":	"'{nonsense'"`,
		`"A":	2`, `"B":	"x,y"`, `"C":	""`,
	} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("%s is missing from\n%s", want, got.String())
		}
	}
}

func job(id, name, used, state string) *api.Object {
	o := &api.Object{Name: id, Attributes: []*api.Attribute{
		{Name: "Job_Name", Value: name},
		{Name: "Job_Owner", Value: "pbsuser@hosta"},
		{Name: "job_state", Value: state},
		{Name: "queue", Value: "workq"},
	}}
	if used != "" {
		o.Attributes = append(o.Attributes, &api.Attribute{Name: "resources_used", Resource: "cput", Value: used})
	}
	return o
}

func TestJobTable(t *testing.T) {
	jobs := []*api.Object{
		job("0.hosta", "run1", "00:00:00", "R"), job("1.hosta", "held", "", "H"), job("2.hosta", "big", "", "Q"),
		job("3[].hosta", "arr", "", "B"), job("4.hosta", "dep", "", "H"), job("6.hosta", "later", "", "W"),
	}
	for name, wide := range map[string]bool{"qstat.txt": false, "qstat-w.txt": true} {
		var got bytes.Buffer
		table := NewJobTable(&got, wide)
		table.Head()
		for _, o := range jobs {
			table.Row(o)
		}
		same(t, got.String(), recorded(t, name))
	}
}

func TestJobTable_Cuts(t *testing.T) {
	var got bytes.Buffer
	NewJobTable(&got, false).Row(job("123456.averylongserver", "a_name_of_seventeen", "", "Q"))
	same(t, got.String(), "123456.averylon*  a_name_of_seven* pbsuser                  0 Q workq           \n")
}

func TestQueuesAndServers(t *testing.T) {
	count := &api.Attribute{Name: "state_count", Value: "Transit:0 Queued:1 Held:2 Waiting:1 Running:4 Exiting:0 Begun:1 "}
	queue := &api.Object{Name: "workq", Attributes: []*api.Attribute{
		{Name: "queue_type", Value: "Execution"},
		{Name: "total_jobs", Value: "9"},
		count,
		{Name: "enabled", Value: "True"},
		{Name: "started", Value: "True"},
	}}
	server := &api.Object{Name: "hosta", Attributes: []*api.Attribute{
		{Name: "server_state", Value: "Active"}, {Name: "total_jobs", Value: "10"}, count,
	}}
	var got bytes.Buffer
	Queues(&got, []*api.Object{queue})
	same(t, got.String(), recorded(t, "qstat-Q.txt"))
	got.Reset()
	Servers(&got, []*api.Object{server})
	same(t, got.String(), recorded(t, "qstat-B.txt"))
}

func TestUnavailable(t *testing.T) {
	_, objects := unfold("hosta\n     state = free\n\nhostc\n     state = offline\n     comment = broken fan\n")
	var got bytes.Buffer
	for _, o := range objects {
		Unavailable(&got, o)
	}
	same(t, got.String(), "hostc                offline broken fan\n")
}

func TestList(t *testing.T) {
	for name, title := range map[string]string{
		"qmgr-list-hook.txt": "Hook", "qmgr-list-server.txt": "Server", "qmgr-list-nodes.txt": "Node",
		"qmgr-list-sched.txt": "Sched", "qmgr-list-resource.txt": "Resource",
	} {
		t.Run(name, func(t *testing.T) {
			want := recorded(t, name)
			_, objects := unfold(want)
			var got bytes.Buffer
			for _, o := range objects {
				List(&got, Kind{Title: title}, o, nil)
			}
			same(t, got.String(), want)
		})
	}
}

func TestPrint(t *testing.T) {
	_, nodes := unfold(recorded(t, "pbsnodes-a.txt"))
	_, queues := unfold(recorded(t, "qstat-Qf.txt"))
	_, scheds := unfold(recorded(t, "qmgr-list-sched.txt"))
	settable := func(names ...string) func(*api.Attribute) (string, bool) {
		return func(a *api.Attribute) (string, bool) { return a.Value, slices.Contains(names, a.Name) }
	}
	for _, c := range []struct {
		file   string
		kind   Kind
		object *api.Object
	}{
		{"qmgr-print-node.txt", Kind{Word: "node", Plural: "nodes", What: "properties", Settable: settable("state", "resources_available", "resv_enable")}, nodes[0]},
		{"qmgr-print-queue.txt", Kind{Word: "queue", Plural: "queues", What: "attributes", Settable: settable("queue_type", "enabled", "started")}, queues[0]},
		{"qmgr-print-sched.txt", Kind{Word: "sched", Define: "scheduler", Unnamed: true}, scheds[0]},
	} {
		t.Run(c.file, func(t *testing.T) {
			var got bytes.Buffer
			PrintHead(&got, c.kind)
			Print(&got, c.kind, c.object, nil)
			same(t, got.String(), recorded(t, c.file))
		})
	}
}

func TestPrint_ListsItemByItem(t *testing.T) {
	o := &api.Object{Attributes: []*api.Attribute{{Name: "managers", Value: "a@*,b@*"}, {Name: "comment", Value: `say "x"`}}}
	var got bytes.Buffer
	listed := func(a *api.Attribute) bool { return a.Name == "managers" }
	PrintServer(&got, Kind{Word: "server", Listed: listed}, o, nil)
	same(t, got.String(), "#\n# Set server attributes.\n#\nset server managers = a@*\nset server managers += b@*\nset server comment = 'say \"x\"'\n")
}

func TestPrint_SaysWhoseVnodeItIs(t *testing.T) {
	of := func(name string) *api.Object {
		return &api.Object{Name: name, Attributes: []*api.Attribute{{Name: "Mom", Value: "hosta"}}}
	}
	kind := Kind{
		Word: "node", AtCreate: func(o *api.Object, a *api.Attribute) bool { return o.Name != a.Value },
		Settable: func(*api.Attribute) (string, bool) { return "", false },
	}
	for name, want := range map[string]string{"hosta": "create node hosta\n", "hosta[0]": "create node hosta[0] Mom=hosta\n"} {
		var got bytes.Buffer
		Print(&got, kind, of(name), nil)
		same(t, got.String(), "#\n# Create and define node "+name+"\n#\n"+want)
	}
}
